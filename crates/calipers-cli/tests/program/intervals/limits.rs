//! What cannot be drawn is refused before anything is drawn, in every family and in comparisons.

use std::time::Instant;

use calipers::demo;
use serde_json::Value as Json;

use crate::support::robustness::with;
use crate::support::{Bench, f64s, npz};

/// The most resamples that an option can name, and more than it can.
const MOST: &str = "4294967295";
const MORE: &str = "18446744073709551615";

/// A command of every family that measures what lies beside it.
const FAMILIES: [(&str, &str); 5] = [
    ("segmentation", "segmentation --confusion cms.jsonl --classes 2 --measure overlap"),
    ("training", "training runs --metric m --group-by folder"),
    ("explanation", "explanation explained/molecules.jsonl --scores logits"),
    ("independent_set", "independent-set graphs"),
    ("robustness", "robustness attacked"),
];

fn files() -> Bench {
    let bench = Bench::new();
    let line = |unit: usize| {
        let (a, b) = (3 + unit * 7 % 11, unit % 4);
        format!("{{\"id\": \"seq{}/{unit:02}\", \"confusion\": [[{a}, 1], [{b}, 5]]}}\n", unit % 6)
    };
    bench.write("cms.jsonl", (0..36).map(line).collect::<String>());
    for (group, speed) in [("fast", 3), ("slow", 5)] {
        for fold in 0..5 {
            let value = |epoch: usize| if epoch >= speed + fold % 3 && epoch != 9 { 0.95 } else { 0.5 };
            let lines: String = (0..12).map(|epoch| format!("{epoch},{}\n", value(epoch))).collect();
            bench.write(&format!("runs/{group}/{fold}.csv"), format!("epoch,m\n{lines}"));
        }
    }
    for run in 0..3u32 {
        let moved = f64s(&[4, 2], &[3.0, 0.0, 0.0, f64::from(run), 1.0, 3.0, 0.0, 2.0]);
        bench.write(&format!("attacked/r{run}.npz"), npz(&with(&[("attacked_0.1", moved)])));
    }
    demo::explanation::write(&bench.path("explained"), 0).unwrap();
    demo::independent_set::write(&bench.path("graphs"), 0).unwrap();
    bench
}

#[test]
fn more_resamples_than_memory_holds_are_refused_by_every_family_and_every_command() {
    let bench = files();
    let start = Instant::now();
    let refused = |line: &str, option: &str| {
        for method in ["expanded", "bca"] {
            bench.refuses(
                &format!("{line} {option} {MOST} --interval {method}"),
                2,
                &["do not fit into memory", option, "half of what there is", "at most"],
            );
        }
        bench.refuses(&format!("{line} {option} {MORE}"), 2, &[option, MORE, MOST]);
    };
    for (family, line) in FAMILIES {
        refused(line, "--bootstrap");
        let state = format!("{family}.state");
        assert_eq!(bench.run(&format!("{line} --state {state} --quiet")).status, 0, "{line}");
        refused(&format!("show {state}"), "--bootstrap");
        refused(&format!("compare {state} {state} --names a,b"), "--resamples");
        refused(&format!("compare {state} {state} {state} --names a,b,c --by-label"), "--resamples");
    }
    refused("compare training.state --between groups", "--resamples");
    let page = format!("{} --html p.html --bootstrap {MOST}", FAMILIES[0].1);
    bench.refuses(&page, 2, &["do not fit into memory"]);
    assert!(!bench.path("p.html").exists());
    assert!(start.elapsed().as_secs() < 300, "nothing was drawn");
}

#[test]
fn a_comparison_without_intervals_draws_no_patterns_that_no_test_needs() {
    let bench = files();
    bench.write("one/r0.npz", bench.bytes("attacked/r0.npz"));
    let said = bench.run("robustness one --state one.state --quiet");
    assert_eq!(said.status, 0, "{}", said.stderr);
    let said =
        bench.run(&format!("compare one.state one.state --names a,b --resamples {MOST} --json - --quiet"));
    assert_eq!(said.status, 0, "{}", said.stderr);
    let found: Json = serde_json::from_str(&said.stdout).unwrap();
    let line = &found["metrics"]["robustness.accuracy_average"]["against_first"]["b"];
    assert_eq!((&line["interval"], &line["paired"]["permutation_exact"]), (&Json::Null, &true.into()));
}

#[test]
fn a_share_outside_0_and_1_is_refused() {
    let bench = files();
    assert_eq!(bench.run(&format!("{} --state s.state --quiet", FAMILIES[0].1)).status, 0);
    for share in ["0", "1", "-0.5", "1.5", "nan", "inf"] {
        for line in [
            format!("{} --bootstrap 9", FAMILIES[0].1),
            "show s.state --bootstrap 9".into(),
            "compare s.state s.state --names a,b --resamples 9".into(),
        ] {
            bench.refuses(&format!("{line} --confidence={share}"), 2, &["--confidence", "between 0 and 1"]);
        }
    }
    bench.refuses("compare s.state s.state --resamples 0", 2, &["--resamples"]);
}

#[test]
fn a_rule_for_clusters_says_what_it_did_not_find() {
    let bench = files();
    bench.write("names.csv", "name,patient\nseq0/00,p\n").write("empty.tsv", "unit\tpatient\nseq0/00\t\n");
    bench.write("twice.csv", "unit,patient\nseq0/00,p\nseq0/00,q\n").write("none.csv", "");
    bench.write("torn.csv", "unit,patient\nseq0/00,\"p\nseq0/06,q\n");
    let base = format!("{} --bootstrap 9 --cluster-by", FAMILIES[0].1);
    for (rule, words) in [
        ("regex:(?P<cluster>x)?seq", &["'seq0/00'", "(?P<cluster>x)?seq", "36 such units"][..]),
        ("regex:/(3.)", &["'seq0/00'", "/(3.)", "30 such units"]),
        ("names.csv:patient", &["names.csv", "no column 'unit'", "name, patient"]),
        ("empty.tsv:patient", &["empty.tsv", "line 2", "'seq0/00'"]),
        ("twice.csv:patient", &["twice.csv", "lines 2 and 3", "'p' and 'q'"]),
        ("none.csv:patient", &["none.csv", "no column 'unit'"]),
        ("torn.csv:patient", &["torn.csv"]),
        ("absent.csv:patient", &["absent.csv"]),
    ] {
        bench.refuses(&format!("{base} {rule}"), 1, words);
    }
    for (rule, words) in [
        ("regex:a(b", &["a(b", "unclosed group"][..]),
        ("", &["none, folder, regex:PATTERN"]),
        ("who.csv:", &["none, folder, regex:PATTERN"]),
        ("who.txt:patient", &["FILE.csv:COLUMN"]),
    ] {
        bench.refuses(&format!("{base}={rule}"), 2, words);
    }
    // Runs are what a rule sees in training: <group>/<fold>.
    bench.refuses(
        &format!("{} --quiet --bootstrap 9 --cluster-by regex:fast", FAMILIES[1].1),
        1,
        &["'slow/0'", "5 such units"],
    );
}

#[test]
fn a_table_of_clusters_is_an_input_of_a_comparison() {
    let bench = files();
    assert_eq!(bench.run(&format!("{} --state s.state --quiet", FAMILIES[0].1)).status, 0);
    let table: String = (0..36).map(|unit| format!("seq{}/{unit:02},p{}\n", unit % 6, unit % 9)).collect();
    bench.write("who.csv", format!("unit,patient\n{table}"));
    let report = bench.report(&format!("{} --bootstrap 9 --cluster-by who.csv:patient", FAMILIES[0].1));
    let inputs = report["inputs"].as_array().unwrap();
    let table = inputs.iter().find(|input| input["role"] == "clusters").unwrap();
    let compared = |rule: &str| -> Json {
        let line = "compare s.state s.state --names a,b --resamples 9 --json - --quiet --html c.html";
        let said = bench.run(&format!("{line} {rule}"));
        assert_eq!(said.status, 0, "{}", said.stderr);
        serde_json::from_str(&said.stdout).unwrap()
    };
    let found = compared("--cluster-by who.csv:patient");
    assert_eq!(found["inputs"], Json::Array(vec![table.clone()]));
    assert!(bench.read("c.html").contains("who.csv"));
    assert_eq!(compared("--cluster-by folder")["inputs"], Json::Array(Vec::new()));
}
