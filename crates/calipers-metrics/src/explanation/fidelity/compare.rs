//! How predictions move when the explanation is removed or kept alone: labels, probabilities,
//! numbers, sweeps and random perturbations, block by block.

use calipers_core::{Error, ExactSum, Result, stop};
use multiversion::multiversion;

use super::instances::Instances;
use super::predictions::{Given, Holds, Predictions, Y_HAT};
use crate::explanation::faithfulness::distributions::{Declared, Distributions};
use crate::explanation::faithfulness::divergence::Faithfulness;
use crate::explanation::mask::layout::ASKED;
use crate::explanation::protocol::{Explanation, Preset, Task};
use crate::explanation::row::{Deviation, FaithfulnessRow, Flips, RegressionRow, RobustRow, Shift, SideRow};
use calipers_core::NumberSlice;

/// How many scores are looked at together.
const BLOCK: usize = 640;

/// Everything that predictions say.
#[derive(Default)]
pub(crate) struct Comparison {
    pub(crate) plus: Option<Box<SideRow>>,
    pub(crate) minus: Option<Box<SideRow>>,
    pub(crate) faithfulness: Option<Box<FaithfulnessRow>>,
    pub(crate) without_effect: bool,
}

/// The keys of one side.
#[derive(Clone, Copy)]
struct Side {
    plain: &'static str,
    sweep: &'static str,
    samples: &'static str,
}

const PLUS: Side = Side { plain: "y_comp", sweep: "y_comp_sweep", samples: "y_comp_samples" };
const MINUS: Side = Side { plain: "y_sub", sweep: "y_sub_sweep", samples: "y_sub_samples" };

/// Compares every prediction of a unit with the one on the full graph.
pub(crate) fn compare(
    protocol: &Explanation,
    given: &Given<'_>,
    instances: &Instances,
) -> Result<Comparison> {
    let Some(hat) = given.get(Y_HAT) else { return Ok(Comparison::default()) };
    if protocol.task == Task::Regression {
        let side = |side: Side| {
            let other = given.get(side.plain)?;
            let regression = Some(regression(hat, other, instances));
            Some(Box::new(SideRow { regression, ..SideRow::default() }))
        };
        return Ok(Comparison { plus: side(PLUS), minus: side(MINUS), ..Comparison::default() });
    }
    let soft = hat.holds == Holds::Scores && protocol.preset != Preset::Pyg;
    let mut sides = [SideTally::new(given, PLUS, soft)?, SideTally::new(given, MINUS, soft)?];
    let mut pass = Pass {
        declared: Declared::new(protocol.task, protocol.scores),
        instances,
        y: given.y,
        soft,
        hat: Reading::default(),
        other: Reading::default(),
        truth: Vec::new(),
        drops: Vec::new(),
    };
    let [plus, minus] = &sides;
    let scores = |side: &SideTally<'_>| side.plain.as_ref().is_some_and(|array| array.holds == Holds::Scores);
    let mut faithfulness = (soft && scores(minus)).then(Faithfulness::default);
    let mut same = hat.holds == Holds::Scores && scores(plus) && scores(minus) && instances.len() > 0;
    let step = (BLOCK / hat.columns).max(1);
    for (block, start) in (0..instances.len()).step_by(step).enumerate() {
        if block.is_multiple_of(ASKED) && stop::asked() {
            break;
        }
        let range = start..instances.len().min(start + step);
        pass.start(hat, range.clone());
        for (position, side) in sides.iter_mut().enumerate() {
            let Some(plain) = side.plain else { continue };
            pass.read(&plain, range.clone());
            pass.tally(&plain, side);
            same = same && pass.hat.values == pass.other.values;
            if position == 1
                && let Some(faithfulness) = &mut faithfulness
            {
                faithfulness.add(&mut pass.hat.soft, &mut pass.other.soft);
            }
        }
        sides.iter_mut().for_each(|side| pass.perturbed(side, range.clone()));
    }
    let [plus, minus] = sides.map(|side| side.finish(given.y.is_some()));
    let faithfulness = faithfulness.map(|faithfulness| Box::new(faithfulness.into()));
    Ok(Comparison { plus, minus, faithfulness, without_effect: same })
}

/// One array of predictions, a block at a time.
#[derive(Default)]
struct Reading {
    values: Vec<f64>,
    labels: Vec<i64>,
    soft: Distributions,
}

struct Pass<'r, 'a> {
    declared: Declared,
    instances: &'r Instances,
    y: Option<NumberSlice<'a>>,
    /// Whether the full graph's prediction has probabilities that count.
    soft: bool,
    hat: Reading,
    other: Reading,
    truth: Vec<i64>,
    drops: Vec<f64>,
}

impl Pass<'_, '_> {
    fn start(&mut self, hat: &Predictions<'_>, range: std::ops::Range<usize>) {
        if let Some(y) = self.y {
            self.instances.labels(y, range.clone(), &mut self.truth);
        }
        let soft = self.soft;
        read(self.declared, self.instances, hat, range, soft, &mut self.hat);
    }

    fn read(&mut self, array: &Predictions<'_>, range: std::ops::Range<usize>) {
        let soft = self.soft && array.holds == Holds::Scores;
        read(self.declared, self.instances, array, range, soft, &mut self.other);
    }

    fn flips(&self) -> Flips {
        let truth = self.y.is_some().then_some(&self.truth[..]);
        flips(truth, &self.hat.labels, &self.other.labels)
    }

    fn tally(&mut self, array: &Predictions<'_>, side: &mut SideTally<'_>) {
        add(&mut side.flips, self.flips());
        self.add_drops(array, &mut side.drops);
    }

    /// Adds the drops in probability of the predicted and of the true class, where both sides have any.
    fn add_drops(&mut self, array: &Predictions<'_>, sums: &mut [[ExactSum; 2]; 2]) {
        if !(self.soft && array.holds == Holds::Scores) {
            return;
        }
        let truth = self.y.is_some().then_some(&self.truth);
        for (classes, [absolute, signed]) in [Some(&self.hat.labels), truth].into_iter().zip(sums) {
            let drop = |(row, &class): (usize, &i64)| {
                self.hat.soft.probability(row, class) - self.other.soft.probability(row, class)
            };
            self.drops.clear();
            self.drops.extend(classes.into_iter().flatten().enumerate().map(drop));
            signed.add_slice(&self.drops);
            self.drops.iter_mut().for_each(|drop| *drop = drop.abs());
            absolute.add_slice(&self.drops);
        }
    }

    /// The sweep and the samples of a side.
    fn perturbed(&mut self, side: &mut SideTally<'_>, range: std::ops::Range<usize>) {
        if let Some(sweep) = side.sweep {
            for (point, tally) in side.points.iter_mut().enumerate() {
                let point = sweep.lead(point);
                read(self.declared, self.instances, &point, range.clone(), false, &mut self.other);
                add(tally, self.flips());
            }
        }
        if let Some(samples) = side.samples {
            for sample in 0..samples.leads {
                let sample = samples.lead(sample);
                self.read(&sample, range.clone());
                side.sample_flips += self.flips().changed;
                self.add_drops(&sample, &mut side.sample_drops);
            }
        }
    }
}

fn read(
    declared: Declared,
    instances: &Instances,
    array: &Predictions<'_>,
    range: std::ops::Range<usize>,
    soft: bool,
    into: &mut Reading,
) {
    match array.holds {
        Holds::Labels => instances.labels(array.data, range, &mut into.labels),
        Holds::Scores => {
            instances.widen(array, range, &mut into.values);
            declared.labels(&into.values, array.columns, &mut into.labels);
            if soft {
                into.soft.soften(declared, &into.values, array.columns);
            }
        }
    }
}

/// One side while its blocks are counted.
struct SideTally<'a> {
    plain: Option<Predictions<'a>>,
    sweep: Option<Predictions<'a>>,
    samples: Option<Predictions<'a>>,
    flips: Flips,
    /// Of the predicted and of the true class: sizes and signed drops.
    drops: [[ExactSum; 2]; 2],
    points: Vec<Flips>,
    sample_flips: u64,
    sample_drops: [[ExactSum; 2]; 2],
    /// Whether the full graph's prediction has probabilities that count.
    soft: bool,
}

impl<'a> SideTally<'a> {
    fn new(given: &Given<'a>, side: Side, soft: bool) -> Result<Self> {
        let [plain, sweep, samples] =
            [side.plain, side.sweep, side.samples].map(|key| given.get(key).copied());
        if samples.is_some_and(|samples| samples.leads == 0) {
            return Err(Error::value(format!("`{}` has no samples", side.samples))
                .allowed("at least one on its first axis"));
        }
        Ok(Self {
            plain,
            sweep,
            samples,
            flips: Flips::default(),
            drops: Default::default(),
            points: vec![Flips::default(); sweep.map_or(0, |sweep| sweep.leads)],
            sample_flips: 0,
            sample_drops: Default::default(),
            soft,
        })
    }

    fn finish(self, with_truth: bool) -> Option<Box<SideRow>> {
        if self.plain.is_none() && self.sweep.is_none() && self.samples.is_none() {
            return None;
        }
        let settled = |flips: Flips| {
            let truth = with_truth.then(|| flips.truth.unwrap_or_default());
            Flips { truth, ..flips }
        };
        let scored = |array: Option<Predictions<'_>>| {
            self.soft && array.is_some_and(|array| array.holds == Holds::Scores)
        };
        let (plain_soft, samples_soft) = (scored(self.plain), scored(self.samples));
        let [model, phenomenon] = self
            .drops
            .map(|[absolute, signed]| Deviation { absolute: absolute.into(), signed: signed.into() });
        let [sample_model, sample_phenomenon] = self.sample_drops.map(|[_, signed]| signed.into());
        Some(Box::new(SideRow {
            labels: self.plain.map(|_| settled(self.flips)),
            model: plain_soft.then_some(model),
            phenomenon: (plain_soft && with_truth).then_some(phenomenon),
            regression: None,
            sweep: self.points.into_iter().map(settled).collect(),
            robust: self.samples.map(|samples| RobustRow {
                samples: samples.leads as u64,
                changed: self.sample_flips,
                model: samples_soft.then_some(sample_model),
                phenomenon: (samples_soft && with_truth).then_some(sample_phenomenon),
            }),
        }))
    }
}

fn add(total: &mut Flips, more: Flips) {
    total.changed += more.changed;
    if let Some(Shift { lost, gained }) = more.truth {
        let truth = total.truth.get_or_insert_default();
        truth.lost += lost;
        truth.gained += gained;
    }
}

/// How many labels differ from those on the full graph, and what that does to the truth.
pub fn flips(y: Option<&[i64]>, y_hat: &[i64], other: &[i64]) -> Flips {
    match y {
        None => Flips { changed: changed(y_hat, other), truth: None },
        Some(y) => {
            let [changed, lost, gained] = shifts(y, y_hat, other);
            Flips { changed, truth: Some(Shift { lost, gained }) }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn changed(y_hat: &[i64], other: &[i64]) -> u64 {
    y_hat.iter().zip(other).map(|(hat, other)| u64::from(hat != other)).sum()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vbmi2", "x86_64+avx2"))]
fn shifts(y: &[i64], y_hat: &[i64], other: &[i64]) -> [u64; 3] {
    let mut counts = [0; 3];
    for ((y, hat), other) in y.iter().zip(y_hat).zip(other) {
        let (right, still) = (hat == y, other == y);
        counts[0] += u64::from(hat != other);
        counts[1] += u64::from(right & !still);
        counts[2] += u64::from(!right & still);
    }
    counts
}

/// Sums of differences; |d| is added as its two terms, so that nothing is rounded.
fn regression(hat: &Predictions<'_>, other: &Predictions<'_>, instances: &Instances) -> RegressionRow {
    let (mut absolute, mut squared) = (ExactSum::new(), ExactSum::new());
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let step = (BLOCK / hat.columns).max(1);
    for (block, start) in (0..instances.len()).step_by(step).enumerate() {
        if block.is_multiple_of(ASKED) && stop::asked() {
            break;
        }
        let range = start..instances.len().min(start + step);
        instances.widen(hat, range.clone(), &mut a);
        instances.widen(other, range, &mut b);
        for (hat, other) in a.iter_mut().zip(&mut b) {
            squared.add((*hat - *other) * (*hat - *other));
            let (high, low) = if *hat > *other { (*hat, *other) } else { (*other, *hat) };
            (*hat, *other) = (high, -low);
        }
        absolute.add_slice(&a);
        absolute.add_slice(&b);
    }
    let values = (instances.len() * hat.columns) as u64;
    RegressionRow { absolute: absolute.into(), squared: squared.into(), values }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn flips_are_those_of_the_definition(
            labels in prop::collection::vec((0i64..3, 0i64..3, 0i64..3), 0..200),
        ) {
            let column = |pick: fn(&(i64, i64, i64)) -> i64| labels.iter().map(pick).collect::<Vec<_>>();
            let (y, hat, other) = (column(|l| l.0), column(|l| l.1), column(|l| l.2));
            let count = |wanted: fn(&(i64, i64, i64)) -> bool| labels.iter().filter(|l| wanted(l)).count() as u64;
            let expected = Flips {
                changed: count(|l| l.1 != l.2),
                truth: Some(Shift {
                    lost: count(|l| l.1 == l.0 && l.2 != l.0),
                    gained: count(|l| l.1 != l.0 && l.2 == l.0),
                }),
            };
            prop_assert_eq!(flips(Some(&y), &hat, &other), expected);
            prop_assert_eq!(flips(None, &hat, &other), Flips { truth: None, ..expected });
        }
    }
}
