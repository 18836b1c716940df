//! Runs of every family, ended at random moments: the same command goes on to the same bytes.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use calipers::core::SplitMix64;

use crate::support::{Bench, f64s, i64s, npy, npz, path3_unit};

/// How many units a run has: more than a part holds, where that is soon written.
const UNITS: usize = 1200;
/// After how many kills the folder is begun anew.
const ANEW: usize = 25;

/// How often each family is killed; a campaign says how often by `CALIPERS_KILLS`.
fn kills() -> usize {
    std::env::var("CALIPERS_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(3)
}

fn spawned(bench: &Bench, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_calipers"));
    let quiet = command.args(words).current_dir(bench.path("")).stdout(Stdio::null());
    quiet.stderr(Stdio::null()).spawn().unwrap()
}

/// The temporary files in a folder; none where there is no folder.
fn temporaries(folder: &Path) -> usize {
    let Ok(names) = std::fs::read_dir(folder) else { return 0 };
    names.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".tmp")).count()
}

const OUTPUTS: [&str; 3] = ["r.state", "r.csv", "r.json"];

/// The outputs that are there, each of which has the bytes of a run that was never stopped; the last one
/// to appear says that all are there.
fn check_outputs(bench: &Bench, whole: &[Vec<u8>]) {
    let found = OUTPUTS.map(|name| std::fs::read(bench.path(name)).ok());
    for ((found, whole), name) in found.iter().zip(whole).zip(OUTPUTS) {
        assert!(found.as_ref().is_none_or(|found| found == whole), "{name} is another file");
    }
    assert!(found[2].is_none() || found.iter().all(Option::is_some), "the report is there alone");
}

fn lines(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.path("parts/manifest.jsonl")).map_or(0, |text| text.lines().count())
}

fn survives(bench: &Bench, line: &str, seed: u64) {
    let outputs = "--state r.state --per-unit r.csv --json r.json --quiet";
    let began = Instant::now();
    assert_eq!(bench.run(&format!("{line} {outputs}")).status, 0, "{line}");
    let lasts = began.elapsed();
    let whole = OUTPUTS.map(|name| bench.bytes(name));
    OUTPUTS.iter().for_each(|name| std::fs::remove_file(bench.path(name)).unwrap());
    let line = format!("{line} --resume parts {outputs}");
    let words: Vec<&str> = line.split_whitespace().collect();
    let (mut random, mut kept) = (SplitMix64::new(seed), 0);
    for kill in 1..=kills() {
        let mut run = spawned(bench, &words);
        std::thread::sleep(lasts.mul_f64(1.2 * random.unit()));
        run.kill().unwrap();
        run.wait().unwrap();
        check_outputs(bench, &whole);
        let now = lines(bench);
        assert!(now >= kept, "a part is gone: {now} of {kept}, kill {kill}, {line}");
        kept = now;
        if kill % ANEW == 0 {
            std::fs::remove_dir_all(bench.path("parts")).unwrap();
            OUTPUTS.iter().for_each(|name| _ = std::fs::remove_file(bench.path(name)));
            kept = 0;
        }
    }
    assert_eq!(bench.run(&line).status, 0, "{line}");
    check_outputs(bench, &whole);
    assert!(bench.path("r.json").exists());
    assert_eq!(temporaries(&bench.path("")) + temporaries(&bench.path("parts")), 0, "{line}");
    ended_by_signals(bench, &words, lasts, &mut random);
}

#[cfg(unix)]
fn ended_by_signals(bench: &Bench, words: &[&str], lasts: Duration, random: &mut SplitMix64) {
    use std::os::unix::process::ExitStatusExt;
    for (name, number) in [("-TERM", 15), ("-INT", 2), ("-HUP", 1)] {
        std::fs::remove_dir_all(bench.path("parts")).unwrap();
        let mut run = spawned(bench, words);
        std::thread::sleep(lasts.mul_f64(random.unit()));
        let asked = Instant::now();
        assert!(Command::new("kill").args([name, &run.id().to_string()]).status().unwrap().success());
        let ended = run.wait().unwrap();
        // A machine that is busy with other tests takes longer than the second of a free one.
        assert!(asked.elapsed() < Duration::from_secs(5), "{name}: {:?}", asked.elapsed());
        // A run that was over already, or had not begun to listen, ended in its own way.
        assert!(ended.success() || ended.signal() == Some(number), "{name}: {ended}");
        assert_eq!(temporaries(&bench.path("")) + temporaries(&bench.path("parts")), 0, "{name}");
        std::fs::create_dir_all(bench.path("parts")).unwrap();
    }
}

#[cfg(not(unix))]
fn ended_by_signals(_: &Bench, _: &[&str], _: Duration, _: &mut SplitMix64) {}

#[test]
fn killed_runs_over_graphs_go_on_to_the_same_bytes() {
    let bench = Bench::new();
    for unit in 0..UNITS {
        let mut members = path3_unit();
        members[1] = ("logits", f64s(&[3], &[1.0 + unit as f64, unit as f64 - 400.5, 0.25]));
        bench.write(&format!("val/u{unit}.npz"), npz(&members));
    }
    survives(&bench, "independent-set val", 1);
}

#[test]
fn killed_runs_over_images_go_on_to_the_same_bytes() {
    let bench = Bench::new();
    for unit in 0..UNITS {
        let map = |shift: usize| -> Vec<u8> { (0..64).map(|at| ((at + shift) / 9 % 3) as u8).collect() };
        for (folder, shift) in [("gt", unit), ("out", unit + unit % 4)] {
            bench.write(&format!("{folder}/{unit}.npy"), npy("|u1", &[8, 8], &map(shift)));
        }
    }
    survives(&bench, "segmentation --truth gt --pred out --classes 3", 2);
}

#[test]
fn killed_runs_over_json_lines_go_on_to_the_same_bytes() {
    let bench = Bench::new();
    let unit = |unit: usize| {
        let share = (unit % 97) as f64 / 97.0;
        format!("{{\"unit\": \"u{unit}\", \"pred_mask\": [{share}, 0.4, 0.9], \"target_mask\": [1, 0, 1]}}\n")
    };
    bench.write("units.jsonl", (0..UNITS).map(unit).collect::<String>());
    survives(&bench, "explanation units.jsonl", 3);
}

#[test]
fn killed_runs_over_logs_go_on_to_the_same_bytes() {
    let bench = Bench::new();
    for run in 0..UNITS {
        let text = format!("epoch,val\n0,0.{run}\n1,0.85\n2,0.9{run}\n");
        bench.write(&format!("runs/cfg_{run}.csv"), text);
    }
    survives(&bench, "training runs --metric val --group-by suffix", 4);
}

#[test]
fn killed_runs_over_attacks_go_on_to_the_same_bytes() {
    let bench = Bench::new();
    for run in 0..UNITS {
        let clean = [0.5, 1.0, -1.0, run as f64];
        let attacked = clean.map(|x| x + 0.25);
        let members = [
            ("edge_index", i64s(&[2, 2], &[0, 1, 1, 0])),
            ("clean", f64s(&[2, 2], &clean)),
            ("attacked_0.1", f64s(&[2, 2], &attacked)),
        ];
        bench.write(&format!("runs/r{run}.npz"), npz(&members));
    }
    survives(&bench, "robustness runs", 5);
}
