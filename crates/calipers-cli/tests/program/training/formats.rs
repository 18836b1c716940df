//! The same four runs in thirteen layouts, and a study with its tables: measured by the binary and
//! compared with the expected reports and files.

use std::process::Command;

use serde_json::Value as Json;

use crate::support::{Bench, Said, codes, golden, golden_cases, pinned};

/// Runs the binary inside one of the golden folders.
fn run_in(folder: &str, words: &[&str]) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_calipers"))
        .args(words)
        .current_dir(golden("training").join(folder))
        .output()
        .unwrap();
    Said::from(output)
}

fn report_in(folder: &str, words: &[&str]) -> Json {
    let said = run_in(folder, &[words, &["--json", "-", "--quiet"]].concat());
    assert_eq!(said.status, 0, "{words:?}\n{}", said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

/// Numbers bit for bit, but for the one that a closed form rounds differently.
fn assert_same(found: &Json, expected: &Json, place: &str) {
    match (found, expected) {
        (Json::Object(a), Json::Object(b)) => {
            assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{place}");
            a.iter().for_each(|(key, value)| assert_same(value, &b[key], &format!("{place}.{key}")));
        }
        (Json::Number(a), Json::Number(b)) if place.contains("velocity_rmst") => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-12 * b.abs(), "{place}: {a} is not {b}");
        }
        _ => assert_eq!(found, expected, "{place}"),
    }
}

#[test]
fn every_layout_gives_the_expected_report() {
    let cases = golden_cases("training/formats.json");
    assert!(cases.len() >= 13);
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let words: Vec<&str> =
            case["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let (report, expect) = (pinned(&report_in("formats", &words), &case["pins"]), &case["expect"]);
        assert_eq!(report["units"], expect["units"], "{name}");
        assert_same(&report["metrics"], &expect["metrics"], name);
        assert_eq!(report["undefined"], expect["undefined"], "{name}");
        let mut found = codes(&report);
        found.sort_unstable();
        assert_eq!(serde_json::to_value(found).unwrap(), expect["warnings"], "{name}");
        let histories = |input: &&Json| input["role"] != "config";
        for input in report["inputs"].as_array().unwrap().iter().filter(histories) {
            assert!(input["format"].is_string() && input["x"].is_string(), "{name}: {input}");
        }
    }
}

#[test]
fn inputs_say_their_format_and_the_x_that_was_chosen() {
    let note = |words: &[&str]| {
        let report = report_in("formats", words);
        let input = report["inputs"][0].clone();
        (input["format"].as_str().unwrap().to_owned(), input["x"].as_str().unwrap().to_owned())
    };
    let is = |found: (String, String), format: &str, x: &str| assert_eq!(found, (format.into(), x.into()));
    is(note(&["training", "keras", "--metric", "val_accuracy"]), "csv", "epoch");
    is(note(&["training", "keras", "--metric", "val_accuracy", "--x", "row"]), "csv", "row");
    is(note(&["training", "tb", "--metric", "val/F1"]), "tensorboard", "step");
    is(note(&["training", "tb", "--metric", "val/F1", "--x", "epoch"]), "tensorboard", "epoch");
    is(note(&["training", "columns", "--metric", "val_F1"]), "json-columns", "row");
    is(note(&["training", "wandb", "--metric", "val_F1", "--x", "_step"]), "wandb", "_step");
    is(note(&["training", "mlruns", "--metric", "val/F1", "--x", "timestamp"]), "mlflow", "timestamp");
}

#[test]
fn the_tag_of_an_epoch_stands_at_the_step_of_its_value() {
    let by_step = report_in("formats", &["training", "tb", "--metric", "val/F1", "--group-by", "folder"]);
    let by_epoch = report_in(
        "formats",
        &["training", "tb", "--metric", "val/F1", "--group-by", "folder", "--x", "epoch", "--index", "epoch"],
    );
    assert_eq!(by_step["metrics"], by_epoch["metrics"]);
}

#[test]
fn threads_and_shards_in_any_order_give_the_same_bytes() {
    let bench = Bench::new();
    let at = |name: &str| bench.path(name).display().to_string();
    for words in [
        &["training", "mlruns", "tb", "lightning", "--metric", "val/F1", "--skip-missing"][..],
        &["training", "wandb", "--metric", "val_F1", "--metric", "val.acc", "--threshold", "0.45"],
        &["training", "hf", "rows", "--metric", "val_F1", "--metric", "eval_F1", "--skip-missing"],
    ] {
        let report = |more: &[&str]| {
            let said = run_in("formats", &[words, &["--json", "-", "--quiet"], more].concat());
            assert_eq!(said.status, 0, "{}", said.stderr);
            said.stdout
        };
        let whole = report(&["--threads", "1"]);
        assert_eq!(report(&["--threads", "2"]), whole);
        assert_eq!(report(&["--threads", "5"]), whole);
        for of in [2, 30] {
            let mut states = Vec::new();
            for index in 1..=of {
                let (shard, state) = (format!("{index}/{of}"), at(&format!("{index}.state")));
                let more = ["--shard", &shard, "--state", &state, "--quiet"];
                let said = run_in("formats", &[words, &more].concat());
                assert_eq!(said.status, 0, "{}", said.stderr);
                states.push(state);
            }
            let merged = |out: &str, states: &[String]| {
                let out = at(out);
                let mut line: Vec<&str> = vec!["merge", "-o", &out, "--json", "-", "--quiet"];
                line.extend(states.iter().map(String::as_str));
                let said = bench.run_words(&line);
                assert_eq!(said.stdout, whole, "{}", said.stderr);
            };
            merged("ab.state", &states);
            states.reverse();
            merged("ba.state", &states);
            assert_eq!(bench.bytes("ab.state"), bench.bytes("ba.state"));
        }
    }
}

const STUDY: &[&str] = &[
    "training",
    "histories",
    "--runs",
    "runs.json",
    "--project",
    "demo",
    "--group-by",
    "runs",
    "--metric",
    "val_F1_micro",
    "--threshold",
    "90",
    "--label",
    "F1-",
    "--metric",
    "val_part_parsed",
    "--threshold",
    "0.9",
    "--label",
    "RTP",
];

#[test]
fn a_study_gives_its_three_tables() {
    let bench = Bench::new();
    for (preset, more) in [("strict", &[][..]), ("table-2024-04-25", &["--folds", "3"])] {
        // The folder is made on the way.
        let prefix = bench.path("out").join(preset).display().to_string();
        let table = ["--table", &prefix, "--preset", preset];
        let report = report_in("table", &[STUDY, &table, more].concat());
        assert_eq!(report.as_array().unwrap().len(), 2, "one report for each metric");
        for suffix in ["STRICT", "MEAN_WISE", "MEAN_NAIVE"] {
            let name = format!("{preset}_{suffix}.csv");
            let expected = std::fs::read_to_string(golden("training/table/expected").join(&name)).unwrap();
            assert_eq!(bench.read(&format!("out/{name}")), expected, "{name}");
            let paper = bench.read(&format!("out/{preset}_{suffix}.md"));
            assert!(paper.starts_with("| tag\\_name | ") && !paper.contains("tokenizer"), "{paper}");
            assert!(bench.read(&format!("out/{preset}_{suffix}.tex")).contains("\\begin{tabular}"));
        }
    }
}

#[test]
fn the_last_checkpoint_stands_in_only_where_a_summary_has_folds() {
    let bench = Bench::new();
    let path = |summary: &str| {
        let runs = format!(
            r#"{{"p": {{"g": {{"runs": {{"0": {{"name": "g_0"}}}}, "summary": {summary},
                "ckpt": {{"0": [{{"epoch": "last", "file_path": "last.ckpt"}}]}}}}}}}}"#
        );
        bench.write("runs.json", runs);
        let said = bench.run("training --runs runs.json --table study");
        assert_eq!(said.status, 0, "{}", said.stderr);
        bench.read("study_STRICT.csv").contains("last.ckpt")
    };
    assert_eq!(["null", "{}", r#"{"fold0": {}}"#].map(path), [false, false, true]);
}

#[test]
fn a_listed_run_without_history_is_a_warning_once_all_shards_are_there() {
    let whole = report_in("table", STUDY);
    let warning = |report: &Json| {
        report["warnings"].as_array().unwrap().iter().find(|one| one["code"] == "missing-history").cloned()
    };
    let said = warning(&whole[0]).unwrap();
    assert_eq!(said["units"], serde_json::json!(["DS_tags_demo/2"]));
    assert!(codes(&whole[0]).contains(&"cumulative-carbon"));
    let bench = Bench::new();
    for index in 1..=2 {
        let state = bench.path(&format!("{index}.state")).display().to_string();
        let shard = format!("{index}/2");
        let said = run_in("table", &[STUDY, &["--shard", &shard, "--state", &state, "--quiet"]].concat());
        assert_eq!(said.status, 0, "{}", said.stderr);
        assert_eq!(warning(&bench.report(&format!("show {index}.state --partial"))[0]), None);
    }
    let merged = bench.run("merge 2.state 1.state -o all.state --json - --quiet");
    let merged: Json = serde_json::from_str(&merged.stdout).unwrap();
    assert_eq!(merged, whole);
    assert_eq!(merged[0]["metrics"]["training.velocity_strict"]["DS_tags_demo"], Json::Null);
}

#[test]
fn a_terminal_shows_which_run_became_which_unit_and_the_curves() {
    let words = ["training", "keras", "--metric", "val_accuracy", "--group-by", "suffix", "--all"];
    let said = run_in("formats", &words);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let first: Vec<&str> = said.stdout.lines().take(2).collect();
    assert!(first[0].starts_with("group  fold  run") && first[0].ends_with("values"), "{}", said.stdout);
    assert!(first[1].contains("cfgA_0") && first[1].contains("keras/cfgA_0.csv"), "{}", said.stdout);
    assert!(said.stdout.contains("^ first saturation"), "{}", said.stdout);
    let many: String = (0..25).fold("run,epoch,m\n".into(), |text, run| format!("{text}r{run},0,0.5\n"));
    let bench = Bench::new();
    bench.write("many.csv", many);
    let said = bench.run("training many.csv --metric m --run-column run --all");
    assert!(said.stdout.contains("and 5 more"), "{}", said.stdout);
    let quiet = bench.run("training many.csv --metric m --run-column run --json -");
    assert!(quiet.stdout.starts_with('{'), "{}", quiet.stdout);
}

#[test]
fn a_state_explains_its_units_in_words() {
    let bench = Bench::new();
    bench.write("a.csv", "epoch,m\n0,0.5\n1,0.95\n2,0.4\n3,0.97\n");
    assert_eq!(bench.run("training a.csv --metric m --state a.state --quiet").status, 0);
    let said = bench.run("show a.state --explain");
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(said.stdout.contains("all/a: first saturation: evaluation 2 (x = 1)"), "{}", said.stdout);
    assert!(said.stdout.contains("broken: evaluation 3 (x = 2)"), "{}", said.stdout);
    bench.run("training a.csv --metric m --json a.json");
    bench.refuses("show a.json --explain", 2, &["--explain needs a state"]);
}

#[test]
fn exports_that_hold_less_than_was_logged_are_warnings() {
    let bench = Bench::new();
    let sampled = |step: usize| {
        (0..500).fold("_step,epoch,m\n".to_owned(), |text, row| format!("{text}{},{row},0.5\n", step * row))
    };
    bench.write("sampled.csv", sampled(3)).write("whole.csv", sampled(1));
    assert!(codes(&bench.report("training sampled.csv --metric m")).contains(&"sampled-history"));
    assert!(!codes(&bench.report("training whole.csv --metric m")).contains(&"sampled-history"));
    let panel = |high: &str| format!("\"Step\",\"r - m\",\"r - m__MIN\",\"r - m__MAX\"\n0,0.5,0.5,{high}\n");
    bench.write("panel.csv", panel("0.6")).write("plain.csv", panel("0.5"));
    assert_eq!(codes(&bench.report("training panel.csv --metric m")), ["aggregated-panel"]);
    assert!(codes(&bench.report("training plain.csv --metric m")).is_empty());
}

#[test]
fn of_several_values_at_one_x_the_one_logged_later_counts() {
    let bench = Bench::new();
    bench.write("a.csv", "_step,epoch,m\n7,0,0.1\n3,0,0.2\n9,1,0.3\n");
    let first = |more: &str| {
        let said = bench.run(&format!("training a.csv --metric m --per-unit u.csv --quiet {more}"));
        assert_eq!(said.status, 0, "{}", said.stderr);
        let table = bench.read("u.csv");
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
        let best = lines[0].iter().position(|column| *column == "best").unwrap();
        lines[1][best].to_owned()
    };
    assert_eq!(first("--direction min"), "0.1", "the larger step is later, wherever it stands");
    assert_eq!(first("--direction min --duplicates first"), "0.2");
}

#[test]
fn options_are_given_once_for_all_metrics_or_once_for_each() {
    let bench = Bench::new();
    bench.write("a.csv", "epoch,m,n\n0,0.5,50\n1,0.95,95\n");
    let reports = bench.report("training a.csv --metric m --metric n --threshold 0.9 --scale 1 --scale 100");
    assert_eq!(reports[0]["metrics"]["training.velocity_strict"]["all"], 2.0);
    assert_eq!(reports[0]["metrics"], reports[1]["metrics"]);
    assert_eq!(reports[1]["protocol"]["metric"], "n");
    assert_eq!(reports[1]["protocol"]["label"], "n");
    assert_eq!(reports[1]["protocol"]["scale"], 100.0);
}
