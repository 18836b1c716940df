//! Edge differences: how far apart the features at the ends of edges are.

pub(super) mod bins;
pub(super) mod change;
pub(super) mod density;
pub(super) mod distance;
pub mod figures;
pub(super) mod flips;
pub(super) mod spread;

use crate::robustness::metrics::*;
use calipers_core::CompactSum;
use calipers_core::exact::Rational;

use super::row::SpreadRow;

/// A set of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edges {
    All,
    Added,
    Kept,
    Removed,
}

impl Edges {
    /// The differences over the set.
    pub(super) fn of(self, row: &Row) -> Result<&SpreadRow, Reason> {
        if self == Self::All {
            return row.all.as_ref().ok_or_else(|| NO_ATTACKED_EDGES.into());
        }
        let flips = flips(row)?;
        Ok(match self {
            Self::Added => &flips.added,
            Self::Kept => &flips.kept,
            _ => &flips.removed,
        })
    }

    /// What is said when the set is empty.
    pub(super) fn empty(self) -> &'static str {
        match self {
            Self::All => "attacked graph has no edges",
            Self::Added => "attack added no edge",
            Self::Kept => "no clean edge was kept",
            Self::Removed => "attack removed no edge",
        }
    }

    fn not_empty(self, row: &Row) -> Result<&SpreadRow, Reason> {
        let spread = self.of(row)?;
        unless(spread.count == 0, self.empty())?;
        Ok(spread)
    }

    fn mean(self, row: &Row) -> Exact {
        let spread = self.not_empty(row)?;
        Ok(exact(&spread.sum).over(&Rational::whole(spread.count)))
    }

    /// The share of edges at or above the cut-off.
    fn pruned(self, row: &Row) -> Exact {
        let pruned = self.of(row)?.pruned.ok_or("no cut-off given")?;
        Ok(Rational::ratio(pruned, self.not_empty(row)?.count))
    }
}

/// An exact sum as a quotient: its rounded value, what that lacks, and so on.
fn exact(sum: &CompactSum) -> Rational {
    let mut rest = sum.to_sum();
    let mut total = Rational::whole(0);
    while !rest.is_zero() {
        let term = rest.value();
        total = total.plus(&Rational::of(term));
        rest.add(-term);
    }
    total
}

pub(super) const ALL: Scalar = Scalar::new(0, |row| Edges::All.mean(row));
pub(super) const ADDED: Scalar = Scalar::new(1, |row| Edges::Added.mean(row));
pub(super) const KEPT: Scalar = Scalar::new(2, |row| Edges::Kept.mean(row));
const REMOVED: Scalar = Scalar::new(3, |row| Edges::Removed.mean(row));
pub(super) const RATIO: Scalar = Scalar::new(4, |row| {
    let (added, kept) = (Edges::Added.mean(row)?, Edges::Kept.mean(row)?);
    unless(kept.is_zero(), "kept edges have no difference")?;
    Ok(added.over(&kept))
});
const PRUNED_OF_ADDED: Scalar = Scalar::new(5, |row| Edges::Added.pruned(row));
const PRUNED_OF_KEPT: Scalar = Scalar::new(6, |row| Edges::Kept.pruned(row));

fn differences(protocol: &Robustness, row: &Row, terms: &mut Terms<'_>) {
    for scalar in [ALL, ADDED, KEPT, REMOVED, RATIO, PRUNED_OF_ADDED, PRUNED_OF_KEPT] {
        scalar.add(protocol, row, terms);
    }
}

const DIFFERENCE: Line = Line {
    group: "edges",
    range: NON_NEGATIVE,
    per_unit: true,
    differs: "y is that of mean_diff, with features divided by the square root of the degree plus one.",
    ..BEYOND
};

pub(super) const MEAN_DIFF: Line = Line {
    id: "mean_diff",
    presets: DOCUMENTED.presets,
    measures: "How far apart the normalised features at the ends of edges are.",
    formula: "Mean of y = ‖F_i / sqrt(d_i) - F_j / sqrt(d_j)‖ over the edges of the attacked graph, d = 1 + \
              number of neighbours there; mean over repetitions.",
    undefined: reasons!(condition, "no attacked edges given", "attacked graph has no edges"),
    differs: "Every undirected edge counts once. Features are divided by the square root of the degree plus \
              one, as in the published function; the document's summary leaves that out.",
    reference: "Estimation Bias Measurement, compute_edge_feature_diff_distribution",
    example: ("four-nodes", "1.6833718299963145"),
    number: mean!(differences, ALL),
    ..DIFFERENCE
};

pub(super) const ADDED_MEAN_DIFF: Line = Line {
    id: "added_mean_diff",
    measures: "How far apart the ends of edges that the attack added are.",
    formula: "Mean of y over added edges, with attacked features and degrees; mean over repetitions.",
    undefined: reasons!(flips, "attack added no edge"),
    example: ("four-nodes", "1.8929694486000914"),
    number: mean!(differences, ADDED),
    ..DIFFERENCE
};

pub(super) const KEPT_MEAN_DIFF: Line = Line {
    id: "kept_mean_diff",
    measures: "How far apart the ends of clean edges that the attack kept are.",
    formula: "Mean of y over kept edges, with attacked features and degrees; mean over repetitions.",
    undefined: reasons!(flips, "no clean edge was kept"),
    example: ("four-nodes", "1.613505957128389"),
    number: mean!(differences, KEPT),
    ..DIFFERENCE
};

pub(super) const REMOVED_MEAN_DIFF: Line = Line {
    id: "removed_mean_diff",
    measures: "How far apart the ends of edges that the attack removed are.",
    formula: "Mean of y over removed edges, with clean features and degrees; mean over repetitions.",
    undefined: reasons!(flips, "attack removed no edge"),
    differs: "They exist in the clean graph only, so they are measured there. y is that of mean_diff, with \
              features divided by the square root of the degree plus one.",
    example: ("four-nodes", "1.877213961320028"),
    number: mean!(differences, REMOVED),
    ..DIFFERENCE
};

/// Whether added edges join nodes that differ more than neighbours do.
pub const DIFF_RATIO: Line = Line {
    id: "diff_ratio",
    better: lower,
    measures: "Whether the attack adds edges between nodes that differ more than neighbours do.",
    formula: "added_mean_diff / kept_mean_diff of each unit; mean over repetitions.",
    undefined: "\"report holds K conditions; see robustness.curve\"; \"clean and attacked edges are both \
                needed\"; \"attack added no edge\"; \"no clean edge was kept\"; \"kept edges have no \
                difference\".",
    differs: "Free of the scale of the features.",
    example: ("four-nodes", "1.1732026400256204"),
    headline: Some(6),
    number: mean!(differences, RATIO),
    ..DIFFERENCE
};

pub(super) const PRUNED_ADDED: Line = Line {
    id: "pruned_added",
    better: higher,
    range: SHARE,
    measures: "Which share of added edges the model's last layer cuts off.",
    formula: "Added edges with y >= cutoff / added edges; mean over repetitions.",
    undefined: reasons!(flips, "no cut-off given", "attack added no edge"),
    example: ("four-nodes", "1.0"),
    number: mean!(differences, PRUNED_OF_ADDED),
    ..DIFFERENCE
};

pub(super) const PRUNED_KEPT: Line = Line {
    id: "pruned_kept",
    range: SHARE,
    measures: "Which share of kept edges the model's last layer cuts off.",
    formula: "Kept edges with y >= cutoff / kept edges; mean over repetitions.",
    undefined: reasons!(flips, "no cut-off given", "no clean edge was kept"),
    example: ("four-nodes", "0.6666666666666666"),
    number: mean!(differences, PRUNED_OF_KEPT),
    ..DIFFERENCE
};
