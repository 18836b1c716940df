//! Pictures of independent sets: how near to the best they come, where they fall short, how many
//! steps they take, and small graphs themselves.

mod graphs;
mod steps;

use calipers_core::Accumulator;
use calipers_metrics::independent_set::IndependentSet;
use calipers_metrics::independent_set::search::{APPROX_RATIO_POSTPROCESSED, BASELINE_APPROX_RATIO, GAP};
use calipers_report::chart::histogram::{Histogram, bins, counted};
use calipers_report::chart::scatter::{Cloud, Point, Scatter};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::Cell;
use calipers_report::number::rounded;

use super::readings::{MOST_ROWS, missing, of_each, over_all, reason, table, words};
use crate::replay::Evidence;

const BINS: usize = 40;

/// The pictures of the family.
pub(crate) fn of(rows: &Accumulator<IndependentSet>, evidence: &Evidence) -> Vec<Picture> {
    let mut pictures = vec![ratios(rows), gap(rows), steps::picture(rows)];
    pictures.extend(graphs::pictures(rows, evidence));
    pictures
}

fn ratios(rows: &Accumulator<IndependentSet>) -> Picture {
    const SLUG: &str = "ratios";
    const TITLE: &str = "Distribution of approximation ratios";
    let shown = [
        (APPROX_RATIO_POSTPROCESSED, "after greedy repair", Colour::Series(0)),
        (BASELINE_APPROX_RATIO, "baseline without scores", Colour::Series(1)),
    ];
    let values = shown.map(|(line, name, colour)| (name, colour, of_each(rows, &line)));
    if values[0].2.is_empty() {
        return missing(SLUG, TITLE, reason(&over_all(rows, &APPROX_RATIO_POSTPROCESSED)));
    }
    let all = values.iter().flat_map(|(_, _, values)| values.iter().map(|(_, _, ratio)| *ratio));
    let (low, high) = all.fold((1.0f64, 1.0f64), |(low, high), ratio| (low.min(ratio), high.max(ratio)));
    let axis = Axis::around("size / reference size", [low - 0.02, high + 0.02]);
    let edges = bins(&axis, BINS);
    let counts: Vec<(String, Colour, Vec<u64>)> = values
        .iter()
        .filter(|(_, _, values)| !values.is_empty())
        .map(|(name, colour, values)| {
            (String::from(*name), *colour, counted(values.iter().map(|(_, _, ratio)| *ratio), &edges))
        })
        .collect();
    let data = edges.windows(2).enumerate().map(|(i, ends)| {
        let bin = [Cell::Number(ends[0]), Cell::Number(ends[1])].into_iter();
        bin.chain(counts.iter().map(|(_, _, counts)| Cell::Number(counts[i] as f64))).collect()
    });
    let columns: Vec<&str> =
        ["from", "to"].into_iter().chain(counts.iter().map(|(name, _, _)| name.as_str())).collect();
    let data = table(&columns, data);
    let mean = over_all(rows, &APPROX_RATIO_POSTPROCESSED).as_f64();
    let drawing = Histogram {
        title: TITLE.into(),
        description: format!("{} graphs; mean {}", values[0].2.len(), mean.map_or("–".into(), rounded)),
        x: axis,
        counted: "graphs".into(),
        edges,
        counts,
        posts: mean.map(|mean| (mean, format!("mean {}", rounded(mean)))).into_iter().collect(),
    };
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: "The size of the decoded set against the reference of each graph: 1 is as large as the \
                  reference, more is larger."
            .into(),
        art: Art::Chart(Chart::Histogram(drawing)),
        data: vec![("ratios".into(), data)],
        unit: None,
    }
}

fn gap(rows: &Accumulator<IndependentSet>) -> Picture {
    const SLUG: &str = "gap";
    const TITLE: &str = "Gap against size";
    let gaps = of_each(rows, &GAP);
    if gaps.is_empty() {
        return missing(SLUG, TITLE, reason(&over_all(rows, &GAP)));
    }
    let sizes: Vec<f64> = rows.rows().iter().map(|row| row.nodes as f64).collect();
    let points: Vec<Point> = gaps
        .iter()
        .map(|(i, name, gap)| Point {
            x: sizes[*i],
            y: *gap,
            radius: 4.5,
            tip: format!("{name}: {} nodes, gap {gap}", sizes[*i]),
        })
        .collect();
    let data =
        gaps.iter().map(|(i, name, gap)| vec![words(name), Cell::Number(sizes[*i]), Cell::Number(*gap)]);
    let data = table(&["unit", "nodes", GAP.id], data);
    let cut = if gaps.len() > MOST_ROWS {
        format!(" The data hold the first {MOST_ROWS} graphs.")
    } else {
        String::new()
    };
    let drawing = Scatter {
        title: TITLE.into(),
        description: format!("{} graphs: nodes missing from the reference size", gaps.len()),
        x: Axis::of_sizes("nodes", points.iter().map(|point| point.x)),
        y: Axis::around(
            "reference size − decoded size",
            points.iter().map(|point| point.y).chain([-0.4, 1.0]),
        ),
        height: 300.0,
        clouds: vec![Cloud { name: None, colour: Colour::Series(0), points, hollow: false }],
        contours: Vec::new(),
        levels: vec![(0.0, "as large as the reference".into())],
    };
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: format!(
            "How many nodes the decoded set of each graph lacks; below the line it is larger than the reference.{cut}"
        ),
        art: Art::Chart(Chart::Scatter(drawing)),
        data: vec![("gap".into(), data)],
        unit: None,
    }
}
