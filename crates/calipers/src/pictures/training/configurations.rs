//! All configurations over one axis: the mean of their folds, and how far the folds lie apart.

use std::collections::BTreeMap;

use calipers_core::ExactSum;
use calipers_metrics::training::Training;
use calipers_report::chart::lines::{self, Lines, Mark};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::Cell;
use calipers_report::number::{rounded, shortest};

use super::super::readings::{table, words};
use super::curves::{named, x_title};
use crate::families::training::Curve;

const SLUG: &str = "configurations";
const TITLE: &str = "Configurations side by side";
/// How many configurations are drawn.
const MOST: usize = 8;
/// How many first saturations of a configuration are marked.
const MOST_MARKS: usize = 40;

/// The folds of a configuration at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    x: f64,
    mean: f64,
    low: f64,
    high: f64,
}

/// The picture; none of one run alone, which has a picture of its own.
pub(super) fn picture(protocol: &Training, groups: &BTreeMap<&str, Vec<&Curve>>) -> Option<Picture> {
    if groups.len() < 2 && groups.values().all(|folds| folds.len() < 2) {
        return None;
    }
    let title = if groups.len() < 2 { "Mean of the folds" } else { TITLE };
    let spreads: Vec<(&str, &[&Curve], Vec<Spread>)> =
        groups.iter().map(|(group, folds)| (*group, folds.as_slice(), spread(folds))).collect();
    let shown = &spreads[..spreads.len().min(MOST)];
    let all = || shown.iter().flat_map(|(_, _, spread)| spread);
    let heights = all().flat_map(|at| [at.low, at.high]).chain([protocol.threshold]);
    let saturated = shown.iter().any(|(_, folds, _)| folds.iter().any(|fold| fold.saturation.is_some()));
    let drawing = Lines {
        title: title.into(),
        description: format!("{} configurations, the mean of the folds of each", shown.len()),
        x: Axis::around(x_title(protocol), all().map(|at| at.x)),
        y: Axis::around(protocol.label.clone(), heights),
        curves: shown
            .iter()
            .enumerate()
            .map(|(i, (group, folds, spread))| drawn(i, group, folds, spread))
            .collect(),
        levels: vec![(protocol.threshold, format!("threshold {}", shortest(protocol.threshold)))],
        signs: if saturated {
            vec![(Colour::Ink, "first saturation of a fold".to_owned(), Mark::Ring)]
        } else {
            Vec::new()
        },
    };
    let rows = spreads.iter().flat_map(|(group, _, spread)| {
        spread.iter().map(|at| {
            vec![
                words(*group),
                Cell::Number(at.x),
                Cell::Number(at.mean),
                Cell::Number(at.low),
                Cell::Number(at.high),
            ]
        })
    });
    let left_out = match spreads.len() - shown.len() {
        0 => String::new(),
        n => format!(" {n} more configurations are not drawn."),
    };
    Some(Picture {
        slug: SLUG.into(),
        title: title.into(),
        caption: format!(
            "Line: the mean over the folds. Band: from the lowest fold to the highest. A fold counts from its \
             first evaluation to its last, with the value it had last.{left_out}"
        ),
        art: Art::Chart(Chart::Lines(drawing)),
        data: vec![("configurations".into(), table(&["group", "x", "mean", "low", "high"], rows))],
        unit: None,
    })
}

/// The folds at every x at which one of them was evaluated. Folds need not share their x: between two
/// evaluations a fold has the value of the earlier one.
fn spread(folds: &[&Curve]) -> Vec<Spread> {
    let finite = |fold: &&Curve| -> Vec<(f64, f64)> {
        let points = fold.x.iter().copied().zip(fold.values.iter().copied());
        points.filter(|(_, value)| value.is_finite()).collect()
    };
    let folds: Vec<Vec<(f64, f64)>> = folds.iter().map(finite).collect();
    let mut places: Vec<f64> = folds.iter().flatten().map(|(x, _)| *x).collect();
    places.sort_unstable_by(f64::total_cmp);
    places.dedup_by_key(|x| x.to_bits());
    let mut next = vec![0; folds.len()];
    let at = |x: f64| {
        let (mut sum, mut count) = (ExactSum::default(), 0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (fold, next) in folds.iter().zip(&mut next) {
            while fold.get(*next).is_some_and(|(at, _)| *at <= x) {
                *next += 1;
            }
            let ended = *next == fold.len() && fold.last().is_none_or(|(last, _)| *last < x);
            let Some((_, value)) = next.checked_sub(1).filter(|_| !ended).map(|last| fold[last]) else {
                continue;
            };
            sum.add(value);
            count += 1;
            (low, high) = (low.min(value), high.max(value));
        }
        Spread { x, mean: sum.over(count), low, high }
    };
    places.into_iter().map(at).collect()
}

fn drawn(place: usize, group: &str, folds: &[&Curve], spread: &[Spread]) -> lines::Curve {
    let name = if group.is_empty() { "all runs" } else { group };
    let marks = folds.iter().filter_map(|fold| {
        let at = fold.saturation?;
        let (x, y) = (*fold.x.get(at)?, *fold.values.get(at)?);
        let said = format!("{name}, {} saturates at {} with {}", named(&fold.fold), rounded(x), rounded(y));
        y.is_finite().then_some((x, y, Mark::Ring, said))
    });
    lines::Curve {
        name: Some(name.to_owned()),
        band: if folds.len() > 1 {
            spread.iter().map(|at| [at.x, at.low, at.high]).collect()
        } else {
            Vec::new()
        },
        marks: marks.take(MOST_MARKS).collect(),
        tip: name.to_owned(),
        ..lines::Curve::new(Colour::Series(place), spread.iter().map(|at| (at.x, at.mean)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(name: &str, x: &[f64], values: &[f64], saturation: Option<usize>) -> Curve {
        Curve {
            unit: format!("g/{name}"),
            group: "g".into(),
            fold: name.into(),
            x: x.to_vec(),
            values: values.to_vec(),
            saturation,
            broken: Vec::new(),
        }
    }

    #[test]
    fn folds_count_from_their_first_evaluation_to_their_last() {
        let (one, two) =
            (fold("0", &[0.0, 1.0, 2.0], &[0.0, 0.5, 1.0], None), fold("1", &[1.0], &[0.25], None));
        let three = fold("2", &[0.0, 2.0], &[1.0, 0.0], None);
        let found: Vec<[f64; 4]> =
            spread(&[&one, &two, &three]).iter().map(|at| [at.x, at.mean, at.low, at.high]).collect();
        let third = (0.5 + 0.25 + 1.0) / 3.0;
        assert_eq!(found, [[0.0, 0.5, 0.0, 1.0], [1.0, third, 0.25, 1.0], [2.0, 0.5, 0.0, 1.0]]);
    }

    #[test]
    fn what_was_not_finite_leaves_the_value_before() {
        let one = fold("0", &[0.0, 1.0, 2.0], &[0.5, f64::NAN, 0.7], None);
        let means: Vec<f64> = spread(&[&one]).iter().map(|at| at.mean).collect();
        assert_eq!(means, [0.5, 0.7]);
        assert!(spread(&[&fold("0", &[0.0], &[f64::NAN], None)]).is_empty());
    }

    #[test]
    fn one_run_alone_has_no_mean() {
        let one = fold("0", &[0.0, 1.0], &[0.5, 0.95], Some(1));
        let mut groups = BTreeMap::from([("a", vec![&one])]);
        assert!(picture(&Training::default(), &groups).is_none());
        groups.insert("a", vec![&one, &one]);
        assert_eq!(picture(&Training::default(), &groups).unwrap().title, "Mean of the folds");
        groups.insert("a", vec![&one]);
        groups.insert("b", vec![&one, &one]);
        let drawn = picture(&Training::default(), &groups).unwrap();
        assert!(matches!(drawn.art, Art::Chart(_)));
        assert_eq!(drawn.data[0].1.rows.len(), 4);
    }
}
