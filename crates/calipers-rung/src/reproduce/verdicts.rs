//! What the document expects, judged by what the reports say.

use calipers_core::{Report, Value};
use calipers_metrics::robustness::{
    BIAS_LINEARITY, BIAS_RELATIVE, BIAS_TOTAL, Budget, CLEAN_ACCURACY, CURVE, DIFF_RATIO, figures,
};
use serde_json::{Map, Value as Json, json};

use super::Options;
use super::measured::MeasuredPenalty;
use crate::files::dataset::Dataset;
use crate::model::Weights;
use crate::reproduce::expectations::{Expectation, Measured, Point, expectations};

/// The expectations under one form of the edge weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdicts {
    /// The form.
    pub weights: Weights,
    /// Every expectation, in order.
    pub expectations: Vec<Expectation>,
}

/// Every form of the edge weights on its own: they are different penalties.
pub(super) fn of(
    reports: &[Report],
    penalties: &[MeasuredPenalty],
    options: &Options,
    dataset: &Dataset,
) -> Vec<Verdicts> {
    let edges = dataset.graph.edges() as u64;
    let mut forms: Vec<Weights> = options.penalties.iter().map(|penalty| penalty.weights()).collect();
    forms.dedup();
    let of_form = |weights| {
        let of_form = penalties.iter().zip(reports).filter(|(found, _)| found.penalty.weights() == weights);
        let measured: Vec<Measured> =
            of_form.map(|(found, report)| measured(found, report, options, edges)).collect();
        Verdicts { weights, expectations: expectations(&measured, same_label_share(dataset)) }
    };
    forms.into_iter().map(of_form).collect()
}

fn measured(found: &MeasuredPenalty, report: &Report, options: &Options, edges: u64) -> Measured {
    let flips = figures::flips(&found.accumulator.rows());
    let point = |(_, budget): &(String, _)| {
        let budget: &Budget = budget;
        let entry = |name| {
            let curve = labelled(report.value(&CURVE)?, budget.label())?;
            labelled(curve, name)?.as_f64()
        };
        // One division of whole numbers: a mean of rounded shares could cross the limit that decides.
        let share_used = flips.iter().find(|(condition, ..)| condition == budget.label()).and_then(
            |&(_, flips, units)| {
                let allowed = u128::from(budget.allowed(edges)) * u128::from(units);
                Some(flips? as f64 / allowed as f64).filter(|_| allowed > 0)
            },
        );
        Point {
            label: budget.label().to_owned(),
            budget: budget.label().parse().expect("the label of a budget is a decimal number"),
            bias_total: entry(BIAS_TOTAL.id),
            bias_relative: entry(BIAS_RELATIVE.id),
            diff_ratio: entry(DIFF_RATIO.id),
            share_used,
        }
    };
    let mut points: Vec<Point> = options.budgets.iter().map(point).collect();
    points.sort_by(|one, other| one.budget.total_cmp(&other.budget));
    let first = points.first().map_or(String::new(), |point| point.label.clone());
    let clean = report.value(&CURVE).and_then(|curve| labelled(curve, &first));
    Measured {
        penalty: found.penalty.kind(),
        clean_accuracy: clean.and_then(|entries| labelled(entries, CLEAN_ACCURACY.id)?.as_f64()),
        bias_linearity: report.value(&BIAS_LINEARITY).and_then(Value::as_f64),
        points,
    }
}

/// The share of edges that join equal labels; none without labels or edges.
fn same_label_share(dataset: &Dataset) -> Option<f64> {
    let labels = dataset.labels.as_ref()?;
    let same = dataset.graph.pairs().filter(|(i, j)| labels[*i as usize] == labels[*j as usize]).count();
    let edges = dataset.graph.edges();
    (edges > 0).then(|| same as f64 / edges as f64)
}

fn labelled<'a>(value: &'a Value, label: &str) -> Option<&'a Value> {
    match value {
        Value::PerLabel(entries) => entries.iter().find(|(name, _)| &**name == label).map(|(_, value)| value),
        _ => None,
    }
}

/// The list that is written beside the figures.
pub(super) fn json(verdicts: &[Verdicts]) -> String {
    let several = verdicts.len() > 1;
    let entry = |form: &Verdicts, found: &Expectation| {
        let mut entry = json!({
            "id": found.id,
            "statement": found.statement,
            "rule": found.rule,
            "measured": plain(&found.measured),
            "held": found.held,
            "why": found.why,
        });
        if several && let Some(object) = entry.as_object_mut() {
            object.insert("weights".into(), form.weights.to_string().into());
        }
        entry
    };
    let all: Vec<Json> = verdicts
        .iter()
        .flat_map(|form| form.expectations.iter().map(move |found| entry(form, found)))
        .collect();
    format!("{:#}\n", Json::Array(all))
}

fn plain(value: &Value) -> Json {
    match value {
        Value::Number(number) => (*number).into(),
        Value::Count(count) => i64::try_from(*count).map_or(Json::Null, Json::from),
        Value::Text(text) => text.to_string().into(),
        Value::PerLabel(entries) => {
            let entries = entries.iter().map(|(name, value)| (name.to_string(), plain(value)));
            Json::Object(entries.collect::<Map<_, _>>())
        }
        Value::Series(values) => values.iter().map(plain).collect(),
        Value::Undefined(_) => Json::Null,
    }
}
