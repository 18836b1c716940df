//! Every bad input of the RUNG model and of its graphs is refused with exit status 1 (or 2 for
//! wrong usage) and a message that says what, where, which value and what to do.

use crate::support::rung::{
    EDGES, GRAPH, LABELS, archive, bench, both, csr, edges, features, keyed, metadata, pt, safetensors,
    scipy, weights, with,
};
use crate::support::{Bench, f64s, i64s, npy, npz};

const TRAIN: &str = "robustness train --graph g.npz --splits s.json --out out.safetensors --epochs 2";
const MCP: &str = "--penalty mcp --weights exact --gamma 3";

/// Measures with one file replaced.
fn refuses_file(name: &str, bytes: impl AsRef<[u8]>, parts: &[&str]) {
    let bench = bench();
    bench.write(name, bytes);
    let mut parts = parts.to_vec();
    parts.push(name);
    bench.refuses(&format!("robustness {GRAPH} --flips 0.2=f.npy"), 1, &parts);
}

fn measure(bench: &Bench, line: &str, status: i32, parts: &[&str]) {
    bench.refuses(&format!("robustness {line}"), status, parts);
}

#[test]
fn settings_outside_their_range_are_wrong_usage() {
    let bench = bench();
    for (flags, parts) in [
        ("--penalty mcp --weights exact --gamma 0", &["gamma", "above 0"][..]),
        ("--penalty mcp --weights exact --gamma -1", &["gamma", "above 0"]),
        ("--penalty mcp --weights exact", &["mcp", "gamma"]),
        ("--penalty scad --weights exact", &["scad", "gamma"]),
        ("--penalty adaptive --weights exact", &["adaptive", "gamma"]),
        ("--penalty l1 --weights exact --gamma 3", &["l1", "no gamma"]),
        ("--penalty l2 --weights exact --gamma 3", &["l2", "no gamma"]),
        ("--weights exact", &["--penalty", "l2, l1, mcp, scad, adaptive"]),
        ("--penalty l1", &["--weights", "legacy, fixed, exact"]),
        (&format!("{MCP} --lambda-hat 0"), &["lambda_hat", "above 0, up to 1"]),
        (&format!("{MCP} --lambda-hat 1.1"), &["lambda_hat", "above 0, up to 1"]),
        (&format!("{MCP} --dropout 1"), &["dropout", "below 1"]),
        (&format!("{MCP} --dropout -0.1"), &["dropout", "from 0"]),
        (&format!("{MCP} --lr 0"), &["learning rate", "above 0"]),
        (&format!("{MCP} --hidden 0"), &["hidden", "above 0"]),
    ] {
        bench.refuses(&format!("{TRAIN} {flags}"), 2, parts);
    }
    for flags in [
        format!("{MCP} --layers -1"),
        "--penalty mpc --weights exact".into(),
        format!("{MCP} --scad-scale two"),
    ] {
        let said = bench.run(&format!("{TRAIN} {flags}"));
        assert_eq!(said.status, 2, "{flags}: {}", said.stderr);
    }
    assert!(!bench.path("out.safetensors").exists());
}

#[test]
fn a_checkpoint_without_settings_needs_flags() {
    let bench = bench();
    bench.write("bare.safetensors", safetensors(None, &weights()));
    let line = "--graph g.npz --splits s.json --model bare.safetensors --flips 0.2=f.npy";
    measure(&bench, line, 1, &["bare.safetensors", "--penalty, --weights, --gamma"]);
    measure(
        &bench,
        &format!("{line} --penalty mcp --weights exact"),
        1,
        &["bare.safetensors", "give --gamma"],
    );
    assert_eq!(bench.run(&format!("robustness {line} --penalty l1 --weights exact --quiet")).status, 0);
    bench.refuses("robustness convert bare.safetensors a.pt", 1, &["bare.safetensors", "--penalty"]);
}

#[test]
fn settings_in_a_checkpoint_are_named_where_they_are_wrong_and_flags_win() {
    let bench = bench();
    let line = "--graph g.npz --splits s.json --model m.safetensors --flips 0.2=f.npy";
    let mut bad = metadata();
    bad.insert("gamma", "-1");
    bench.write("m.safetensors", safetensors(Some(&bad), &weights()));
    let words = [
        "file: m.safetensors\n",
        "at: metadata gamma\n",
        "found: -1\n",
        "allowed: numbers above 0\n",
        "--gamma",
    ];
    measure(&bench, line, 1, &words);
    let said = bench.run(&format!("robustness {line} --gamma 3"));
    assert!(said.status == 0 && said.stdout.contains("gamma -1 by 3"), "{}", said.stdout);
    bad.remove("gamma");
    bad.remove("weights");
    bench.write("m.safetensors", safetensors(Some(&bad), &weights()));
    measure(&bench, line, 1, &["m.safetensors", "give --weights, --gamma"]);
    let said = bench.run(&format!("robustness {line} {MCP}"));
    assert!(said.status == 0 && !said.stdout.contains("penalty_replaced"), "{}", said.stdout);
}

/// Name, shape and values of a tensor.
type Named = (&'static str, &'static [usize], Vec<f32>);

#[test]
fn a_checkpoint_that_does_not_fit_is_named_by_tensor() {
    let model = |change: &dyn Fn(&mut Vec<Named>)| {
        let mut tensors = weights();
        change(&mut tensors);
        safetensors(Some(&metadata()), &tensors)
    };
    refuses_file("m.safetensors", model(&|t| drop(t.pop())), &["mlp.1.bias", "missing"]);
    refuses_file("m.safetensors", model(&|t| t.clear()), &["mlp.0.weight", "missing"]);
    refuses_file("m.safetensors", model(&|t| t[1] = ("mlp.0.bias", &[3], vec![0.0; 3])), &["mlp.0.bias"]);
    refuses_file("m.safetensors", model(&|t| t[0].2[4] = f32::NAN), &["mlp.0.weight"]);
    refuses_file("m.safetensors", model(&|t| t[0].2[4] = f32::INFINITY), &["mlp.0.weight"]);
    refuses_file(
        "m.safetensors",
        model(&|t| t[0] = ("mlp.0.weight", &[2, 4], vec![0.0; 8])),
        &["4 inputs", "3, the features"],
    );
    refuses_file(
        "m.safetensors",
        safetensors(Some(&[("model", "gcn")].into()), &weights()),
        &["gcn", "rung"],
    );
    refuses_file("m.safetensors", b"\x02\0\0\0\0\0\0\0{", &["safetensors"]);
    let labels = i64s(&[8], &[0, 0, 0, 0, 1, 1, 1, 5]);
    let bench = bench();
    bench.write("g.npz", npz(&with(keyed(), &[("labels", labels)])));
    measure(&bench, &format!("{GRAPH} --flips 0.2=f.npy"), 1, &["m.safetensors", "2 classes", "6 or more"]);
    bench.write("m.bin", b"x");
    measure(
        &bench,
        "--graph g.npz --splits s.json --model m.bin --flips 0.2=f.npy",
        1,
        &["m.bin", ".safetensors, .pt"],
    );
}

#[test]
fn a_pickle_is_read_as_data_or_not_at_all() {
    let bench = bench();
    let refuses = |bytes: &[u8], parts: &[&str]| {
        bench.write("m.pt", bytes);
        let mut parts = parts.to_vec();
        parts.push("m.pt");
        measure(
            &bench,
            &format!("--graph g.npz --splits s.json --model m.pt --flips 0.2=f.npy {MCP}"),
            1,
            &parts,
        );
    };
    refuses(
        &pt(b"\x80\x02cos\nsystem\n(X\x02\0\0\0lstR.", &[]),
        &["os.system", "nothing was executed", "state_dict()"],
    );
    let module = b"\x80\x02c__main__\nRUNG\n)\x81}(X\x08\0\0\0_modules}X\x0b\0\0\0_parameters}ub.";
    refuses(&pt(module, &[]), &["__main__.RUNG", "pickled module", "save state_dict() instead"]);
    refuses(&pt(b"\x80\x02}.", &[("byteorder", b"big")]), &["big-endian", "byteorder"]);
    refuses(&pt(b"\x80\x02]}a.", &[]), &["tensor missing"]);
    refuses(&pt(b"\x80\x02](}}e.", &[]), &["a list of 2", "state_dict()"]);
    refuses(&pt(b"\x80\x02K\x05.", &[]), &["dictionary of tensors"]);
    let wrapped = b"\x80\x02}X\x0a\0\0\0state_dict}s.";
    refuses(
        &pt(wrapped, &[]),
        &["at: tensor state_dict", "help: save the inner state dict", "[\"state_dict\"]"],
    );
    refuses(
        &pt(b"\x80\x02}X\x05\0\0\0epochK\x03s.", &[]),
        &["at: tensor epoch", "floats", "state_dict() alone"],
    );
    refuses(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", &["PyTorch before 1.6"]);
    refuses(b"not a zip archive at all", &["not a zip archive"]);
}

#[test]
fn labels_and_train_nodes_must_be_there() {
    let bench = bench();
    bench.write("none.json", r#"{"train": [], "test": [1]}"#).write("test.json", r#"{"test": [1]}"#);
    let two = |splits: &str, parts: &[&str]| {
        let line = format!("robustness train --graph g.npz --splits {splits} --out out.safetensors {MCP}");
        bench.refuses(&line, 1, parts);
    };
    two("none.json", &["none.json", "no train nodes", "split 0, key train"]);
    two("test.json", &["test.json", "no train nodes"]);
    bench.write("far.json", r#"[{"train": [0, 8]}]"#);
    two("far.json", &["far.json", "entry 0, key train, position 1", "found: 8", "0 to 7"]);
    bench.write("bare.npz", npz(&keyed()[..2]));
    let line = format!("--splits s.json --out out.safetensors {MCP}");
    bench.refuses(
        &format!("robustness train --graph bare.npz {line}"),
        1,
        &["bare.npz", "no labels", "--labels-file"],
    );
    for (labels, parts) in [
        (i64s(&[8], &[0, 0, -1, 0, 1, 1, 1, 1]), ["labels, node 2", "found: -1"]),
        (f64s(&[8], &[0.0, 0.0, 0.0, 0.0, 1.0, 2.7, 1.0, 1.0]), ["labels, node 5", "found: 2.7"]),
        (i64s(&[7], &LABELS[..7]), ["(7,)", "(8,)"]),
    ] {
        bench.write("bad.npz", npz(&with(keyed(), &[("labels", labels)])));
        bench.refuses(
            &format!("robustness train --graph bad.npz {line}"),
            1,
            &[parts[0], parts[1], "bad.npz"],
        );
    }
    bench.write("one.json", r#"{"train": [0], "val": [], "test": [4]}"#);
    let said =
        bench.run(&format!("robustness train --graph g.npz {line} --epochs 2").replace("s.json", "one.json"));
    assert!(said.status == 0 && said.stderr.contains("no train node is of class 1"), "{}", said.stderr);
}

#[test]
fn features_that_are_no_numbers_are_placed() {
    let mut values = features();
    values[7] = f64::NAN;
    refuses_file("g.npz", npz(&with(keyed(), &[("features", f64s(&[8, 3], &values))])), &["[2, 1]", "NaN"]);
    refuses_file(
        "g.npz",
        npz(&with(keyed(), &[("features", f64s(&[24], &features()))])),
        &["two axes", "key features"],
    );
    refuses_file("g.npz", npz(&with(keyed(), &[("features", npy("|O", &[8, 3], b"x"))])), &["key features"]);
    refuses_file("g.npz", npz(&[("edges", edges(&EDGES))]), &["how many nodes"]);
}

#[test]
fn a_graph_that_is_not_simple_is_refused_with_counts_and_a_way_out() {
    let graph = |entries: &[(i64, i64, f64)]| {
        let mut members = csr("adj_", 8, entries);
        members.push(("labels".into(), i64s(&[8], &LABELS)));
        archive(&members)
    };
    let mut looped = both(&EDGES);
    looped.extend([(2, 2, 1.0), (5, 5, 1.0)]);
    refuses_file("g.npz", graph(&looped), &["entry [2, 2]", "2 self loops", "--prepare rung"]);
    let mut weighted = both(&EDGES);
    weighted[2].2 = 0.5;
    refuses_file(
        "g.npz",
        graph(&weighted),
        &["entry [1, 2]", "0.5", "1 weights other than 1", "--prepare rung"],
    );
    let directed: Vec<_> = both(&EDGES).into_iter().step_by(2).collect();
    refuses_file(
        "g.npz",
        graph(&directed),
        &["entry [0, 1]", "(0, 1) without (1, 0)", "9 entries", "--prepare rung"],
    );
    let twice: Vec<(i64, i64)> = EDGES.iter().copied().chain([(1, 0)]).collect();
    refuses_file(
        "g.npz",
        npz(&with(keyed(), &[("edges", edges(&twice))])),
        &["[0, 1]", "repeated", "--prepare rung"],
    );
    refuses_file(
        "g.npz",
        npz(&with(keyed(), &[("edges", edges(&[(0, 8)]))])),
        &["edges, row 0", "found: 8", "0 to 7"],
    );
    let transposed = i64s(&[2, 9], &[0; 18]);
    refuses_file("g.npz", npz(&with(keyed(), &[("edges", transposed)])), &["looks transposed"]);
    refuses_file(
        "g.npz",
        npz(&[("nodes", i64s(&[1], &[3]))]),
        &["no graph of a known form", "nodes", "edge_index"],
    );
    let mut short = csr("adj_", 8, &both(&EDGES));
    short.remove(1);
    refuses_file("g.npz", archive(&short), &["adj_indptr", "missing"]);
}

#[test]
fn an_attacked_graph_that_does_not_fit_is_never_mended() {
    let bench = bench();
    let refuses = |name: &str, bytes: Vec<u8>, parts: &[&str]| {
        bench.write(name, bytes);
        let mut parts = parts.to_vec();
        parts.push(name);
        measure(&bench, &format!("{GRAPH} --attacked 0.2={name}"), 1, &parts);
    };
    refuses("a.npz", scipy(7, &both(&[(0, 1)])), &["7 nodes", "8, the nodes"]);
    refuses("a.npz", scipy(8, &[(0, 1, 1.0)]), &["(0, 1) without (1, 0)", "never repaired"]);
    refuses("a.npz", scipy(8, &[(3, 3, 1.0)]), &["entry [3, 3]", "1 self loops"]);
    refuses("a.npz", scipy(8, &[(0, 1, 2.0), (1, 0, 2.0)]), &["entry [0, 1]", "found: 2"]);
    refuses("a.txt", b"0 1\n1 8\n".to_vec(), &["line 2", "found: 8", "N = 8"]);
    refuses("a.npy", i64s(&[1, 2], &[0, 1]), &["no graph file"]);
    let mut csc = csr("", 8, &both(&EDGES));
    csc.push(("format".into(), npy("|S3", &[], b"csc")));
    refuses("a.npz", archive(&csc), &["key format", "csc", "csr"]);
    for (flips, parts) in [
        (i64s(&[1, 2], &[0, 8]), ["row 0", "0 to 7"]),
        (i64s(&[1, 2], &[3, 3]), ["self loop", "row 0"]),
        (i64s(&[2, 2], &[0, 1, 1, 0]), ["repeated flip", "(0, 1)"]),
        (i64s(&[2, 3], &[0; 6]), ["(2, 3)", "transposed"]),
    ] {
        refuses_file("f.npy", flips, &parts);
    }
    refuses_file("f.npy", b"\x93NUMPY\x01\x00", &["npy"]);
    measure(&bench, &format!("{GRAPH} --flips 0.2=g.npz"), 1, &["g.npz", ".npy"]);
}

#[test]
fn splits_that_do_not_fit_are_named() {
    let bench = bench();
    let refuses = |line: &str, status: i32, parts: &[&str]| {
        measure(
            &bench,
            &format!("--graph g.npz --model m.safetensors --flips 0.2=f.npy {line}"),
            status,
            parts,
        );
    };
    refuses("--splits two.json --split 2", 1, &["two.json", "--split 2", "0 to 1"]);
    refuses("--splits two.json", 2, &["--split K is needed", "0 to 1"]);
    refuses("--splits two.json --split 0,0", 2, &["twice"]);
    refuses("--splits masks", 1, &["g.npz", "no masks"]);
    refuses("", 2, &["--splits is missing", "masks", "stratified:S"]);
    bench.write("train.json", r#"[{"train": [0]}]"#);
    refuses("--splits train.json", 1, &["train.json", "no test nodes", "split 0, key test"]);
    refuses(
        "--splits two.json --split 1 --trained-on train.json",
        1,
        &["train.json", "--trained-on, split 1"],
    );
    for (text, parts) in [
        (r#"[{"train": [0], "test": [1, 9]}]"#, ["entry 0, key test, position 1", "found: 9"]),
        (r#"[{"train": [0], "test": [1, 1]}]"#, ["twice", "node 1"]),
        (r#"{"test": [-1]}"#, ["key test, position 0", "found: -1"]),
        ("[]", ["no splits", "train, val and test"]),
        ("{", ["not a JSON document", "line 1"]),
    ] {
        bench.write("bad.json", text);
        refuses("--splits bad.json", 1, &[parts[0], parts[1], "bad.json"]);
    }
    for split in ["x", "-1", "0,a"] {
        let words = ["--split", "whole numbers, from 0 on"];
        refuses(&format!("--splits two.json --split {split}"), 2, &words);
        bench.refuses(&format!("robustness reproduce --graph g.npz --out o --split {split}"), 2, &words);
    }
    refuses("--splits missing.json", 1, &["missing.json"]);
}

#[test]
fn what_cannot_be_asked_together_is_wrong_usage() {
    let bench = bench();
    let refuses = |line: &str, parts: &[&str]| measure(&bench, line, 2, parts);
    refuses("--graph g.npz", &["--model is missing"]);
    refuses("--model m.safetensors", &["--model needs --graph"]);
    refuses(GRAPH, &["--attacked B=FILE or --flips B=FILE"]);
    refuses(&format!("{GRAPH} --flips five=f.npy"), &["\"five\" is not a decimal fraction >= 0"]);
    refuses(&format!("{GRAPH} --flips f.npy"), &["B=FILE"]);
    refuses(&format!("{GRAPH} --flips {{budget}}.npy"), &["--budgets"]);
    refuses(&format!("{GRAPH} --flips 0.2=f.npy --budgets 0.2"), &["--budgets"]);
    refuses(&format!("{GRAPH} --flips 0.2=f.npy --attacked 0.20=g.npz"), &["twice", "0.2"]);
    refuses(&format!("{GRAPH} --flips 0.2=f.npy a.npz"), &["a.npz"]);
    refuses(&format!("{GRAPH} --flips 0.2=f.npy --seeds 3"), &["--seeds"]);
    refuses(&format!("{GRAPH} --flips 0.2={{seed}}.npy"), &["--seeds"]);
    refuses(&format!("{GRAPH} --flips 0.2=f.npy --bins 0"), &["--bins"]);
    let two = "--graph g.npz --splits two.json --split 0,1 --model m.safetensors --flips 0.2=f.npy";
    refuses(&format!("{two} --run a"), &["--run", "2 runs"]);
    bench.write("0.safetensors", crate::support::rung::checkpoint());
    let mut other = metadata();
    other.insert("gamma", "5");
    bench.write("1.safetensors", safetensors(Some(&other), &weights()));
    let line = two.replace("m.safetensors", "{split}.safetensors");
    measure(&bench, &line, 1, &["1.safetensors", "different settings", "gamma 3 and 5"]);
    assert_eq!(bench.run(&format!("robustness {line} --gamma 5 --quiet")).status, 0);
}

#[test]
fn an_attack_says_what_it_lacks() {
    let bench = bench();
    let attack = |line: &str, status: i32, parts: &[&str]| {
        bench.refuses(
            &format!("robustness attack --graph g.npz --model m.safetensors --out flips {line}"),
            status,
            parts,
        );
    };
    bench.write("train.json", r#"{"train": [0]}"#).write("empty.json", r#"{"train": [0], "test": []}"#);
    attack("--splits train.json --budgets 0.2", 1, &["train.json", "no test nodes"]);
    attack("--splits empty.json --budgets 0.2", 1, &["empty.json", "no test nodes"]);
    attack("--splits s.json --budgets five", 2, &["\"five\" is not a decimal fraction >= 0"]);
    attack("--splits s.json --budgets 0.2,0.20", 2, &["twice"]);
    attack("--splits s.json --budgets 0.2 --attack-memory 10", 1, &["8", "10"]);
    attack("--splits two.json --split 0,1 --budgets 0.2", 2, &["one split"]);
    let blocks = "--splits s.json --budgets 0.5 --method prbcd --block-size";
    attack(&format!("{blocks} 3"), 1, &["a block of 3 pairs", "at least 4", "--block-size", "budget 0.5"]);
    attack(
        &format!("{blocks} 10 --attack-memory 600"),
        1,
        &["a block of 10 pairs", "640 bytes", "600 bytes", "lower --block-size"],
    );
    attack("--splits s.json --budgets 0.2 --block-size 5", 2, &["--block-size belongs to --method prbcd"]);
    attack("--splits s.json --budgets 0.2 --block-size 5 --method random", 2, &["--method prbcd"]);
    for size in ["0", "-1", "many"] {
        let line =
            format!("robustness attack {GRAPH} --out flips --budgets 0.5 --method prbcd --block-size {size}");
        assert_eq!(bench.run(&line).status, 2, "{size}");
    }
    bench.write("file", "x");
    let line =
        "robustness attack --graph g.npz --model m.safetensors --splits s.json --budgets 0.2 --out file";
    bench.refuses(line, 1, &["file"]);
}

#[test]
fn numbers_that_become_infinite_are_placed() {
    let bench = bench();
    let mut tensors = weights();
    tensors[2].2 = vec![f32::MAX; 4];
    tensors[0].2 = vec![f32::MAX; 6];
    bench.write("m.safetensors", safetensors(Some(&metadata()), &tensors));
    let mut values = features();
    values.iter_mut().for_each(|value| *value *= 1e300);
    bench.write("g.npz", npz(&with(keyed(), &[("features", f64s(&[8, 3], &values))])));
    measure(&bench, &format!("{GRAPH} --flips 0.2=f.npy"), 1, &["m.safetensors", "node 0"]);
    bench.write("g.npz", npz(&keyed()));
    bench.refuses(&format!("{TRAIN} {MCP} --lr 1e300 --quiet"), 1, &["not finite", "epoch 2"]);
    // The loss is finite, and an f32 does not hold the weights.
    bench.refuses(
        &format!("{TRAIN} {MCP} --lr 1e39 --quiet"),
        1,
        &["weights are not finite", "epoch 2", "help:"],
    );
    assert!(!bench.path("out.safetensors").exists());
}
