//! Densities of edge differences, and where their bins lie.

use calipers_core::{Rows, Value};

use super::conditions::only;
use super::histogram::edge;
use super::protocol::Robustness;
use super::reading::{Edges, NO_ATTACKED_EDGES, Reason, value};
use super::row::{Row, SpreadRow};
use calipers_core::exact::Rational;

/// The density of each bin.
pub(super) fn densities(protocol: &Robustness, rows: &Rows<'_, Row>, edges: Edges) -> Value {
    series(Histogram::new(protocol, rows, edges).map(|histogram| histogram.densities(protocol)))
}

/// The edges of the bins.
pub(super) fn bin_edges(protocol: &Robustness, rows: &Rows<'_, Row>, edges: Edges) -> Value {
    series(Histogram::new(protocol, rows, edges).map(|histogram| histogram.edges))
}

/// How many differences of the attacked graph lie outside the given range.
pub(super) fn outside(_: &Robustness, rows: &Rows<'_, Row>) -> Value {
    let condition = match only(rows) {
        Ok(condition) => condition,
        Err(reason) => return Value::Undefined(reason),
    };
    let outside = condition.units.iter().map(|(_, row)| row.all.as_ref().map(|all| i128::from(all.outside)));
    outside.sum::<Option<i128>>().map_or(Value::undefined(NO_ATTACKED_EDGES), Value::Count)
}

/// Counts between the edges of bins.
struct Histogram {
    counts: Vec<u64>,
    inside: u64,
    edges: Vec<Rational>,
}

impl Histogram {
    fn new(protocol: &Robustness, rows: &Rows<'_, Row>, edges: Edges) -> Result<Self, Reason> {
        let condition = only(rows)?;
        let spreads = condition.units.iter().map(|(_, row)| edges.of(row));
        let spreads = spreads.collect::<Result<Vec<&SpreadRow>, Reason>>()?;
        if spreads.len() > 1 && protocol.hist_range.is_none() {
            return Err("bin edges differ between units; give --hist-range".into());
        }
        if spreads.iter().all(|spread| spread.count == 0) {
            return Err(edges.empty().into());
        }
        let binned = spreads.iter().filter_map(|spread| spread.bins.as_deref().zip(spread.range));
        let range = binned.clone().map(|(_, range)| range).next().ok_or("all edge differences are equal")?;
        let mut counts = vec![0; protocol.bins as usize];
        binned.for_each(|(bins, _)| counts.iter_mut().zip(bins).for_each(|(count, more)| *count += more));
        let inside = counts.iter().sum();
        if inside == 0 {
            return Err("no edge difference inside the range".into());
        }
        let edges: Vec<Rational> = (0..=protocol.bins).map(|k| place(protocol, range, k)).collect();
        if protocol.is_fork() && edges.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("bin edges coincide in single precision".into());
        }
        Ok(Self { counts, inside, edges })
    }

    fn densities(self, protocol: &Robustness) -> Vec<Rational> {
        let Self { counts, inside, edges } = self;
        let (first, last) = (&edges[0], &edges[edges.len() - 1]);
        let width = last.minus(first).times(&Rational::ratio(1, protocol.bins));
        let density = |(&count, pair): (&u64, &[Rational])| {
            let own = if protocol.is_fork() { pair[1].minus(&pair[0]) } else { width.clone() };
            Rational::whole(count).over(&own.times(&Rational::whole(inside)))
        };
        counts.iter().zip(edges.windows(2)).map(density).collect()
    }
}

/// Edge k of the bins; in preset `rung-fork` rounded to single precision.
fn place(protocol: &Robustness, range: [f64; 2], k: u64) -> Rational {
    let exact = edge(range, protocol.bins, k);
    if protocol.is_fork() { Rational::of(exact.nearest_single().into()) } else { exact }
}

fn series(values: Result<Vec<Rational>, Reason>) -> Value {
    match values {
        Ok(values) => Value::Series(values.into_iter().map(|number| value(Ok(number))).collect()),
        Err(reason) => Value::Undefined(reason),
    }
}
