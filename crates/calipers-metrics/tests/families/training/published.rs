//! Published numbers, from curves with the published counts.
//!
//! Peer: published tables: training velocity, stability, divergence.

use calipers_core::Value;
use serde_json::{Value as Json, json};

use super::{FAMILY, run};
use crate::case::golden_case;

/// Cells of published tables: case, id, value.
const CELLS: [(&str, &str, f64); 19] = [
    ("T5_b_v_j-RTP-table-2024-04-25", "stability_strict", 0.822943722943723),
    ("T5_b_v_j-RTP-table-2024-04-25", "velocity_strict", 0.2),
    ("T5_b_v_j-RTP-table-2024-04-25", "divergence_strict", 0.0),
    ("T5_b_v_j-RTP-table-2024-04-24", "stability_naive", 0.177056277056277),
    ("T5_b_v_j-RTP-table-2024-04-24", "stability_wise", 0.295093795093795),
    ("T5_b_v_j-RTP-script-2025", "stability_strict", 0.9739393939393939),
    ("T5_b_v_j-RTP-script-2025", "velocity_strict", 0.2),
    ("T5_b_v_j-RTP-script-2025", "divergence_strict", 0.0),
    ("B_b_v_n-F1micro", "stability_strict", 0.817594986290638),
    ("B_b_v_n-F1micro", "velocity_strict", 0.4),
    ("B_b_v_n-F1micro", "divergence_strict", 1.0),
    ("B_b_v_t_1_f-RTP-table-2024-04-25", "stability_strict", 0.978947368421053),
    ("B_b_v_t_1_f-RTP-script-2025", "stability_strict", 1.0),
    ("T5_vu-F1macro", "stability_strict", 0.16551724137931034),
    ("T5_vu-F1macro", "velocity_naive", 4.6),
    ("T5_vu-F1macro", "velocity_wise", 23.0),
    ("T5_vu-F1macro", "stability_wise", 0.16551724137931034),
    ("T5_vu-F1macro", "stability_naive", 0.16551724137931034),
    ("T5_vu-F1macro", "saturation_count", 1.0),
];

fn only(value: Option<&Value>) -> f64 {
    match value {
        Some(Value::PerLabel(groups)) => groups[0].1.as_f64().expect("a number"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn published_cells_come_out_of_their_counts() {
    for (name, id, published) in CELLS {
        let case = golden_case(&FAMILY, &format!("published-{name}"));
        let value = only(run(&case).unwrap().finish().get(&format!("training.{id}")));
        assert!((value - published).abs() < 1e-14, "{name} {id}: {value}, {published}");
    }
}

#[test]
fn six_readings_of_the_same_five_folds() {
    let folds = [
        [0.5, 0.95, 0.93, 0.96, 0.91, 0.94],
        [0.92, 0.97, 0.98, 0.99, 0.99, 0.99],
        [0.3, 0.6, 0.91, 0.85, 0.0, 0.0],
        [0.1, 0.2, 0.3, 0.5, 0.7, 0.8],
        [0.95, 0.94, 0.89, 0.95, 0.95, 0.95],
    ];
    let runs: Vec<Json> = (0..)
        .zip(folds)
        .map(|(fold, values)| json!({"group": "cfg", "fold": i32::to_string(&fold), "values": values}))
        .collect();
    let stability = [
        ("strict", "naive", 2.0 / 15.0),
        ("strict", "wise", 1.0 / 6.0),
        ("revised", "naive", 2.0 / 3.0),
        ("revised", "wise", 5.0 / 6.0),
        ("table-2024-04-24", "naive", 0.2),
        ("table-2024-04-24", "wise", 1.0 / 3.0),
        ("table-2024-04-25", "strict", 0.6),
        ("table-2024-04-25", "naive", 0.6),
        ("table-2024-04-25", "wise", 0.6),
        ("script-2025", "strict", 11.0 / 15.0),
    ];
    for (preset, aggregation, expected) in stability {
        let report = run(&json!({"protocol": {"preset": preset}, "runs": runs})).unwrap().finish();
        let value = only(report.get(&format!("training.stability_{aggregation}")));
        assert!((value - expected).abs() < 1e-15, "{preset} {aggregation}: {value}");
        let diverged = only(report.get("training.divergence_strict"));
        assert_eq!(diverged.to_bits(), if preset == "script-2025" { 1f64 } else { 2f64 }.to_bits());
    }
}
