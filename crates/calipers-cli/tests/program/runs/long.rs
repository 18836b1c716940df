//! Runs that are stopped, divided or given what cannot be read: nothing is lost, and nothing in silence.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::support::{Bench, codes, f64s, npz, path3_unit};

fn unit(bench: &Bench, name: &str, shift: u32) {
    let mut members = path3_unit();
    members[1] = ("logits", f64s(&[3], &[1.0 + f64::from(shift), f64::from(shift) - 4.5, 0.25]));
    bench.write(&format!("val/{name}.npz"), npz(&members));
}

fn units(count: u32) -> Bench {
    let bench = Bench::new();
    (0..count).for_each(|at| unit(&bench, &format!("u{at}"), at % 10));
    bench
}

const VAL: &str = "independent-set val";

#[test]
fn files_that_come_between_two_shards_are_no_units_lost_in_silence() {
    let bench = units(6);
    assert_eq!(bench.run(&format!("{VAL} --shard 1/2 --state 1.state --quiet")).status, 0);
    (6..9).for_each(|at| unit(&bench, &format!("u{at}"), at));
    assert_eq!(bench.run(&format!("{VAL} --shard 2/2 --state 2.state --quiet")).status, 0);
    let merged = bench.run("merge 1.state 2.state -o all.state");
    assert_eq!((merged.status, merged.stdout.as_str()), (0, ""), "{}", merged.stderr);
    for words in
        ["warning[missing-shards]: expected 2 shards", "warning[listings-differ]", "6 units", "9 units"]
    {
        assert!(merged.stderr.contains(words), "{words}: {}", merged.stderr);
    }
    bench.refuses("show all.state", 1, &["shards are missing", "--partial"]);
    bench.refuses("compare all.state all.state", 1, &["all.state", "--partial"]);
    bench.refuses("merge 1.state 2.state -o again.state --json again.json", 1, &["--partial"]);
    assert!(!bench.path("again.json").exists() && !bench.path("again.state").exists());
    let report = bench.report("show all.state --partial");
    assert_eq!(codes(&report), ["missing-shards", "listings-differ"]);
    // The first shard once more, over what is there now.
    assert_eq!(bench.run(&format!("{VAL} --shard 1/2 --state 1.state --quiet")).status, 0);
    let said = bench.run("merge 1.state 2.state -o all.state --json - --quiet");
    assert_eq!(said.stdout, bench.run(&format!("{VAL} --json - --quiet")).stdout, "{}", said.stderr);
    assert_eq!(bench.run(&format!("{VAL} --state one.state --quiet")).status, 0);
    assert_eq!(bench.bytes("all.state"), bench.bytes("one.state"), "merged shards have the bytes of one run");
}

#[test]
fn one_shard_is_kept_for_later_or_reported_on_where_that_is_wanted() {
    let bench = units(5);
    bench.refuses(&format!("{VAL} --shard 1/2 --json a.json"), 1, &["--shard", "1/2", "--partial"]);
    assert!(!bench.path("a.json").exists());
    let said = bench.run(&format!("{VAL} --shard 1/2 --state a.state"));
    assert!(said.stdout.starts_with("a.state: ") && said.stdout.contains("shard 1/2"), "{}", said.stdout);
    assert_eq!(said.stdout.lines().count(), 1, "{}", said.stdout);
    let report = bench.report(&format!("{VAL} --shard 1/2 --partial"));
    assert_eq!(codes(&report), ["missing-shards"]);
}

#[test]
fn units_by_name_are_measured_alone_and_an_unknown_name_is_refused() {
    let bench = units(4);
    bench.write("names.txt", "u1\nu3\n");
    assert_eq!(bench.report(&format!("{VAL} --units names.txt"))["units"], 2);
    let said = bench.run_on(&format!("{VAL} --units - --json - --quiet"), b"u0\n");
    assert_eq!(serde_json::from_str::<Json>(&said.stdout).unwrap()["units"], 1, "{}", said.stderr);
    bench.write("names.txt", "u1\nu7\n");
    bench.refuses(&format!("{VAL} --units names.txt"), 1, &["--units", "u7"]);
}

#[test]
fn a_unit_that_cannot_be_read_is_left_out_with_its_reason() {
    let bench = units(4);
    let without = bench.report(VAL);
    bench.write("val/u9.npz", "PK\u{3}\u{4}");
    bench.refuses(VAL, 1, &["val/u9.npz"]);
    let said = bench.run(&format!("{VAL} --keep-going --json report.json --state left.state"));
    assert_eq!(said.status, 4, "{}", said.stderr);
    assert!(said.stderr.contains("left out: 1 of 5 units") && said.stderr.contains("u9"), "{}", said.stderr);
    let report: Json = serde_json::from_str(&bench.read("report.json")).unwrap();
    assert_eq!(report["left_out"].as_array().unwrap().len(), 1);
    assert_eq!((&report["metrics"], &report["inputs"]), (&without["metrics"], &without["inputs"]));
    assert_eq!(bench.report("show left.state")["left_out"], report["left_out"]);
    assert_eq!(bench.run("verify report.json").status, 0, "the other units are verified");
    for threads in [1, 3] {
        let said = bench.run(&format!("{VAL} --keep-going --json - --quiet --threads {threads}"));
        assert_eq!(said.stdout, bench.read("report.json"));
    }
    let bench = Bench::new();
    bench.write("val/u9.npz", "PK\u{3}\u{4}");
    assert_eq!(bench.run(&format!("{VAL} --keep-going")).status, 1);
}

fn parts(bench: &Bench) -> Vec<String> {
    let names = std::fs::read_dir(bench.path("parts")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("part-")).collect();
    names.sort();
    names
}

#[test]
fn the_same_command_goes_on_and_measures_again_what_has_changed() {
    let bench = units(5);
    let line = format!("{VAL} --resume parts --json - ");
    let said = bench.run(&line);
    assert_eq!((said.status, parts(&bench).len()), (0, 1), "{}", said.stderr);
    let again = bench.run(&line);
    assert_eq!(again.stdout, said.stdout);
    assert!(again.stderr.contains("5 of 5 units are measured already"), "{}", again.stderr);
    // A changed file, a new one, and one that is gone.
    std::thread::sleep(Duration::from_millis(20));
    unit(&bench, "u1", 7);
    unit(&bench, "u8", 3);
    std::fs::remove_file(bench.path("val/u4.npz")).unwrap();
    let changed = bench.run(&line);
    assert!(changed.stderr.contains("3 of 5 units are measured already"), "{}", changed.stderr);
    assert_eq!(changed.stdout, bench.run(&format!("{VAL} --json -")).stdout);
    // A part whose bytes are others is removed, and its units are measured again.
    let mut bytes = bench.bytes("parts/part-000001.state");
    bytes[40] ^= 1;
    bench.write("parts/part-000001.state", bytes);
    let damaged = bench.run(&line);
    assert_eq!(damaged.stdout, changed.stdout);
    assert!(damaged.stderr.contains("removed 1 part"), "{}", damaged.stderr);
}

#[test]
fn a_folder_of_another_run_is_refused_and_stays_as_it_is() {
    let bench = units(3);
    let line = format!("{VAL} --resume parts --quiet");
    assert_eq!(bench.run(&line).status, 0);
    let manifest = bench.read("parts/manifest.jsonl");
    bench.refuses(&format!("{line} --preset document"), 1, &["another run", "protocol.preset", "strict"]);
    bench.refuses(&format!("{line} --shard 1/2 --state a.state"), 1, &["another run", "shard"]);
    bench.refuses(&format!("{VAL} --resume s3://b/parts"), 2, &["a folder on this machine"]);
    bench.refuses(&format!("{VAL} --resume none/parts"), 1, &["its parent must exist"]);
    assert_eq!(bench.read("parts/manifest.jsonl"), manifest);
    let lock = File::open(bench.path("parts/lock")).unwrap();
    lock.lock().unwrap();
    bench.refuses(&line, 1, &["another run uses the folder", "process"]);
}

#[test]
fn a_line_that_cannot_be_read_leaves_the_others_as_they_are() {
    let bench = Bench::new();
    let line = |unit: usize, rest: &str| {
        format!("{{\"unit\": \"u{unit}\", \"pred_mask\": [0.{unit}, 0.4], \"target_mask\": [1, 0]{rest}\n")
    };
    let good: String = [1, 2, 4].map(|unit| line(unit, "}")).concat();
    bench.write("units.jsonl", &good);
    let without = bench.report("explanation units.jsonl");
    // One is cut behind its name, one says no name, one has a value of another kind.
    let bad = [line(6, ""), "{\"pred_mask\": [".to_owned(), line(7, ", \"target_mask\": 3}")].join("\n");
    bench.write("units.jsonl", format!("{good}{bad}\n"));
    bench.refuses("explanation units.jsonl", 1, &["not valid JSON", "units.jsonl", "line 4"]);
    let said = bench.run("explanation units.jsonl --keep-going --json r.json --state r.state");
    assert_eq!(said.status, 4, "{}", said.stderr);
    let report: Json = serde_json::from_str(&bench.read("r.json")).unwrap();
    let names: Vec<&str> =
        report["left_out"].as_array().unwrap().iter().map(|entry| entry["unit"].as_str().unwrap()).collect();
    assert_eq!(names, ["u6", "u7", "units.jsonl:6"], "{report}");
    assert_eq!(report["metrics"], without["metrics"]);
    // Measured later, a unit is left out no more.
    bench.write("later.jsonl", line(6, "}"));
    assert_eq!(bench.run("explanation later.jsonl --state later.state --quiet").status, 0);
    assert_eq!(bench.run("merge r.state later.state -o all.state --quiet").status, 0);
    let merged = bench.report("show all.state");
    assert_eq!((&merged["units"], merged["left_out"].as_array().unwrap().len()), (&4.into(), 2));
    bench.write("units.jsonl", "{\n");
    bench.refuses("explanation units.jsonl --keep-going", 1, &["every unit was left out", "units.jsonl:1"]);
}

#[test]
fn logs_of_training_runs_are_kept_too() {
    let bench = Bench::new();
    for run in 0..4 {
        bench.write(&format!("runs/cfg_{run}.csv"), format!("epoch,val_F1\n0,0.{run}\n1,0.95\n"));
    }
    let line = "training runs --metric val_F1 --group-by suffix --json -";
    let whole = bench.run(line);
    let first = bench.run(&format!("{line} --resume parts"));
    assert_eq!(first.stdout, whole.stdout, "{}", first.stderr);
    let again = bench.run(&format!("{line} --resume parts"));
    assert_eq!(again.stdout, whole.stdout);
    assert!(again.stderr.contains("4 of 4 histories are read already"), "{}", again.stderr);
    bench.write("runs/cfg_9.csv", "epoch,val_F1\n0,0.5\n1,0.97\n");
    let more = bench.run(&format!("{line} --resume parts"));
    assert_eq!(more.stdout, bench.run(line).stdout, "{}", more.stderr);
    for shard in 1..=3 {
        let said =
            bench.run(&format!("{line} --shard {shard}/3 --state {shard}.state").replace(" --json -", ""));
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
    let merged = bench.run("merge 3.state 1.state 2.state -o all.state --json -");
    assert_eq!(merged.stdout, more.stdout, "{}", merged.stderr);
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_of_logs_count_once_and_what_is_passed_over_is_said() {
    let bench = Bench::new();
    bench.write("runs/run-1/a.csv", "epoch,m\n0,0.5\n1,0.95\n").write("runs/notes.md", "x");
    std::os::unix::fs::symlink("run-1", bench.path("runs/latest-run")).unwrap();
    std::os::unix::fs::symlink("run-1/a.csv", bench.path("runs/b.csv")).unwrap();
    let said = bench.run("training runs --metric m --json -");
    assert_eq!(serde_json::from_str::<Json>(&said.stdout).unwrap()["units"], 2, "{}", said.stderr);
    assert!(said.stderr.contains("passed over: 1 .md\n"), "{}", said.stderr);
    assert!(said.stderr.contains("runs/latest-run leads to"), "{}", said.stderr);
    std::os::unix::fs::symlink("gone", bench.path("runs/c.csv")).unwrap();
    bench.refuses("training runs --metric m", 1, &["a link leads to nothing", "runs/c.csv", "gone"]);
    assert_eq!(bench.run("training runs --metric m --keep-going --quiet").status, 4);
}

fn start(bench: &Bench, line: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_calipers"))
        .args(line.split_whitespace())
        .current_dir(bench.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn temporaries(bench: &Bench, folder: &str) -> usize {
    let names = std::fs::read_dir(bench.path(folder)).unwrap();
    names.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".tmp")).count()
}

#[cfg(unix)]
#[test]
fn a_run_that_keeps_nothing_ends_without_waiting_for_its_work() {
    use std::os::unix::process::ExitStatusExt;
    let bench = Bench::new();
    // It waits for input that never comes, and hears of nothing.
    let mut run = Command::new(env!("CARGO_BIN_EXE_calipers"))
        .args(["independent-set", "-", "--json", "out.json", "--quiet"])
        .current_dir(bench.path(""))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    assert!(run.try_wait().unwrap().is_none(), "the run is still reading");
    let asked = Instant::now();
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    // Not by `wait`, which would close the input.
    let ended = loop {
        if let Some(ended) = run.try_wait().unwrap() {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    assert_eq!(ended.signal(), Some(2), "{ended}");
    assert!(asked.elapsed() < Duration::from_millis(500), "{:?}", asked.elapsed());
    assert!(!bench.path("out.json").exists());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_at_once_and_keeps_what_is_finished() {
    use std::os::unix::process::ExitStatusExt;
    let bench = units(3);
    // The first units by name are small; the last is searched for hours.
    let edges: Vec<i64> = (0..60).collect();
    let next: Vec<i64> = edges.iter().map(|node| (node + 1) % 60).collect();
    let both: Vec<i64> = edges.iter().chain(&next).chain(&next).chain(&edges).copied().collect();
    let logits: Vec<f64> = edges.iter().map(|node| (node % 7) as f64).collect();
    let members = [("edge_index", crate::support::i64s(&[2, 120], &both)), ("logits", f64s(&[60], &logits))];
    bench.write("slow/z.npz", npz(&members));
    let line = "independent-set val slow --decoders ils --ils-iterations 4000000000 --threads 1 --resume parts \
                --json out.json --quiet";
    for (signal, number) in [("-TERM", 15), ("-INT", 2), ("-HUP", 1)] {
        let mut run = start(&bench, line);
        std::thread::sleep(Duration::from_millis(700));
        assert!(run.try_wait().unwrap().is_none(), "the run is still searching");
        let asked = Instant::now();
        assert!(Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap().success());
        let ended = run.wait().unwrap();
        assert_eq!(ended.signal(), Some(number), "{ended}");
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
        assert_eq!((temporaries(&bench, "parts"), temporaries(&bench, "")), (0, 0));
        assert!(!bench.path("out.json").exists());
    }
}
