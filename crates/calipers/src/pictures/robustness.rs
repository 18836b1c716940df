//! Attacks on graph models: bias and accuracy by budget, and the differences along edges.

use calipers_core::{Accumulator, Metric, Report, Value};
use calipers_metrics::robustness::figures::{Spread, spreads};
use calipers_metrics::robustness::{
    BIAS_RELATIVE, BIAS_TOTAL, CLEAN_ACCURACY, CURVE, CURVE_STD, ROBUST_ACCURACY, Robustness,
};
use calipers_report::chart::histogram::Histogram;
use calipers_report::chart::lines::{Curve, Lines, Mark};
use calipers_report::chart::sheet::Sheet;
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::{Cell, Grid};

use crate::replay::Evidence;

/// One model under attack.
pub(crate) struct Model {
    name: String,
    report: Report,
    spreads: Vec<Spread>,
}

impl Model {
    pub(crate) fn new(name: &str, accumulator: &Accumulator<Robustness>) -> Self {
        let spreads = spreads(accumulator.protocol(), &accumulator.rows());
        Self { name: name.to_owned(), report: accumulator.finish(), spreads }
    }
}

pub(crate) fn of(accumulator: &Accumulator<Robustness>, _: &Evidence) -> Vec<Picture> {
    let models = [Model::new("", accumulator)];
    vec![bias(&models), accuracy(&models), differences(&models)]
}

/// Several models in one drawing each of bias and accuracy by budget, and their differences side by side.
pub(crate) fn compared(models: &[(&str, &Accumulator<Robustness>)]) -> Vec<Picture> {
    let models: Vec<Model> = models.iter().map(|(name, rows)| Model::new(name, rows)).collect();
    vec![bias(&models), accuracy(&models), differences(&models)]
}

/// One value of the curve at a budget, with its standard deviation where there is one.
struct Point {
    budget: f64,
    label: String,
    value: f64,
    deviation: Option<f64>,
}

/// The name of a model and its attack, and a number at every budget.
type Named = (String, Vec<Point>);

/// A number of the curve, by name of the model and its attack.
fn curves(models: &[Model], scalar: &Metric<Robustness>) -> Vec<Named> {
    let mut curves: Vec<Named> = Vec::new();
    for model in models {
        let entries = labels(model.report.value(&CURVE));
        for (condition, numbers) in entries {
            let (attack, label) = condition.rsplit_once(':').unwrap_or(("", condition));
            let name = match (model.name.as_str(), attack) {
                ("", attack) => attack.to_owned(),
                (name, "") => name.to_owned(),
                (name, attack) => format!("{name}, {attack}"),
            };
            let deviation = || {
                let condition = labelled(model.report.value(&CURVE_STD), condition)?;
                labelled(Some(condition), scalar.id)?.as_f64()
            };
            let value = labelled(Some(numbers), scalar.id).and_then(Value::as_f64);
            let (Ok(budget), Some(value)) = (label.parse(), value) else { continue };
            let point = Point { budget, label: label.to_owned(), value, deviation: deviation() };
            match curves.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push(point),
                None => curves.push((name, vec![point])),
            }
        }
    }
    curves
}

fn labels(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    let entries = match value {
        Some(Value::PerLabel(entries)) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().map(|(label, value)| (&**label, value))
}

fn labelled<'a>(value: Option<&'a Value>, label: &str) -> Option<&'a Value> {
    labels(value).find(|(name, _)| *name == label).map(|(_, value)| value)
}

fn drawn(title: &str, y: &str, curves: &[Named], from_zero: bool) -> Chart {
    let all = || curves.iter().flat_map(|(_, points)| points);
    // A number that is never below 0 is not drawn there either, however wide it scatters.
    let ends = move |point: &Point| {
        let deviation = point.deviation.unwrap_or(0.0);
        let low = point.value - deviation;
        [if from_zero { low.max(0.0) } else { low }, point.value + deviation]
    };
    let band = |point: &Point| {
        let [low, high] = ends(point);
        [point.budget, low, high]
    };
    let widest = all().map(|point| point.budget).fold(0.0, f64::max);
    let zero = from_zero.then_some(0.0);
    let curve = |(place, (name, points)): (usize, &Named)| {
        let tip = |point: &Point| match point.deviation {
            Some(deviation) => format!("{name} at {}: {:.4} ± {deviation:.4}", point.label, point.value),
            None => format!("{name} at {}: {:.4}", point.label, point.value),
        };
        Curve {
            name: Some(name.clone()).filter(|name| !name.is_empty()),
            band: points.iter().filter(|point| point.deviation.is_some()).map(band).collect(),
            marks: points.iter().map(|point| (point.budget, point.value, Mark::Dot, tip(point))).collect(),
            ..Curve::new(
                Colour::Series(place),
                points.iter().map(|point| (point.budget, point.value)).collect(),
            )
        }
    };
    Chart::Lines(Lines {
        title: title.to_owned(),
        description: format!("{y} against the budget, {} curves", curves.len()),
        x: Axis::around("budget: flips as a share of the clean edges", [0.0, widest]),
        y: Axis::around(y, all().flat_map(ends).chain(zero)),
        curves: curves.iter().enumerate().map(curve).collect(),
        levels: Vec::new(),
        signs: Vec::new(),
    })
}

fn grid(curves: &[(&str, Vec<Named>)]) -> Grid {
    let columns = ["number", "model", "budget", "mean", "std"].map(str::to_owned).into();
    let mut rows = Vec::new();
    for (number, curves) in curves {
        for (name, points) in curves {
            for point in points {
                rows.push(vec![
                    Cell::Text((*number).to_owned()),
                    Cell::Text(name.clone()),
                    Cell::Number(point.budget),
                    Cell::Number(point.value),
                    point.deviation.into(),
                ]);
            }
        }
    }
    Grid { columns, rows }
}

/// Bias by budget, as it is and as a share of the clean features.
pub(crate) fn bias(models: &[Model]) -> Picture {
    let (total, relative) = (curves(models, &BIAS_TOTAL), curves(models, &BIAS_RELATIVE));
    let drawings = vec![
        ("total".to_owned(), drawn("Bias by budget", "total bias", &total, true)),
        ("relative".to_owned(), drawn("Relative bias by budget", "bias / clean features", &relative, true)),
    ];
    Picture {
        slug: "bias-curve".into(),
        title: "Bias by budget".into(),
        caption: "How far the attack moves the features, squared and summed over nodes: means over \
                  repetitions, with one standard deviation where there are several. The relative bias is \
                  free of the scale of a model."
            .into(),
        data: vec![("bias-curve".into(), grid(&[(BIAS_TOTAL.id, total), (BIAS_RELATIVE.id, relative)]))],
        art: Art::Variants(drawings),
        unit: None,
    }
}

/// Both forms of the bias curve on one sheet.
pub(crate) fn bias_sheet(models: &[Model]) -> Chart {
    let (total, relative) = (curves(models, &BIAS_TOTAL), curves(models, &BIAS_RELATIVE));
    let drawings = vec![
        ("Total bias".to_owned(), drawn("Bias by budget", "total bias", &total, true)),
        (
            "Relative bias".to_owned(),
            drawn("Relative bias by budget", "bias / clean features", &relative, true),
        ),
    ];
    Chart::Sheet(Sheet {
        title: "Bias by budget".into(),
        description: "Total and relative bias against the budget".into(),
        rows: vec![drawings],
    })
}

/// Accuracy on the test nodes by budget; at 0 that on the clean graph.
pub(crate) fn accuracy(models: &[Model]) -> Picture {
    let mut attacked = curves(models, &ROBUST_ACCURACY);
    for (name, clean) in curves(models, &CLEAN_ACCURACY) {
        let Some((_, points)) = attacked.iter_mut().find(|(known, _)| *known == name) else { continue };
        if points.iter().all(|point| point.budget > 0.0)
            && let Some(first) = clean.into_iter().next()
        {
            points.insert(0, Point { budget: 0.0, label: "0 (clean graph)".into(), ..first });
        }
    }
    let art = match attacked.is_empty() {
        true => Art::Missing("accuracies need labels, test nodes and class scores".into()),
        false => Art::Chart(drawn("Accuracy by budget", "accuracy on test nodes", &attacked, false)),
    };
    Picture {
        slug: "accuracy-curve".into(),
        title: "Accuracy against budget".into(),
        caption: "The share of test nodes that are classified right; at budget 0 on the clean graph.".into(),
        data: vec![("accuracy-curve".into(), grid(&[("accuracy", attacked)]))],
        art,
        unit: None,
    }
}

/// The differences along edges of attacked graphs, by condition and model.
pub(crate) fn differences(models: &[Model]) -> Picture {
    let conditions = models.iter().flat_map(|model| &model.spreads).map(|spread| spread.condition.as_str());
    let mut seen: Vec<&str> = Vec::new();
    conditions.for_each(|condition| {
        if !seen.contains(&condition) {
            seen.push(condition);
        }
    });
    let art = match seen.is_empty() {
        true => Art::Missing(
            "differences need the edges of attacked graphs, and one range for several units: --hist-range"
                .into(),
        ),
        false => Art::Variants(
            seen.iter()
                .map(|condition| (format!("at {condition}"), difference_sheet(models, condition)))
                .collect(),
        ),
    };
    Picture {
        slug: "edge-differences".into(),
        title: "Differences along edges".into(),
        caption: "How often the features at the two ends of an edge differ by how much: all edges of the \
                  attacked graph, those the attack added, and those of the clean graph that it kept."
            .into(),
        data: vec![("edge-differences".into(), difference_grid(models))],
        art,
        unit: None,
    }
}

/// The histograms of one condition: one drawing per model, which has a heading where there are several.
pub(crate) fn difference_sheet(models: &[Model], condition: &str) -> Chart {
    let mut drawings: Vec<(String, Chart)> = Vec::new();
    for model in models {
        let of_condition = model.spreads.iter().filter(|spread| spread.condition == condition);
        let spreads: Vec<&Spread> = of_condition.collect();
        drawings.extend(histogram(&spreads).map(|drawing| (model.name.clone(), drawing)));
    }
    match drawings.len() {
        1 if models.len() == 1 => drawings.swap_remove(0).1,
        _ => Chart::Sheet(Sheet {
            title: "Differences along edges".into(),
            description: format!("Histograms at {condition}"),
            rows: drawings.chunks(3).map(<[_]>::to_vec).collect(),
        }),
    }
}

/// All edges as blocks, those of each set as outlines over them.
fn histogram(spreads: &[&Spread]) -> Option<Chart> {
    let counts = |spread: &&Spread| {
        let colour = match spread.set {
            "added" => Colour::Series(1),
            "kept" => Colour::Series(2),
            _ => Colour::Series(5),
        };
        (format!("{} edges", spread.set), colour, spread.counts.clone())
    };
    let first = spreads.first()?;
    let (low, high) = (first.edges.first().copied()?, first.edges.last().copied()?);
    let edges = spreads.iter().map(|spread| spread.counts.iter().sum::<u64>()).max().unwrap_or(0);
    Some(Chart::Histogram(Histogram {
        title: format!("Differences along edges at {}", first.condition),
        description: format!("{edges} edges"),
        x: Axis::between("difference along the edge", low, high),
        counted: "edges".into(),
        edges: first.edges.clone(),
        counts: spreads.iter().map(counts).collect(),
        posts: Vec::new(),
    }))
}

/// Every bin of every histogram.
pub(crate) fn difference_grid(models: &[Model]) -> Grid {
    let columns =
        ["penalty", "budget", "set", "bin_lo", "bin_hi", "count", "density"].map(str::to_owned).into();
    let mut rows = Vec::new();
    for model in models {
        for spread in &model.spreads {
            for (bin, (ends, &count)) in spread.edges.windows(2).zip(&spread.counts).enumerate() {
                rows.push(vec![
                    Cell::Text(model.name.clone()),
                    Cell::Text(spread.condition.clone()),
                    Cell::Text(spread.set.to_owned()),
                    Cell::Number(ends[0]),
                    Cell::Number(ends[1]),
                    Cell::Number(count as f64),
                    spread.densities.as_ref().map(|all| all[bin]).into(),
                ]);
            }
        }
    }
    Grid { columns, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_scatter_draws_no_bias_below_zero() {
        let point =
            |budget: f64, value| Point { budget, label: budget.to_string(), value, deviation: Some(20.0) };
        let curve = ("mcp".to_owned(), vec![point(0.1, 1.0), point(0.2, 2.0)]);
        let curves = [curve];
        let svg = drawn("Bias", "total bias", &curves, true).draw(720.0).to_string();
        assert!(!svg.contains(">-") && !svg.contains(">−"), "{svg}");
        let free = drawn("Accuracy", "accuracy", &curves, false).draw(720.0).to_string();
        assert!(free.contains(">-") || free.contains(">−"), "{free}");
    }
}
