//! What was drawn for intervals, in words.

use calipers_core::resample::{Bootstrap, Drawn};

use crate::number::shortest;

/// How intervals were made, in a sentence.
pub fn words(drawn: &Drawn) -> String {
    let Bootstrap { resamples, seed, method, .. } = drawn.bootstrap;
    let share = share(drawn);
    let units = |(name, [_, units]): &(String, [u64; 2])| match drawn.strata.len() {
        1 => counted(*units, &drawn.sampling_unit),
        _ => format!("{} of {name}", counted(*units, &drawn.sampling_unit)),
    };
    let units: Vec<String> = drawn.strata.iter().map(units).collect();
    let rule = drawn.cluster_by.as_ref().filter(|rule| *rule != "none");
    let rule = rule.map(|rule| format!(", clusters by {rule}")).unwrap_or_default();
    format!(
        "Intervals hold {share} % ({}): {resamples} resamples of {}{rule}, seed {seed}.",
        method.name(),
        if units.is_empty() { "nothing".into() } else { units.join(", ") }
    )
}

/// The share that an interval holds, in percent.
pub(crate) fn share(drawn: &Drawn) -> String {
    let share = shortest(100.0 * drawn.bootstrap.confidence);
    share.strip_suffix(".0").unwrap_or(&share).to_owned()
}

fn counted(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn what_was_drawn_is_said_in_a_sentence() {
        let mut drawn = fixture::intervals(&[]).drawn;
        let expected =
            "Intervals hold 95 % (expanded): 2000 resamples of 14 clusters, clusters by folder, seed 0.";
        assert_eq!(words(&drawn), expected);
        drawn.strata = vec![("a".into(), [6, 6]), ("b".into(), [1, 1])];
        (drawn.sampling_unit, drawn.cluster_by) = ("run".into(), None);
        drawn.bootstrap.confidence = 0.999;
        let expected = "Intervals hold 99.9 % (expanded): 2000 resamples of 6 runs of a, 1 run of b, seed 0.";
        assert_eq!(words(&drawn), expected);
    }
}
