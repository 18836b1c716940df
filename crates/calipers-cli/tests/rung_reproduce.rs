//! `calipers robustness reproduce` on the graph that needs no file.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod support;

use serde_json::Value as Json;
use support::Bench;

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
    let flips = "a/flips/mcp/0.2/split0-seed4.npy";
    let (before, page) = (bench.bytes(flips), bench.bytes("a/index.html"));
    std::fs::remove_file(bench.path(flips)).unwrap();
    std::fs::remove_file(bench.path("a/models/l2/split0-seed3.safetensors")).unwrap();
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
    assert_eq!(reports[1]["protocol"]["model"]["penalty"], "mcp");
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
