//! What was drawn for intervals, in words.

use calipers_core::resample::{Bootstrap, Drawn, Intervals};

use crate::number::shortest;

/// The most strata that are named.
const MOST_STRATA: usize = 4;

/// How intervals were made, in a sentence.
pub fn words(drawn: &Drawn) -> String {
    let Bootstrap { resamples, seed, method, .. } = drawn.bootstrap;
    let share = share(drawn);
    let units = |(name, [_, units]): &(String, [u64; 2])| match drawn.strata.len() {
        1 => counted(*units, &drawn.sampling_unit),
        _ => format!("{} of {name}", counted(*units, &drawn.sampling_unit)),
    };
    let units: Vec<String> = if drawn.strata.len() > MOST_STRATA {
        vec![together(drawn)]
    } else {
        drawn.strata.iter().map(units).collect()
    };
    let rule = drawn.cluster_by.as_ref().filter(|rule| *rule != "none");
    let rule = rule.map(|rule| format!(", clusters by {rule}")).unwrap_or_default();
    format!(
        "Intervals hold {share} % ({}): {resamples} resamples of {}{rule}, seed {seed}.",
        method.name(),
        if units.is_empty() { "nothing".into() } else { units.join(", ") }
    )
}

/// Strata in a few words, where there are too many to name.
fn together(drawn: &Drawn) -> String {
    let counts = || drawn.strata.iter().map(|(_, [_, units])| *units);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let each = counted(most, &drawn.sampling_unit);
    let strata = drawn.strata.len();
    if least == most {
        format!("{strata} strata of {each}")
    } else {
        format!("{strata} strata of {least} to {each}")
    }
}

/// How many reasons a sentence names.
const REASONS: usize = 3;

/// Which numbers have no interval, in a sentence: the reasons, those of most numbers first.
pub(crate) fn missing(intervals: &Intervals) -> Option<String> {
    let mut reasons: Vec<(&str, u64)> = Vec::new();
    for (_, reason) in &intervals.missing {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, numbers)) => *numbers += 1,
            None => reasons.push((reason, 1)),
        }
    }
    reasons.sort_by_key(|(_, numbers)| std::cmp::Reverse(*numbers));
    let said =
        reasons.iter().take(REASONS).map(|(reason, of)| format!("{} ({reason})", counted(*of, "number")));
    let mut said: Vec<String> = said.collect();
    let more: u64 = reasons.iter().skip(REASONS).map(|(_, numbers)| numbers).sum();
    said.extend((more > 0).then(|| format!("{more} more")));
    (!said.is_empty()).then(|| format!("No interval: {}.", said.join(", ")))
}

/// Why numbers of the first stratum that is too small have no interval.
pub(crate) fn too_small(drawn: &Drawn) -> Option<String> {
    let (name, [_, units]) = drawn.strata.iter().find(|(_, [_, units])| *units < 2)?;
    let of = if drawn.strata.len() > 1 { format!(" of {name}") } else { String::new() };
    Some(format!("{}{of}; an interval needs at least 2", counted(*units, &drawn.sampling_unit)))
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
    fn what_has_no_interval_is_counted_by_reason() {
        let mut intervals = fixture::intervals(&[]);
        intervals.missing.clear();
        assert_eq!(missing(&intervals), None);
        let reasons = ["1 run", "few", "1 run", "rare", "odd"];
        intervals.missing = reasons.iter().zip('a'..).map(|(why, id)| (id.into(), (*why).into())).collect();
        let expected = "No interval: 2 numbers (1 run), 1 number (few), 1 number (rare), 1 more.";
        assert_eq!(missing(&intervals).as_deref(), Some(expected));
        assert_eq!(too_small(&intervals.drawn), None);
        intervals.drawn.strata = vec![("a".into(), [6, 6]), ("b".into(), [3, 1])];
        let expected = "1 cluster of b; an interval needs at least 2";
        assert_eq!(too_small(&intervals.drawn).as_deref(), Some(expected));
    }

    #[test]
    fn what_was_drawn_is_said_in_a_sentence() {
        let mut drawn = fixture::intervals(&[]).drawn;
        let expected =
            "Intervals hold 95 % (expanded): 2000 resamples of 14 clusters, clusters by folder, seed 0.";
        assert_eq!(words(&drawn), expected);
        drawn.strata = vec![("a".into(), [6, 6]), ("b".into(), [1, 1])];
        (drawn.sampling_unit, drawn.cluster_by) = ("run".into(), None);
        drawn.strata = (0..5).map(|i| (i.to_string(), [6, 5 + i / 4])).collect();
        assert!(
            words(&drawn).contains("2000 resamples of 5 strata of 5 to 6 runs, seed 0"),
            "{}",
            words(&drawn)
        );
        drawn.strata = vec![("a".into(), [6, 6]), ("b".into(), [1, 1])];
        drawn.bootstrap.confidence = 0.999;
        let expected = "Intervals hold 99.9 % (expanded): 2000 resamples of 6 runs of a, 1 run of b, seed 0.";
        assert_eq!(words(&drawn), expected);
    }
}
