//! The binary on runs of attacked models: what is found, read, named, split and written.

use serde_json::{Value as Json, json};

use crate::support::robustness::{Members, by_hand, metric, warnings, with, without};
use crate::support::{Bench, f64s, i64s, npy, npz};

/// A run of eight nodes on a ring, with two budgets and numbers of its own.
fn ring(seed: u32) -> Members {
    let number = |k: u32| f64::from(k.wrapping_mul(2_654_435_761).wrapping_add(seed * 97) >> 20) / 512.0;
    let matrix = |salt: u32| f64s(&[8, 3], &(0..24).map(|k| number(k + salt)).collect::<Vec<_>>());
    let edges: Vec<i64> = (0..8).flat_map(|node| [node, (node + 1) % 8]).collect();
    vec![
        ("clean", matrix(0)),
        ("attacked_0.125", matrix(100)),
        ("attacked_0.25", matrix(200)),
        ("labels", i64s(&[8], &[0, 1, 2, 0, 1, 2, 0, 1])),
        ("test_mask", npy("|b1", &[8], &[1, 0, 1, 1, 0, 1, 1, 1])),
        ("train_idx", i64s(&[2], &[1, 4])),
        ("edges", i64s(&[8, 2], &edges)),
        ("flips_0.125", i64s(&[1, 2], &[0, 4])),
        ("flips_0.25", i64s(&[2, 2], &[4, 0, 1, 2])),
    ]
}

/// Three runs in a folder.
fn rings() -> Bench {
    let bench = Bench::new();
    for (name, seed) in [("split0", 1), ("split1", 2), ("deep/split.2", 3)] {
        bench.write(&format!("runs/{name}.npz"), npz(&ring(seed)));
    }
    bench
}

/// The report of a run without the hashes of its file.
fn report_of(members: &Members, line: &str) -> Json {
    let bench = Bench::new();
    bench.write("a.npz", npz(members));
    let mut report = bench.report(&format!("robustness a.npz {line}"));
    report["inputs"] = Json::Null;
    report
}

/// The first cells of a table.
fn units(table: &str) -> Vec<&str> {
    table.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect()
}

#[test]
fn a_comparison_shows_first_what_two_models_have_a_common_scale_for() {
    let bench = Bench::new();
    for (name, seed) in [("a", 1), ("b", 2)] {
        for run in 0..3 {
            let members = ring(100_003 * (seed + 10 * run));
            let one: Members = members.into_iter().filter(|(key, _)| !key.ends_with("_0.25")).collect();
            bench.write(&format!("{name}/{run}.npz"), npz(&one));
        }
        let line = format!("robustness {name} --state {name}.state --per-unit {name}.csv --quiet");
        assert_eq!(bench.run(&line).status, 0);
    }
    let said = bench.run("compare a.state b.state --resamples 50");
    assert_eq!(said.status, 0, "{}", said.stderr);
    let place =
        |id: &str| said.stdout.find(&format!("  {id} ")).unwrap_or_else(|| panic!("{id} in {}", said.stdout));
    assert!(place("bias_relative") < place("bias_total"), "{}", said.stdout);
    assert!(place("bias_total") < place("bias_mean"), "{}", said.stdout);
    assert!(said.stdout.contains("units that differ most in bias_relative"), "{}", said.stdout);
    for line in [
        "compare a.csv b.csv --json -",
        "compare a.state b.state --metric bias_total --metric bias_relative --json -",
    ] {
        let said = bench.run(&format!("{line} --resamples 50"));
        let read: Json = serde_json::from_str(&said.stdout).unwrap();
        let ids: Vec<&String> = read["metrics"].as_object().unwrap().keys().collect();
        assert_eq!(ids[..2], ["robustness.bias_relative", "robustness.bias_total"], "{line}");
    }
}

#[test]
fn units_are_named_by_the_path_below_the_folder_the_attack_and_the_budget() {
    let bench = rings();
    bench.write("runs/notes.txt", "x").write("runs/.hidden.npz", "x");
    let said = bench.run("robustness runs --per-unit units.csv --quiet");
    assert_eq!(said.status, 0, "{}", said.stderr);
    let table = bench.read("units.csv");
    assert!(table.starts_with("unit,run,attack,budget,n,bias_total,bias_mean,"), "{table}");
    let names = ["deep/split.2/0.125", "deep/split.2/0.25", "split0/0.125", "split0/0.25"];
    assert_eq!(units(&table)[..4], names);
    bench.run("robustness runs/deep/split.2.npz runs/split0.npz --attack pgd --per-unit units.csv --quiet");
    let names = ["split.2/pgd:0.125", "split.2/pgd:0.25", "split0/pgd:0.125", "split0/pgd:0.25"];
    assert_eq!(units(&bench.read("units.csv")), names);
    let said = bench.run_on("robustness - --json - --quiet", &bench.bytes("runs/split0.npz"));
    assert_eq!(said.status, 0, "{}", said.stderr);
    let report: Json = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&report["units"], &report["inputs"][0]["path"]), (&json!(2), &json!("-")));
}

#[test]
fn one_run_may_lie_in_several_files_of_other_budgets() {
    let bench = Bench::new();
    let whole = ring(1);
    let part = |budget: &str| {
        let other = if budget == "0.25" { "0.125" } else { "0.25" };
        let members: Members =
            whole.iter().filter(|(key, _)| !key.ends_with(&format!("_{other}"))).cloned().collect();
        npz(&members)
    };
    bench.write("weak/a.npz", part("0.125")).write("strong/a.npz", part("0.25")).write("a.npz", npz(&whole));
    let mut apart = bench.report("robustness strong/a.npz weak/a.npz");
    let mut together = bench.report("robustness a.npz");
    assert_eq!(apart["inputs"].as_array().unwrap().len(), 2);
    (apart["inputs"], together["inputs"]) = (Json::Null, Json::Null);
    assert_eq!(apart, together);
}

#[test]
fn every_form_of_a_graph_gives_the_same_report() {
    let expected = report_of(&by_hand(), "--bins 4");
    assert_eq!(metric(&expected, "bias_total"), 16.0);
    let attacked = [0, 1, 2, 3, 0, 2, 0, 3];
    let both = |pairs: &[i64]| {
        let (from, to): (Vec<i64>, Vec<i64>) = pairs.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
        i64s(&[2, pairs.len()], &[&from[..], &to, &to, &from].concat())
    };
    let form = |changes: &[(&'static str, Vec<u8>)], gone: &[&str]| {
        let mut members = with(changes);
        members.retain(|(key, _)| !gone.contains(key));
        report_of(&members, "--bins 4")
    };
    let narrow = npy("<i4", &[4, 2], &[0, 1, 1, 2, 2, 3, 0, 2].map(|n: i32| n.to_le_bytes()).concat());
    assert_eq!(form(&[("edges", narrow)], &[]), expected);
    let index = both(&[0, 1, 1, 2, 2, 3, 0, 2]);
    assert_eq!(form(&[("edge_index", index.clone())], &["edges"]), expected);
    let edges = i64s(&[4, 2], &attacked);
    assert_eq!(form(&[("edges_attacked_0.5", edges)], &["flips_0.5"]), expected);
    let both_ways = [("edge_index", index), ("edge_index_attacked_0.50", both(&attacked))];
    assert_eq!(form(&both_ways, &["edges", "flips_0.5"]), expected);
}

#[test]
fn budgets_may_stand_in_keys_in_arrays_or_on_the_command_line() {
    let expected = report_of(&by_hand(), "");
    let attacked = by_hand()[1].1.clone();
    let plain = |extra: &[(&'static str, Vec<u8>)]| {
        let mut members = without(&["attacked_0.5", "flips_0.5"]);
        members.extend([("attacked", attacked.clone()), ("flips", i64s(&[2, 2], &[0, 3, 1, 2]))]);
        members.extend_from_slice(extra);
        members
    };
    let half = npy("<f2", &[], &0x3800u16.to_le_bytes());
    assert_eq!(report_of(&plain(&[("budget", half)]), ""), expected);
    let mut flagged = report_of(&plain(&[]), "--budget 0.50");
    assert_eq!(flagged["reading"]["budget"], "0.5");
    flagged["reading"]["budget"] = Json::Null;
    assert_eq!(flagged, expected);
    let single = |values: &[f32]| {
        npy("<f4", &[values.len()], &values.iter().flat_map(|b| b.to_le_bytes()).collect::<Vec<_>>())
    };
    let (clean, slabs) = (vec![1.0; 8], vec![2.0; 16]);
    let members = vec![
        ("clean", f64s(&[4, 2], &clean)),
        ("attacked", f64s(&[2, 4, 2], &slabs)),
        ("budgets", single(&[0.1, 0.05])),
    ];
    let report = report_of(&members, "");
    let curve = metric(&report, "bias_curve").as_object().unwrap();
    assert_eq!(curve.keys().collect::<Vec<_>>(), ["0.05", "0.1"]);
}

#[test]
fn what_nothing_reads_is_named_once_and_never_opened() {
    let object = npy("|O", &[1], b"\x80\x03.");
    let members = with(&[("idx_to_node", object), ("flips_0.7", i64s(&[1, 2], &[0, 1]))]);
    let report = report_of(&members, "");
    let unknown: Vec<&Json> =
        report["warnings"].as_array().unwrap().iter().filter(|w| w["code"] == "unknown_keys").collect();
    let [only] = unknown[..] else { panic!("{unknown:?}") };
    assert_eq!(only["units"], json!(["a/0.5"]));
    let message = only["message"].as_str().unwrap();
    assert!(message.contains("idx_to_node") && message.contains("flips_0.7"), "{message}");
    assert_eq!(report["metrics"], report_of(&by_hand(), "")["metrics"]);
    let bench = Bench::new();
    bench.write("a.npz", npz(&members));
    let said = bench.run("robustness a.npz --json out.json --strict");
    assert_eq!(said.status, 3, "{}", said.stderr);
    assert!(said.stderr.contains("warning[unknown_keys]"), "{}", said.stderr);
}

#[test]
fn threads_shards_and_orders_give_the_same_bytes() {
    let bench = rings();
    let line = "robustness runs --bins 6 --hist-range 0,4 --cutoff 1";
    let whole = bench.run(&format!("{line} --json - --quiet --per-node nodes.parquet"));
    assert_eq!(whole.status, 0, "{}", whole.stderr);
    let nodes = bench.bytes("nodes.parquet");
    for threads in [1, 2, 7] {
        let said = bench.run(&format!(
            "{line} --json - --quiet --threads {threads} --per-node nodes.parquet --state whole.state"
        ));
        assert_eq!(said.stdout, whole.stdout);
        assert_eq!(bench.bytes("nodes.parquet"), nodes);
    }
    assert_eq!(bench.run("show whole.state --json - --quiet").stdout, whole.stdout);
    for shards in [2, 3, 5] {
        for i in 1..=shards {
            let said = bench.run(&format!("{line} --shard {i}/{shards} --state {i}.state --quiet"));
            assert_eq!(said.status, 0, "{}", said.stderr);
        }
        let forward: Vec<String> = (1..=shards).map(|i| format!("{i}.state")).collect();
        let backward: Vec<String> = forward.iter().rev().cloned().collect();
        let first = bench.run(&format!("merge {} -o ab.state --json - --quiet", forward.join(" ")));
        let second = bench.run(&format!("merge {} 1.state -o ba.state --json - --quiet", backward.join(" ")));
        assert_eq!(first.stdout, whole.stdout, "{}", first.stderr);
        assert_eq!(second.stdout, whole.stdout);
        assert_eq!(bench.bytes("ab.state"), bench.bytes("ba.state"));
    }
    let line = "robustness runs/split1.npz runs/split0.npz";
    let other = "robustness runs/split0.npz runs/split1.npz";
    assert_eq!(bench.report(line), bench.report(other));
}

#[test]
fn several_attacks_meet_in_a_merge() {
    let bench = rings();
    for (attack, run) in [("pgd", "split0"), ("meta", "split1")] {
        let line = format!("robustness runs/{run}.npz --attack {attack} --state {attack}.state --quiet");
        assert_eq!(bench.run(&line).status, 0);
    }
    let report = bench.report("merge pgd.state meta.state -o all.state");
    let conditions: Vec<&String> = metric(&report, "curve").as_object().unwrap().keys().collect();
    assert_eq!(conditions, ["meta:0.125", "meta:0.25", "pgd:0.125", "pgd:0.25"]);
    let reason = &report["undefined"]["robustness.bias_slope"];
    assert_eq!(reason, "report holds 2 attacks");
    assert!(metric(&report, "accuracy_average").is_f64());
    assert_eq!(
        report["reading"],
        json!([{"attack": "meta", "budget": null}, {"attack": "pgd", "budget": null}])
    );
}

#[test]
fn a_table_has_a_line_for_every_node_of_the_subset() {
    let bench = Bench::new();
    bench.write("a.npz", npz(&by_hand()));
    let run = |line: &str| {
        let said = bench.run(&format!("robustness a.npz --quiet {line}"));
        assert_eq!(said.status, 0, "{}", said.stderr);
    };
    run("--per-node nodes.csv");
    assert_eq!(
        bench.read("nodes.csv"),
        "unit,node,bias,clean_norm2,touched,test,clean_pred,attacked_pred\n\
         a/0.5,0,0.0,9.0,1,1,0,0\n\
         a/0.5,1,4.0,16.0,1,1,1,1\n\
         a/0.5,2,4.0,2.0,1,1,0,1\n\
         a/0.5,3,8.0,4.0,1,1,0,1\n"
    );
    bench.write("a.npz", npz(&with(&[("test_idx", i64s(&[2], &[3, 1]))])));
    run("--nodes test --per-node nodes.jsonl");
    let lines = bench.read("nodes.jsonl");
    let lines: Vec<Json> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().map(|line| line["node"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 3]);
    let bare: Members =
        vec![("clean", f64s(&[2, 1], &[1.0, 2.0])), ("attacked_0.1", f64s(&[2, 1], &[0.0, 0.0]))];
    bench.write("a.npz", npz(&bare));
    run("--per-node nodes.csv");
    assert_eq!(bench.read("nodes.csv").lines().nth(1), Some("a/0.1,0,1.0,1.0,,,,"));
}

#[test]
fn empty_lists_have_no_shape_and_are_taken() {
    let none = npy("<f8", &[0], &[]);
    let changed = with(&[("flips_0.5", none.clone()), ("test_idx", none)]);
    let report = report_of(&changed, "");
    assert_eq!(metric(&report, "flips_added"), 0.0);
    assert_eq!(report["undefined"]["robustness.robust_accuracy"], "test set is empty");
    assert_eq!(warnings(&report)["under_budget"], json!(["a/0.5"]));
}
