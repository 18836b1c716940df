//! Reports for the tests of every form.

use std::collections::BTreeMap;

use calipers_core::metric::{IntervalRule, MetricInfo};
use calipers_core::resample::{Bootstrap, Bounds, Drawn, Intervals, Method};
use calipers_core::{Better, Digest, Form, Input, Range, Report, Value, Warning};
use serde_json::{Value as Json, json};

/// A report with one value of every kind.
pub(crate) fn small() -> Report {
    let iou = vec![
        ("sky".to_string(), Value::Number(0.91)),
        ("car".to_string(), Value::undefined("class occurs in neither truth nor prediction")),
    ];
    Report {
        version: "0.1.0".into(),
        protocol: object(json!({"name": "segmentation", "preset": "strict", "alpha": 0.5})),
        reading: Json::Null,
        units: 2,
        metrics: vec![
            ("segmentation.miou".into(), Value::Number(0.4365)),
            ("segmentation.iou".into(), Value::PerLabel(iou)),
            ("segmentation.pixels".into(), Value::Count(i128::MAX)),
            ("segmentation.bins".into(), Value::Series(vec![Value::Number(1.0), Value::undefined("")])),
        ],
        intervals: None,
        warnings: vec![Warning {
            code: "one-class".into(),
            message: "one class only".into(),
            units: vec!["0007".into()],
        }],
        left_out: Vec::new(),
        inputs: [(
            "truth/0001.png".into(),
            Input {
                bytes: 3022,
                blake3: Digest([0xab; 32]),
                notes: BTreeMap::from([("format".into(), "png".into())]).into(),
            },
        )]
        .into_iter()
        .collect(),
    }
}

/// Intervals of single numbers, as a run gives them.
pub(crate) fn intervals(bounds: &[(&str, [f64; 2])]) -> Intervals {
    let bounds = bounds.iter().map(|(id, bounds)| (id.to_string(), Bounds::Interval(*bounds)));
    Intervals {
        drawn: Drawn {
            bootstrap: Bootstrap { resamples: 2000, confidence: 0.95, seed: 0, method: Method::Expanded },
            sampling_unit: "cluster".into(),
            cluster_by: Some("folder".into()),
            strata: vec![("all".into(), [233, 14])],
            percentile_used: Vec::new(),
        },
        bounds: bounds.collect(),
        missing: vec![("segmentation.iou.car".into(), "defined in 1204 of 2000 resamples".into())],
    }
}

/// The metric table of a report made up for these tests: the group is the first word of the name.
pub(crate) fn infos(report: &Report) -> Vec<MetricInfo> {
    let infos = report.metrics.iter().map(|(id, _)| {
        let name = id.rsplit('.').next().unwrap_or(id);
        let (group, better) = match name {
            _ if name.starts_with("loss") => ("Loss", Better::Lower),
            _ if name.contains("step") || name.contains("solve") => ("Trajectory", Better::Neither),
            _ if name.ends_with("total") => ("Totals", Better::Neither),
            _ => ("Prediction", Better::Higher),
        };
        info(id, group, better)
    });
    infos.collect()
}

/// One line of a metric table.
pub(crate) fn info(id: &str, group: &'static str, better: Better) -> MetricInfo {
    MetricInfo {
        id: id.into(),
        group,
        better,
        range: Range { low: 0.0, high: 1.0, text: "[0, 1]" },
        form: Form::Plain,
        per_unit: true,
        headline: None,
        interval: IntervalRule::Every,
        measures: "The share of nodes whose prediction equals their label.",
        formula: "(tp + tn) / N",
        undefined: "the graph has no nodes: \"graph has no nodes\"",
        differs: "",
        reference: "section 2",
        example: ("path-of-three", "0.75"),
    }
}

/// A report as a run gives it: many ids, several of them undefined for one reason.
pub(crate) fn realistic() -> Report {
    let steps = [0.61, 0.74, 0.83, 0.9, 0.94, 0.96, 0.97, 0.9873];
    let no_samples = || Value::undefined("no samples given");
    let metrics = [
        ("loss_bce", Value::Number(0.412_345_6)),
        ("loss_feasibility", Value::Number(0.000_012_345_6)),
        ("feasibility", Value::Number(0.999_96)),
        ("accuracy", Value::Number(0.987_3)),
        ("approx_ratio_postprocessed_micro", Value::Number(1.0)),
        ("postprocessed_size", Value::Number(425.958)),
        ("best_of_size", no_samples()),
        ("best_of_approx_ratio", no_samples()),
        ("best_of_curve", no_samples()),
        ("swap_size", Value::undefined("not requested: --decoders swap")),
        ("accuracy_by_step", Value::Series(steps.map(Value::Number).into())),
        (
            "solved",
            Value::PerLabel(vec![
                ("small".into(), Value::Number(0.5)),
                ("large".into(), Value::undefined("graph has no nodes")),
            ]),
        ),
        ("nodes_total", Value::Count(638_943)),
        ("gap_total", Value::Count(-12)),
    ];
    Report {
        protocol: object(json!({"name": "independent_set", "preset": "strict"})),
        units: 500,
        metrics: metrics.into_iter().map(|(id, value)| (format!("independent_set.{id}"), value)).collect(),
        warnings: vec![
            Warning {
                code: "label-beaten".into(),
                message: "for 17 of 500 graphs this run found a larger independent set than the labels"
                    .into(),
                units: (0..17).map(|i| format!("CBS_k3_n100_m403_b90_{i:03}")).collect(),
            },
            Warning { code: "below-baseline".into(), message: "193224 < 209815".into(), units: vec![] },
        ],
        ..small()
    }
}

fn object(json: Json) -> serde_json::Map<String, Json> {
    json.as_object().cloned().unwrap_or_default()
}
