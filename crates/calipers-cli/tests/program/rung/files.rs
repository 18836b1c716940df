//! Every form of a graph, an attacked graph, a split and a checkpoint means the same.

use serde_json::Value as Json;

use crate::support::rung::{
    EDGES, GRAPH, LABELS, archive, bench, both, csr, edges, features, keyed, metadata, safetensors, scipy,
    with,
};
use crate::support::{Bench, codes, f64s, i64s, npy, npz};

fn metrics(bench: &Bench, line: &str) -> Json {
    bench.report(line)["metrics"].clone()
}

#[test]
fn a_graph_means_the_same_in_every_form() {
    let bench = bench();
    let attacked = "--splits s.json --model m.safetensors --flips 0.2=f.npy";
    let expected = metrics(&bench, &format!("robustness --graph g.npz {attacked}"));
    let labels = ("labels".to_owned(), i64s(&[8], &LABELS));
    let attributes: Vec<(i64, i64, f64)> = features()
        .iter()
        .enumerate()
        .filter(|(_, value)| value.abs() > 0.0)
        .map(|(place, value)| (place as i64 / 3, place as i64 % 3, *value))
        .collect();
    let mut attr = csr("attr_", 8, &attributes);
    attr[0].1 = i64s(&[2], &[8, 3]);
    let mut nettack = csr("adj_", 8, &both(&EDGES));
    nettack.extend(attr);
    nettack.push(labels);
    // Members that are never needed are never opened.
    nettack.push(("idx_to_node".into(), b"\x93NUMPY\x01\x00not at all".to_vec()));
    bench.write("nettack.npz", archive(&nettack));
    let heterophilous = [
        ("edges", edges(&EDGES)),
        ("node_features", f64s(&[8, 3], &features())),
        ("node_labels", i64s(&[8], &LABELS)),
    ];
    bench.write("heterophilous.npz", npz(&heterophilous));
    let index: Vec<i64> =
        both(&EDGES).iter().map(|entry| entry.0).chain(both(&EDGES).iter().map(|entry| entry.1)).collect();
    let [_, features_member, labels_member] = <[_; 3]>::try_from(keyed()).unwrap();
    bench.write("index.npz", npz(&[("edge_index", i64s(&[2, 18], &index)), features_member, labels_member]));
    for graph in ["nettack.npz", "heterophilous.npz", "index.npz"] {
        assert_eq!(metrics(&bench, &format!("robustness --graph {graph} {attacked}")), expected, "{graph}");
        let prepared = format!("robustness --graph {graph} --prepare rung {attacked}");
        assert_eq!(metrics(&bench, &prepared), expected, "{graph}, prepared");
    }
    let lines: String = EDGES.iter().map(|(i, j)| format!("{i} {j}\n")).collect();
    bench
        .write("g.txt", lines)
        .write("x.npy", f64s(&[8, 3], &features()))
        .write("y.npy", i64s(&[8], &LABELS));
    let text = format!("robustness --graph g.txt --features-file x.npy --labels-file y.npy {attacked}");
    assert_eq!(metrics(&bench, &text), expected);
}

#[test]
fn an_attacked_graph_means_the_same_in_every_form() {
    let bench = bench();
    let expected = metrics(&bench, &format!("robustness {GRAPH} --flips 0.2=f.npy"));
    let mut attacked: Vec<(i64, i64)> = EDGES.iter().copied().filter(|edge| *edge != (3, 4)).collect();
    attacked.push((5, 0));
    bench.write("scipy.npz", scipy(8, &both(&attacked)));
    bench.write("keyed.npz", npz(&[("edges", edges(&attacked))]));
    bench.write("nettack.npz", archive(&csr("adj_", 8, &both(&attacked))));
    bench.write("list.txt", attacked.iter().map(|(i, j)| format!("{i},{j}\n")).collect::<String>());
    for file in ["scipy.npz", "keyed.npz", "nettack.npz", "list.txt"] {
        assert_eq!(metrics(&bench, &format!("robustness {GRAPH} --attacked 0.2={file}")), expected, "{file}");
    }
}

#[test]
fn preparing_keeps_the_largest_component_and_what_belongs_to_it() {
    let bench = bench();
    let expected = metrics(&bench, &format!("robustness {GRAPH} --flips 0.2=f.npy"));
    // Two lonely nodes in front, directed edges, a loop and a weight.
    let shifted = |(i, j): (i64, i64)| (i + 2, j + 2, 1.0);
    let mut entries: Vec<(i64, i64, f64)> = EDGES.iter().copied().map(shifted).collect();
    entries.extend([(0, 1, 4.0), (5, 5, 1.0), (3, 2, 2.0)]);
    let mut members = csr("adj_", 10, &entries);
    let wide: Vec<(i64, i64, f64)> = features()
        .iter()
        .enumerate()
        .map(|(place, value)| (place as i64 / 3 + 2, place as i64 % 3, *value))
        .collect();
    let mut attr = csr("attr_", 10, &wide);
    attr[0].1 = i64s(&[2], &[10, 3]);
    members.extend(attr);
    members.push(("labels".into(), i64s(&[10], &[&[5, 5][..], &LABELS].concat())));
    bench.write("raw.npz", archive(&members));
    let line = "--splits s.json --model m.safetensors --flips 0.2=f.npy";
    assert_eq!(metrics(&bench, &format!("robustness --graph raw.npz --prepare rung {line}")), expected);
}

#[test]
fn a_graph_without_attributes_knows_nodes_by_their_number() {
    let bench = bench();
    let mut members = csr("adj_", 8, &both(&EDGES));
    members.push(("labels".into(), i64s(&[8], &LABELS)));
    bench.write("bare.npz", archive(&members));
    let identity: Vec<f64> = (0..64).map(|place| f64::from(u8::from(place % 9 == 0))).collect();
    bench.write("same.npz", npz(&with(keyed(), &[("features", f64s(&[8, 8], &identity))])));
    let model = [
        ("mlp.0.weight", &[2, 8][..], (0..16u8).map(|n| f32::from(n) / 8.0).collect()),
        ("mlp.0.bias", &[2], vec![0.0, 0.5]),
    ];
    bench.write("eight.safetensors", safetensors(Some(&metadata()), &model));
    let of = |graph: &str| {
        metrics(
            &bench,
            &format!(
                "robustness --graph {graph} --splits s.json --model eight.safetensors --flips 0.2=f.npy"
            ),
        )
    };
    assert_eq!(of("bare.npz"), of("same.npz"));
}

#[test]
fn splits_mean_the_same_in_every_form() {
    let bench = bench();
    let expected = bench.report(&format!("robustness {GRAPH} --flips 0.2=f.npy"));
    let (train, val, test) = ([0, 4], [1], [2, 3, 5, 6, 7]);
    bench.write(
        "s.npz",
        npz(&[
            ("train_idx", i64s(&[2], &train)),
            ("val_idx", i64s(&[1], &val)),
            ("test_idx", i64s(&[5], &test)),
        ]),
    );
    let mask = |nodes: &[i64]| (0..8).map(|node| u8::from(nodes.contains(&node))).collect::<Vec<u8>>();
    let masks = |first: &[i64], second: &[i64]| npy("|b1", &[2, 8], &[mask(first), mask(second)].concat());
    let members = [
        ("train_masks", masks(&[1], &train)),
        ("val_masks", masks(&[], &val)),
        ("test_masks", masks(&[0], &test)),
    ];
    bench.write("m.npz", npz(&members));
    bench.write("masked.npz", npz(&with(keyed(), &members)));
    bench.write("prognn.json", r#"{"idx_train": [0, 4], "idx_val": [1], "idx_test": [2, 3, 5, 6, 7]}"#);
    for (graph, splits) in [
        ("g.npz", "--splits s.npz"),
        ("g.npz", "--splits m.npz --split 1 --run split0"),
        ("g.npz", "--splits prognn.json"),
        ("g.npz", "--splits two.json --split 0"),
        ("masked.npz", "--split 1 --run split0"),
        ("masked.npz", "--splits masks --split 1 --run split0"),
    ] {
        let report = bench
            .report(&format!("robustness --graph {graph} --model m.safetensors --flips 0.2=f.npy {splits}"));
        assert_eq!(report["metrics"], expected["metrics"], "{graph} {splits}");
    }
}

#[test]
fn drawn_splits_follow_their_seeds() {
    let bench = bench();
    let line = "robustness --graph g.npz --model m.safetensors --flips 0.2=f.npy --shares 0.5,0.25";
    let two = bench.report(&format!("{line} --splits stratified:2 --split 0,1"));
    assert_eq!(two["units"], 2);
    let one = bench.report(&format!("{line} --splits stratified:1 --seeds 1"));
    let all = bench.report(&format!("{line} --splits stratified:2 --split 1"));
    assert_eq!(one["metrics"], all["metrics"]);
    bench.refuses(&format!("{line} --splits stratified:2 --seeds 1 --split 0"), 2, &["2 seeds"]);
    bench.refuses(&format!("{line} --splits stratified:0"), 2, &["stratified:1"]);
    bench.refuses("robustness --graph g.npz --model m.safetensors --flips 0.2=f.npy --splits stratified:1 --shares 0.9,0.2", 2, &["--shares"]);
}

#[test]
fn runs_are_named_after_split_and_seed_and_paths_are_filled_in() {
    let bench = bench();
    for split in ["0", "1"] {
        for seed in ["3", "4"] {
            bench.write(&format!("models/{split}-{seed}.safetensors"), crate::support::rung::checkpoint());
            for budget in ["0.10", "0.2"] {
                bench.write(&format!("flips/{budget}/{split}.npy"), bench.bytes("f.npy"));
            }
        }
    }
    let words = |seeds: &'static str| {
        [
            "robustness",
            "--graph",
            "g.npz",
            "--splits",
            "two.json",
            "--split",
            "0,1",
            "--model",
            "models/{split}-{seed}.safetensors",
            "--flips",
            "flips/{budget}/{split}.npy",
            "--budgets",
            "0.10,0.2",
            "--per-unit",
            "u.csv",
            "--quiet",
            "--seeds",
            seeds,
        ]
    };
    let said = bench.run_words(&words("3,4"));
    assert_eq!(said.status, 0, "{}", said.stderr);
    let table = bench.read("u.csv");
    let units: Vec<&str> = table.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(
        units,
        [
            "split0-seed3/0.1",
            "split0-seed3/0.2",
            "split0-seed4/0.1",
            "split0-seed4/0.2",
            "split1-seed3/0.1",
            "split1-seed3/0.2",
            "split1-seed4/0.1",
            "split1-seed4/0.2"
        ]
    );
    assert_eq!(bench.run_words(&words("3")).status, 0);
    assert!(bench.read("u.csv").contains("\nsplit0/0.1,"), "one seed is no part of a name");
    let named = bench.run(&format!(
        "robustness {GRAPH} --flips 0.2=f.npy --run mine --attack pgd --per-unit u.csv --quiet"
    ));
    assert_eq!(named.status, 0, "{}", named.stderr);
    assert!(bench.read("u.csv").contains("\nmine/pgd:0.2,"));
}

#[test]
fn a_configuration_says_what_flags_say_and_flags_win() {
    let bench = bench();
    let expected = bench.report(&format!("robustness {GRAPH} --flips 0.2=f.npy --bins 7"));
    let config = "[robustness]\ngraph = \"../g.npz\"\nsplits = \"../s.json\"\nmodel = \"../m.safetensors\"\nbins = 9\n\
                  [robustness.flips]\n\"0.2\" = \"../f.npy\"\n";
    bench.write("conf/r.toml", config);
    let report = bench.report("robustness conf/r.toml --bins 7");
    assert_eq!(report["metrics"], expected["metrics"]);
    assert_eq!(report["protocol"], expected["protocol"]);
    let paths: Vec<&str> =
        report["inputs"].as_array().unwrap().iter().map(|input| input["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"conf/r.toml") && paths.contains(&"conf/../f.npy"), "{paths:?}");
    bench.write("bad.toml", "[robustness]\ngraf = \"g.npz\"\n");
    bench.refuses("robustness bad.toml", 1, &["bad.toml", "line 2", "graf", "did you mean graph?"]);
}

#[test]
fn the_protocol_names_model_and_cut_off_and_every_input_is_listed() {
    let bench = bench();
    let report = bench.report(&format!("robustness {GRAPH} --flips 0.2=f.npy"));
    let protocol = &report["protocol"];
    assert_eq!(protocol["prepare"], "none");
    assert_eq!(protocol["cutoff"], 3.0);
    assert_eq!(protocol["model_settings"]["penalty"], "mcp");
    assert_eq!(protocol["model_settings"]["layers"], 10);
    let paths: Vec<&str> =
        report["inputs"].as_array().unwrap().iter().map(|input| input["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["f.npy", "g.npz", "m.safetensors", "s.json"]);
    let l2 = bench.report(&format!("robustness {GRAPH} --flips 0.2=f.npy --penalty l2"));
    assert_eq!(l2["protocol"]["cutoff"], Json::Null);
    assert_eq!(codes(&l2).iter().filter(|code| **code == "penalty_replaced").count(), 1);
    let given = bench.report(&format!("robustness {GRAPH} --flips 0.2=f.npy --cutoff 0.5"));
    assert_eq!(given["protocol"]["cutoff"], 0.5);
}

#[test]
fn threads_shards_and_merges_give_the_same_bytes() {
    let bench = bench();
    bench.write("f2.npy", i64s(&[1, 2], &[1, 6]));
    let line = "robustness --graph g.npz --splits two.json --split 0,1 --model m.safetensors --flips 0.2=f.npy --flips 0.1=f2.npy --quiet";
    for threads in [1, 2, 5] {
        assert_eq!(
            bench
                .run(&format!("{line} --threads {threads} --json {threads}.json --per-node {threads}.csv"))
                .status,
            0
        );
        assert_eq!(bench.read("1.json"), bench.read(&format!("{threads}.json")));
        assert_eq!(bench.read("1.csv"), bench.read(&format!("{threads}.csv")));
    }
    for shard in [1, 2, 3] {
        assert_eq!(bench.run(&format!("{line} --shard {shard}/3 --state {shard}.state")).status, 0);
    }
    assert_eq!(bench.run("merge 3.state 1.state 2.state -o all.state --json merged.json --quiet").status, 0);
    assert_eq!(bench.read("merged.json"), bench.read("1.json"));
}

#[test]
fn states_of_two_penalties_are_not_merged_and_the_penalty_is_named() {
    let bench = bench();
    let line = format!("robustness {GRAPH} --flips 0.2=f.npy --quiet");
    assert_eq!(bench.run(&format!("{line} --state a.state")).status, 0);
    assert_eq!(bench.run(&format!("{line} --penalty l1 --run other --state b.state")).status, 0);
    let words = ["protocol.cutoff; protocol.model_settings.penalty", "\"mcp\" in a.state, \"l1\" in b.state"];
    bench.refuses("merge a.state b.state -o all.state", 1, &words);
}

#[test]
fn nodes_without_any_pull_are_counted() {
    let bench = bench();
    let line = format!("{GRAPH} --flips 0.2=f.npy --lambda-hat 1 --gamma 1e-6");
    let report = bench.report(&format!("robustness {line}"));
    assert!(codes(&report).contains(&"stuck_nodes"), "{report}");
    let said = bench.run(&format!("robustness forward {line} --out a.npz"));
    assert!(said.status == 0 && said.stderr.contains("warning[stuck_nodes]"), "{}", said.stderr);
}

#[test]
fn features_written_by_forward_give_the_numbers_of_the_model() {
    let bench = bench();
    bench.write("attacked.npz", scipy(8, &both(&EDGES[..8])));
    let line = format!("{GRAPH} --flips 0.2=f.npy --attacked 0.1=attacked.npz");
    let direct = bench.report(&format!("robustness {line}"));
    for file in ["run.npz", "run.safetensors"] {
        let said = bench.run(&format!("robustness forward {line} --out {file}"));
        assert_eq!(said.status, 0, "{}", said.stderr);
        let first = bench.bytes(file);
        let again = format!("again-{file}");
        bench.run(&format!("robustness forward {line} --out {again} --threads 1"));
        assert_eq!(bench.bytes(&again), first, "equal features are equal files");
        let read = bench.report(&format!("robustness {file} --cutoff 3"));
        assert_eq!(read["metrics"], direct["metrics"], "{file}");
        assert_eq!(read["warnings"], direct["warnings"], "{file}");
        assert_eq!(read["protocol"]["model"], "mcp", "{file}");
    }
}

/// Runs `verify` on the report of a line.
fn verified(bench: &Bench, words: &[&str]) -> crate::support::Said {
    let said = bench.run_words(&[words, &["--json", "r.json", "--quiet"]].concat());
    assert_eq!(said.status, 0, "{}", said.stderr);
    bench.run("verify r.json")
}

#[test]
fn what_a_model_computed_is_computed_again_to_verify_it() {
    let bench = bench();
    bench.write("attacked.npz", scipy(8, &both(&EDGES[..8])));
    let words = |line: &'static str| -> Vec<&'static str> { line.split(' ').collect() };
    for line in [
        "robustness --graph g.npz --splits s.json --model m.safetensors --flips 0.2=f.npy",
        "robustness --graph g.npz --splits s.json --model m.safetensors --flips 0.20=f.npy --attacked \
         0.1=attacked.npz --gamma 2 --penalty scad --run mine --attack pgd --nodes not-train --cutoff 1",
        "robustness --graph g.npz --splits two.json --split 1,0 --trained-on two.json --model m.safetensors --flips \
         0.2=f.npy --prepare rung",
        "robustness --graph g.npz --splits stratified:2 --seeds 5,7 --shares 0.5,0.25 --split 0 --model \
         m.safetensors --flips 0.2=f.npy --layers 3 --lambda-hat 0.5",
    ] {
        let said = verified(&bench, &words(line));
        assert_eq!(said.status, 0, "{line}\n{}{}", said.stdout, said.stderr);
    }
    for (split, seed) in [(0, 3), (0, 4), (1, 3), (1, 4)] {
        bench.write(&format!("m/{split}-{seed}.safetensors"), bench.bytes("m.safetensors"));
        bench.write(&format!("f/0.20-{split}.npy"), bench.bytes("f.npy"));
    }
    let line = "robustness --graph g.npz --splits two.json --split 0,1 --seeds 3,4 --model \
                m/{split}-{seed}.safetensors --flips f/{budget}-{split}.npy --budgets 0.20";
    let said = verified(&bench, &words(line));
    assert_eq!(said.status, 0, "{}{}", said.stdout, said.stderr);
    let report = bench.read("r.json").replace("\"robustness.mean_diff\": ", "\"robustness.mean_diff\": 1");
    bench.write("r.json", report);
    let said = bench.run("verify r.json");
    assert_eq!(said.status, 3, "{}{}", said.stdout, said.stderr);
    let mut flips = bench.bytes("f.npy");
    *flips.last_mut().unwrap() ^= 1;
    bench.write("f/0.20-1.npy", flips);
    let said = bench.run("verify r.json");
    assert_eq!(said.status, 3, "{}{}", said.stdout, said.stderr);
    assert!(format!("{}{}", said.stdout, said.stderr).contains("f/0.20-1.npy"), "{}", said.stderr);
}
