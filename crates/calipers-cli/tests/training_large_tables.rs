//! Tables of many runs, too large to be held: read run by run or by what is wanted of them, the
//! same numbers come out, and shards divide their runs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod support;

use std::fmt::Write as _;

use serde_json::Value as Json;
use support::{Bench, codes};

const RUNS: u32 = 12;
const EPOCHS: u32 = 250;

/// The value of an epoch: it rises, breaks and in one run is NaN.
fn value(run: u32, epoch: u32) -> f64 {
    match (run, epoch) {
        (7, 40) => f64::NAN,
        _ => f64::from((run * 31 + epoch * 17) % 40) / 400.0 + f64::from(epoch.min(150)) / 170.0,
    }
}

/// Every row of the table: run, epoch, and whether it is the row of the value.
fn by_run() -> Vec<(u32, u32, bool)> {
    let rows = |run| (0..EPOCHS).flat_map(move |epoch| [(run, epoch, false), (run, epoch, true)]);
    (0..RUNS).flat_map(rows).collect()
}

fn by_epoch() -> Vec<(u32, u32, bool)> {
    let mut rows = by_run();
    rows.sort_by_key(|(run, epoch, value)| (*epoch, *run, *value));
    rows
}

fn name(run: u32) -> String {
    format!("g{}_{}", run % 3, run / 3)
}

/// Text that makes a row long, with line ends where quotes allow them.
fn note(line_ends: bool) -> String {
    let end = if line_ends { "\n" } else { " " };
    format!("a note,{end}with a \"\"quote\"\" {}", "x".repeat(700))
}

fn csv(rows: &[(u32, u32, bool)]) -> String {
    let mut text = String::from("run,epoch,train_loss,note,val_F1\n");
    for (run, epoch, is_value) in rows {
        let (name, note) = (name(*run), note(epoch % 50 == 0));
        let cells = if *is_value {
            format!(",\"{note}\",{}", value(*run, *epoch))
        } else {
            format!("0.5,\"{note}\",")
        };
        writeln!(text, "{name},{epoch},{cells}").unwrap();
    }
    text
}

fn json_rows(rows: &[(u32, u32, bool)]) -> Vec<String> {
    let row = |(run, epoch, is_value): &(u32, u32, bool)| {
        let (name, note) = (name(*run), "x".repeat(700));
        let value =
            if *is_value { format!("\"val_F1\": {}", value(*run, *epoch)) } else { "\"loss\": 0.5".into() };
        format!("{{\"run\": \"{name}\", \"note\": [\"{note}\"], \"epoch\": {epoch}, {value}}}")
    };
    rows.iter().map(row).collect()
}

const OPTIONS: &str = "--metric val_F1 --run-column run --group-by suffix";

fn numbers(report: &Json) -> (Json, Json, Vec<&str>) {
    (report["metrics"].clone(), report["undefined"].clone(), codes(report))
}

#[test]
fn the_order_of_rows_and_the_layout_of_a_large_table_do_not_matter() {
    let bench = Bench::new();
    for run in 0..RUNS {
        let rows: Vec<_> = by_run().into_iter().filter(|(row, ..)| *row == run).collect();
        bench.write(&format!("apart/{}.csv", name(run)), csv(&rows).replace(&"x".repeat(700), ""));
    }
    let apart = bench.report("training apart --metric val_F1 --group-by suffix");
    assert_eq!(apart["units"], RUNS);
    assert!(codes(&apart).contains(&"nan-values"));
    for (order, rows) in [("runs", by_run()), ("epochs", by_epoch())] {
        bench.write(&format!("{order}.csv"), csv(&rows));
        bench.write(&format!("{order}.jsonl"), json_rows(&rows).join("\n"));
        bench.write(&format!("{order}.json"), format!("[{}]", json_rows(&rows).join(", ")));
        for ending in ["csv", "jsonl", "json"] {
            let file = format!("{order}.{ending}");
            assert!(bench.bytes(&file).len() > 4 << 20, "{file} is not large");
            let report = bench.report(&format!("training {file} {OPTIONS}"));
            assert_eq!(numbers(&report), numbers(&apart), "{file}");
        }
    }
}

#[test]
fn shards_divide_the_runs_of_one_table() {
    let bench = Bench::new();
    bench.write("runs.csv", csv(&by_run())).write("epochs.csv", csv(&by_epoch()));
    bench.write("small.csv", csv(&by_run()).replace(&"x".repeat(700), ""));
    for file in ["runs.csv", "epochs.csv", "small.csv"] {
        let whole = bench.run(&format!("training {file} {OPTIONS} --state whole.state --json - --quiet"));
        let mut states = String::new();
        for index in 1..=5 {
            let said = bench.run(&format!(
                "training {file} {OPTIONS} --shard {index}/5 --state {index}.state --json - --quiet"
            ));
            assert_eq!(said.status, 0, "{}", said.stderr);
            let report: Json = serde_json::from_str(&said.stdout).unwrap();
            assert_eq!(report["units"], if index <= 2 { 3 } else { 2 }, "{file}");
            states = format!("{index}.state {states}");
        }
        let merged = bench.run(&format!("merge {states} -o merged.state --json - --quiet"));
        assert_eq!(merged.stdout, whole.stdout, "{}", merged.stderr);
    }
}

#[test]
fn what_is_wrong_in_a_large_table_is_said_with_its_place() {
    let bench = Bench::new();
    let (runs, rows) = (csv(&by_run()), json_rows(&by_run()));
    let line = 1 + runs.lines().count();
    bench.write("cell.csv", format!("{runs}g0_0,1,,x,abc\n"));
    let place = format!("line {line}, column `val_F1`");
    bench.refuses(&format!("training cell.csv {OPTIONS}"), 1, &["cell.csv", &place, "abc"]);
    bench.write("short.csv", format!("{runs}g0_0,1\n"));
    let place = format!("line {line}");
    bench.refuses(&format!("training short.csv {OPTIONS}"), 1, &["short.csv", &place, "2 cells", "5 cells"]);
    bench.write("open.csv", format!("{runs}g9_0,1,,\"x,0.5\n"));
    bench.refuses(&format!("training open.csv {OPTIONS}"), 1, &["open.csv", &place, "not closed"]);
    let mut bytes = runs.clone().into_bytes();
    let at = bytes.len();
    bytes.extend(b"g9_0,1,,\xff,0.5\n");
    bench.write("bytes.csv", bytes);
    let place = format!("byte {}", at + 8);
    bench.refuses(&format!("training bytes.csv {OPTIONS}"), 1, &["bytes.csv", &place]);
    bench.write("cut.json", format!("[{}", rows.join(",\n")));
    let place = format!("line {}, column {}", rows.len(), 1 + rows[rows.len() - 1].len());
    bench.refuses(&format!("training cut.json {OPTIONS}"), 1, &["cut.json", &place, "cut off"]);
    bench.write(
        "value.jsonl",
        format!("{}\n{{\"run\": \"z_9\", \"epoch\": 0, \"val_F1\": true}}\n", rows.join("\n")),
    );
    let place = format!("line {}, key `val_F1`", rows.len() + 1);
    bench.refuses(&format!("training value.jsonl {OPTIONS}"), 1, &["value.jsonl", &place, "true"]);
    bench.write("nobody.csv", format!("{runs},1,,x,0.5\n"));
    let place = format!("line {line}");
    bench.refuses(&format!("training nobody.csv {OPTIONS}"), 1, &["nobody.csv", &place, "no run"]);
}
