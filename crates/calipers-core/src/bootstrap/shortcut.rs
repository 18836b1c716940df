//! Numbers from weighted sums instead of rows.

use super::column::Column;
use super::partition::{Histogram, Occurrence, Partition};
use super::resampler::put;
use crate::exact_sum::fixed_point::power_of_two;
use crate::pooling::Sum;
use crate::protocol::Protocol;
use crate::value::{Value, rounded_quotient};

/// The exponents of two between which a scaled number is certainly a normal float.
const NORMAL: std::ops::Range<i32> = -900..900;

/// What a resample comes to.
pub(super) struct Drawn<'d> {
    /// How often each unit was drawn.
    pub(super) counts: &'d [u32],
    /// How many rows were drawn.
    pub(super) rows: u64,
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

/// How a number follows from what was drawn.
pub(super) enum Shortcut<P: Protocol> {
    /// From sums over all units.
    Sums { columns: Vec<Column>, formula: Formula<P> },
    /// Means of numbers that are known to some bits, each rounded once.
    RoundedMeans(Vec<RoundedMean>),
    /// A number of each group, from sums over it.
    Groups { partition: usize, columns: Vec<Column>, groups: Vec<usize>, read: ReadSums<P> },
    /// A number of each group, from how often values occur in it.
    Counts { partition: usize, histogram: usize, groups: Vec<usize>, read: ReadCounts<P> },
}

type ReadSums<P> = fn(&P, Option<u64>, &[Sum]) -> Value;
type ReadCounts<P> = fn(&P, &[Occurrence]) -> Value;

/// The mean of numbers whose floors the column holds, in units of 2^`exponent`.
pub(super) struct RoundedMean {
    pub(super) column: Column,
    pub(super) exponent: i32,
    /// Whether the numbers are their floors.
    pub(super) exact: bool,
}

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
                let one = |mean: &RoundedMean| {
                    let floors = mean.column.sum(drawn.sums).whole();
                    rounded_mean(floors, drawn.rows.into(), mean.exponent, mean.exact)
                };
                let means: Option<Vec<f64>> = means.iter().map(one).collect();
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

/// The mean of `rows` numbers of which each is less than one above its floor, the floors summing up
/// to `floors`, in units of 2^`exponent`; `None` where the rest decides how it is rounded.
fn rounded_mean(floors: i128, rows: i128, exponent: i32, exact: bool) -> Option<f64> {
    let low = rounded_quotient(floors, rows);
    let settled = exact || low.to_bits() == rounded_quotient(floors + rows, rows).to_bits();
    (settled && NORMAL.contains(&exponent)).then(|| low * power_of_two(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_given_only_where_what_is_unknown_cannot_change_it() {
        let third = (1i128 << 100) / 3;
        assert_eq!(rounded_mean(third, 1, -100, false), Some(1.0 / 3.0));
        assert_eq!(rounded_mean(3 << 99, 3, -100, true), Some(0.5));
        // Half-way between two floats: the least that comes on top decides.
        let tie = (1i128 << 54) + 2;
        assert_eq!(rounded_mean(tie, 1, -1, true), Some((1i128 << 53) as f64));
        assert_eq!(rounded_mean(tie, 1, -1, false), None);
        assert_eq!(rounded_mean(0, 5, -100, false), None);
        assert_eq!(rounded_mean(1, 1, -1000, true), None);
    }
}
