//! Logs of other people's tools with known answers, where the data folder exists beside the
//! project.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::support::{Bench, codes};

/// The data folder, or a line that says the test was skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/training");
    if !folder.is_dir() {
        eprintln!("skipped: the folder of real data is not beside the project");
        return None;
    }
    Some(folder.canonicalize().unwrap())
}

fn report(data: &Path, words: &[&str]) -> Json {
    let bench = Bench::new();
    let input = data.join("samples").join(words[0]).display().to_string();
    let said = bench.run_words(&[&["training", &input], &words[1..], &["--json", "-", "--quiet"]].concat());
    assert_eq!(said.status, 0, "{words:?}\n{}", said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

#[track_caller]
fn check(report: &Json, group: &str, expected: &[(&str, Json)]) {
    for (id, value) in expected {
        assert_eq!(&report["metrics"][format!("training.{id}")][group], value, "{id} of {group}");
    }
}

#[test]
fn event_files_of_tensorboard_reducer_have_their_known_values() {
    let Some(data) = data() else { return };
    let of = |tag: &str| {
        let words = [
            "tensorboard/reducer",
            "--metric",
            tag,
            "--threshold",
            "1.9",
            "--group-by",
            "folder",
            "--skip-missing",
        ];
        report(&data, &words)
    };
    let strict = of("strict/foo");
    check(
        &strict,
        "strict",
        &[
            ("velocity_strict", json!(8.0)),
            ("stability_strict", json!(0.69 / 3.0)),
            ("divergence_strict", json!(3)),
            ("epochs_mean", json!(100.0)),
        ],
    );
    check(&of("lax/foo"), "lax", &[("velocity_wise", json!(17.0 / 3.0)), ("divergence_strict", json!(2))]);
    let repeated = of("dup_steps/foo");
    check(
        &repeated,
        "duplicate_steps",
        &[
            ("epochs_mean", json!(200.0)),
            ("velocity_wise", json!(16.0 / 3.0)),
            ("divergence_strict", json!(2)),
        ],
    );
    assert!(codes(&repeated).contains(&"duplicate-x"));
    assert!(codes(&repeated).contains(&"metric-missing"));
}

#[test]
fn an_event_file_of_keras_holds_its_graph_and_its_scalars() {
    let Some(data) = data() else { return };
    let of = |tag: &str| report(&data, &["tensorboard/keras_tf1", "--metric", tag]);
    check(&of("epoch_acc"), "all", &[("velocity_strict", json!(2.0)), ("epochs_mean", json!(17.0))]);
    check(&of("epoch_val_acc"), "all", &[("velocity_strict", json!(1.0)), ("epochs_mean", json!(17.0))]);
}

#[test]
fn offline_logs_are_read_without_a_network() {
    let Some(data) = data() else { return };
    let words = ["wandb-offline/demo", "--metric", "val.acc", "--group-by", "wandb", "--fold-by", "suffix"];
    let found = report(&data, &words);
    assert_eq!(found["units"], 6);
    check(
        &found,
        "bert_lr1e-4",
        &[
            ("velocity_strict", json!(10.0)),
            ("stability_strict", json!(0.015_873_015_873_015_872)),
            ("divergence_strict", json!(1)),
            ("epochs_mean", json!(17.0)),
        ],
    );
    check(&found, "bert_lr1e-5", &[("saturation_count", json!(0)), ("velocity_rmst", json!(22.0))]);
    let ungrouped = report(&data, &["wandb-offline/demo", "--metric", "val.acc"]);
    assert!(codes(&ungrouped).contains(&"groups-ignored"));
    let percent = report(&data, &["wandb-offline/demo", "--metric", "val_F1_micro", "--group-by", "wandb"]);
    assert!(codes(&percent).contains(&"percent-scale"));
    let bench = Bench::new();
    let empty = data.join("samples/wandb-offline/no-history").display().to_string();
    bench.refuses(
        &format!("training {empty} --metric val.acc"),
        1,
        &["run-g9dvvkua.wandb", "val.acc", "no history records"],
    );
}

#[test]
fn parquet_exports_are_read_whatever_their_compression() {
    let Some(data) = data() else { return };
    let words = ["wandb_history.parquet", "--metric", "Mean actual goods consumed", "--threshold", "1.5"];
    check(
        &report(&data, &words),
        "all",
        &[
            ("epochs_mean", json!(999.0)),
            ("velocity_strict", json!(312.0)),
            ("stability_strict", json!(0.677_677_677_677_677_7)),
            ("divergence_strict", json!(1)),
        ],
    );
    let found = report(&data, &["parquet", "--metric", "val_F1", "--group-by", "suffix"]);
    check(
        &found,
        "cfgA",
        &[("velocity_wise", json!(1.5)), ("saturation_count", json!(2)), ("fold_count", json!(3))],
    );
}

#[test]
fn both_stores_of_mlflow_give_the_same_numbers() {
    let Some(data) = data() else { return };
    let of = |store: &str| report(&data, &[store, "--metric", "val/F1", "--group-by", "suffix"]);
    let (database, folder) = (of("mlflow/mlflow.db"), of("mlflow/mlruns"));
    assert_eq!(database["metrics"], folder["metrics"]);
    assert_eq!(codes(&database), codes(&folder));
    assert!(codes(&database).contains(&"nan-values"));
    check(&database, "cfgA", &[("velocity_wise", json!(2.0)), ("epochs_mean", json!(4.0))]);
}

/// The cells of a CSV file by `tag_name`.
fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn the_published_tables_follow_from_the_published_json() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    let runs = data.join("results_12ShadesSynthaxSpace.json").display().to_string();
    let line = format!(
        "training --runs {runs} --project 12ShadesOfRDF --preset table-2024-04-25 --table static --quiet"
    );
    let said = bench.run(&line);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let numbers = ["R_TP", "R_CS", "R_SVT", "F1-", "F1+", "P+", "R+", "B", "lev", "Cc", "Gg"];
    let texts = ["tokenizer_path", "date", "syntax", "space", "add_vocab", "path_best", "model_name_or_path"];
    let mut compared = 0;
    for suffix in ["STRICT", "MEAN_WISE", "MEAN_NAIVE"] {
        let published = cells(
            &std::fs::read_to_string(data.join(format!("results_12ShadesSyntax_{suffix}.csv"))).unwrap(),
        );
        let ours = cells(&bench.read(&format!("static_{suffix}.csv")));
        let at =
            |table: &[Vec<String>], name: &str| table[0].iter().position(|column| column == name).unwrap();
        let (tag, their_tag) = (at(&ours, "tag_name"), at(&published, "tag_name"));
        for row in &ours[1..] {
            let Some(theirs) = published[1..].iter().find(|one| one[their_tag] == row[tag]) else { continue };
            // Configurations without a summary have nothing to compare.
            if row[at(&ours, "path_best")].is_empty() {
                continue;
            }
            for name in numbers {
                let (a, b) = (&row[at(&ours, name)], &theirs[at(&published, name)]);
                let same = match (a.parse::<f64>(), b.parse::<f64>()) {
                    (Ok(a), Ok(b)) => {
                        let tolerance = if name == "Cc" { 5e-4 } else { (1e-6 * b.abs()).max(1e-9) };
                        (a - b).abs() <= tolerance
                    }
                    _ => a.is_empty() && b.is_empty(),
                };
                assert!(same, "{suffix} {} {name}: {a} is not {b}", row[tag]);
                compared += 1;
            }
            for name in texts {
                assert_eq!(
                    row[at(&ours, name)],
                    theirs[at(&published, name)],
                    "{suffix} {} {name}",
                    row[tag]
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 594);
}
