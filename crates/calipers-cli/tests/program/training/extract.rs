//! What logs hold, and the per-run JSON that is gathered from run folders.

use serde_json::{Value as Json, json};

use crate::support::Bench;

/// Two folds of one configuration, with checkpoints, a tokenizer and what codecarbon wrote.
fn study() -> Bench {
    let bench = Bench::new();
    let codecarbon = "timestamp,project_name,run_id,emissions,energy_consumed\n";
    bench
        .write("runs/a/0/metrics.csv", "epoch,val_F1,test_F1_micro\n0,0.5,\n1,0.95,\n1,,0.75\n")
        .write("runs/a/1/metrics.csv", "epoch,val_F1\n0,0.92\n1,0.4\n")
        .write("runs/a/0/epoch=1-val_loss=0.5.ckpt", "x")
        .write("runs/a/0/epoch=2-val_loss=0.25.ckpt", "x")
        .write("runs/a/0/last.ckpt", "x")
        .write("runs/a/0/checkpoint-40/trainer_notes.json", "{}")
        .write("runs/a/0/checkpoint-40/model.pt", "x")
        .write("runs/a/tok/tokenizer.json", "{}")
        .write(
            "runs/a/0/emissions.csv",
            format!("{codecarbon}t,train,u,0.1,1\nt,train,u,0.25,2\nt,test,v,0.5,3\n"),
        )
        .write("runs/emissions.csv", format!("{codecarbon}t,a/1,w,0.125,4\nt,somebody,z,9,9\n"));
    bench
}

fn extracted(bench: &Bench) -> (Json, String) {
    let said = bench.run("training extract runs -o artefacts.json --group-by folder --project study");
    assert_eq!(said.status, 0, "{}", said.stderr);
    (serde_json::from_str(&bench.read("artefacts.json")).unwrap(), said.stderr)
}

#[test]
fn run_folders_give_the_per_run_json() {
    let bench = study();
    let (found, stderr) = extracted(&bench);
    let checkpoint =
        |epoch: &str, loss: &str, path: &str| json!({"epoch": epoch, "val_loss": loss, "file_path": path});
    let run = |name: &str| json!({"id_run": name, "name": name, "group": "a", "project": "study"});
    let expected = json!({"study": {"a": {
        "tag_name": "a",
        "tokenizer_path": "a/tok",
        "runs": {"0": run("a/0"), "1": run("a/1")},
        "ckpt": {
            "0": [
                checkpoint("unk", "unk", "checkpoint-40"),
                checkpoint("1", "0.5", "epoch=1-val_loss=0.5.ckpt"),
                checkpoint("2", "0.25", "epoch=2-val_loss=0.25.ckpt"),
                checkpoint("last", "unk", "last.ckpt"),
            ],
            "1": [],
        },
        "summary": {
            "fold0": {
                "carbon_data": {"train_emissions": 0.25, "train_energy_consumed": 2.0,
                    "test_emissions": 0.5, "test_energy_consumed": 3.0},
                "best_model_path": "a/0/epoch=2-val_loss=0.25.ckpt",
                "test_data_last_step": [{"test_F1_micro": 0.75}],
            },
            "fold1": {
                "carbon_data": {"train_emissions": 0.125, "train_energy_consumed": 4.0},
                "best_model_path": null,
                "test_data_last_step": null,
            },
        },
    }}});
    assert_eq!(found, expected, "{found:#}");
    let keys: Vec<&String> = found["study"]["a"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["tag_name", "tokenizer_path", "runs", "ckpt", "summary"]);
    for part in
        ["warning[carbon-unassigned]", "somebody (z)", "warning[artefact-missing]", "no checkpoint", "a/1"]
    {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert!(bench.read("artefacts.json").starts_with("{\n  \"study\": {\n    \"a\": {\n      \"tag_name\""));
}

#[test]
fn what_was_extracted_is_read_back_and_may_be_left_out() {
    let bench = study();
    extracted(&bench);
    let metric = "--metric val_F1 --label F1-";
    let back =
        bench.run(&format!("training runs --runs artefacts.json --group-by runs {metric} --table back/t"));
    assert_eq!(back.status, 0, "{}", back.stderr);
    let once = bench.run(&format!("training runs --group-by folder --project study {metric} --table once/t"));
    assert_eq!(once.status, 0, "{}", once.stderr);
    assert!(once.stderr.contains("artefact-missing"), "{}", once.stderr);
    for table in ["t_STRICT.csv", "t_MEAN_WISE.csv", "t_MEAN_NAIVE.csv", "t_STRICT.md"] {
        let (back, once) = (bench.read(&format!("back/{table}")), bench.read(&format!("once/{table}")));
        assert_eq!(back, once);
        assert!(back.contains("1.5"), "the velocity: {back}");
    }
}

#[test]
fn a_warning_under_strict_and_no_run_are_told_by_the_status() {
    let bench = study();
    assert_eq!(bench.run("training extract runs -o a.json --group-by folder --strict").status, 3);
    bench.refuses("training extract none -o a.json", 1, &["none"]);
    bench.refuses("training extract runs -o a.json --group-by suffix", 1, &["suffix"]);
    assert_eq!(bench.run("training ./extract --metric val_F1").status, 1, "a folder of that name");
}

#[test]
fn keys_are_listed_with_what_they_hold() {
    let bench = study();
    bench.write("table.csv", "epoch,fold,model,F1\n0,0,x,0.5\n1,0,x,0.9\n0,1,y,nan\n1,1,y,0.25\n");
    let said = bench.run("training table.csv --keys --csv -");
    assert_eq!(said.status, 0, "{}", said.stderr);
    let expected = "kind,key,runs,points,min,max,values\n\
        metric,F1,1,3,0.25,0.9,\n\
        metric,fold,1,4,0,1,\n\
        x,epoch,1,,,,\n\
        config,fold,1,,,,0|1\n\
        config,model,1,,,,x|y\n\
        run,table,,,,,csv||epoch\n";
    assert_eq!(said.stdout, expected);
    let one = bench.run("training table.csv --keys --csv - --where fold=1");
    assert!(one.stdout.contains("metric,F1,1,1,0.25,0.25,\n"), "{}", one.stdout);

    let listed: Json = serde_json::from_str(&bench.run("training runs --keys --json -").stdout).unwrap();
    assert_eq!(
        listed["metrics"],
        json!([
            {"key": "val_F1", "runs": 2, "points": 4, "min": 0.4, "max": 0.95},
            {"key": "test_F1_micro", "runs": 1, "points": 1, "min": 0.75, "max": 0.75},
        ])
    );
    assert_eq!(listed["x"], json!([{"key": "epoch", "runs": 2}]));
    assert_eq!(
        listed["runs"][0],
        json!({"run": "a/0", "id": null, "format": "csv", "x": "epoch", "files": ["runs/a/0/metrics.csv"]})
    );
    let shown = bench.run("training runs --keys").stdout;
    assert!(shown.starts_with("metric         runs  points  min     max\n"), "{shown}");
}

#[test]
fn without_a_metric_the_keys_are_shown_and_it_is_wrong_usage() {
    let bench = study();
    let said = bench.run("training runs");
    assert_eq!((said.status, said.stdout.as_str()), (2, ""));
    assert!(said.stderr.contains("val_F1") && said.stderr.contains("no metric is given"), "{}", said.stderr);
    assert!(said.stderr.starts_with("metric ") && !said.stderr.contains("\\n"), "{}", said.stderr);
    bench.refuses("training runs --keys --html a.html", 2, &["--keys"]);
}

#[test]
fn the_keys_of_a_thousand_small_logs_are_listed_soon() {
    let bench = Bench::new();
    for run in 0..1000 {
        bench.write(&format!("many/{run}.csv"), "epoch,F1\n0,0.5\n1,0.75\n");
    }
    let began = std::time::Instant::now();
    let listed: Json = serde_json::from_str(&bench.run("training many --keys --json -").stdout).unwrap();
    assert_eq!(
        (&listed["metrics"][0]["runs"], &listed["metrics"][0]["points"]),
        (&json!(1000), &json!(2000))
    );
    assert!(
        began.elapsed() < std::time::Duration::from_secs(20),
        "2 s by a release build on a quiet machine"
    );
}
