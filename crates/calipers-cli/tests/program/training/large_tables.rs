//! Tables of many runs, too large to be held: read run by run or by what is wanted of them, the
//! same numbers come out, and shards divide their runs.

use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::support::{Bench, codes};

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

/// The same runs as the columns of a panel. Names as long as these make the header longer than a
/// stretch.
fn panel(runs: &[u32], padding: usize) -> String {
    let mut text = String::from("\"Step\"");
    for run in runs {
        let name = format!("{}{}", "n".repeat(padding), name(*run));
        write!(text, ",\"{name} - val_F1\",\"{name} - val_F1__MIN\",\"{name} - val_F1__MAX\"").unwrap();
    }
    for epoch in 0..EPOCHS {
        write!(text, "\n\"{epoch}\"").unwrap();
        for run in runs {
            let (value, zeros) = (value(*run, epoch), "0".repeat(700));
            // A value with many digits is the same value.
            let value = if value.is_nan() { "nan".into() } else { format!("{value:.20}{zeros}") };
            write!(text, ",\"{value}\",\"{value}\",\"{value}\"").unwrap();
        }
    }
    text
}

#[test]
fn a_large_panel_gives_the_numbers_of_its_runs() {
    let bench = Bench::new();
    let runs: Vec<u32> = (0..RUNS).collect();
    let zeros = "0".repeat(700);
    bench.write("small.csv", panel(&runs, 0).replace(&zeros, ""));
    bench.write("large.csv", panel(&runs, 0)).write("header.csv", panel(&runs, 40_000));
    assert!(bench.bytes("small.csv").len() < 4 << 20 && bench.bytes("large.csv").len() > 4 << 20);
    let options = "--metric val_F1 --group-by suffix";
    let small = bench.report(&format!("training small.csv {options}"));
    assert_eq!((&small["units"], &small["inputs"][0]["format"]), (&RUNS.into(), &"wandb-panel".into()));
    let large = bench.report(&format!("training large.csv {options}"));
    assert_eq!(numbers(&large), numbers(&small));
    assert_eq!(large["inputs"][0]["x"], "Step");
    let header = bench.report("training header.csv --metric val_F1 --group-by regex:(g.)_ --fold-by suffix");
    assert_eq!((&header["units"], &header["metrics"]), (&small["units"], &small["metrics"]));
    let line = 2 + EPOCHS;
    bench.write("cell.csv", format!("{}\n250{},abc,1,1\n", panel(&runs, 0), ",1,1,1".repeat(11)));
    let place = format!("line {line}, column `val_F1`");
    bench.refuses(&format!("training cell.csv {options}"), 1, &["cell.csv", "run g2_3", &place, "abc"]);
}

#[test]
fn large_columns_of_json_give_the_numbers_of_small_ones() {
    let bench = Bench::new();
    let columns = |blanks: usize, more: &str| {
        let blanks = " ".repeat(blanks);
        let list = |cell: &dyn Fn(u32) -> String| {
            (0..EPOCHS).map(cell).collect::<Vec<_>>().join(&format!(",{blanks}"))
        };
        let (epochs, values) = (list(&|epoch| epoch.to_string()), list(&|epoch| value(0, epoch).to_string()));
        format!("{{\"epoch\": [{epochs}], \"val_F1\": [{values}]{more}}}")
    };
    let line = |file: &str| format!("training {file} --metric val_F1 --fold-by regex:(.)");
    bench.write("small.json", columns(0, "")).write("slarge.json", columns(10_000, ""));
    let (small, large) = (bench.report(&line("small.json")), bench.report(&line("slarge.json")));
    assert_eq!((numbers(&large), &large["inputs"][0]["format"]), (numbers(&small), &"json-columns".into()));
    bench.write("length.json", columns(10_000, ", \"c\": [1]"));
    bench.refuses(&line("length.json"), 1, &["length.json", "key `c`", "1 entries", "250 entries"]);
    bench.write("cut.json", columns(10_000, ", \"c\": ["));
    bench.refuses(&line("cut.json"), 1, &["cut.json", "line 1, column"]);
    // What looked like columns turns out to be a trainer state, or no history at all.
    let log = ", \"log_history\": [{\"step\": 1, \"val_F1\": 0.5}]";
    bench.write("state.json", columns(10_000, log));
    assert_eq!(bench.report(&line("state.json"))["inputs"][0]["format"], "trainer-state");
    bench.write("folder/other.json", columns(10_000, ", \"c\": [{}]"));
    bench.refuses(&line("folder"), 1, &["folder", "no training history"]);
}

/// A database with so many free pages that it is too large to be held.
fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    const PAGE: usize = 1024;
    const LEAVES: usize = 240;
    let first = bytes.len() / PAGE;
    let trunks = 20;
    bytes.resize(bytes.len() + trunks * (1 + LEAVES) * PAGE, 0);
    let mut put =
        |at: usize, number: usize| bytes[at..at + 4].copy_from_slice(&(number as u32).to_be_bytes());
    // Pages are numbered from 1.
    let trunk = |index: usize| 1 + first + index * (1 + LEAVES);
    for index in 0..trunks {
        let (page, next) = (trunk(index), if index + 1 < trunks { trunk(index + 1) } else { 0 });
        put((page - 1) * PAGE, next);
        put((page - 1) * PAGE + 4, LEAVES);
        (0..LEAVES).for_each(|leaf| put((page - 1) * PAGE + 8 + 4 * leaf, page + 1 + leaf));
    }
    put(28, first + trunks * (1 + LEAVES));
    put(32, trunk(0));
    put(36, trunks * (1 + LEAVES));
    bytes
}

#[test]
fn a_large_database_is_read_in_its_file_and_nothing_is_written_beside_it() {
    let bench = Bench::new();
    let golden = crate::support::golden("training/formats/mlflow.db");
    let small = std::fs::read(golden).unwrap();
    let large = padded(small.clone());
    assert!(large.len() > 4 << 20);
    bench.write("small.db", &small).write("folder/large ?.db", &large);
    let options = "--metric val/F1 --group-by suffix";
    let expected = bench.report(&format!("training small.db {options}"));
    let words =
        ["training", "folder", "--metric", "val/F1", "--group-by", "suffix", "--json", "-", "--quiet"];
    let said = bench.run_words(&words);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let report: Json = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(numbers(&report), numbers(&expected));
    assert_eq!(report["inputs"][0]["bytes"], large.len());
    assert_eq!(bench.bytes("folder/large ?.db"), large);
    assert_eq!(std::fs::read_dir(bench.path("folder")).unwrap().count(), 1);
    bench.write("cut.db", &large[..large.len() - 1024]);
    bench.refuses(
        &format!("training cut.db {options}"),
        1,
        &["cut.db", "cut off or damaged", "pages of 1024"],
    );
}

#[test]
fn shards_divide_the_runs_of_one_table() {
    let bench = Bench::new();
    bench.write("runs.csv", csv(&by_run())).write("epochs.csv", csv(&by_epoch()));
    bench.write("small.csv", csv(&by_run()).replace(&"x".repeat(700), ""));
    for file in ["runs.csv", "epochs.csv", "small.csv"] {
        let whole = bench.run(&format!("training {file} {OPTIONS} --state whole.state --json - --quiet"));
        let (mut states, mut units) = (String::new(), 0);
        for index in 1..=5 {
            let said = bench.run(&format!(
                "training {file} {OPTIONS} --shard {index}/5 --state {index}.state --partial --json - --quiet"
            ));
            assert_eq!(said.status, 0, "{}", said.stderr);
            let report: Json = serde_json::from_str(&said.stdout).unwrap();
            units += report["units"].as_u64().unwrap();
            states = format!("{index}.state {states}");
        }
        assert_eq!(units, u64::from(RUNS), "{file}");
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
