//! What the threshold does to the numbers.

use calipers_core::{Accumulator, Metric, Value};
use calipers_metrics::training::Training;
use calipers_metrics::training::saturation::{
    SWEEP_DIVERGENCE, SWEEP_SATURATION_COUNT, SWEEP_STABILITY_WISE, SWEEP_VELOCITY_WISE,
};
use calipers_report::chart::lines::{Curve, Lines, Mark};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::Cell;
use calipers_report::number::{rounded, shortest};

use super::super::readings::{missing, table, words};

const SLUG: &str = "sweep";
const TITLE: &str = "Threshold sweep";
/// How many groups are drawn.
const MOST: usize = 8;

/// The numbers with their names on the switch and on the axis.
const NUMBERS: [(&str, &str, Metric<Training>); 4] = [
    ("saturating runs", "runs that saturate", SWEEP_SATURATION_COUNT),
    ("velocity", "epochs to saturation", SWEEP_VELOCITY_WISE),
    ("stability", "share of broken epochs", SWEEP_STABILITY_WISE),
    ("divergence", "runs that end worse", SWEEP_DIVERGENCE),
];

/// Thresholds and values by group.
type Swept = Vec<OfGroup>;
type OfGroup = (String, Vec<(f64, f64)>);

/// The picture.
pub(super) fn picture(rows: &Accumulator<Training>) -> Picture {
    let (mut variants, mut data) = (Vec::new(), Vec::new());
    for (name, axis, metric) in NUMBERS {
        let groups = swept(&rows.value(&metric));
        if groups.iter().all(|(_, points)| points.is_empty()) {
            continue;
        }
        let cells = groups.iter().flat_map(|(group, points)| {
            points.iter().map(move |(threshold, value)| {
                let value = Cell::from(Some(*value).filter(|value| value.is_finite()));
                vec![words(group), Cell::Number(*threshold), value]
            })
        });
        data.push((metric.id.replace('_', "-"), table(&["group", "threshold", "value"], cells)));
        variants.push((name.to_owned(), drawn(rows.protocol(), axis, &groups)));
    }
    if variants.is_empty() {
        return missing(SLUG, TITLE, "no sweep of thresholds was asked for (--sweep)");
    }
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption:
            "Each number at other thresholds, by the strict rule; there is no point where no fold saturates."
                .into(),
        art: Art::Variants(variants),
        data,
        unit: None,
    }
}

fn swept(value: &Value) -> Swept {
    let Value::PerLabel(groups) = value else { return Vec::new() };
    let point = |value: &Value| match value {
        Value::Series(pair) => match pair.as_slice() {
            [threshold, value] => Some((threshold.as_f64()?, value.as_f64().unwrap_or(f64::NAN))),
            _ => None,
        },
        _ => None,
    };
    let points = |value: &Value| match value {
        Value::Series(points) => points.iter().filter_map(point).collect(),
        _ => Vec::new(),
    };
    groups.iter().map(|(name, value)| (name.clone(), points(value))).collect()
}

fn drawn(protocol: &Training, axis: &str, groups: &Swept) -> Chart {
    let shown = &groups[..groups.len().min(MOST)];
    let all = || shown.iter().flat_map(|(_, points)| points.iter().copied());
    let curve = |(i, (name, points)): (usize, &OfGroup)| {
        let finite = points.iter().filter(|(_, value)| value.is_finite());
        let marks = finite.map(|(x, y)| (*x, *y, Mark::Dot, format!("{} at {}", rounded(*y), shortest(*x))));
        Curve {
            name: Some(if name.is_empty() { "all runs".into() } else { name.clone() }),
            marks: marks.take(60).collect(),
            ..Curve::new(Colour::Series(i), points.clone())
        }
    };
    Chart::Lines(Lines {
        title: format!("{TITLE}: {axis}"),
        description: format!("{} configurations", shown.len()),
        x: Axis::around(format!("threshold on {}", protocol.label), all().map(|(threshold, _)| threshold)),
        y: Axis::around(axis, all().map(|(_, value)| value).chain([0.0])),
        curves: shown.iter().enumerate().map(curve).collect(),
        levels: Vec::new(),
        signs: Vec::new(),
    })
}
