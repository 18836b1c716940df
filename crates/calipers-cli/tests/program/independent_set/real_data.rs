//! Published graphs with known answers, where the data folder exists beside the project.

use std::path::PathBuf;

use serde_json::Value as Json;

use crate::support::{Bench, codes, metric, real_data};

/// The data folder, or a line that says the test was skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn data() -> Option<PathBuf> {
    let folder = real_data();
    if folder.is_none() {
        eprintln!("skipped: the folder of real data is not beside the project");
    }
    folder
}

fn warning<'a>(report: &'a Json, code: &str) -> &'a Json {
    let all = report["warnings"].as_array().unwrap();
    all.iter()
        .find(|warning| warning["code"] == code)
        .unwrap_or_else(|| panic!("no {code} in {:?}", codes(report)))
}

fn close(value: &Json, expected: f64) {
    assert!(
        (value.as_f64().unwrap() - expected).abs() <= 1e-15 * expected.abs(),
        "{value} is not {expected}"
    );
}

#[test]
fn satlib_labels_are_certified_but_for_two() {
    let Some(data) = data() else { return };
    let folder = data.join("satlib500");
    let at = |name: &str| folder.join(name).display().to_string();
    let common =
        format!("independent-set --graph {} --names {}", at("satlib500.s6.gz"), at("satlib500.names.txt"));
    let labels = format!("--labels {}", at("satlib500.labels.jsonl.gz"));
    let optima = format!("--optimum {}", at("satlib500.optimum.csv"));
    let bench = Bench::new();

    let audit = bench.report(&format!("{common} {labels} --no-scores"));
    assert_eq!(metric(&audit, "nodes_total"), 638_943);
    assert_eq!(metric(&audit, "edges_total"), 2_670_627);
    close(metric(&audit, "upper_bound"), 425.962);
    close(metric(&audit, "num_true_1s"), 425.958);
    close(metric(&audit, "label_is_independent"), 1.0);
    close(metric(&audit, "label_certified_optimal"), 498.0 / 500.0);
    close(metric(&audit, "baseline_size"), 209_815.0 / 500.0);
    close(metric(&audit, "baseline_approx_ratio"), 0.985_115_947_505_072_8);

    let against = bench.report(&format!("{common} {labels} {optima} --no-scores --baseline none"));
    let suboptimal = serde_json::json!(["CBS_k3_n100_m403_b90_790", "CBS_k3_n100_m418_b90_215"]);
    assert_eq!(warning(&against, "optimum-differs-from-label")["units"], suboptimal);
    close(metric(&against, "optimal_size"), 425.962);

    let sets = format!("--scores {}", at("satlib500.optimal_sets.jsonl.gz"));
    let optimal = bench.report(&format!("{common} {labels} {optima} {sets} --baseline none"));
    close(metric(&optimal, "approx_ratio_postprocessed"), 1.0);
    close(metric(&optimal, "certified_optimal"), 1.0);
    close(metric(&optimal, "is_independent"), 1.0);
    assert_eq!(warning(&optimal, "label-beaten")["units"], suboptimal);

    for (baseline, total, ratio) in [
        ("low-degree", 203_226, Some(0.954_131_070_312_066_1)),
        ("high-degree", 171_621, Some(0.805_928_563_984_790_3)),
        ("high-degree-cut", 139_268, Some(0.653_631_502_770_864_1)),
        ("index", 197_840, None),
        ("random", 193_131, None),
    ] {
        let report =
            bench.report(&format!("{common} {labels} --no-scores --certificate off --baseline {baseline}"));
        close(metric(&report, "baseline_size"), f64::from(total) / 500.0);
        if let Some(ratio) = ratio {
            close(metric(&report, "baseline_approx_ratio"), ratio);
        }
    }
}

#[test]
fn er_labels_are_not_independent_although_their_feasibility_is_high() {
    let Some(data) = data() else { return };
    let folder = data.join("er700_800");
    let at = |name: &str| folder.join(name).display().to_string();
    let common = format!("independent-set --graph {} --names {}", at("er128.g6.gz"), at("er128.names.txt"));
    let bench = Bench::new();

    let audit = bench
        .report(&format!("{common} --labels {} --no-scores", at("er128.shipped_labels_BROKEN.jsonl.gz")));
    assert_eq!(metric(&audit, "edges_total"), 5_482_982);
    close(metric(&audit, "label_is_independent"), 0.0);
    assert_eq!(warning(&audit, "label-not-independent")["units"].as_array().unwrap().len(), 128);
    close(metric(&audit, "upper_bound"), 26_473.0 / 128.0);
    close(metric(&audit, "baseline_size"), 4_973.0 / 128.0);

    let plain = std::process::Command::new("gzip")
        .args(["-dc", &at("er128.shipped_labels_BROKEN.jsonl.gz")])
        .output();
    let renamed: String = String::from_utf8(plain.unwrap().stdout)
        .unwrap()
        .lines()
        .map(|line| {
            let object: Json = serde_json::from_str(line).unwrap();
            let labels = object["labels"].as_str().unwrap();
            let chosen: Vec<usize> =
                labels.char_indices().filter(|(_, label)| *label == '1').map(|(i, _)| i).collect();
            format!("{}\n", serde_json::json!({"unit": object["unit"], "set": chosen}))
        })
        .collect();
    bench.write("set.jsonl", renamed);
    let scored =
        bench.report(&format!("{common} --scores set.jsonl --baseline high-degree-cut --certificate off"));
    close(metric(&scored, "is_independent"), 0.0);
    assert_eq!(metric(&scored, "num_violations_total"), 16_128);
    close(metric(&scored, "feasibility"), 0.997_045_171_619_539_5);
    close(metric(&scored, "conflict_rate"), 0.998_279_405_707_263);
    close(metric(&scored, "num_pred_1s"), 41.382_812_5);
    close(metric(&scored, "baseline_size"), 3_442.0 / 128.0);
    assert!(codes(&scored).contains(&"feasibility-hides-conflicts"));

    let best = bench.report(&format!(
        "{common} --scores {} --baseline none --certificate off",
        at("er128.best_found.jsonl.gz")
    ));
    close(metric(&best, "is_independent"), 1.0);
    close(metric(&best, "num_pred_1s"), 45.093_75);
}

#[test]
fn solver_outputs_of_three_collections_are_independent() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    let at = |name: &str| data.join(name).display().to_string();

    let qoblib = at("qoblib");
    let report = bench.report(&format!(
        "independent-set --graph {qoblib} --scores {qoblib} --scores-are set --baseline none"
    ));
    assert_eq!(report["units"], 24);
    close(metric(&report, "is_independent"), 1.0);

    let pace = at("pace2019");
    let report = bench.report(&format!(
        "independent-set --graph {pace} --scores {pace} --scores-are set --baseline none --certificate off"
    ));
    assert_eq!(report["units"], 33);
    close(metric(&report, "is_independent"), 1.0);
    bench.run(&format!(
        "independent-set --graph {pace} --scores {pace} --scores-are set --per-unit pace.csv --quiet"
    ));
    let table = bench.read("pace.csv");
    let row = table.lines().find(|line| line.starts_with("vc-exact_005,")).unwrap();
    assert_eq!(row.split(',').nth(4), Some("21"), "{row}");

    let report = bench.report(&format!("independent-set --graph {} --no-scores", at("frb")));
    close(metric(&report, "upper_bound"), (30.0 + 30.0 + 35.0 + 40.0) / 4.0);
}

#[test]
fn native_formats_agree_with_one_another() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    let at = |name: &str| data.join("native").join(name).display().to_string();
    let cbs = "CBS_k3_n100_m403_b10_134";
    let labels = at(&format!("{cbs}_unweighted.result"));
    let measured = |graph: &str| {
        bench.report(&format!(
            "independent-set --graph {} --labels {labels} --no-scores",
            at(&format!("{cbs}{graph}"))
        ))
    };
    let (pickled, metis) = (measured(".gpickle"), measured("_unweighted.graph"));
    for id in [
        "nodes_total",
        "edges_total",
        "num_true_1s_total",
        "upper_bound",
        "label_certified_optimal",
        "baseline_size",
    ] {
        assert_eq!(metric(&pickled, id), metric(&metis, id), "{id}");
    }
    assert_eq!(metric(&metis, "num_true_1s_total"), 403);

    let ml4co = bench.report(&format!(
        "independent-set --graph {} --graph-format ml4co --labels @graph --no-scores",
        at("ml4co_mis_rb-small_no-weighted_4ins.txt")
    ));
    assert_eq!(ml4co["units"], 4);
    assert_eq!(metric(&ml4co, "num_true_1s_total"), 22 + 18 + 23 + 22);
    close(metric(&ml4co, "label_is_independent"), 1.0);

    let karate = bench.report(&format!(
        "independent-set --graph {} --labels @graph --no-scores",
        at("karate_labelled_p5.gpickle")
    ));
    for id in ["upper_bound", "num_true_1s", "baseline_size"] {
        close(metric(&karate, id), 20.0);
    }
}

#[test]
fn clique_files_are_scored_through_their_complement() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    let at = |name: &str| data.join("dimacs_clq").join(name).display().to_string();
    let line =
        format!("independent-set --graph {} --no-scores --complement", at("weighted_hamming6-4.clq.gz"));
    let report = bench.report(&line);
    assert_eq!(metric(&report, "edges_total"), 64 * 63 / 2 - 704);
    bench.refuses(
        &format!("independent-set --graph {} --no-scores --complement", at("brock200_2.clq.gz")),
        1,
        &["p", "--num-nodes"],
    );
    let report = bench.report(&format!(
        "independent-set --graph {} --no-scores --complement --num-nodes 200",
        at("brock200_2.clq.gz")
    ));
    assert_eq!(metric(&report, "edges_total"), 200 * 199 / 2 - 9876);
}
