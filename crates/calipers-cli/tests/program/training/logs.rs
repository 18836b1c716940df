//! Which points of a log are read: identity, sessions, groups, filters, the x of a run, precision and bytes.

use serde_json::Value as Json;

use crate::support::{Bench, codes};

fn message<'r>(report: &'r Json, code: &str) -> &'r str {
    let warnings = report["warnings"].as_array().unwrap();
    let found = warnings.iter().find(|warning| warning["code"] == code);
    found.unwrap_or_else(|| panic!("no {code} in {warnings:?}"))["message"].as_str().unwrap()
}

/// A number of the only or the named group.
fn number(report: &Json, id: &str, group: &str) -> Json {
    report["metrics"][format!("training.{id}")][group].clone()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A field of protobuf that holds bytes.
fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

fn whole(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

fn crc(polynomial: u32, bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (polynomial & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// An offline log of W&B: a run record, then one history record per row of `epoch` and `m`.
fn wandb(id: &str, name: &str, began: u64, steps: u64, rows: &[(f64, f64)]) -> Vec<u8> {
    let time = field(17, &whole(1, began));
    let run = [field(1, id.as_bytes()), field(3, b"p"), field(8, name.as_bytes()), time].concat();
    let item = |key: &str, value: f64| {
        field(1, &[field(1, key.as_bytes()), field(16, value.to_string().as_bytes())].concat())
    };
    let mut records = vec![field(17, &run)];
    for (row, (epoch, value)) in (steps..).zip(rows) {
        let step = field(2, &whole(1, row));
        records.push(field(2, &[item("epoch", *epoch), item("m", *value), step].concat()));
    }
    let mut file = b":W&B\xe1\xbe\0".to_vec();
    for record in records {
        let kind = [&[1_u8][..], &record].concat();
        file.extend(crc(0xedb8_8320, &kind).to_le_bytes());
        file.extend((record.len() as u16).to_le_bytes());
        file.extend(kind);
    }
    file
}

/// One event of TensorBoard: a scalar of single precision, or the start of a writer.
fn event(time: f64, step: u64, content: &[u8]) -> Vec<u8> {
    let data = [&[9][..], &time.to_le_bytes(), &whole(2, step), content].concat();
    let length = (data.len() as u64).to_le_bytes();
    let masked =
        |bytes: &[u8]| crc(0x82f6_3b78, bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    [&length[..], &masked(&length), &data, &masked(&data)].concat()
}

fn scalar(time: f64, step: u64, value: f32) -> Vec<u8> {
    let value = [field(1, b"m"), vec![2 << 3 | 5], value.to_le_bytes().to_vec()].concat();
    event(time, step, &field(5, &field(1, &value)))
}

fn start(time: f64, step: u64) -> Vec<u8> {
    event(time, step, &field(7, &whole(1, 1)))
}

/// A file of gzip that holds the bytes as they are.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u16;
    let head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01";
    let (size, checksum) = (u32::from(length).to_le_bytes(), crc(0xedb8_8320, bytes).to_le_bytes());
    [&head[..], &length.to_le_bytes(), &(!length).to_le_bytes(), bytes, &checksum, &size].concat()
}

const CURVE: &str = "epoch,m\n0,0.5\n1,0.95\n2,0.96\n";

#[test]
fn a_writer_that_starts_again_purges_what_tensorboard_purges() {
    let bench = Bench::new();
    let first: Vec<u8> = (0..8).flat_map(|step| scalar(1.0 + step as f64, step, 0.95)).collect();
    let again: Vec<u8> = [start(20.0, 5), scalar(21.0, 5, 0.25), scalar(22.0, 6, 0.25)].concat();
    bench.write("tb/events.out.tfevents.1", first).write("tb/events.out.tfevents.2", again);
    let report = bench.report("training tb --metric m");
    assert_eq!(number(&report, "epochs_mean", "all"), 7.0);
    let said = message(&report, "restarted");
    assert!(said.contains("3 values from step = 5") && said.contains("--restarts overlay"), "{said}");
    let kept = bench.report("training tb --metric m --restarts overlay");
    assert_eq!(number(&kept, "epochs_mean", "all"), 8.0);
    let apart = bench.report("training tb --metric m --restarts runs");
    assert_eq!(number(&apart, "fold_count", "all"), 2);
}

#[test]
fn a_value_of_single_precision_at_the_threshold_is_the_threshold() {
    let bench = Bench::new();
    let values = [0.5, 0.95, 0.9, 0.9];
    let events: Vec<u8> = (0..).zip(values).flat_map(|(step, value)| scalar(1.0, step, value)).collect();
    bench.write("tb/events.out.tfevents.1", events);
    let report = bench.report("training tb --metric m");
    assert_eq!((number(&report, "stability_wise", "all"), codes(&report)), (Json::from(0.0), vec![]));
    let double = bench.report("training tb --metric m --precision double");
    assert_eq!(number(&double, "stability_wise", "all"), 0.5);
    assert!(message(&double, "float32-tie").contains("--precision single"));
    bench.write("a.csv", format!("epoch,m\n0,0.95\n1,{}\n", f64::from(0.9_f32)));
    assert_eq!(codes(&bench.report("training a.csv --metric m")), ["float32-tie"]);
    assert!(codes(&bench.report("training a.csv --metric m --precision single")).is_empty());
}

#[test]
fn files_of_one_wandb_run_are_one_run() {
    let bench = Bench::new();
    bench.write("w/run-1/run-u.wandb", wandb("u1", "r", 10, 0, &[(0.0, 0.5), (1.0, 0.6), (2.0, 0.7)]));
    bench.write("w/run-2/run-u.wandb", wandb("u1", "r", 20, 3, &[(2.0, 0.95), (3.0, 0.96)]));
    let report = bench.report("training w --metric m");
    assert_eq!(number(&report, "epochs_mean", "all"), 4.0);
    assert!(message(&report, "restarted").contains("1 values from epoch = 2"));
    let shifted = Bench::new();
    shifted.write("w/run-1/run-u.wandb", wandb("u1", "r", 10, 0, &[(0.0, 0.5), (1.0, 0.6)]));
    shifted.write("w/run-2/run-u.wandb", wandb("u1", "r", 20, 0, &[(0.0, 0.95), (1.0, 0.96)]));
    let report = shifted.report("training w --metric m --x _step");
    assert_eq!(number(&report, "epochs_mean", "all"), 4.0);
    assert!(message(&report, "steps-shifted").contains("by 2"));
}

#[test]
fn runs_of_one_name_are_told_apart_and_a_store_given_twice_counts_once() {
    let bench = Bench::new();
    bench.write("w/1.wandb", wandb("aaaaaaaaaa", "same", 1, 0, &[(0.0, 0.5), (1.0, 0.95)]));
    bench.write("w/2.wandb", wandb("bbbbbbbbbb", "same", 2, 0, &[(0.0, 0.5), (1.0, 0.6)]));
    let report = bench.report("training w w/1.wandb --metric m");
    assert_eq!(number(&report, "fold_count", "all"), 2);
    let said = message(&report, "same-name");
    assert!(said.contains("2 runs are called same") && said.contains("--fold-by id"), "{said}");
    let units =
        &report["warnings"].as_array().unwrap().iter().find(|w| w["code"] == "same-name").unwrap()["units"];
    assert_eq!(units[0], "all/same (aaaaaaaa)");
    let by_id = bench.report("training w --metric m --fold-by id");
    assert!(!codes(&by_id).contains(&"same-name"));
    bench.write("v/run/1.wandb", wandb("aaaaaaaaaa", "same", 1, 0, &[(0.0, 0.95)]));
    bench.write("v/run/files/media/table/t.table.json", r#"{"columns": ["epoch", "x"], "data": [[0, 1]]}"#);
    assert_eq!(bench.report("training v --metric m")["units"], 1, "a logged table is no run");
    let one = bench.run("training w --metric m --where id=aaaaaaaaaa --json -");
    assert!(one.stderr.contains("1 of 2 runs read (--where)"), "{}", one.stderr);
    bench.refuses(
        "training w --metric m --where id=c",
        1,
        &["leave nothing over", "aaaaaaaaaa", "bbbbbbbbbb"],
    );
    bench.refuses("training w --metric m --where idd=c", 1, &["'idd'", "did you mean 'id'"]);
}

#[test]
fn runs_of_one_name_in_different_shards_are_told_apart_as_in_one_run() {
    let bench = Bench::new();
    for (at, id) in [(1_u32, "aaaaaaaaaa"), (2, "bbbbbbbbbb"), (3, "cccccccccc"), (4, "dddddddddd")] {
        let (name, value) = (if at == 2 { "other" } else { "same" }, 0.9 + 0.01 * f64::from(at));
        bench.write(&format!("w/{at}.wandb"), wandb(id, name, at.into(), 0, &[(0.0, 0.5), (1.0, value)]));
    }
    let whole = bench.run("training w --metric m --json -").stdout;
    for shard in 1..=2 {
        let line = format!("training w --metric m --shard {shard}/2 --state {shard}.state --quiet");
        assert_eq!(bench.run(&line).status, 0);
    }
    let merged = bench.run("merge 2.state 1.state -o all.state --json -");
    assert_eq!((merged.status, merged.stdout), (0, whole), "{}", merged.stderr);
}

#[test]
fn several_runs_in_one_table_are_refused_with_the_flag_that_separates_them() {
    let bench = Bench::new();
    let rows = "seed,epoch,m\n1,0,0.5\n1,1,0.95\n2,0,0.4\n2,1,0.6\n";
    bench.write("t.csv", rows);
    let words = ["t.csv", "4 values at 2 x of 'epoch'", "'seed'", "--run-column seed", "--duplicates last"];
    bench.refuses("training t.csv --metric m", 1, &words);
    assert_eq!(number(&bench.report("training t.csv --metric m --run-column seed"), "fold_count", "all"), 2);
    let meant = bench.report("training t.csv --metric m --duplicates last");
    assert_eq!(number(&meant, "fold_count", "all"), 1);
    let one = bench.report("training t.csv --metric m --where seed=1");
    assert_eq!(number(&one, "saturation_count", "all"), 1);
}

#[test]
fn a_repeated_x_names_its_cause_and_a_remedy_that_works() {
    let bench = Bench::new();
    bench.write("steps.csv", "epoch,step,m\n0,10,0.5\n0,20,0.6\n1,30,0.7\n1,40,0.95\n");
    let report = bench.report("training steps.csv --metric m");
    assert!(message(&report, "duplicate-x").contains("4 values at 2 x; --x step counts every evaluation"));
    let every = bench.report("training steps.csv --metric m --x step");
    assert_eq!(number(&every, "epochs_mean", "all"), 4.0);
    bench.write("again.csv", "epoch,m\n0,0.5\n1,0.95\n2,0.8\n1,0.7\n2,0.75\n3,0.8\n");
    let report = bench.report("training again.csv --metric m");
    assert!(
        message(&report, "duplicate-x")
            .contains("x starts again at line 5 (epoch 1 after 2); --restarts rewind")
    );
    for (rule, epochs) in [("overlay", 4.0), ("rewind", 4.0), ("append", 6.0), ("runs", 3.0)] {
        let report = bench.report(&format!("training again.csv --metric m --restarts {rule}"));
        assert_eq!(number(&report, "epochs_mean", "all"), epochs, "{rule}");
    }
    bench.refuses("training again.csv --metric m --restarts append --index epoch", 2, &["append"]);
}

#[test]
fn an_x_that_is_missing_beside_a_value_gives_way_to_the_next() {
    let bench = Bench::new();
    bench.write("a.csv", "epoch,step,m\n0,10,0.5\n,20,0.95\n").write("b.csv", "epoch,m\n0,0.5\n1,0.95\n");
    let report = bench.report("training a.csv b.csv --metric m");
    assert_eq!(report["inputs"][0]["x"], "step");
    assert!(message(&report, "x-fallback").contains("'step' for 'epoch'"));
    assert!(message(&report, "mixed-x").contains("epoch in 1, step in 1"));
    bench.write("c.csv", "Iteration,m\n3,0.5\n4,0.95\n");
    assert_eq!(bench.report("training c.csv --metric m")["inputs"][0]["x"], "Iteration");
}

#[test]
fn steps_are_not_taken_for_epochs() {
    let bench = Bench::new();
    bench.write("a.csv", "step,m\n100,0.5\n200,0.95\n300,0.96\n");
    let line = "training a.csv --metric m --index epoch";
    bench.refuses(line, 1, &["these are steps, not epochs", "usually 100", "--x KEY"]);
    bench.write("b.csv", "step,m\n0,0.5\n1,0.95\n");
    assert_eq!(number(&bench.report("training b.csv --metric m --index epoch"), "velocity_wise", "all"), 2.0);
    bench.write("c.csv", "step,my.Epoch,m\n100,0,0.5\n200,3,0.95\n");
    assert_eq!(number(&bench.report("training c.csv --metric m --index epoch"), "velocity_wise", "all"), 4.0);
}

#[test]
fn several_rules_are_joined_and_inputs_lend_their_folders() {
    let bench = Bench::new();
    bench.write("t.csv", "lr,bs,fold,epoch,m\n0.1,32,a,0,0.95\n0.1,64,a,0,0.5\n0.1,64,b,0,0.5\n");
    let report = bench
        .report("training t.csv --metric m --group-by column:lr --group-by column:bs --fold-by column:fold");
    assert_eq!(
        (number(&report, "fold_count", "0.1 / 32"), number(&report, "fold_count", "0.1 / 64")),
        (1.into(), 2.into())
    );
    assert_eq!(report["protocol"]["group_by"], "column:lr,column:bs");
    bench.refuses(
        "training t.csv --metric m --group-by none --group-by column:lr",
        2,
        &["none", "stands alone"],
    );
    for place in ["x/g/0.csv", "y/g/0.csv", "z/h/0.csv"] {
        bench.write(place, CURVE);
    }
    let report = bench.report("training x/g z/h/0.csv --metric m --group-by folder");
    assert_eq!(
        (number(&report, "fold_count", "g"), number(&report, "fold_count", "h")),
        (1.into(), 1.into())
    );
    let report = bench.report("training x/g y/g --metric m --group-by folder");
    assert_eq!(number(&report, "fold_count", "x/g"), 1);
}

#[test]
fn runs_without_the_metric_are_left_out_before_any_rule_looks_at_them() {
    let bench = Bench::new();
    bench.write("a_0.csv", CURVE).write("noise.csv", "epoch,other\n0,1\n");
    bench.refuses(
        "training a_0.csv noise.csv --metric m --group-by suffix",
        1,
        &["noise.csv", "'m' is in 1 of 2 runs", "--skip-missing"],
    );
    let report = bench.report("training a_0.csv noise.csv --metric m --group-by suffix --skip-missing");
    assert_eq!(report["units"], 1);
    bench.write("b.csv", "epoch,eval_F1\n0,0.5\n");
    bench.refuses("training b.csv --metric F1", 1, &["did you mean 'eval_F1'"]);
}

#[test]
fn two_loggers_of_one_run_are_one_run_and_elsewhere_they_are_noticed() {
    let bench = Bench::new();
    let events: Vec<u8> =
        (0..).zip([0.5_f32, 0.95, 0.96]).flat_map(|(step, value)| scalar(1.0, step, value)).collect();
    bench.write("v/metrics.csv", CURVE).write("v/events.out.tfevents.1", &events);
    let report = bench.report("training v --metric m");
    assert_eq!((report["units"].as_u64(), report["inputs"].as_array().unwrap().len()), (Some(1), 2));
    bench.write("w/run.csv", CURVE).write("w/tb/events.out.tfevents.1", &events);
    let report = bench.report("training w --metric m");
    assert!(message(&report, "logged-twice").contains("--format csv or --format tensorboard"));
}

#[test]
fn checkpoints_that_are_given_one_by_one_are_one_run() {
    let bench = Bench::new();
    for (step, rows) in
        [(2, r#"{"step": 1, "m": 0.5}"#), (3, r#"{"step": 1, "m": 0.5}, {"step": 3, "m": 0.95}"#)]
    {
        let state = format!(r#"{{"global_step": {step}, "log_history": [{rows}]}}"#);
        bench.write(&format!("out/lr1/fold0/checkpoint-{step}/trainer_state.json"), state);
    }
    let line = "training out/lr1/fold0/checkpoint-2 out/lr1/fold0/checkpoint-3 --metric m --group-by folder";
    let report = bench.report(&format!("{line} --per-unit u.csv"));
    assert_eq!(
        (number(&report, "fold_count", "lr1"), number(&report, "epochs_mean", "lr1")),
        (1.into(), 2.0.into())
    );
    assert!(bench.read("u.csv").contains("lr1/fold0"));
    assert!(message(&report, "checkpoints-joined").contains("fold0"));
}

#[test]
fn text_in_other_encodings_and_compressed_is_read_as_what_it_is() {
    let bench = Bench::new();
    let plain = bench.write("a.csv", CURVE).report("training a.csv --metric m")["metrics"].clone();
    let wide: Vec<u8> = format!("\u{feff}{CURVE}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    bench.write("b.csv", &wide);
    assert_eq!(bench.report("training b.csv --metric m")["metrics"], plain);
    bench.write("c.csv", &wide[2..]);
    bench.refuses("training c.csv --metric m", 1, &["c.csv", "--encoding utf-16le"]);
    assert_eq!(bench.report("training c.csv --metric m --encoding utf-16le")["metrics"], plain);
    bench.write("d.csv", b"epoch,m,note\n0,0.5,\xe9\n1,0.95,\n2,0.96,\n");
    bench.refuses("training d.csv --metric m", 1, &["d.csv", "byte 19", "--encoding cp1252"]);
    assert_eq!(bench.report("training d.csv --metric m --encoding cp1252")["metrics"], plain);
    bench.write("z/e.csv.gz", gzip(CURVE.as_bytes()));
    assert_eq!(bench.report("training z --metric m")["metrics"], plain);
    bench.write("f.csv", b"PK\x03\x04\x14\0xl/workbook.xml");
    bench.refuses("training f.csv --metric m", 1, &["f.csv", "an Excel workbook", "as CSV"]);
}

#[test]
fn a_folder_of_dvclive_is_one_run_and_what_codecarbon_measures_is_none() {
    let bench = Bench::new();
    bench.write("d/plots/metrics/val/acc.tsv", "step\tacc\n0\t0.5\n1\t0.95\n");
    bench.write("d/plots/metrics/loss.tsv", "step\tloss\n0\t1\n").write("d/metrics.json", r#"{"acc": 0.95}"#);
    bench.write("d/emissions.csv", "run_id,emissions,energy_consumed\nx,1,2\n");
    let report = bench.report("training d --metric val/acc");
    assert_eq!((number(&report, "epochs_mean", "all"), report["units"].as_u64()), (2.0.into(), Some(1)));
    bench.write("e/.aim/meta", "x");
    bench.refuses("training e --metric m", 1, &["Aim", "as CSV"]);
    bench.write("e/a.csv", CURVE);
    assert!(message(&bench.report("training e --metric m"), "unread-log").contains("Aim"));
}

#[test]
fn a_log_that_begins_late_is_noticed() {
    let bench = Bench::new();
    bench.write("a.csv", "epoch,m\n6,0.95\n7,0.96\n8,0.97\n");
    assert!(message(&bench.report("training a.csv --metric m"), "late-start").contains("--index epoch"));
    assert_eq!(number(&bench.report("training a.csv --metric m --index epoch"), "velocity_wise", "all"), 7.0);
}
