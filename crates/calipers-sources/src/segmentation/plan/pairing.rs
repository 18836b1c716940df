//! Which options pair truth and predictions whose names do not pair as they are.

use std::collections::BTreeMap;

/// Options under which files pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proposal {
    /// What the truth that is meant ends in; nothing where every file is.
    truth_suffix: Option<String>,
    pred_suffix: Option<String>,
    flat: bool,
    /// How many units pair.
    pub(super) pairs: usize,
    /// Other ends of the truth that pair as many units.
    pub(super) others: Vec<String>,
}

impl Proposal {
    /// The options as the command line has them.
    pub(super) fn options(&self) -> Vec<String> {
        let suffixes = [("--truth-suffix", &self.truth_suffix), ("--pred-suffix", &self.pred_suffix)];
        let mut options: Vec<String> = suffixes
            .into_iter()
            .filter_map(|(option, suffix)| Some(format!("{option}={}", suffix.as_ref()?)))
            .collect();
        options.extend(self.flat.then(|| "--flat".to_owned()));
        options
    }
}

/// The most ends of names that are tried of each side.
const MOST_ENDS: usize = 24;
/// Words in the names of maps that are drawn to be looked at, or that hold something else than classes.
const NO_LABELS: [&str; 5] = ["color", "colour", "instance", "overlay", "vis"];

/// The options under which most files of two folders pair, where that is at least half of a side. The
/// files are paths below the folders; `stem` takes off the ending that says the format.
pub(super) fn proposed<'f>(
    truth: &'f [String],
    pred: &'f [String],
    stem: impl Fn(&'f str) -> &'f str,
) -> Option<Proposal> {
    let (truths, preds) = (ends(truth), ends(pred));
    let mut best: Option<(Rank, Proposal)> = None;
    let mut alike: Vec<(usize, bool, Option<&str>, &str)> = Vec::new();
    for flat in [false, true] {
        let of = |files: &'f [String], ends: &[&'f str]| -> Vec<(Option<&'f str>, Vec<&'f str>)> {
            let ends = std::iter::once(None).chain(ends.iter().copied().map(Some));
            ends.filter_map(|end| Some((end, units(files, end, flat, &stem)?))).collect()
        };
        let (truths, preds) = (of(truth, &truths), of(pred, &preds));
        for (truth_end, truth_units) in &truths {
            for (pred_end, pred_units) in &preds {
                let pairs = common(truth_units, pred_units);
                if pairs == 0 || 2 * pairs < truth_units.len().min(pred_units.len()) {
                    continue;
                }
                let rank = rank(pairs, truth_units.len() - pairs, flat, *truth_end, *pred_end);
                if let Some(end) = truth_end {
                    alike.push((pairs, flat, *pred_end, end));
                }
                if best.as_ref().is_none_or(|(known, _)| rank > *known) {
                    let [truth_suffix, pred_suffix] = [truth_end, pred_end].map(|end| end.map(String::from));
                    let others = Vec::new();
                    best = Some((rank, Proposal { truth_suffix, pred_suffix, flat, pairs, others }));
                }
            }
        }
    }
    let (_, mut best) = best?;
    let same = |(pairs, flat, pred, end): &(usize, bool, Option<&str>, &str)| {
        let is_other = best.truth_suffix.as_deref().is_some_and(|chosen| chosen != *end);
        let alike = *pairs == best.pairs && *flat == best.flat && *pred == best.pred_suffix.as_deref();
        (is_other && alike).then(|| (*end).to_owned())
    };
    best.others = alike.iter().filter_map(same).collect();
    Some(best)
}

/// What is better first: more pairs, fewer truths without a prediction, maps of labels, fewer options.
type Rank = (usize, std::cmp::Reverse<usize>, i8, std::cmp::Reverse<usize>, std::cmp::Reverse<usize>);

fn rank(pairs: usize, alone: usize, flat: bool, truth: Option<&str>, pred: Option<&str>) -> Rank {
    let lower = truth.unwrap_or_default().to_lowercase();
    let labels =
        i8::from(lower.contains("label")) - i8::from(NO_LABELS.iter().any(|word| lower.contains(word)));
    let options = usize::from(flat) + usize::from(truth.is_some()) + usize::from(pred.is_some());
    let length = truth.map_or(0, str::len) + pred.map_or(0, str::len);
    (pairs, std::cmp::Reverse(alone), labels, std::cmp::Reverse(options), std::cmp::Reverse(length))
}

/// The ends that several names share, the most frequent first; of a single file every end.
fn ends(files: &[String]) -> Vec<&str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let name = file.rsplit('/').next().unwrap_or(file);
        let starts = name.char_indices().filter(|(at, c)| *at > 0 && matches!(c, '_' | '-' | '.' | ' '));
        starts.for_each(|(at, _)| *counts.entry(&name[at..]).or_default() += 1);
    }
    let least = (files.len() / 16).max(2).min(files.len());
    let mut ends: Vec<(&str, usize)> = counts.into_iter().filter(|(_, count)| *count >= least).collect();
    ends.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    ends.into_iter().take(MOST_ENDS).map(|(end, _)| end).collect()
}

/// The names of the units in order; none where two files have one name.
fn units<'f>(
    files: &'f [String],
    end: Option<&str>,
    flat: bool,
    stem: &impl Fn(&'f str) -> &'f str,
) -> Option<Vec<&'f str>> {
    let name = |file: &'f String| {
        let name = match end {
            Some(end) => file.strip_suffix(end)?,
            None => stem(file),
        };
        Some(if flat { name.rsplit('/').next().unwrap_or(name) } else { name })
    };
    let mut units: Vec<&str> = files.iter().filter_map(name).filter(|name| !name.is_empty()).collect();
    units.sort_unstable();
    units.windows(2).all(|pair| pair[0] != pair[1]).then_some(units)
}

/// How many names two ordered lists share.
fn common(a: &[&str], b: &[&str]) -> usize {
    let mut b = b.iter().peekable();
    let in_b = |name: &&&str| {
        while b.next_if(|other| *other < *name).is_some() {}
        b.next_if(|other| *other == *name).is_some()
    };
    a.iter().filter(in_b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(truth: &[&str], pred: &[&str]) -> Option<String> {
        let files = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (truth, pred) = (files(truth), files(pred));
        proposed(&truth, &pred, |name| name.rsplit_once('.').map_or(name, |(stem, _)| stem))
            .map(|found| found.options().join(" "))
    }

    #[test]
    fn suffixes_and_folders_come_from_the_names() {
        let truth = [
            "a/x_0_gtFine_color.png",
            "a/x_0_gtFine_labelIds.png",
            "b/y_1_gtFine_color.png",
            "b/y_1_gtFine_labelIds.png",
        ];
        let cityscapes = "--truth-suffix=_gtFine_labelIds.png --pred-suffix=_pred.png --flat";
        assert_eq!(options(&truth, &["x_0_pred.png", "y_1_pred.png"]).as_deref(), Some(cityscapes));
        let nested = "--truth-suffix=_gtFine_labelIds.png";
        assert_eq!(options(&truth, &["a/x_0.npy", "b/y_1.npy"]).as_deref(), Some(nested));
        assert_eq!(options(&["a/x.png", "b/y.png"], &["x.png", "y.png"]).as_deref(), Some("--flat"));
        let one = "--truth-suffix=_gt.png --pred-suffix=_out.npy";
        assert_eq!(options(&["s_gt.png"], &["s_out.npy"]).as_deref(), Some(one));
        assert_eq!(options(&["a.png", "b.png"], &["c.png", "d.png"]), None);
        assert_eq!(options(&["a/x.png", "b/x.png"], &["x.png"]), None, "which x is meant?");
    }

    #[test]
    fn other_ends_that_pair_as_well_are_said() {
        let files = |ends: &[&str]| -> Vec<String> {
            ["x", "y"].iter().flat_map(|name| ends.iter().map(move |end| format!("{name}{end}"))).collect()
        };
        let truth = files(&["_labelIds.png", "_labelTrainIds.png", "_color.png"]);
        let found = proposed(&truth, &files(&["_pred.png"]), |name| name).unwrap();
        assert_eq!(found.options().join(" "), "--truth-suffix=_labelIds.png --pred-suffix=_pred.png");
        assert_eq!(found.others, ["_color.png", "_labelTrainIds.png"]);
    }
}
