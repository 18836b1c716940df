//! What the attack did to the graph: how many edges it flipped.

use crate::robustness::metrics::*;
use calipers_core::exact::Rational;

pub(in crate::robustness) const ADDED: Scalar =
    Scalar::new(0, |row| Ok(Rational::whole(flips(row)?.added.count)));
pub(in crate::robustness) const REMOVED: Scalar =
    Scalar::new(1, |row| Ok(Rational::whole(flips(row)?.removed.count)));
pub(in crate::robustness) const USED: Scalar = Scalar::new(2, |row| {
    let flips = flips(row)?;
    unless(flips.clean_edges == 0, "clean graph has no edges")?;
    Ok(Rational::ratio(flips.flipped(), flips.clean_edges))
});

fn counts(protocol: &Robustness, row: &Row, terms: &mut Terms<'_>) {
    [ADDED, REMOVED, USED].iter().for_each(|scalar| scalar.add(protocol, row, terms));
}

const FLIPS: Line = Line { group: "flips", range: NON_NEGATIVE, per_unit: true, ..BEYOND };

/// How many edges the attack added.
pub const FLIPS_ADDED: Line = Line {
    id: "flips_added",
    measures: "How many edges the attack added.",
    formula: "Edges of the attacked graph that the clean one lacks; mean over repetitions.",
    undefined: reasons!(flips),
    example: ("four-nodes", "1.0"),
    number: mean!(counts, ADDED),
    ..FLIPS
};

/// How many edges the attack removed.
pub const FLIPS_REMOVED: Line = Line {
    id: "flips_removed",
    measures: "How many edges the attack removed.",
    formula: "Edges of the clean graph that the attacked one lacks; mean over repetitions.",
    undefined: reasons!(flips),
    example: ("four-nodes", "1.0"),
    number: mean!(counts, REMOVED),
    ..FLIPS
};

pub(in crate::robustness) const BUDGET_USED: Line = Line {
    id: "budget_used",
    measures: "The budget that the attack really used.",
    formula: "(added + removed) / clean edges; mean over repetitions.",
    undefined: reasons!(flips, "clean graph has no edges"),
    example: ("four-nodes", "0.5"),
    number: mean!(counts, USED),
    ..FLIPS
};
