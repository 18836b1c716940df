//! What a comparison looks like: every difference with its interval, and unit beside unit.

use calipers_core::Better;

use super::lines::signed;
use super::{Comparison, Difference, Line};
use crate::chart::forest::{Forest, Tree};
use crate::chart::scatter::{Cloud, Point, Scatter};
use crate::chart::{Art, Axis, Colour, Picture};
use crate::grid::{Cell, Grid};
use crate::number::rounded;

/// The most differences that are drawn below each other.
const MOST_TREES: usize = 40;
/// The most metrics whose units are drawn.
const MOST_CLOUDS: usize = 8;
/// The most units that are named in a drawing's data.
const MOST_UNITS: usize = 10_000;

/// The pictures of a later model beside the first.
pub(super) fn pictures(comparison: &Comparison, other: usize) -> Vec<Picture> {
    [forest(comparison, other), units(comparison, other)].into_iter().flatten().collect()
}

fn names(comparison: &Comparison, other: usize) -> [&str; 2] {
    [&comparison.models[0].name, &comparison.models[other + 1].name]
}

/// Every number with a better direction, the later model's gains to the right.
fn forest(comparison: &Comparison, other: usize) -> Option<Picture> {
    let [first, model] = names(comparison, other);
    let found: Vec<(&Line, &Difference)> = comparison
        .lines
        .iter()
        .filter(|line| line.better != Better::Neither)
        .filter_map(|line| Some((line, line.against[other].as_ref()?)))
        .collect();
    let trees: Vec<Tree> = found.iter().take(MOST_TREES).map(|(line, found)| tree(line, found)).collect();
    if trees.is_empty() {
        return None;
    }
    let more = match found.len().saturating_sub(MOST_TREES) {
        0 => String::new(),
        more => format!(" {more} more are in the table."),
    };
    let data = found.iter().map(|(line, found)| {
        let bound = |k: usize| Cell::from(found.interval.map(|bounds| bounds[k]));
        vec![Cell::Text(line.name()), Cell::Number(found.difference), bound(0), bound(1)]
    });
    let columns = ["metric", "difference", "low", "high"].map(String::from).into();
    let grid = Grid { columns, rows: data.collect() };
    let drawing = Forest {
        title: format!("Differences between {model} and {first}"),
        description: format!("{} differences with their intervals.", trees.len()),
        sides: [format!("{first} is better"), format!("{model} is better")],
        trees,
    };
    Some(Picture {
        slug: "differences".into(),
        title: "Differences".into(),
        caption: format!(
            "Each number on a scale of its own, gains of {model} to the right whichever direction is better. \
             Coloured where the interval leaves out no difference.{more}"
        ),
        art: Art::Svg(drawing.draw()),
        data: vec![("differences".into(), grid)],
    })
}

fn tree(line: &Line, found: &Difference) -> Tree {
    let lower = line.better == Better::Lower;
    let gain = |x: f64| if lower { -x } else { x };
    let interval = found.interval.map(|[low, high]| if lower { [-high, -low] } else { [low, high] });
    let colour = match interval {
        Some([low, _]) if low > 0.0 => Colour::Series(0),
        Some([_, high]) if high < 0.0 => Colour::Series(1),
        _ => Colour::Quiet,
    };
    let difference = signed(found.difference);
    let bounds = found.interval.map(|[low, high]| format!(", {} to {}", signed(low), signed(high)));
    Tree {
        name: line.name(),
        value: gain(found.difference),
        interval,
        words: difference.clone(),
        colour,
        tip: format!("{}: {difference}{}", line.name(), bounds.unwrap_or_default()),
    }
}

/// Each unit's number under both models, one drawing a metric.
fn units(comparison: &Comparison, other: usize) -> Option<Picture> {
    let [first, model] = names(comparison, other);
    let mut variants = Vec::new();
    let mut data = Vec::new();
    for line in &comparison.lines {
        let paired = line.against[other].as_ref().and_then(|found| found.paired.as_ref());
        let Some(paired) = paired.filter(|paired| paired.wins + paired.losses > 0) else { continue };
        let pairs = || comparison.unit_names.iter().zip(&paired.numbers);
        let pairs = || pairs().filter_map(|(unit, numbers)| Some((unit, (*numbers)?)));
        variants.push((line.name(), cloud(line, [first, model], pairs())));
        let rows = pairs().take(MOST_UNITS).map(|(unit, [a, b])| {
            vec![Cell::Text(unit.clone()), Cell::Number(a), Cell::Number(b), Cell::Number(b - a)]
        });
        let columns = ["unit", first, model, "difference"].map(String::from).into();
        data.push((line.name(), Grid { columns, rows: rows.collect() }));
        if variants.len() == MOST_CLOUDS {
            break;
        }
    }
    if variants.is_empty() {
        return None;
    }
    Some(Picture {
        slug: "units".into(),
        title: "Unit by unit".into(),
        caption: format!(
            "Every unit's number under {first} and under {model}. On the line both are equal; a unit where \
             {model} is better lies above it if higher is better, below it if lower is."
        ),
        art: Art::Variants(variants),
        data,
    })
}

fn cloud<'u>(
    line: &Line,
    [first, model]: [&str; 2],
    pairs: impl Iterator<Item = (&'u String, [f64; 2])>,
) -> crate::chart::Svg {
    let mut clouds = [("better", Colour::Series(0)), ("worse", Colour::Series(1)), ("equal", Colour::Quiet)]
        .map(|(name, colour)| Cloud {
            name: Some(format!("{model} is {name}")),
            colour,
            points: Vec::new(),
            hollow: false,
        });
    clouds[2].name = Some("equal".into());
    let mut all = Vec::new();
    for (unit, [a, b]) in pairs {
        let gain = if line.better == Better::Lower { a - b } else { b - a };
        let side = if gain > 0.0 {
            0
        } else if gain < 0.0 {
            1
        } else {
            2
        };
        let tip = format!("{unit}: {} and {} ({})", rounded(a), rounded(b), signed(b - a));
        clouds[side].points.push(Point { x: a, y: b, radius: 4.0, tip });
        all.extend([a, b]);
    }
    let both = Axis::around("", all);
    let axis = |name: &str| Axis { title: format!("{}, {name}", line.name()), ..both.clone() };
    let ends = [both.low, both.high];
    // Ties lie below, so that they hide nothing.
    clouds.reverse();
    let drawing = Scatter {
        title: format!("{} of units", line.name()),
        description: format!("Each unit's number under {first} (across) and {model} (up)."),
        x: axis(first),
        y: axis(model),
        height: 420.0,
        clouds: clouds.into_iter().filter(|cloud| !cloud.points.is_empty()).collect(),
        contours: vec![(String::new(), ends.map(|end| (end, end)).into())],
        levels: Vec::new(),
    };
    drawing.draw()
}
