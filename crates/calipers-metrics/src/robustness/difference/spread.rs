//! Edge differences of the attacked graph and of what the attack changed: sums and histograms.

use calipers_core::ExactSum;

use super::bins::Bins;
use super::change::{Change, neighbours, walk};
use super::distance::differences;
use crate::robustness::protocol::Robustness;
use crate::robustness::row::SpreadRow;
use crate::robustness::unit::edges::Edge;
use crate::robustness::unit::matrix::Matrix;

/// The differences over the edges of the attacked graph, and over its parts.
pub(in crate::robustness) struct Spreads {
    pub(in crate::robustness) all: SpreadRow,
    /// Added, kept and removed edges, where the clean graph is known.
    pub(in crate::robustness) parts: Option<[SpreadRow; 3]>,
}

/// A matrix of features and the edges of the graph on which it was computed.
#[derive(Clone, Copy)]
pub(in crate::robustness) struct Graph<'a> {
    pub(in crate::robustness) features: Matrix<'a>,
    pub(in crate::robustness) edges: &'a [Edge],
}

/// Measures the attacked graph, and what the attack changed of the clean one.
pub(in crate::robustness) fn measure(
    protocol: &Robustness,
    attacked: Graph<'_>,
    clean: Option<Graph<'_>>,
) -> Spreads {
    let values = attacked.differences(attacked.edges);
    let range = range(protocol, &values);
    let Some(clean) = clean else { return Spreads { all: summary(protocol, range, &values), parts: None } };
    let binning = Binning::new(protocol, range);
    let [mut added, mut kept] = [(); 2].map(|()| Tally::new(protocol, range, &binning));
    let mut removed = Vec::new();
    let mut values = values.into_iter();
    walk(clean.edges, attacked.edges, |edge, change| {
        let side = match change {
            Change::Added => &mut added,
            Change::Kept => &mut kept,
            Change::Removed => return removed.push(edge),
        };
        if let Some(value) = values.next() {
            side.add(value, binning.of(value));
        }
    });
    // Removed edges exist in the clean graph only: they have a range of their own.
    let values = clean.differences(&removed);
    let removed = summary(protocol, self::range(protocol, &values), &values);
    let all = added.with(&kept).row();
    Spreads { all, parts: Some([added.row(), kept.row(), removed]) }
}

/// What the published module returns for a matrix: each entry is an edge, its row sums and 1 are
/// the degrees.
pub(in crate::robustness) fn measure_entries(
    protocol: &Robustness,
    features: Matrix<'_>,
    entries: &[Edge],
) -> SpreadRow {
    let mut degrees = vec![1u32; features.rows];
    entries.iter().for_each(|&(row, _)| degrees[row as usize] += 1);
    let mut values = differences(features, entries, &degrees, true);
    values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
    let range = range(protocol, &values).map(|[low, high]| {
        if low < high { [low, high] } else { [low - 0.5, high + 0.5].map(|end| f64::from(end as f32)) }
    });
    summary(protocol, range, &values)
}

fn summary(protocol: &Robustness, range: Option<[f64; 2]>, values: &[f64]) -> SpreadRow {
    let binning = Binning::new(protocol, range);
    let mut tally = Tally::new(protocol, range, &binning);
    values.iter().for_each(|&value| tally.add(value, binning.of(value)));
    tally.row()
}

impl Graph<'_> {
    /// The differences over some of its edges.
    fn differences(&self, edges: &[Edge]) -> Vec<f64> {
        if edges.is_empty() {
            return Vec::new();
        }
        let mut degrees = neighbours(self.edges, self.features.rows);
        degrees.iter_mut().for_each(|degree| *degree += 1);
        differences(self.features, edges, &degrees, false)
    }
}

/// The ends of the histogram: given, or the least and the greatest value.
fn range(protocol: &Robustness, values: &[f64]) -> Option<[f64; 2]> {
    let first = *values.first()?;
    let ends = |[low, high]: [f64; 2], &value: &f64| [low.min(value), high.max(value)];
    protocol.hist_range.or_else(|| Some(values.iter().fold([first; 2], ends)))
}

/// The bins of a set of edges, if the range has a width.
struct Binning(Option<Bins>);

impl Binning {
    fn new(protocol: &Robustness, range: Option<[f64; 2]>) -> Self {
        let range = range.filter(|[low, high]| low < high);
        let bins = if protocol.is_fork() { Bins::single } else { Bins::exact };
        Self(range.map(|range| bins(range, protocol.bins)))
    }

    fn of(&self, value: f64) -> Option<usize> {
        self.0.as_ref().and_then(|bins| bins.of(value))
    }
}

/// A spread while edges are added.
struct Tally {
    row: SpreadRow,
    cutoff: Option<f64>,
    sum: ExactSum,
    pending: Vec<f64>,
}

impl Tally {
    /// How many values wait to be added together, which is faster.
    const PENDING: usize = 4096;

    fn new(protocol: &Robustness, range: Option<[f64; 2]>, binning: &Binning) -> Self {
        let row = SpreadRow {
            range,
            bins: binning.0.as_ref().map(|bins| vec![0; bins.len()]),
            pruned: protocol.cutoff.map(|_| 0),
            ..SpreadRow::default()
        };
        Self { row, cutoff: protocol.cutoff, sum: ExactSum::new(), pending: Vec::new() }
    }

    fn add(&mut self, value: f64, bin: Option<usize>) {
        self.row.count += 1;
        match (&mut self.row.bins, bin) {
            (Some(bins), Some(bin)) => bins[bin] += 1,
            (Some(_), None) => self.row.outside += 1,
            _ => {}
        }
        if let (Some(pruned), Some(cutoff)) = (&mut self.row.pruned, self.cutoff) {
            *pruned += u64::from(value >= cutoff);
        }
        self.pending.push(value);
        if self.pending.len() == Self::PENDING {
            self.sum.add_slice(&self.pending);
            self.pending.clear();
        }
    }

    /// Both sets of edges together; they share range and bins.
    fn with(&self, other: &Self) -> Self {
        let (ours, theirs) = (&self.row, &other.row);
        let mut sum = self.sum.clone();
        sum.merge(&other.sum);
        sum.add_slice(&self.pending);
        sum.add_slice(&other.pending);
        let row = SpreadRow {
            count: ours.count + theirs.count,
            bins: ours
                .bins
                .as_ref()
                .zip(theirs.bins.as_ref())
                .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()),
            outside: ours.outside + theirs.outside,
            pruned: ours.pruned.zip(theirs.pruned).map(|(a, b)| a + b),
            ..ours.clone()
        };
        Self { row, cutoff: self.cutoff, sum, pending: Vec::new() }
    }

    fn row(mut self) -> SpreadRow {
        self.sum.add_slice(&self.pending);
        SpreadRow { sum: self.sum.into(), ..self.row }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use calipers_core::NumberSlice;

    proptest! {
        #[test]
        fn the_parts_add_up_to_all_edges(
            old in prop::collection::btree_set((0u32..6, 0u32..6).prop_filter("no loop", |(a, b)| a < b), 0..12),
            new in prop::collection::btree_set((0u32..6, 0u32..6).prop_filter("no loop", |(a, b)| a < b), 0..12),
        ) {
            let numbers = [0.0, 1.0, 3.0, 6.0, 10.0, 15.0];
            let features = Matrix::new(6, 1, NumberSlice::F64(&numbers)).unwrap();
            let protocol = Robustness { bins: 3, cutoff: Some(1.0), ..Robustness::default() };
            let (old, new): (Vec<Edge>, Vec<Edge>) = (old.into_iter().collect(), new.into_iter().collect());
            let attacked = Graph { features, edges: &new };
            let alone = measure(&protocol, attacked, None).all;
            let both = measure(&protocol, attacked, Some(Graph { features, edges: &old }));
            prop_assert_eq!(&both.all, &alone);
            let [added, kept, removed] = both.parts.unwrap();
            prop_assert_eq!(added.count + kept.count, new.len() as u64);
            prop_assert_eq!(kept.count + removed.count, old.len() as u64);
        }
    }

    #[test]
    fn an_entry_of_a_matrix_is_an_edge_and_a_loop_has_no_difference() {
        let features = Matrix::new(2, 1, NumberSlice::F64(&[0.0, 4.0])).unwrap();
        let protocol = Robustness {
            preset: crate::robustness::protocol::Preset::RungFork,
            bins: 2,
            ..Robustness::default()
        };
        let row = measure_entries(&protocol, features, &[(0, 1), (1, 1), (1, 0), (1, 0)]);
        assert_eq!((row.count, row.range), (4, Some([0.0, 2.0])));
        assert_eq!(row.bins, Some(vec![1, 3]));
        let equal = measure_entries(&protocol, features, &[(0, 1), (1, 0)]);
        assert!(equal.range.is_some_and(|[low, high]| (high - low - 1.0).abs() < 1e-6));
    }
}
