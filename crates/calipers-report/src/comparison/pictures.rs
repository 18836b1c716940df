//! What a comparison looks like: every difference with its interval, and unit beside unit.

use calipers_core::Better;

use super::lines::signed;
use super::{Comparison, Difference, Line, Ranking, STAR};
use crate::chart::forest::{Forest, Tree};
use crate::chart::scatter::{Cloud, Point, Scatter};
use crate::chart::stacked::Stacked;
use crate::chart::{Art, Axis, Chart, Colour, Picture};
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
    if found.is_empty() {
        return None;
    }
    // Shares and scores can be compared with each other; every other number has a scale of its own.
    let (shared, own): (Vec<_>, Vec<_>) =
        found.iter().take(MOST_TREES).partition(|(line, _)| is_bounded(line.range));
    let planted = |(line, found): &(&Line, &Difference)| tree(comparison, line, found);
    let mut groves: Vec<Vec<Tree>> = vec![shared.into_iter().map(planted).collect()];
    groves.extend(own.into_iter().map(|one| vec![planted(one)]));
    groves.retain(|grove| !grove.is_empty());
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
        description: format!("{} differences with their intervals.", found.len().min(MOST_TREES)),
        sides: [format!("{first} is better"), format!("{model} is better")],
        axis: format!("gain of {model} over {first}: to the right is better, for both directions of better"),
        groves,
    };
    Some(Picture {
        slug: "differences".into(),
        title: "Differences".into(),
        caption: format!(
            "Numbers between 0 and 1 or \u{2212}1 and 1 share an axis, others have their own. Gains of {model} are to \
             the right, whichever direction is better. Coloured where p adj. is marked with *.{more}"
        ),
        art: Art::Chart(Chart::Forest(drawing)),
        data: vec![("differences".into(), grid)],
        unit: None,
    })
}

/// Whether a number lies in [0, 1] or [-1, 1].
fn is_bounded([low, high]: [f64; 2]) -> bool {
    low >= -1.0 && high <= 1.0
}

fn tree(comparison: &Comparison, line: &Line, found: &Difference) -> Tree {
    let lower = line.better == Better::Lower;
    let gain = |x: f64| if lower { -x } else { x };
    let interval = found.interval.map(|[low, high]| if lower { [-high, -low] } else { [low, high] });
    let colour = match comparison.is_clear(found) {
        true if gain(found.difference) > 0.0 => Colour::Series(0),
        true => Colour::Series(1),
        false => Colour::Quiet,
    };
    let difference = signed(found.difference);
    let bounds = found.interval.map(|[low, high]| format!(", {} to {}", signed(low), signed(high)));
    Tree {
        name: line.name(),
        value: gain(found.difference),
        interval,
        words: format!("{difference}{}", if comparison.is_clear(found) { STAR } else { "" }),
        colour,
        tip: format!("{}: {difference}{}", line.name(), bounds.unwrap_or_default()),
    }
}

/// How often each model had each rank, one drawing per metric.
pub(super) fn ranks(comparison: &Comparison) -> Option<Picture> {
    let mut variants = Vec::new();
    let mut rows = Vec::new();
    for line in &comparison.lines {
        let Some(Ranking::Known(ranks)) = &line.ranks else { continue };
        let name = |model: usize| comparison.models[model].name.clone();
        for rank in &ranks.models {
            for (place, share) in (1..).zip(&rank.probability) {
                rows.push(vec![
                    Cell::Text(line.name()),
                    Cell::Text(name(rank.model)),
                    Cell::Number(f64::from(place)),
                    Cell::Number(*share),
                ]);
            }
        }
        let mut models: Vec<_> = ranks.models.iter().collect();
        models.sort_by(|a, b| a.expected.total_cmp(&b.expected));
        let drawing = Stacked {
            title: format!("Ranks by {}", line.name()),
            description: format!("How often each of {} models had each rank.", models.len()),
            axis: format!("share of {} resamples", ranks.resamples),
            parts: (1..=models.len()).map(|place| format!("rank {place}")).collect(),
            bars: models.into_iter().map(|rank| (name(rank.model), rank.probability.clone())).collect(),
        };
        variants.push((line.name(), Chart::Stacked(drawing)));
        if variants.len() == MOST_CLOUDS {
            break;
        }
    }
    let columns = ["metric", "model", "rank", "probability"].map(String::from).into();
    (!variants.is_empty()).then(|| Picture {
        slug: "ranks".into(),
        title: "Ranks".into(),
        caption: "How often each model had each rank when the sample was drawn again. Models that are level \
                  share the ranks that they fill."
            .into(),
        art: Art::Variants(variants),
        data: vec![("ranks".into(), Grid { columns, rows })],
        unit: None,
    })
}

/// Each unit's number under both models, one drawing per metric.
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
        unit: None,
    })
}

fn cloud<'u>(
    line: &Line,
    [first, model]: [&str; 2],
    pairs: impl Iterator<Item = (&'u String, [f64; 2])>,
) -> Chart {
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
    Chart::Scatter(drawing)
}
