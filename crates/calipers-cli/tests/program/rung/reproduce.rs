//! `calipers robustness reproduce` on the graph that needs no file.

use serde_json::Value as Json;

use crate::support::Bench;

const SHORT: &str = "robustness reproduce --graph synthetic --penalties l1,mcp,l2 --budgets 0.05,0.2 \
                     --epochs 20 --steps 5 --samples 3 --seeds 3,4 --quiet";

#[test]
fn figures_tables_and_verdicts_are_the_same_for_any_thread_count_and_after_an_interruption() {
    let bench = Bench::new();
    assert_eq!(bench.run(&format!("{SHORT} --out a --threads 1")).status, 0);
    assert_eq!(bench.run(&format!("{SHORT} --out b --threads 3")).status, 0);
    let files =
        ["figure6.csv", "figure6.svg", "figure6.png", "figure7.csv", "figure7.svg", "expectations.json"];
    for file in files {
        assert!(bench.bytes(&format!("a/{file}")) == bench.bytes(&format!("b/{file}")), "{file}");
    }
    // A killed run leaves finished parts and no others.
    let flips = "a/flips/mcp-exact/0.2/split0-seed4.npy";
    let (before, page) = (bench.bytes(flips), bench.bytes("a/index.html"));
    std::fs::remove_file(bench.path(flips)).unwrap();
    std::fs::remove_file(bench.path("a/models/l2-exact/split0-seed3.safetensors")).unwrap();
    assert_eq!(bench.run(&format!("{SHORT} --out a --resume")).status, 0);
    assert!(bench.bytes(flips) == before && bench.bytes("a/index.html") == page);
}

#[test]
fn what_was_expected_is_judged_by_what_was_measured() {
    let bench = Bench::new();
    assert_eq!(bench.run(&format!("{SHORT} --out a")).status, 0);
    let verdicts: Json = serde_json::from_str(&bench.read("a/expectations.json")).unwrap();
    let ids: Vec<&str> =
        verdicts.as_array().unwrap().iter().map(|found| found["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["l1_linear", "mcp_near_zero", "scad_like_mcp", "adaptive_below_mcp", "figure7"]);
    assert_eq!((&verdicts[2]["held"], &verdicts[2]["why"]), (&Json::Null, &"scad was not measured".into()));
    assert!(verdicts[4]["measured"]["mcp"]["clean_accuracy"].is_number());
    let table = bench.read("a/figure6.csv");
    let head = "penalty,weights,gamma,split,seed,budget,allowed,flips,bias_total,bias_mean,bias_relative,\
                clean_accuracy,robust_accuracy";
    assert_eq!(table.lines().next(), Some(head));
    assert_eq!(table.lines().count(), 1 + 3 * 2 * 2);
    assert!(table.lines().nth(1).unwrap().starts_with("l1,exact,,0,3,0.05,"), "{table}");
    let reports: Json = serde_json::from_str(&bench.read("a/report.json")).unwrap();
    assert_eq!(reports.as_array().map(Vec::len), Some(3));
    assert_eq!(reports[1]["protocol"]["model_settings"]["penalty"], "mcp");
    assert_eq!(reports[1]["protocol"]["model"], "mcp");
}

#[test]
fn warnings_name_the_penalty_and_the_units() {
    let bench = Bench::new();
    let said = bench.run(&format!("{} --out a", SHORT.replace("--quiet", "--no-progress")));
    assert_eq!(said.status, 0, "{}", said.stderr);
    let line = said.stderr.lines().find(|line| line.starts_with("warning[under_budget]")).unwrap();
    assert!(line.contains("]: l1: in ") && line.contains(" (split0-seed"), "{line}");
}

#[test]
fn a_graph_that_no_attack_moves_is_judged_in_words() {
    let bench = Bench::new();
    let ring: Vec<(i64, i64)> = (0..10).map(|node| (node, (node + 1) % 10)).collect();
    let members = [
        ("edges", crate::support::rung::edges(&ring)),
        ("features", crate::support::f64s(&[10, 2], &(0..20).map(|k| f64::from(k % 3)).collect::<Vec<_>>())),
        ("labels", crate::support::i64s(&[10], &(0..10).map(|node| node % 2).collect::<Vec<_>>())),
    ];
    bench.write("ring.npz", crate::support::npz(&members));
    let line = "robustness reproduce --graph ring.npz --steps 5 --samples 3 --epochs 5 --seeds 18446744073709551615 --out a";
    let said = bench.run(line);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(said.stdout.contains("(both are 0)"), "{}", said.stdout);
    assert!(!said.stdout.contains("NaN") && !said.stdout.contains("inf"), "{}", said.stdout);
    assert!(bench.read("a/figure6.csv").contains(",18446744073709551615,"));
}

#[test]
fn the_share_of_a_budget_is_one_division_of_whole_numbers() {
    let bench = Bench::new();
    let line = SHORT.replace("l1,mcp,l2", "l1").replace("0.05,0.2", "0.15,0.2,0.3").replace("3,4", "3,4,5");
    assert_eq!(bench.run(&format!("{line} --out a")).status, 0);
    let verdicts: Json = serde_json::from_str(&bench.read("a/expectations.json")).unwrap();
    let table = bench.read("a/figure6.csv");
    for budget in ["0.15", "0.2", "0.3"] {
        let rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let counts: Vec<[u64; 2]> = rows
            .filter(|cells| cells[5] == budget)
            .map(|cells| [cells[7], cells[6]].map(|cell| cell.parse().unwrap()))
            .collect();
        assert_eq!(counts.len(), 3);
        let [flips, allowed] = [0, 1].map(|k| counts.iter().map(|count| count[k]).sum::<u64>() as f64);
        let share = &verdicts[0]["measured"]["l1"]["share_of_budget_used"][budget];
        assert_eq!(share.as_f64(), Some(flips / allowed), "{budget}");
    }
}

#[test]
fn an_occupied_folder_and_other_settings_are_refused() {
    let bench = Bench::new();
    assert_eq!(bench.run(&format!("{SHORT} --out a")).status, 0);
    let said = bench.run(&format!("{SHORT} --out a"));
    assert!(said.status == 1 && said.stderr.contains("--resume"), "{}", said.stderr);
    let said = bench.run(&format!("{} --out a --resume", SHORT.replace("--steps 5", "--steps 6")));
    assert!(said.status == 1 && said.stderr.contains("steps"), "{}", said.stderr);
    let said = bench.run("robustness reproduce --graph synthetic --gamma -1 --out b");
    assert!(said.status == 2 && said.stderr.contains("gamma"), "{}", said.stderr);
    let said = bench.run("robustness reproduce --graph synthetic --budgets 0.1,0.10 --out b");
    assert!(said.status == 2 && said.stderr.contains("twice"), "{}", said.stderr);
}

#[test]
fn another_form_of_the_weights_is_refused_and_a_further_one_is_added() {
    let bench = Bench::new();
    let line = SHORT.replace("l1,mcp,l2", "l1,mcp");
    assert_eq!(bench.run(&format!("{line} --weights exact --out a")).status, 0);
    let (model, table) =
        (bench.bytes("a/models/mcp-exact/split0-seed3.safetensors"), bench.read("a/figure6.csv"));
    let other = ["settings.json", "at: weights", "found: exact", "allowed: legacy", "help:"];
    bench.refuses(&format!("{line} --weights legacy --out a --resume"), 1, &other);
    assert_eq!(bench.read("a/figure6.csv"), table);
    let other = ["at: mcp-exact, gamma", "found: 6", "allowed: 5"];
    bench.refuses(&format!("{line} --gamma 5 --out a --resume"), 1, &other);
    // What is finished is kept, whatever else is asked for: a page made at once holds the same numbers.
    let more = line
        .replace("--seeds 3,4", "--seeds 3,5 --splits stratified:2 --split 1,0")
        .replace("0.05,0.2", "0.2,0.1")
        + " --weights legacy,exact";
    assert_eq!(bench.run(&format!("{more} --out a --resume")).status, 0);
    assert_eq!(bench.bytes("a/models/mcp-exact/split0-seed3.safetensors"), model);
    assert_eq!(bench.run(&format!("{more} --out b")).status, 0);
    assert_eq!(bench.read("a/figure6.csv"), bench.read("b/figure6.csv"));
    // No penalty of the first run takes a gamma, so that any may be added.
    let l1 = SHORT.replace("l1,mcp,l2", "l1");
    assert_eq!(bench.run(&format!("{l1} --out c")).status, 0);
    assert_eq!(bench.run(&format!("{line} --gamma 2 --out c --resume")).status, 0);
}

#[test]
fn a_graph_that_has_changed_is_refused_and_one_that_was_moved_is_not() {
    let bench = crate::support::rung::bench();
    let line = "robustness reproduce --graph g.npz --splits s.json --penalties l1 --budgets 0.2 --epochs 2 \
                --steps 2 --samples 2 --quiet --out a";
    assert_eq!(bench.run(line).status, 0);
    bench.write("moved/s.json", bench.bytes("s.json"));
    let moved = line.replace("s.json", "moved/s.json");
    assert_eq!(bench.run(&format!("{moved} --resume")).status, 0);
    bench.write("moved/s.json", r#"{"train": [0, 4], "test": [1, 5]}"#);
    bench.refuses(&format!("{moved} --resume"), 1, &["at: splits file", "found: blake3", "allowed: blake3"]);
    bench.refuses(
        &format!("{line} --splits stratified:1 --resume").replace("--splits s.json", ""),
        1,
        &["at: splits"],
    );
}

#[test]
fn what_cannot_be_done_is_found_out_before_the_folder_is_touched() {
    let bench = crate::support::rung::bench();
    let refuses = |graph: &str, flags: &str, status: i32, parts: &[&str]| {
        let line = format!("robustness reproduce --graph {graph} --epochs 2 --out a {flags}");
        bench.refuses(&line, status, parts);
        assert!(!bench.path("a").exists(), "{flags}");
    };
    for graph in ["synthetic", "g.npz"] {
        refuses(graph, "--seeds 0,0", 2, &["one seed is given twice", "--seeds", "found: 0"]);
        refuses(graph, "--split 0,0", 2, &["--split names one split twice"]);
        refuses(graph, "--split 1", 1, &["no such split", "--split 1"]);
        refuses(graph, "--splits masks", 1, &["no masks"]);
        refuses(graph, "--penalties l1,l1", 2, &["one penalty is given twice", "found: l1-exact"]);
        refuses(graph, "--weights exact,exact", 2, &["given twice"]);
    }
    bench
        .write("none.json", r#"{"train": [], "test": [1]}"#)
        .write("test.json", r#"{"train": [0], "test": []}"#);
    refuses(
        "g.npz",
        "--splits none.json",
        1,
        &["file: none.json", "no train nodes", "split 0, key train", "help:"],
    );
    refuses("g.npz", "--splits test.json", 1, &["file: test.json", "no test nodes", "split 0, key test"]);
    let one = crate::support::i64s(&[8], &[0; 8]);
    bench.write(
        "one.npz",
        crate::support::npz(&crate::support::rung::with(crate::support::rung::keyed(), &[("labels", one)])),
    );
    refuses("one.npz", "", 1, &["one.npz", "one class"]);
}
