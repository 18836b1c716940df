//! Published checkpoints, flips and attacked graphs give the numbers that are known of them.

use std::path::Path;

use serde_json::Value as Json;

use crate::support::Bench;
use crate::support::rung::real_data;

fn at(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

/// The command that replays published flips on published checkpoints.
fn replay(folder: &Path, more: &[&str]) -> (Json, Json) {
    let bench = Bench::new();
    let words = [
        at(folder, "cora.npz"),
        at(folder, "checkpoints/cora_mcp3/split_{split}.pt"),
        at(folder, "splits/cora_are_gnn_robust.json"),
        at(folder, "flips/cora/{budget}/split_{split}.npy"),
    ];
    let [graph, model, splits, flips] = words.each_ref().map(String::as_str);
    let line = [
        "robustness",
        "--graph",
        graph,
        "--prepare",
        "rung",
        "--model",
        model,
        "--penalty",
        "mcp",
        "--weights",
        "legacy",
        "--gamma",
        "3",
        "--splits",
        splits,
        "--split",
        "0,1,2,3,4",
        "--flips",
        flips,
        "--budgets",
        "0.050,0.100,0.200,0.300,0.400",
        "--json",
        "r.json",
        "--per-unit",
        "u.jsonl",
        "--quiet",
    ];
    let said = bench.run_words(&[&line[..], more].concat());
    assert_eq!(said.status, 0, "{}", said.stderr);
    let units: Vec<Json> =
        bench.read("u.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (serde_json::from_str(&bench.read("r.json")).unwrap(), units.into())
}

fn unit<'a>(units: &'a Json, name: &str) -> &'a Json {
    units
        .as_array()
        .unwrap()
        .iter()
        .find(|unit| unit["unit"] == name)
        .unwrap_or_else(|| panic!("no unit {name}"))
}

fn warned(report: &Json, code: &str) -> Option<Vec<String>> {
    let warning = report["warnings"].as_array().unwrap().iter().find(|warning| warning["code"] == code)?;
    Some(warning["units"].as_array().unwrap().iter().map(|unit| unit.as_str().unwrap().to_owned()).collect())
}

fn close(found: &Json, expected: &Json, place: &str) {
    let (found, expected) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{place}: {found} is not {expected}");
}

#[test]
fn published_flips_on_published_checkpoints_give_the_recorded_accuracies() {
    let Some(folder) = real_data() else { return };
    let golden = folder.join("../../golden/robustness/real.json");
    let golden: Json = serde_json::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
    let (report, units) = replay(&folder, &[]);
    assert_eq!(report["units"], 25);
    assert_eq!(warned(&report, "split_leak"), None);
    for case in golden["replay_mcp3_legacy"].as_array().unwrap() {
        let budget = case["budget"].as_str().unwrap().trim_end_matches('0');
        let name = format!("split{}/{budget}", case["split"]);
        let unit = unit(&units, &name);
        let tested = case["tested"].as_f64().unwrap();
        for (id, count) in [("clean_accuracy", "correct_clean"), ("robust_accuracy", "correct_attacked")] {
            let expected = case[count].as_f64().unwrap() / tested;
            assert_eq!(unit[id].as_f64().map(f64::to_bits), Some(expected.to_bits()), "{name} {id}");
        }
        close(&unit["flips_added"], &case["added"], &name);
        close(&unit["flips_removed"], &case["removed"], &name);
        close(&unit["bias_total"], &case["bias_total"], &name);
    }
    let authors = std::fs::read_to_string(folder.join("authors_cora.csv")).unwrap();
    for line in authors.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [percent, split, clean, attacked] = cells[..] else { panic!("{line}") };
        let percent: u32 = percent.parse().unwrap();
        if percent > 0 {
            let budget = format!("{:.2}", f64::from(percent) / 100.0);
            let unit = unit(&units, &format!("split{split}/{}", budget.trim_end_matches('0')));
            for (id, recorded) in [("clean_accuracy", clean), ("robust_accuracy", attacked)] {
                let recorded: f64 = recorded.parse().unwrap();
                assert!((unit[id].as_f64().unwrap() - recorded).abs() < 1e-6, "{line} {id}");
            }
        }
    }
    let first = unit(&units, "split0/0.05");
    close(&first["mean_diff"], &3.52207626892535.into(), "mean_diff");
    assert_eq!(report["protocol"]["prepare"], "rung");
    close(&report["protocol"]["cutoff"], &8.99.into(), "cutoff");
}

#[test]
fn the_splits_trained_on_show_how_many_test_nodes_leaked() {
    let Some(folder) = real_data() else { return };
    let trained = at(&folder, "splits/cora_rung_train.json");
    let (report, _) = replay(&folder, &["--trained-on", &trained]);
    let warning =
        report["warnings"].as_array().unwrap().iter().find(|warning| warning["code"] == "split_leak");
    let warning = warning.unwrap_or_else(|| panic!("no split_leak in {}", report["warnings"]));
    let units = warned(&report, "split_leak").unwrap();
    assert!(units.iter().all(|unit| !unit.starts_with("split1/")), "{units:?}");
    assert_eq!(units.len(), 20);
    let message = warning["message"].as_str().unwrap();
    let counts = ": 201 in split0, 203 in split2, 196 in split3, 191 in split4";
    assert!(message.ends_with(counts), "{message}");
}

#[test]
fn metattack_graphs_have_the_flips_that_are_known_of_them() {
    let Some(folder) = real_data() else { return };
    let bench = Bench::new();
    let words = [
        at(&folder, "cora.npz"),
        at(&folder, "checkpoints/cora_mcp8/split_0.pt"),
        at(&folder, "splits/cora_prognn_splits.json"),
        at(&folder, "meta/cora_meta_adj_{budget}.npz"),
    ];
    let [graph, model, splits, attacked] = words.each_ref().map(String::as_str);
    let said = bench.run_words(&[
        "robustness",
        "--graph",
        graph,
        "--prepare",
        "rung",
        "--model",
        model,
        "--penalty",
        "l2",
        "--weights",
        "exact",
        "--splits",
        splits,
        "--attacked",
        attacked,
        "--budgets",
        "0.05,0.1,0.15,0.2,0.25",
        "--attack",
        "meta",
        "--per-unit",
        "u.jsonl",
        "--quiet",
    ]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let units: Vec<Json> =
        bench.read("u.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let units = Json::from(units);
    for (budget, added, removed) in
        [("0.05", 253, 0), ("0.1", 502, 4), ("0.15", 750, 10), ("0.2", 992, 21), ("0.25", 1222, 45)]
    {
        let unit = unit(&units, &format!("split0/meta:{budget}"));
        close(&unit["flips_added"], &added.into(), budget);
        close(&unit["flips_removed"], &removed.into(), budget);
    }
    let golden = folder.join("../../golden/robustness/real.json");
    let golden: Json = serde_json::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
    for case in golden["metattack_mcp8_network"].as_array().unwrap() {
        if case["penalty"] == "l2" {
            let name = format!("split0/meta:{}", case["budget"].as_str().unwrap());
            close(&unit(&units, &name)["bias_total"], &case["bias_total"], &name);
        }
    }
}

#[test]
fn raw_citation_graphs_and_directed_ones_need_preparing() {
    let Some(folder) = real_data() else { return };
    let bench = Bench::new();
    let trained = std::cell::Cell::new(0);
    let train = |graph: &str, more: &[&str]| {
        let graph = at(&folder, graph);
        trained.set(trained.get() + 1);
        let out = format!("m{}.safetensors", trained.get());
        let words = [
            "robustness",
            "train",
            "--graph",
            &graph,
            "--penalty",
            "l2",
            "--weights",
            "exact",
            "--epochs",
            "1",
            "--out",
            &out,
        ];
        bench.run_words(&[&words[..], more].concat())
    };
    for (graph, parts) in [
        ("cora.npz", &["entries without their reverse", "--prepare rung"][..]),
        ("citeseer.npz", &["124 self loops", "--prepare rung"]),
        ("heterophilic/chameleon_directed.npz", &["50 self loops", "--prepare rung"]),
    ] {
        let said = train(graph, &["--splits", "stratified:1"]);
        assert_eq!(said.status, 1, "{}", said.stderr);
        assert!(parts.iter().all(|part| said.stderr.contains(part)), "{}", said.stderr);
    }
    let splits = at(&folder, "splits/citeseer_rung_train.json");
    let said = train("citeseer.npz", &["--prepare", "rung", "--splits", &splits, "--split", "0"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    for graph in ["texas", "wisconsin", "cornell", "chameleon_filtered"] {
        let said = train(&format!("heterophilic/{graph}.npz"), &["--split", "9"]);
        assert_eq!(said.status, 0, "{graph}: {}", said.stderr);
    }
    let said = train("heterophilic/texas.npz", &["--splits", "stratified:1"]);
    assert!(said.stderr.contains("classes of one node go to test"), "{}", said.stderr);
}

#[test]
fn cora_after_preparing_has_the_size_that_is_known_of_it() {
    let Some(folder) = real_data() else { return };
    let words = [
        at(&folder, "cora.npz"),
        at(&folder, "checkpoints/cora_mcp8/split_0.pt"),
        at(&folder, "splits/cora_rung_train.json"),
    ];
    let [graph, model, splits] = words.each_ref().map(String::as_str);
    let bench = Bench::new();
    let said = bench.run_words(&[
        "robustness",
        "forward",
        "--graph",
        graph,
        "--prepare",
        "rung",
        "--model",
        model,
        "--penalty",
        "mcp",
        "--weights",
        "legacy",
        "--gamma",
        "8",
        "--splits",
        splits,
        "--split",
        "0",
        "--out",
        "a.npz",
    ]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    // 2485 nodes of 7 classes and 5069 edges: the sizes of an uncompressed archive.
    let bytes = bench.bytes("a.npz");
    for (name, length) in [
        ("clean.npy", 2485 * 7 * 8),
        ("labels.npy", 2485 * 8),
        ("edges.npy", 5069 * 16),
        ("test_idx.npy", 1988 * 8),
    ] {
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).unwrap();
        assert_eq!(archive.by_name(name).unwrap().size(), 128 + length, "{name}");
    }
}
