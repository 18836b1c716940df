//! `calipers compare` as people run it: tables, streams, refusals and exit statuses.

use serde_json::Value as Json;

use crate::support::Bench;
use crate::support::segmentation::grey;

/// Two models over four pictures: the second is right wherever the first is, and more often.
fn two_models() -> Bench {
    let bench = Bench::new();
    let truths = [[0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 0], [0, 0, 0, 1]];
    let first = [[0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 1, 0], [0, 0, 1, 1]];
    let second = [[0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 0], [0, 0, 0, 1]];
    for (i, ((truth, a), b)) in truths.iter().zip(&first).zip(&second).enumerate() {
        bench.write(&format!("truth/{i}.png"), grey(2, truth));
        bench.write(&format!("a/{i}.png"), grey(2, a));
        bench.write(&format!("b/{i}.png"), grey(2, b));
    }
    for model in ["a", "b"] {
        let line =
            format!("segmentation --truth truth --pred {model} --classes 2 --quiet --state {model}.state");
        let said = bench.run(&format!("{line} --per-unit {model}.csv"));
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
    bench
}

#[test]
fn two_states_are_compared_on_the_terminal() {
    let bench = two_models();
    let said = bench.run("compare a.state b.state --metric miou --metric pixel_accuracy --resamples 500");
    assert_eq!(said.status, 0, "{}", said.stderr);
    let words = |name: &str| -> Vec<String> {
        let line = said.stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().map(String::from).collect()
    };
    assert!(said.stdout.starts_with("segmentation: b against a, 4 units\n"), "{}", said.stdout);
    assert_eq!(words("pixel_accuracy")[2..5], ["0.6875", ">0.9375", "+0.2500"]);
    // Four differences of one quarter: the smallest share of 16 sign patterns, for two tests. Where
    // there is no room for both p-values the corrected one stays.
    assert_eq!(words("pixel_accuracy")[7..], ["4", "0", "0", "0.2500"]);
    assert!(said.stdout.contains("Holm's correction for 2 tests"), "{}", said.stdout);
    assert!(said.stdout.contains("units that differ most in miou"), "{}", said.stdout);
    assert!(said.stdout.contains("> best value of the line"), "{}", said.stdout);
    assert!(!said.stdout.contains("chance does not explain"), "no p is small enough: {}", said.stdout);
}

#[test]
fn every_form_is_written_and_threads_change_nothing() {
    let bench = two_models();
    let line = "compare a.state b.state --resamples 300 --json c.json --csv c.csv --html c.html --quiet";
    assert_eq!(bench.run(&format!("{line} --threads 1")).status, 0);
    let (json, csv, html) = (bench.read("c.json"), bench.read("c.csv"), bench.read("c.html"));
    assert_eq!(bench.run(&format!("{line} --threads 3")).status, 0);
    assert!(json == bench.read("c.json") && csv == bench.read("c.csv") && html == bench.read("c.html"));
    let read: Json = serde_json::from_str(&json).unwrap();
    let paired = &read["metrics"]["segmentation.pixel_accuracy"]["against_first"]["b"]["paired"];
    assert_eq!((&paired["permutation_p"], &paired["sign_p"]), (&0.125.into(), &0.125.into()));
    let miou = &read["metrics"]["segmentation.miou"];
    assert_eq!(miou["against_first"]["b"]["paired"]["wins"], 4);
    assert_eq!((&read["models"][0]["source"], &read["correction"]), (&"a.state".into(), &"holm".into()));
    assert_eq!((&read["method"], &read["sampling_unit"]), (&"expanded".into(), &"unit".into()));
    assert_eq!(read["strata"]["all"]["sampling_units"], 4);
    assert!(html.contains("to the right is better"));
    assert!(csv.starts_with("metric,better,first,model,") && csv.contains("segmentation.miou,higher,a,b,"));
    assert!(html.starts_with("<!doctype html>") && html.contains("b against a"));
    for form in ["--markdown", "--latex", "--json -", "--csv -"] {
        let said = bench.run(&format!("compare a.state b.state --resamples 50 {form}"));
        assert!(said.status == 0 && said.stdout.contains("miou"), "{form}");
        let codes: Vec<&str> = said.stderr.lines().filter_map(|line| line.split(']').next()).collect();
        assert_eq!(codes, ["warning[few-units", "warning[few-resamples", "warning[few-pairs"], "{form}");
    }
}

#[test]
fn per_unit_files_are_compared_with_a_warning() {
    let bench = two_models();
    let said = bench.run("compare a.csv b.csv --resamples 50 --json - --strict");
    assert_eq!(said.status, 3, "{}", said.stderr);
    assert!(said.stderr.contains("warning[per-unit-files]"), "{}", said.stderr);
    let read: Json = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(read["metrics"]["segmentation.pixel_accuracy"]["values"]["b"], 0.9375);
}

#[test]
fn models_that_cannot_be_compared_are_refused_with_the_reason() {
    let bench = two_models();
    let other = "segmentation --truth truth --pred b --classes 2 --quiet";
    assert_eq!(bench.run(&format!("{other} --thickness 3 --state thick.state")).status, 0);
    bench.write("half.txt", "0\n1\n");
    assert_eq!(bench.run(&format!("{other} --units half.txt --state half.state")).status, 0);
    bench.refuses("compare a.state thick.state", 1, &["not measured alike", "protocol.boundary.thickness"]);
    bench.refuses("compare a.state half.state", 1, &["different units", "2 only in a.state: 2, 3"]);
    bench.write("notes.txt", "hello");
    bench.refuses("compare a.state notes.txt", 2, &["neither a state nor a per-unit file"]);
    bench.write("none.csv", "unit,colour\nx,red\n");
    bench.refuses("compare none.csv none.csv", 1, &["no column is a metric"]);
    bench.write("twice.csv", "unit,miou\nx,0.5\nx,0.5\n");
    bench.refuses("compare twice.csv a.csv", 1, &["a unit occurs twice", "line 3"]);
    bench.refuses("compare a.state b.state --metric mio", 2, &["did you mean segmentation.miou?"]);
    bench.refuses("compare a.state b.state --confidence 1", 2, &["--confidence"]);
    bench.refuses("compare a.state b.state --markdown --json -", 2, &["share standard output"]);
    bench.refuses("compare a.state b.state --names x", 2, &["--names"]);
    bench.refuses("compare a.state b.state --names x,x", 2, &["--names gives two models one name"]);
    bench.refuses("compare a.state b.state --interval t", 2, &["expanded, percentile, bca"]);
    bench.refuses("compare a.state b.state --cluster-by video", 2, &["folder, regex:PATTERN"]);
    bench.refuses("compare a.state b.state --cluster-by folder", 1, &["unit '0'", "4 such units"]);
    bench.refuses("compare a.state", 2, &["at least two models", "--between groups"]);
    bench.refuses("compare a.state --between groups", 2, &["only training states have groups"]);
    bench.refuses("compare a.state b.state --between groups", 2, &["groups of one state", "2 models"]);
    bench.refuses("compare a.state b.state --run-by regex:(?P<run>.)", 2, &["runs of attacked models"]);
}
