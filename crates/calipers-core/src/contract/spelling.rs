//! Words of messages: lists that stay short, and the nearest known word to a misspelt one.

/// The first names, and how many more there are.
pub fn listed<N: AsRef<str>>(names: &[N], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The candidate nearest to the word, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    let measured = candidates.into_iter().map(|candidate| (distance(word, candidate), candidate));
    let near = measured.filter(|(steps, _)| *steps <= 3 && *steps < letters);
    near.min_by_key(|(steps, _)| *steps).map(|(_, candidate)| candidate)
}

/// How many letters must change to turn one word into the other.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_another_word_finds_nothing() {
        let presets = ["strict", "document", "mmseg"];
        assert_eq!(nearest("strcit", presets), Some("strict"));
        assert_eq!(nearest("mseg", presets), Some("mmseg"));
        assert_eq!(nearest("elephants", presets), None);
        assert_eq!(nearest("zzz", ["a", "bg"]), None, "three new letters are another word");
    }

    #[test]
    fn insertions_deletions_and_substitutions_count_one_each() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("größe", "grosse"), 2 + 1);
        assert_eq!(distance("same", "same"), 0);
    }
}
