//! Every bad input of a training run is refused with exit status 1 (or 2 for wrong usage) and a
//! message that says what, where, which value and what to do.

use crate::support::{Bench, codes};

/// A bench with one file.
fn file(name: &str, bytes: impl AsRef<[u8]>) -> Bench {
    let bench = Bench::new();
    bench.write(name, bytes);
    bench
}

fn golden(path: &str) -> Vec<u8> {
    std::fs::read(crate::support::golden("training").join(path)).unwrap()
}

const WANDB: &str = "formats/wandb/offline-run-1/run-id01.wandb";
const EVENTS: &str = "formats/tb/cfgA/0/events.out.tfevents.1700000000.host.1.0";
const DB: &str = "formats/mlflow.db";
const CSV: &str = "epoch,m\n0,0.5\n1,0.95\n";

#[test]
fn paths_without_a_history_are_named() {
    let bench = file("empty/readme.md", "x");
    bench.refuses("training none.csv --metric m", 1, &["none.csv"]);
    bench.refuses("training none/ --metric m", 1, &["none/"]);
    bench.refuses("training empty --metric m", 1, &["empty", "tfevents", ".jsonl"]);
    bench.write("other/config.json", r#"{"lr": 0.1}"#);
    bench.refuses("training other --metric m", 1, &["other", "no training history"]);
}

#[test]
fn a_key_that_is_not_there_is_answered_with_its_neighbour_and_all_keys() {
    let bench = file("a.csv", "epoch,val_F1,val_loss\n0,0.5,1\n");
    bench.refuses(
        "training a.csv --metric val_f1",
        1,
        &["a.csv", "'val_f1'", "did you mean 'val_F1'", "val_loss"],
    );
    bench.write("b.csv", CSV);
    bench.refuses("training a.csv b.csv --metric val_F1", 1, &["b.csv", "epoch, m"]);
    let report = bench.report("training a.csv b.csv --metric val_F1 --skip-missing");
    assert_eq!((report["units"].as_u64(), codes(&report)), (Some(1), vec!["metric-missing"]));
}

#[test]
fn cells_that_are_no_numbers_show_line_and_column() {
    let bench = file("a.csv", "epoch,m,other\n0,0.5,x\n1,abc,y\n");
    bench.refuses("training a.csv --metric m", 1, &["a.csv", "line 3", "m", "abc"]);
    let bench = file("a.csv", "epoch,m\nfirst,0.5\n");
    bench.refuses("training a.csv --metric m", 1, &["a.csv", "line 2", "epoch", "first"]);
    let unused = file("a.csv", "epoch,m,note\n0,0.5,abc\n");
    assert_eq!(unused.report("training a.csv --metric m")["units"], 1);
}

#[test]
fn ragged_rows_and_repeated_columns_show_their_places() {
    file("a.csv", "epoch,m\n0,0.5,7\n").refuses(
        "training a.csv --metric m",
        1,
        &["a.csv", "line 2", "3", "2"],
    );
    file("a.csv", "epoch,m\n0\n").refuses("training a.csv --metric m", 1, &["a.csv", "line 2", "1", "2"]);
    let repeated = file("a.csv", "epoch,m,m\n0,1,2\n");
    repeated.refuses("training a.csv --metric m", 1, &["a.csv", "m", "2", "3"]);
    let harmless = file("a.csv", "epoch,m,n,n\n0,1,2,3\n");
    assert_eq!(harmless.report("training a.csv --metric m")["units"], 1);
}

#[test]
fn a_value_needs_an_x() {
    let bench = file("a.csv", "epoch,m\n0,0.5\n,0.6\n");
    bench.refuses("training a.csv --metric m", 1, &["a.csv", "line 3", "'epoch'", "--x"]);
    assert_eq!(bench.report("training a.csv --metric m --x row")["units"], 1);
    file("a.csv", "epoch,m\n0,0.5\nnan,0.6\n").refuses(
        "training a.csv --metric m",
        1,
        &["a.csv", "line 3", "NaN"],
    );
    let none = file("a.csv", "time,m\n0,0.5\n");
    none.refuses("training a.csv --metric m", 1, &["a.csv", "trainer/global_step", "--x row", "time"]);
    none.refuses("training a.csv --metric m --x tine", 1, &["a.csv", "'tine'", "did you mean 'time'"]);
}

#[test]
fn a_run_without_a_value_is_named() {
    let bench = file("a.csv", "run,epoch,m\nr0,0,0.5\nr1,0,\n");
    bench.refuses("training a.csv --metric m --run-column run", 1, &["a.csv", "run r1", "'m'"]);
    let report = bench.report("training a.csv --metric m --run-column run --skip-missing");
    assert_eq!(report["warnings"][0]["units"][0], "all/r1");
    file("a.csv", "epoch,m\n0,nan\n1,NaN\n").refuses("training a.csv --metric m", 1, &["a.csv", "2 NaN"]);
}

#[test]
fn two_runs_of_one_unit_name_both_files() {
    let bench = file("x/a_0.csv", CSV);
    bench.write("y/a_0.csv", CSV);
    bench.refuses(
        "training x y --metric m --group-by suffix",
        1,
        &["'a/0'", "x/a_0.csv", "y/a_0.csv", "--fold-by"],
    );
    let both = file("v/metrics.csv", CSV);
    both.write("v/events.out.tfevents.1", golden(EVENTS));
    assert_eq!(both.report("training v --metric m --skip-missing")["units"], 1, "two loggers of one run");
    assert_eq!(both.report("training v --metric m --format csv")["units"], 1);
}

#[test]
fn a_rule_that_gives_nothing_names_file_run_and_rule() {
    let bench = file("plain.csv", CSV);
    for rule in ["folder", "suffix", "wandb", "regex:^(x)"] {
        let line = format!("training plain.csv --metric m --group-by {rule}");
        bench.refuses(&line, 1, &["plain.csv", "run plain", rule]);
    }
    bench.refuses(
        "training plain.csv --metric m --fold-by suffix",
        1,
        &["plain.csv", "run plain", "--fold-by suffix"],
    );
    bench.refuses(
        "training plain.csv --metric m --group-by column:cfg",
        1,
        &["plain.csv", "'cfg'", "epoch, m"],
    );
    bench.refuses("training plain.csv --metric m --run-column run", 1, &["plain.csv", "'run'"]);
    let gap = file("gap.csv", "cfg,epoch,m\na,0,1\nb,0,1\n,1,1\n");
    gap.refuses("training gap.csv --metric m --group-by column:cfg", 1, &["gap.csv", "line 4"]);
}

#[test]
fn a_column_that_varies_within_a_run_shows_both_lines() {
    let bench = file("a.csv", "run,cfg,epoch,m\nr,a,0,0.5\nr,b,1,0.6\n");
    let line = "training a.csv --metric m --run-column run --group-by column:cfg";
    bench.refuses(line, 1, &["a.csv", "line 2 and line 3", "'a' and 'b'", "cfg"]);
}

#[test]
fn epochs_are_whole_numbers_from_the_first_one() {
    let bench = file("a.csv", "epoch,m\n1,0.5\n2.5,0.6\n");
    bench.refuses("training a.csv --metric m --index epoch", 1, &["a.csv", "line 3", "2.5"]);
    let bench = file("a.csv", CSV);
    bench.refuses(
        "training a.csv --metric m --index epoch --first-epoch 1",
        1,
        &["a.csv", "line 2", "epoch = 0"],
    );
}

#[test]
fn invalid_text_shows_the_byte() {
    file("a.csv", b"epoch,m\n0,\xff\n").refuses("training a.csv --metric m", 1, &["a.csv", "10"]);
    file("a.json", b"[{\"epoch\":0,\"m\":\"\xff\"}]").refuses(
        "training a.json --metric m",
        1,
        &["a.json", "byte"],
    );
}

#[test]
fn broken_json_shows_line_and_column() {
    for text in ["[{\"epoch\": 0,\n \"m\": }]", "[{\"epoch\": 0,\n \"m\": 1}", "{\"epoch\": [0,\n 1"] {
        file("a.json", text).refuses("training a.json --metric m", 1, &["a.json", "line 2", "column"]);
    }
    file("a.jsonl", "{\"epoch\":0,\"m\":1}\n{\"epoch\":\n").refuses(
        "training a.jsonl --metric m",
        1,
        &["a.jsonl", "line 2"],
    );
    file("d/a.json", "{\"lr\": }").refuses("training d --metric m", 1, &["d/a.json", "line 1"]);
}

#[test]
fn json_values_of_other_kinds_show_row_and_value() {
    for (value, found) in [("\"high\"", "high"), ("true", "true"), ("{\"_type\": \"image\"}", "m")] {
        let text = format!("[{{\"epoch\": 0, \"m\": 0.5}}, {{\"epoch\": 1, \"m\": {value}}}]");
        file("a.json", text).refuses("training a.json --metric m", 1, &["a.json", "2", found]);
    }
    let uneven = file("a.json", r#"{"epoch": [0, 1, 2], "m": [0.5, 0.6]}"#);
    uneven.refuses("training a.json --metric m", 1, &["a.json", "m", "2", "3"]);
}

#[test]
fn empty_files_say_so() {
    for name in ["a.csv", "a.json", "a.parquet", "a.wandb", "events.out.tfevents.1"] {
        file(name, "").refuses(&format!("training {name} --metric m"), 1, &["empty file", name]);
    }
}

#[test]
fn damaged_logs_show_the_byte() {
    let log = golden(WANDB);
    let damaged = |at: usize, byte: u8| {
        let mut log = log.clone();
        log[at] = byte;
        file("run.wandb", log)
    };
    let line = "training run.wandb --metric val_F1";
    damaged(0, b'x').refuses(line, 1, &["run.wandb", "byte 0"]);
    damaged(4, 0).refuses(line, 1, &["run.wandb", "byte 4"]);
    damaged(13, 9).refuses(line, 1, &["run.wandb", "byte"]);
    damaged(30, log[30] ^ 1).refuses(line, 1, &["run.wandb", "byte 19"]);
    let cut = file("run.wandb", &log[..log.len() - 3]);
    let report = cut.report(line);
    assert!(codes(&report).contains(&"truncated-file"), "{report}");
}

#[test]
fn damaged_event_files_show_the_byte() {
    let events = golden(EVENTS);
    let line = "training events.out.tfevents.1 --metric val/F1";
    for at in [0, 20] {
        let mut damaged = events.clone();
        damaged[at] ^= 1;
        file("events.out.tfevents.1", damaged).refuses(line, 1, &["tfevents.1", "byte 0", "found"]);
    }
    let cut = file("events.out.tfevents.1", &events[..events.len() - 3]);
    assert!(codes(&cut.report(line)).contains(&"truncated-file"));
}

#[test]
fn a_trainer_state_needs_its_log() {
    let bench = file("run/trainer_state.json", r#"{"global_step": 3}"#);
    bench.refuses("training run --metric eval_F1", 1, &["run/trainer_state.json", "log_history"]);
    bench.refuses(
        "training run/trainer_state.json --metric eval_F1",
        1,
        &["trainer_state.json", "log_history"],
    );
}

#[test]
fn a_trainer_state_without_steps_asks_for_an_x() {
    let bench = file("run/trainer_state.json", r#"{"log_history": [{"epoch": 1, "m": 0.5}]}"#);
    let parts = ["run/trainer_state.json", "no x was found", "epoch, m", "step", "--x row"];
    bench.refuses("training run --metric m", 1, &parts);
    bench.refuses("training run --metric m --x time", 1, &["'time'", "epoch, m"]);
    assert_eq!(bench.report("training run --metric m --x epoch")["units"], 1);
}

#[test]
fn a_file_of_many_runs_says_which_of_them_is_wrong() {
    let panel = "Step,a - m,a - m__MIN,a - m__MAX,b - n\n0,0.5,0.5,0.5,1\n";
    let bench = file("panel.csv", panel);
    bench.refuses("training panel.csv --metric m", 1, &["panel.csv", "run b", "'m'", "Step, n"]);
    bench.write("x.db", golden(DB));
    bench.refuses("training x.db --metric val/f1", 1, &["x.db", "run cfgA_0", "did you mean 'val/F1'"]);
}

#[test]
fn a_run_of_mlflow_is_its_folder() {
    let bench = file("mlruns/0/r/meta.yaml", "run_id: r\nrun_name: one\nlifecycle_stage: active\n");
    bench.write("mlruns/0/r/metrics/other", "1700 0.5 0\n");
    let said = bench.run("training mlruns --metric m");
    assert!(said.status == 1 && said.stderr.contains("mlruns/0/r\n"), "{}", said.stderr);
    bench.write("mlruns/0/r/meta.yaml", b"run_id: \xff\n");
    bench.refuses("training mlruns --metric other", 1, &["meta.yaml, byte 8", "0xff", "UTF-8"]);
}

#[test]
fn lines_of_mlflow_show_file_and_line() {
    for (lines, parts) in [
        ("1700 0.5 0\n1701\n", &["metrics/m", "line 2"][..]),
        ("1700 0.5 0 7\n", &["metrics/m", "line 1"]),
        ("1700 high 0\n", &["metrics/m", "line 1", "high"]),
        ("1700 0.5 0\n1701 0.6 0\n", &["step 0", "--x timestamp"]),
    ] {
        let bench = file("mlruns/0/r/meta.yaml", "run_id: r\nrun_name: one\nlifecycle_stage: active\n");
        bench.write("mlruns/0/r/metrics/m", lines);
        bench.refuses("training mlruns --metric m", 1, parts);
    }
}

#[test]
fn databases_and_tables_of_another_kind_are_named() {
    let mut other = golden(DB);
    for at in 0..other.len() - 7 {
        if &other[at..at + 7] == b"metrics" {
            other[at..at + 7].copy_from_slice(b"metrixs");
        }
    }
    file("x.db", other).refuses("training x.db --metric m", 1, &["x.db", "metrics"]);
    file("x.db", "not a database").refuses("training x.db --metric m", 1, &["x.db"]);
    file("x.parquet", "PAR1 but no table PAR1").refuses("training x.parquet --metric m", 1, &["x.parquet"]);
}

#[test]
fn a_text_column_of_a_parquet_table_shows_its_type() {
    let bench = file("a.csv", CSV);
    bench.run("training a.csv --metric m --per-unit u.parquet --quiet");
    bench.refuses("training u.parquet --metric group --x row", 1, &["u.parquet", "group", "BYTE_ARRAY"]);
    assert_eq!(bench.report("training u.parquet --metric best --x row")["units"], 1);
}

/// A record of an event file.
fn record(data: &[u8]) -> Vec<u8> {
    let masked = |bytes: &[u8]| {
        let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
        });
        (!crc).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
    };
    let length = (data.len() as u64).to_le_bytes();
    [&length[..], &masked(&length), data, &masked(data)].concat()
}

#[test]
fn a_tag_that_holds_no_number_says_what_it_holds() {
    let field = |number: u8, bytes: &[u8]| [&[number << 3 | 2, bytes.len() as u8][..], bytes].concat();
    for (number, holds) in [(4, "image"), (5, "histogram")] {
        let value = [field(1, b"val/F1"), field(number, &[])].concat();
        let event = [&[9, 0, 0, 0, 0, 0, 0, 0, 0][..], &field(5, &field(1, &value))].concat();
        let bench = file("run/events.out.tfevents.1", record(&event));
        bench.refuses("training run --metric val/F1", 1, &["tfevents.1", "val/F1", holds]);
    }
}

#[test]
fn rules_for_nan_and_repeats_can_refuse() {
    let bench = file("a.csv", "epoch,m\n0,nan\n1,0.5\n1,0.6\n");
    bench.refuses("training a.csv --metric m --nan error", 1, &["a.csv", "line 2", "epoch = 0", "NaN"]);
    bench.refuses("training a.csv --metric m --duplicates error", 1, &["a.csv", "epoch = 1", "line 3"]);
}

#[test]
fn more_runs_than_folds_show_both_counts() {
    let bench = file("a.csv", "run,epoch,m\ng_0,0,1\ng_1,0,1\n");
    let line = "training a.csv --metric m --run-column run --group-by suffix --folds 1";
    bench.refuses(line, 1, &["group g", "2", "1"]);
}

#[test]
fn a_runs_file_of_another_kind_shows_the_key() {
    let bench = file("a.csv", CSV);
    let line = "training a.csv --metric m --group-by runs --runs runs.json";
    for (text, parts) in [
        ("[]", &["runs.json", "object"][..]),
        (r#"{"p": {"g": {"date": "x"}}}"#, &["runs.json", "p.g", "runs"]),
        (r#"{"p": {}, "q": {}}"#, &["runs.json", "p, q", "--project"]),
        (r#"{"p": {"g": {"runs": {"0": {"name": "b"}}}}}"#, &["a.csv", "run a", "project p"]),
    ] {
        bench.write("runs.json", text);
        bench.refuses(line, 1, parts);
    }
    bench.refuses(&format!("{line} --project r"), 1, &["runs.json", "r"]);
    bench.write("runs.json", r#"{"p": {"g": {"runs": {"0": {"name": "a"}, "1": {"name": "b"}}}}}"#);
    let report = bench.report(line);
    assert_eq!(report["metrics"]["training.fold_count"]["g"], 1);
    assert_eq!(report["undefined"]["training.velocity_strict.g"], "1 of 2 folds present");
    assert!(codes(&report).contains(&"missing-history"));
}

#[test]
fn states_of_other_parameters_or_other_data_do_not_merge() {
    let bench = file("a.csv", CSV);
    bench.run("training a.csv --metric m --state 1.state --quiet");
    bench.run("training a.csv --metric m --threshold 0.8 --state 2.state --quiet");
    bench.refuses("merge 1.state 2.state -o 3.state", 1, &["threshold", "0.9", "0.8"]);
    bench.write("a.csv", "epoch,m\n0,0.1\n");
    bench.run("training a.csv --metric m --state 2.state --quiet");
    bench.refuses("merge 1.state 2.state -o 3.state", 1, &["all/a"]);
}

#[test]
fn wrong_usage_ends_with_2() {
    let bench = file("a.csv", CSV);
    for words in [
        "a.csv",
        "--metric m",
        "a.csv --metric m --preset strcit",
        "a.csv --metric m --threshold 0.9 --threshold 0.8",
        "a.csv --metric m --metric n --metric o --label a --label b",
        "a.csv --metric m --bootstrap -1",
        "a.csv --metric m --preset script-2025 --direction min",
        "a.csv --metric m --preset table-2024-04-25 --nan fail",
        "a.csv --metric m --threshold nan",
        "a.csv --metric m --threshold inf",
        "a.csv --metric m --scale 0",
        "a.csv --metric m --sustain 0",
        "a.csv --metric m --folds 0",
        "a.csv --metric m --sweep 0.5,nan",
        "a.csv --metric m --group-by elsewhere",
        "a.csv --metric m --group-by regex:(",
        "a.csv --metric m --group-by runs",
        "a.csv --metric m --key-column k",
        "a.csv --metric m --delimiter ab",
        "a.csv --metric m --delimiter , --decimal comma",
        "a.csv --metric m --format xls",
        "a.csv --metric m --metric n --per-unit u.csv",
        "a.csv --metric m --project p",
        "a.csv --metric m --shard 3/2",
    ] {
        let said = bench.run(&format!("training {words}"));
        assert_eq!(said.status, 2, "{words}\n{}{}", said.stdout, said.stderr);
        assert!(said.stdout.is_empty(), "{words}: {}", said.stdout);
    }
    bench.refuses("training a.csv --metric m --threshold 1 --threshold 2", 2, &["--threshold", "2 times"]);
}
