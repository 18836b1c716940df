//! Distributions of edge differences: densities, and where their bins lie.

use crate::robustness::metrics::*;
use calipers_core::exact::Rational;

use super::Edges;
use super::bins::edge;
use crate::robustness::row::SpreadRow;

/// Counts between the edges of bins.
struct Histogram {
    counts: Vec<u64>,
    inside: u64,
    edges: Vec<Rational>,
}

impl Histogram {
    fn new(protocol: &Robustness, rows: &Rows<'_, Row>, edges: Edges) -> Result<Self, Reason> {
        let spreads = rows.iter().map(|row| edges.of(row));
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

/// A series that is read from the histogram of the only condition.
macro_rules! series {
    ($edges:ident, $read:expr) => {
        Number::Grouped {
            order: by_condition,
            terms: |_, _, _| {},
            read: |protocol, groups| {
                of_only(groups, |sums| match Histogram::new(protocol, sums.rows(), Edges::$edges) {
                    Ok(histogram) => {
                        let numbers: Vec<Rational> = $read(protocol, histogram);
                        Value::Series(numbers.into_iter().map(|number| value(Ok(number))).collect())
                    }
                    Err(reason) => Value::Undefined(reason),
                })
            },
        }
    };
}

const OUTSIDE: usize = 0;
const UNKNOWN: usize = 1;

fn outside(_: &Robustness, row: &Row, terms: &mut Terms<'_>) {
    match &row.all {
        Some(all) => terms.whole(OUTSIDE, all.outside),
        None => terms.whole(UNKNOWN, 1),
    }
}

const DENSITIES: Line = Line { group: "edges", range: NON_NEGATIVE, ..BEYOND };

pub(in crate::robustness) const HIST_VALUES: Line = Line {
    id: "hist_values",
    presets: DOCUMENTED.presets,
    measures: "How edge differences are distributed over the attacked graph: Figure 7.",
    formula: "Density of bin k: count_k bins / (inside (hi - lo)). Bin k holds e_k <= y < e_k+1, e_k = lo + \
              k (hi - lo) / bins, compared exactly; the last one also hi. lo, hi: least and greatest y, or \
              hist_range.",
    undefined: "\"report holds K conditions; see robustness.curve\"; \"no attacked edges given\"; \"bin \
                edges differ between units; give --hist-range\"; \"attacked graph has no edges\"; \"all edge \
                differences are equal\"; \"no edge difference inside the range\"; \"bin edges coincide in \
                single precision\".",
    differs: "Every undirected edge counts once. y is that of mean_diff, with features divided by the square \
              root of the degree plus one. Preset rung-fork: each entry of the matrix, bin edges in float32.",
    reference: "Estimation Bias Measurement, compute_edge_feature_diff_distribution",
    example: ("four-nodes", "[0.8031765749962483, 0.0, 0.0, 2.4095297249887446]"),
    number: series!(All, |protocol, histogram: Histogram| histogram.densities(protocol)),
    ..DENSITIES
};

pub(in crate::robustness) const BIN_EDGES: Line = Line {
    id: "bin_edges",
    range: ANY,
    presets: DOCUMENTED.presets,
    measures: "Where the bins of hist_values lie.",
    formula: "e_k = lo + k (hi - lo) / bins for k = 0 to bins.",
    undefined: HIST_VALUES.undefined,
    reference: "Estimation Bias Measurement, compute_edge_feature_diff_distribution",
    example: (
        "four-nodes",
        "[0.816496580927726, 1.1277606388980022, 1.439024696868278, 1.7502887548385542, 2.0615528128088303]",
    ),
    number: series!(All, |_, histogram: Histogram| histogram.edges),
    ..DENSITIES
};

pub(in crate::robustness) const ADDED_HIST_VALUES: Line = Line {
    id: "added_hist_values",
    measures: "How the differences of added edges are distributed.",
    formula: "As hist_values, on the same bin_edges, over added edges only.",
    undefined: reasons!(histogram, "attack added no edge"),
    differs: "Counts of added and kept edges add up to those of all.",
    example: ("four-nodes", "[0.0, 0.0, 0.0, 3.212706299984993]"),
    number: series!(Added, |protocol, histogram: Histogram| histogram.densities(protocol)),
    ..DENSITIES
};

pub(in crate::robustness) const KEPT_HIST_VALUES: Line = Line {
    id: "kept_hist_values",
    measures: "How the differences of kept edges are distributed.",
    formula: "As hist_values, on the same bin_edges, over kept edges only.",
    undefined: reasons!(histogram, "no clean edge was kept"),
    differs: "Counts of added and kept edges add up to those of all.",
    example: ("four-nodes", "[1.0709020999949976, 0.0, 0.0, 2.1418041999899953]"),
    number: series!(Kept, |protocol, histogram: Histogram| histogram.densities(protocol)),
    ..DENSITIES
};

pub(in crate::robustness) const REMOVED_HIST_VALUES: Line = Line {
    id: "removed_hist_values",
    measures: "How the differences of removed edges were distributed.",
    formula: "As hist_values, over removed edges, on their own range, with clean features and degrees.",
    undefined: reasons!(histogram, "attack removed no edge"),
    example: ("removed", "[0.3333333333333333, 0.6666666666666666]"),
    number: series!(Removed, |protocol, histogram: Histogram| histogram.densities(protocol)),
    ..DENSITIES
};

pub(in crate::robustness) const REMOVED_BIN_EDGES: Line = Line {
    id: "removed_bin_edges",
    range: ANY,
    measures: "Where the bins of removed_hist_values lie.",
    formula: "As bin_edges, on the range of the removed edges.",
    undefined: REMOVED_HIST_VALUES.undefined,
    example: ("removed", "[1.0, 2.0, 3.0]"),
    number: series!(Removed, |_, histogram: Histogram| histogram.edges),
    ..DENSITIES
};

pub(in crate::robustness) const HIST_OUTSIDE: Line = Line {
    id: "hist_outside",
    per_unit: true,
    measures: "How many edges of the attacked graph hist_range leaves out.",
    formula: "The number of differences below lo or above hi, over all repetitions.",
    undefined: reasons!(condition, "no attacked edges given"),
    differs: "0 unless a range is given.",
    example: ("hist-range", "1"),
    number: Number::Grouped {
        order: by_condition,
        terms: outside,
        read: |_, groups| {
            of_only(groups, |sums| match sums.whole(UNKNOWN) {
                0 => Value::Count(sums.whole(OUTSIDE)),
                _ => Value::undefined(NO_ATTACKED_EDGES),
            })
        },
    },
    ..DENSITIES
};
