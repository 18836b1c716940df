//! Numbers from weighted sums instead of rows.

use std::cell::OnceCell;

use super::column::Column;
use super::known_bits::KnownColumn;
use super::partition::{Descent, Histogram, Occurrence, Partition};
use super::resampler::put;
use crate::pooling::{Condition, ReadConditions, Sum};
use crate::protocol::{Protocol, Rows};
use crate::value::{Value, rounded_quotient};

/// What a resample comes to.
pub(super) struct Drawn<'d> {
    /// How often each unit was drawn.
    pub(super) counts: &'d [u32],
    /// How many rows were drawn, once somebody asked.
    pub(super) rows: OnceCell<i128>,
    /// The weighted sums of all columns.
    pub(super) sums: &'d [f64],
    /// How units are grouped.
    pub(super) partitions: &'d [Partition],
    /// The weighted sums of the columns of each partition, group after group.
    pub(super) part_sums: Vec<&'d [f64]>,
    /// The values that units have.
    pub(super) histograms: &'d [Histogram],
    /// How often each value of each histogram was drawn.
    pub(super) occurrences: Vec<Vec<Occurrence>>,
}

impl Drawn<'_> {
    fn rows(&self) -> i128 {
        *self.rows.get_or_init(|| self.counts.iter().map(|&count| u64::from(count)).sum::<u64>().into())
    }
}

/// How a number follows from what was drawn.
pub(super) enum Shortcut<P: Protocol> {
    /// From sums over all units.
    Sums { columns: Vec<Column>, formula: Formula<P> },
    /// Means of numbers that are known to some bits, each rounded once.
    RoundedMeans(Vec<KnownColumn>),
    /// A number of each group, from sums over it.
    Groups { partition: usize, columns: Vec<Column>, groups: Vec<usize>, read: ReadSums<P> },
    /// A number of each group, from how often values occur in it.
    Counts { partition: usize, histogram: usize, groups: Vec<usize>, read: ReadCounts<P> },
    /// A number of each group, from the largest value in it.
    Largest { descent: Descent, groups: Vec<usize>, read: fn(u64) -> Value },
    /// One number, from sums over every group.
    Conditions { partition: usize, columns: Vec<KnownColumn>, read: ReadConditions<P> },
}

type ReadSums<P> = fn(&P, Option<u64>, &[Sum]) -> Value;
type ReadCounts<P> = fn(&P, &[Occurrence]) -> Value;

/// What is made of sums over all units.
pub(super) enum Formula<P: Protocol> {
    /// The sum over the number of rows that take part.
    Mean,
    /// The sum, where any row takes part.
    Total,
    /// One sum over another.
    Quotient,
    /// Any function.
    Tally(fn(&P, &[Sum]) -> Value),
}

impl<P: Protocol> Shortcut<P> {
    /// Adds the numbers of the metric; `false` where only the rows can tell.
    pub(super) fn put(
        &self,
        protocol: &P,
        rows: &Rows<'_, P::Row>,
        drawn: &Drawn<'_>,
        labels: &[String],
        out: &mut Vec<Option<f64>>,
    ) -> bool {
        match self {
            Self::Sums { columns, formula } => {
                put(labels, &formula.value(protocol, columns, drawn.sums), out);
                true
            }
            Self::RoundedMeans(means) => {
                let means: Option<Vec<f64>> =
                    means.iter().map(|mean| mean.mean(drawn.sums, drawn.rows())).collect();
                out.extend(means.iter().flatten().map(|&mean| Some(mean)));
                means.is_some()
            }
            Self::Groups { partition, columns, groups, read } => {
                let known = &drawn.partitions[*partition];
                out.extend(groups.iter().map(|&group| {
                    let sums = known.drawn(drawn.part_sums[*partition], group)?;
                    let sums: Vec<Sum> = columns.iter().map(|column| column.sum(sums)).collect();
                    read(protocol, known.alike(group), &sums).as_f64()
                }));
                true
            }
            Self::Counts { partition, histogram, groups, read } => {
                let known = &drawn.partitions[*partition];
                let values = &drawn.histograms[*histogram];
                out.extend(groups.iter().map(|&group| {
                    known.drawn(drawn.part_sums[*partition], group)?;
                    read(protocol, values.of_group(&drawn.occurrences[*histogram], group)).as_f64()
                }));
                true
            }
            Self::Largest { descent, groups, read } => {
                let largest = |&group: &usize| descent.largest(group, drawn.counts);
                out.extend(groups.iter().map(|group| read(largest(group)?).as_f64()));
                true
            }
            Self::Conditions { partition, columns, read } => {
                let known = &drawn.partitions[*partition];
                let condition = |group: usize| {
                    let sums = known.drawn(drawn.part_sums[*partition], group)?;
                    let drawn = Partition::rows(sums);
                    let sums = columns.iter().map(|column| column.bounds(sums, drawn)).collect();
                    Some(Condition { row: rows.at(known.first(group)), rows: drawn as u64, sums })
                };
                let conditions: Vec<_> = (0..known.groups()).filter_map(condition).collect();
                let value = read(protocol, &conditions);
                value.iter().for_each(|value| put(labels, value, out));
                value.is_some()
            }
        }
    }
}

impl<P: Protocol> Formula<P> {
    fn value(&self, protocol: &P, columns: &[Column], pieces: &[f64]) -> Value {
        const NOTHING: &str = "no row takes part";
        let sum = |k: usize| columns[k].sum(pieces);
        match self {
            Self::Mean => match sum(1).whole() {
                0 => Value::undefined(NOTHING),
                count => Value::Number(sum(0).number() / count as f64),
            },
            Self::Total => match sum(1).whole() {
                0 => Value::undefined(NOTHING),
                _ => Value::Count(sum(0).whole()),
            },
            Self::Quotient => match (sum(0), sum(1).whole()) {
                (_, 0) => Value::undefined(NOTHING),
                (Sum::Whole(part), whole) => Value::Number(rounded_quotient(part, whole)),
                (Sum::Number(sum), count) => Value::Number(sum / count as f64),
            },
            Self::Tally(read) => {
                let sums: Vec<Sum> = columns.iter().map(|column| column.sum(pieces)).collect();
                read(protocol, &sums)
            }
        }
    }
}
