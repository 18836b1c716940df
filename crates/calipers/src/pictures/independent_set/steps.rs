//! How recursion steps lead to a solution.

use calipers_core::Accumulator;
use calipers_metrics::independent_set::steps::{ACCURACY_BY_STEP, NUM_VIOLATIONS_BY_STEP, SOLVED_BY_STEP};
use calipers_metrics::independent_set::{IndependentSet, Row};
use calipers_report::chart::histogram::{Histogram, counted};
use calipers_report::chart::lines::{Curve, Lines};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::Cell;

use super::super::readings::{missing, over_all, reason, series, table};

const SLUG: &str = "steps";
const TITLE: &str = "Steps to solve";

/// The picture.
pub(super) fn picture(rows: &Accumulator<IndependentSet>) -> Picture {
    let solved = over_all(rows, &SOLVED_BY_STEP);
    let violations = over_all(rows, &NUM_VIOLATIONS_BY_STEP);
    let (mut variants, mut data) = (Vec::new(), Vec::new());
    if let Some(values) = series(&solved) {
        let accuracy = series(&over_all(rows, &ACCURACY_BY_STEP)).unwrap_or_default();
        let shares = Axis::share("share");
        let curves = [("solved so far", 0, &values), ("accuracy", 1, &accuracy)];
        variants.push(("solved".to_owned(), by_step("Share of graphs solved by step", shares, &curves)));
        let first = first_solved(rows);
        variants.push(("first solved at".to_owned(), histogram(&first, values.len())));
        let at = |values: &[f64], i: usize| Cell::from(values.get(i).copied().filter(|x| x.is_finite()));
        let lines = (0..values.len()).map(|i| {
            let newly = first.iter().filter(|step| **step == i + 1).count();
            vec![Cell::Number((i + 1) as f64), at(&values, i), at(&accuracy, i), Cell::Number(newly as f64)]
        });
        data.push((
            "steps".to_owned(),
            table(&["step", SOLVED_BY_STEP.id, ACCURACY_BY_STEP.id, "first_solved"], lines),
        ));
    }
    if let Some(values) = series(&violations) {
        let axis = Axis::around("violated edges, mean", values.iter().copied().chain([0.0]));
        let curves = [("violated edges", 3, &values)];
        variants.push(("violations".to_owned(), by_step("Violated edges by step", axis, &curves)));
        let lines =
            values.iter().enumerate().map(|(i, x)| vec![Cell::Number((i + 1) as f64), Cell::Number(*x)]);
        data.push(("violations".to_owned(), table(&["step", NUM_VIOLATIONS_BY_STEP.id], lines)));
    }
    if variants.is_empty() {
        return missing(SLUG, TITLE, reason(&violations));
    }
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: "A graph is solved at the first step at which every node is right and no edge is violated."
            .into(),
        art: Art::Variants(variants),
        data,
        unit: None,
    }
}

/// The step at which each graph is first solved, of those that ever are.
fn first_solved(rows: &Accumulator<IndependentSet>) -> Vec<usize> {
    let first = |row: &Row| {
        let steps = &row.scores.as_ref()?.steps;
        steps.iter().position(|step| step.solved(row.nodes)).map(|place| place + 1)
    };
    rows.rows().iter().filter_map(first).collect()
}

fn histogram(first: &[usize], steps: usize) -> Chart {
    let last = first.iter().copied().max().unwrap_or(0).max(steps).max(1);
    let edges: Vec<f64> = (0..=last).map(|step| step as f64 + 0.5).collect();
    let counts = counted(first.iter().map(|step| *step as f64), &edges);
    Chart::Histogram(Histogram {
        title: "The step at which graphs are first solved".into(),
        description: format!("{} graphs are solved at some step", first.len()),
        x: Axis::between("step", 0.5, last as f64 + 0.5),
        counted: "graphs".into(),
        edges,
        counts: vec![("first solved".into(), Colour::Series(2), counts)],
        posts: Vec::new(),
    })
}

fn by_step(title: &str, y: Axis, curves: &[(&str, usize, &Vec<f64>)]) -> Chart {
    let longest = curves.iter().map(|(_, _, values)| values.len()).max().unwrap_or(0);
    let numbered = |values: &[f64]| (1..).map(f64::from).zip(values.iter().copied()).collect::<Vec<_>>();
    let curve = |(name, series, values): &(&str, usize, &Vec<f64>)| Curve {
        name: Some(String::from(*name)),
        ..Curve::new(Colour::Series(*series), numbered(values))
    };
    Chart::Lines(Lines {
        title: title.into(),
        description: format!("{longest} steps"),
        x: Axis::between("step", 1.0, (longest as f64).max(2.0)),
        y,
        curves: curves.iter().filter(|(_, _, values)| !values.is_empty()).map(curve).collect(),
        levels: Vec::new(),
        signs: Vec::new(),
    })
}
