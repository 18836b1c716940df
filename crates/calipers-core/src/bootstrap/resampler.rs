//! The numbers of an accumulator over resamples of its units.

use std::cell::OnceCell;

use super::builder::Builder;
use super::partition::{Histogram, Partition};
use super::shortcut::{Drawn, Shortcut};
use crate::accumulator::Accumulator;
use crate::protocol::{Metric, Protocol, Rows, full_id};
use crate::stop;
use crate::value::Value;
use crate::weighted_sum::{Panels, Weights};

/// One number that is read from resamples.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf {
    /// The full id of the metric.
    pub id: String,
    /// The class, group or type, where the metric has a number for each.
    pub label: Option<String>,
}

impl Leaf {
    /// The id, and the label behind a point.
    pub fn path(&self) -> String {
        match &self.label {
            Some(label) => format!("{}.{label}", self.id),
            None => self.id.clone(),
        }
    }
}

/// Which numbers are read from resamples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Metrics that are single numbers.
    Single,
    /// These, and the numbers of metrics that have one for each label.
    Labels,
}

/// Reads the numbers of an accumulator from resamples of its units. Pieces of the work can be done
/// anywhere and in any order: what is read depends on the weights alone.
pub trait Resampler: Sync {
    /// The numbers, in report order, with their value over all units.
    fn leaves(&self) -> &[(Leaf, f64)];
    /// Every number in every resample, resample by resample.
    fn read(&self, weights: &Weights) -> Vec<Vec<Option<f64>>>;
}

/// The numbers of one protocol.
pub(crate) struct Numbers<'a, P: Protocol> {
    protocol: &'a P,
    rows: Rows<'a, P::Row>,
    leaves: Vec<(Leaf, f64)>,
    metrics: Vec<Read<P>>,
    panels: Panels,
    partitions: Vec<Partition>,
    histograms: Vec<Histogram>,
}

/// How one metric is read from a resample.
struct Read<P: Protocol> {
    metric: &'static Metric<P>,
    /// Its labels; none where it is a single number.
    labels: Vec<String>,
    shortcut: Option<Shortcut<P>>,
}

impl<'a, P: Protocol> Numbers<'a, P> {
    /// The numbers of the metrics whose full ids are wanted.
    pub(crate) fn new(accumulator: &'a Accumulator<P>, scope: Scope, wanted: &dyn Fn(&str) -> bool) -> Self {
        let (protocol, rows) = (accumulator.protocol(), accumulator.rows());
        let mut builder = Builder::new(protocol, &rows);
        let (mut leaves, mut metrics) = (Vec::new(), Vec::new());
        let reported = |metric: &&Metric<P>| {
            wanted(&full_id::<P>(metric.id))
                && protocol.reports(metric)
                && protocol.has_evidence(metric, &rows)
        };
        for metric in P::METRICS.iter().filter(reported) {
            let leaf = |label: Option<&String>| Leaf { id: full_id::<P>(metric.id), label: label.cloned() };
            let mut labels = Vec::new();
            match (metric.read)(protocol, &rows) {
                Value::PerLabel(entries) if scope == Scope::Labels => {
                    for (label, value) in entries {
                        if let Some(number) = value.as_f64() {
                            leaves.push((leaf(Some(&label)), number));
                            labels.push(label);
                        }
                    }
                    if labels.is_empty() {
                        continue;
                    }
                }
                value => match value.as_f64() {
                    Some(number) => leaves.push((leaf(None), number)),
                    None => continue,
                },
            }
            let shortcut = builder.shortcut(metric, &labels);
            metrics.push(Read { metric, labels, shortcut });
        }
        let Builder { panels, partitions, histograms, .. } = builder;
        Self { protocol, rows, leaves, metrics, panels, partitions, histograms }
    }

    /// Every number from what was drawn.
    fn numbers(&self, drawn: &Drawn<'_>) -> Vec<Option<f64>> {
        let sample = OnceCell::new();
        let sample = || {
            sample.get_or_init(|| {
                let counts = drawn.counts.iter().enumerate();
                self.rows.select(counts.flat_map(|(i, &n)| std::iter::repeat_n(i, n as usize)))
            })
        };
        let mut out = Vec::with_capacity(self.leaves.len());
        for read in &self.metrics {
            let shortcut = read.shortcut.as_ref();
            let put_by = |shortcut: &Shortcut<P>| {
                shortcut.put(self.protocol, &self.rows, drawn, &read.labels, &mut out)
            };
            if shortcut.is_some_and(put_by) {
                continue;
            }
            put(&read.labels, &(read.metric.read)(self.protocol, sample()), &mut out);
        }
        out
    }
}

/// The numbers of a value under the labels; one without labels is a number itself.
pub(super) fn put(labels: &[String], value: &Value, out: &mut Vec<Option<f64>>) {
    if labels.is_empty() {
        return out.push(value.as_f64());
    }
    let entries = match value {
        Value::PerLabel(entries) => entries.as_slice(),
        _ => &[],
    };
    // Labels come in the order of the entries, of which some may be missing.
    let mut from = 0;
    for label in labels {
        let place = entries[from..].iter().position(|(name, _)| name == label).map(|place| from + place);
        out.push(place.and_then(|place| entries[place].1.as_f64()));
        from = place.map_or(from, |place| place + 1);
    }
}

impl<P> Resampler for Numbers<'_, P>
where
    P: Protocol + Sync,
    P::Row: Sync,
{
    fn leaves(&self) -> &[(Leaf, f64)] {
        &self.leaves
    }

    fn read(&self, weights: &Weights) -> Vec<Vec<Option<f64>>> {
        let sums = self.panels.sums(weights);
        let parts: Vec<_> = self.partitions.iter().map(|partition| partition.sums(weights)).collect();
        let one = |(resample, (counts, sums)): (usize, (&[u32], &Vec<f64>))| {
            if stop::asked() {
                return vec![None; self.leaves.len()];
            }
            self.numbers(&Drawn {
                counts,
                rows: OnceCell::new(),
                sums,
                partitions: &self.partitions,
                part_sums: parts.iter().map(|parts| parts[resample].as_slice()).collect(),
                histograms: &self.histograms,
                occurrences: self.histograms.iter().map(|histogram| histogram.counted(counts)).collect(),
            })
        };
        weights.each().zip(&sums).enumerate().map(one).collect()
    }
}
