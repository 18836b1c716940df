//! `calipers compare` by sampling unit: runs with all their budgets, groups of runs, clusters, ranks.

use serde_json::Value as Json;

use crate::support::robustness::with;
use crate::support::{Bench, f64s, npy, npz, texts};

/// A file of two budgets of a model; `right` nodes of four are right after the attack.
fn run_of(model: &str, split: Option<i64>, right: usize) -> Vec<u8> {
    // The labels of the run worked out by hand.
    let labels = [0, 1, 0, 0];
    let scores: Vec<f64> = labels
        .iter()
        .enumerate()
        .flat_map(|(node, label)| if (node < right) == (*label == 0) { [2.0, 1.0] } else { [1.0, 2.0] })
        .collect();
    let mut changes = vec![("attacked_0.1", f64s(&[4, 2], &scores)), ("model", texts(&[model]))];
    changes.extend(split.map(|split| ("split", npy("<i8", &[1], &split.to_le_bytes()))));
    npz(&with(&changes))
}

fn state(bench: &Bench, line: &str, name: &str) {
    let said = bench.run(&format!("{line} --quiet --state {name}"));
    assert_eq!(said.status, 0, "{}", said.stderr);
}

fn compared(bench: &Bench, line: &str) -> Json {
    let said = bench.run(&format!("compare {line} --resamples 200 --json - --quiet"));
    assert_eq!(said.status, 0, "{line}\n{}", said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

fn codes(compared: &Json) -> Vec<&str> {
    let all = compared["warnings"].as_array().unwrap().iter();
    all.map(|warning| warning["code"].as_str().unwrap()).collect()
}

#[test]
fn two_models_of_one_run_each_are_compared_although_files_are_called_after_models() {
    let bench = Bench::new();
    for (model, right) in [("l1", 1), ("mcp", 3)] {
        bench.write(&format!("{model}.npz"), run_of(model, None, right));
        state(&bench, &format!("robustness {model}.npz"), &format!("{model}.state"));
    }
    bench.refuses("robustness l1.npz mcp.npz", 1, &["several models"]);
    let found = compared(&bench, "l1.state mcp.state --html c.html");
    assert_eq!((&found["models"][0]["name"], &found["models"][1]["name"]), (&"l1".into(), &"mcp".into()));
    assert_eq!((&found["sampling_unit"], &found["strata"]["all"]["units"]), (&"run".into(), &2.into()));
    let warning = &found["warnings"][0];
    assert_eq!(warning["code"], "runs-paired");
    assert!(warning["message"].as_str().unwrap().contains("l1 of l1 with mcp of mcp"), "{warning}");
    let average = &found["metrics"]["robustness.accuracy_average"]["against_first"]["mcp"];
    assert_eq!((&average["interval"], &average["paired"]["wins"]), (&Json::Null, &1.into()));
    let said = bench.run("compare l1.state mcp.state").stdout;
    assert!(said.contains("no interval of a difference: 1 run; an interval needs at least 2"), "{said}");
    assert!(said.contains("few-pairs: 1 run differs at most"), "{said}");
    let page = bench.read("c.html");
    let curves = page.split("id=\"").find(|part| part.contains("Bias by budget")).unwrap();
    assert!(curves.contains("l1 at 0.1") && curves.contains("mcp at 0.1"), "both models in one drawing");
}

#[test]
fn runs_are_paired_by_split_and_drawn_with_all_their_budgets() {
    let bench = Bench::new();
    for (model, better) in [("l1", 0), ("mcp", 1)] {
        for split in 0..3i64 {
            let right = 1 + split as usize % 2 + better;
            bench.write(&format!("{model}/{model}_s{split}.npz"), run_of(model, Some(split), right));
            let bare = run_of(model, None, right);
            bench.write(&format!("bare/{model}/{model}_s{split}.npz"), bare);
        }
        state(&bench, &format!("robustness {model}"), &format!("{model}.state"));
        state(&bench, &format!("robustness bare/{model}"), &format!("bare-{model}.state"));
    }
    let found =
        compared(&bench, "l1.state mcp.state --metric accuracy_average --metric curve.0.1.robust_accuracy");
    assert_eq!(found["strata"]["all"], serde_json::json!({"units": 6, "sampling_units": 3}));
    assert_eq!(found["tests"], 2);
    let curve = &found["metrics"]["robustness.curve.0.1.robust_accuracy"];
    assert_eq!(
        (&curve["better"], &curve["against_first"]["mcp"]["paired"]["wins"]),
        (&"higher".into(), &3.into())
    );
    assert!(!codes(&found).contains(&"runs-paired"));
    let names = "bare-l1.state bare-mcp.state";
    let advice = ["called differently", "l1_s0, l1_s1, l1_s2", "mcp_s0", "--run-by"];
    bench.refuses(&format!("compare {names}"), 1, &advice);
    let renamed =
        compared(&bench, &format!("{names} --run-by regex:_(?P<run>s[0-9])$ --metric accuracy_average"));
    let id = "robustness.accuracy_average";
    assert_eq!(
        renamed["metrics"][id]["against_first"]["mcp"]["difference"],
        found["metrics"][id]["against_first"]["mcp"]["difference"]
    );
    bench.refuses(
        &format!("compare {names} --run-by regex:(?P<run>x[0-9])"),
        1,
        &["does not match a run", "l1_s0", "bare-l1.state"],
    );
    let labels = compared(&bench, "l1.state mcp.state --by-label");
    let ids = labels["metrics"].as_object().unwrap();
    assert!(ids.contains_key("robustness.curve.0.5.bias_relative"));
    assert!(!ids.keys().any(|id| id.starts_with("robustness.bias_curve")), "no number is tested twice");
}

/// Runs of two groups as CSV histories.
fn histories(bench: &Bench, folder: &str, group: &str, folds: &[u32], speed: f64) {
    for fold in folds {
        let line = |epoch: u32| {
            let value = 1.0 - 0.9f64.powi((speed * f64::from(epoch + fold)) as i32);
            format!("{epoch},{value}\n")
        };
        let text: String = (0..12).map(line).collect();
        bench.write(&format!("{folder}/{group}/{fold}.csv"), format!("epoch,m\n{text}"));
    }
}

#[test]
fn training_states_are_compared_group_by_group_or_by_their_only_groups() {
    let bench = Bench::new();
    let measure = "--metric m --group-by folder --threshold 0.5";
    for (folder, speed) in [("x", 2.0), ("y", 3.0)] {
        histories(&bench, folder, "a", &[0, 1, 2], speed);
        histories(&bench, folder, "b", &[0, 1, 2], speed + 2.0);
        state(&bench, &format!("training {folder} {measure}"), &format!("{folder}.state"));
    }
    for (group, speed) in [("a", 2.0), ("b", 4.0)] {
        histories(&bench, &format!("only-{group}"), group, &[0, 1, 2], speed);
        state(&bench, &format!("training only-{group} {measure}"), &format!("{group}.state"));
    }
    let found = compared(&bench, "x.state y.state");
    let ids = found["metrics"].as_object().unwrap();
    assert!(ids.contains_key("training.velocity_wise.a") && ids.contains_key("training.velocity_wise.b"));
    assert_eq!(found["strata"]["b"]["sampling_units"], 3);
    let groups = compared(&bench, "x.state --between groups");
    let names: Vec<&Json> = groups["models"].as_array().unwrap().iter().map(|model| &model["name"]).collect();
    assert_eq!(names, ["a", "b"]);
    let line = &groups["metrics"]["training.velocity_wise.all"];
    assert_eq!(line["values"]["a"], ids["training.velocity_wise.a"]["values"]["x"]);
    let only = compared(&bench, "a.state b.state");
    assert_eq!(
        only["metrics"]["training.velocity_wise.all"]["against_first"]["b"],
        line["against_first"]["b"]
    );
    let said = bench.run("compare x.state --between groups --names slow,fast --resamples 50");
    assert!(said.stdout.starts_with("training m: fast against slow, 3 runs\n"), "{}", said.stdout);
    let words = ["two models have one name", "x.state", "--names a,b"];
    bench.refuses("compare x.state x.state", 2, &words);
    histories(&bench, "odd", "a", &[0, 1], 2.0);
    histories(&bench, "odd", "b", &[0, 2], 2.0);
    state(&bench, &format!("training odd {measure}"), "odd.state");
    let missing = ["different folds", "a has no fold 2", "b has no fold 1"];
    bench.refuses("compare odd.state --between groups", 1, &missing);
    bench.refuses("compare a.state --between groups", 1, &["at least two groups", "one group"]);
}

#[test]
fn clusters_are_drawn_and_flipped_together_and_three_models_are_ranked() {
    let bench = Bench::new();
    let row = |model: u32, unit: u32| (f64::from(unit % 5) + f64::from(model * (unit % 3))) / 20.0;
    for model in 0..3 {
        let lines: String =
            (0..12).map(|unit| format!("p{}/{unit},{}\n", unit / 3, row(model, unit))).collect();
        bench.write(&format!("m{model}.csv"), format!("unit,miou\n{lines}"));
    }
    let found = compared(&bench, "m0.csv m1.csv m2.csv --cluster-by folder --interval bca");
    assert_eq!((&found["sampling_unit"], &found["cluster_by"]), (&"cluster".into(), &"folder".into()));
    assert_eq!(found["strata"]["all"], serde_json::json!({"units": 12, "sampling_units": 4}));
    let line = &found["metrics"]["segmentation.miou"];
    let paired = &line["against_first"]["m2"]["paired"];
    assert_eq!((&paired["wins"], &paired["permutation_p"]), (&4.into(), &0.125.into()));
    let ranks = &line["ranks"];
    assert_eq!((&ranks["best"], &ranks["models"]["m0"]["rank"]), (&"m2".into(), &3.0.into()));
    let said = bench.run("compare m0.csv m1.csv m2.csv --resamples 200");
    assert!(
        said.stdout.contains("ranks by miou") && said.stdout.contains("expected rank"),
        "{}",
        said.stdout
    );
    let text = bench.run("compare m0.csv m1.csv m2.csv --resamples 200 --markdown").stdout;
    assert!(text.contains("**ranks by miou**") && text.contains("- bold: best value"), "{text}");
}
