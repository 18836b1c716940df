//! What else people have: tables of pandas and W&B, logs that are still written, settings beside a log.

use serde_json::{Value as Json, json};

use crate::support::{Bench, codes};

const CURVE: &str = "epoch,m\n0,0.5\n1,0.95\n2,0.96\n";

/// The layouts of a table, each with its format.
const TABLES: [(&str, &str, &str); 5] = [
    (
        "split",
        "json-split",
        r#"{"columns":["epoch","m"],"index":[0,1,2],"data":[[0,0.5],[1,0.95],[2,0.96]]}"#,
    ),
    ("wandb.table", "json-split", r#"{"columns": ["epoch", "m"], "data": [[0, 0.5], [1, 0.95], [2, 0.96]]}"#),
    (
        "table",
        "json-table",
        r#"{"schema":{"fields":[{"name":"index","type":"integer"}],"pandas_version":"1.4.0"},
           "data":[{"index":9,"epoch":0,"m":0.5},{"index":8,"epoch":1,"m":0.95},{"index":7,"epoch":2,"m":0.96}]}"#,
    ),
    ("columns", "json-nested", r#"{"epoch":{"0":0,"1":1,"2":2},"m":{"0":0.5,"1":0.95,"2":0.96}}"#),
    (
        "index",
        "json-nested",
        r#"{"0":{"epoch":0,"m":0.5},"1":{"epoch":1,"m":0.95},"2":{"epoch":2,"m":0.96}}"#,
    ),
];

#[test]
fn tables_of_pandas_and_wandb_give_the_numbers_of_a_csv() {
    let bench = Bench::new();
    let plain = bench.write("a.csv", CURVE).report("training a.csv --metric m")["metrics"].clone();
    for (name, format, text) in TABLES {
        bench.write(&format!("{name}.json"), text);
        let report = bench.report(&format!("training {name}.json --metric m"));
        assert_eq!((&report["metrics"], codes(&report)), (&plain, vec![]), "{name}");
        assert_eq!(
            (&report["inputs"][0]["format"], &report["inputs"][0]["x"]),
            (&json!(format), &json!("epoch"))
        );
        bench.write(&format!("{format}/{name}.json"), text);
        let found = bench.report(&format!("training {format} --metric m --format {format}"));
        assert_eq!(number(&found, "velocity_wise"), 2.0);
    }
    let said = [
        (r#"{"columns":["epoch","m"],"data":[[0,0.5],[1]]}"#, ["row 2", "1 values", "2 values"]),
        (r#"{"columns":["m","epoch","m"],"data":[[0,0.5,1]]}"#, ["columns 1 and 3", "`m`", "rename"]),
        (r#"{"columns":["epoch","m"],"data":[[0,"x"]]}"#, ["row 1", "`m`", "\"x\""]),
        (r#"{"epoch":{"a":0,"b":1},"m":{"a":0.5,"b":true}}"#, ["row 'b'", "`m`", "true"]),
        (r#"{"schema":{},"data":[{"epoch":0,"m":0.5},3]}"#, ["row 2", "not an object", "3"]),
    ];
    for (text, words) in said {
        bench.write("bad.json", text).refuses("training bad.json --metric m", 1, &words);
    }
}

#[test]
fn a_wanted_key_twice_in_one_object_shows_both_places() {
    let bench = Bench::new();
    bench.write("a.jsonl", "{\"epoch\":0,\"m\":1,\"n\":1,\"n\":2}\n{\"epoch\":1,\"m\":1,\"m\":2}\n");
    let words = ["a.jsonl", "`m`", "line 2, column 16 and line 2, column 22", "twice"];
    bench.refuses("training a.jsonl --metric m", 1, &words);
    bench.write("b.json", r#"{"epoch":[0,1],"m":[1,2],"m":[3,4]}"#);
    bench.refuses("training b.json --metric m", 1, &["b.json", "`m`", "list 2 and line 1, column 31"]);
    bench.write("c.jsonl", "{\"epoch\":0,\"m\":0.95,\"n\":1,\"n\":2}\n");
    assert_eq!(bench.report("training c.jsonl --metric m")["units"], 1, "nobody asked for it");
}

fn number(report: &Json, id: &str) -> Json {
    report["metrics"][format!("training.{id}")]["all"].clone()
}

#[test]
fn a_log_that_is_still_written_is_read_up_to_its_last_whole_line() {
    let bench = Bench::new();
    let lines = "{\"epoch\":0,\"m\":0.5}\n{\"epoch\":1,\"m\":0.95}\n{\"epoch\":2,\"m";
    for (name, text, at) in [
        ("a.csv", "epoch,m,loss\n0,0.5,1\n1,0.95,1\n2,0.9", 30),
        ("b.csv", "epoch,m,note\n0,0.5,x\n1,0.95,x\n2,0.9,\"y", 30),
        ("c.jsonl", lines, 41),
    ] {
        bench.write(name, text);
        let report = bench.report(&format!("training {name} --metric m"));
        assert_eq!(number(&report, "epochs_mean"), 2.0, "{name}");
        assert_eq!(codes(&report), ["late-saturation", "truncated-file"], "{name}");
        let message = report["warnings"][1]["message"].as_str().unwrap();
        assert!(message.contains(&format!("{name} at byte {at}")), "{message}");
    }
    bench.write("live/plots/metrics/val/m.tsv", "step\tm\n0\t0.5\n1\t0.95\n2");
    let report = bench.report("training live --metric val/m");
    let message = report["warnings"][1]["message"].as_str().unwrap();
    assert!(message.contains("live/plots/metrics/val/m.tsv at byte 20"), "{message}");
    bench.write("d.csv", "run,epoch,m\na,0,0.95\na,1,0.96\nb,0,0.95\nb,1,0.96\nb,2");
    let report = bench.report("training d.csv --metric m --run-column run");
    assert_eq!(report["warnings"][0]["units"], json!(["all/b"]), "the run that is being written");
}

#[test]
fn settings_beside_a_log_are_filters_and_groups() {
    let bench = Bench::new();
    for (lr, depth) in [("0.1", 2), ("1.0e-3", 4)] {
        let settings = format!("lr: {lr}\nnet:\n  depth: {depth}\n  act: relu\nseeds: [1, 2]\nrun: mine\n");
        for fold in 0..2 {
            let folder = format!("csv/{lr}/{fold}");
            bench.write(&format!("{folder}/metrics.csv"), CURVE);
            bench.write(&format!("{folder}/hparams.yaml"), &settings);
            let folder = format!("live/{lr}/{fold}");
            bench.write(&format!("{folder}/plots/metrics/val/m.tsv"), "step\tm\n0\t0.5\n1\t0.95\n");
            bench.write(&format!("{folder}/params.yaml"), &settings);
        }
    }
    for (folder, metric) in [("csv", "m"), ("live", "val/m")] {
        let line = format!("training {folder} --metric {metric}");
        let report = bench.report(&format!("{line} --group-by column:lr,column:net.depth"));
        let folds = &report["metrics"]["training.fold_count"];
        assert_eq!(folds, &json!({"0.001 / 4": 2, "0.1 / 2": 2}), "{folder}");
        let settings = report["inputs"].as_array().unwrap().iter().filter(|input| input["role"] == "config");
        assert_eq!(settings.count(), 4, "{folder}");
        let mine = bench.report(&format!("{line} --group-by column:config.run"));
        assert_eq!(mine["metrics"]["training.fold_count"], json!({"mine": 4}), "{folder}");
        let one = bench.report(&format!("{line} --where lr=1e-3 --where config.run=mine"));
        assert_eq!(one["metrics"]["training.fold_count"]["all"], 2, "{folder}");
        let read = one["inputs"].as_array().unwrap();
        assert!(read.iter().all(|input| !input["path"].as_str().unwrap().contains("/0.1/")), "{read:?}");
        assert!(
            bench.report(&line)["inputs"].as_array().unwrap().iter().all(|input| input["role"] == "input")
        );
        let keys: Json =
            serde_json::from_str(&bench.run(&format!("training {folder} --keys --json -")).stdout).unwrap();
        let depth = json!({"key": "net.depth", "runs": 4, "values": ["2", "4"]});
        assert!(keys["config"].as_array().unwrap().contains(&depth), "{keys}");
    }
    bench.write("csv/0.1/0/hparams.yaml", "lr: [1\nb: 2\n");
    let line = "training csv --metric m --group-by column:lr";
    bench.refuses(line, 1, &["csv/0.1/0/hparams.yaml", "no YAML", "line 2"]);
    assert_eq!(bench.report("training csv --metric m")["units"], 4, "nobody asked for them");
}

#[test]
fn a_text_file_that_is_named_is_read_by_its_content() {
    let bench = Bench::new();
    bench
        .write("t/csv.txt", CURVE)
        .write("t/lines.txt", "{\"epoch\":0,\"m\":0.5}\n{\"epoch\":1,\"m\":0.95}\n");
    bench.write("t/rows.txt", r#"[{"epoch":0,"m":0.5},{"epoch":1,"m":0.95}]"#);
    for (name, format) in [("csv", "csv"), ("lines", "jsonl"), ("rows", "json-rows")] {
        let report = bench.report(&format!("training t/{name}.txt --metric m"));
        assert_eq!(report["inputs"][0]["format"], format);
        assert_eq!(number(&report, "velocity_wise"), 2.0, "{name}");
    }
    bench.refuses("training t --metric m", 1, &["no training history"]);
}

#[test]
fn conditions_on_keys_that_nobody_has_are_refused_also_where_they_would_hold() {
    let bench = Bench::new();
    bench.write("a.csv", "model,epoch,m\nx,0,0.95\ny,0,0.5\n").write("b.csv", "model,epoch,m\nz,0,0.5\n");
    for line in ["training a.csv b.csv --metric m", "training a.csv b.csv --keys"] {
        let said = ["no run has the key 'modle'", "did you mean 'model'"];
        bench.refuses(&format!("{line} --where modle!=x"), 1, &said);
        bench.refuses(&format!("{line} --where modle=x"), 1, &said);
        let said = ["leave nothing over", "--where model=w", "x, y, z"];
        bench.refuses(&format!("{line} --where model=w"), 1, &said);
    }
    let kept = bench.run("training a.csv b.csv --keys --where model=x --json -").stdout;
    let kept: Json = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["runs"].as_array().unwrap().len(), 1);
    assert_eq!(bench.report("training a.csv b.csv --metric m --where model!=x")["units"], 2);
}
