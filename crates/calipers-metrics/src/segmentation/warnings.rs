//! What looks wrong in the evidence: every warning of the family, in report order.

use calipers_core::{Provenance, Rows, Warning};

use crate::segmentation::heads::{finer_than_global, inseparable, straddles};
use crate::segmentation::overlap::Overlap;
use crate::segmentation::protocol::{Kind, Measure, Segmentation, Space};
use crate::segmentation::row::{CalibrationRow, Row};
use crate::segmentation::surface;

/// How many details a message spells out.
const SHOWN: usize = 5;

/// Names of classes that usually mean "nobody annotated this".
const UNLABELED: [&str; 6] = ["unlabeled", "unlabelled", "void", "ignore", "unknown", "no data"];

/// What files say of spacing and orientation, in order.
const SPATIAL: [&str; 5] =
    ["spacing-overridden", "spacing-unit", "spacing-disagrees", "origin-differs", "stack-of-images"];

/// Every warning the rows and the files give rise to.
pub(crate) fn warnings(
    protocol: &Segmentation,
    rows: &Rows<'_, Row>,
    provenance: &Provenance,
) -> Vec<Warning> {
    if rows.is_empty() {
        return files(provenance, &["missing-predictions", "extra-predictions"]);
    }
    let audit = Audit { protocol, rows, totals: Overlap::of_rows(protocol, rows) };
    [
        audit.shared_channels(),
        audit.missing_heads(),
        files(provenance, &["missing-predictions", "extra-predictions"]),
        audit.merged_too_late(),
        audit.ignored_global_ids(),
        audit.unpredicted(),
        audit.not_scored(),
        audit.classes(),
        audit.probabilities(),
        files(provenance, &["identical-files"]),
        repeated_truth(provenance),
        audit.mixed_sizes(),
        audit.saturated(),
        surface::warnings::warnings(protocol, rows),
        files(provenance, &SPATIAL),
    ]
    .into_iter()
    .flatten()
    .collect()
}

struct Audit<'r, 'a> {
    protocol: &'r Segmentation,
    rows: &'r Rows<'a, Row>,
    totals: Overlap,
}

impl<'a> Audit<'_, 'a> {
    fn shared_channels(&self) -> Vec<Warning> {
        let scores = self.protocol.heads.iter().all(|head| head.kind != Kind::Labels);
        if !scores || self.rows.iter().all(|row| row.pixels.is_none()) {
            return Vec::new();
        }
        let groups = inseparable(self.protocol);
        let (torn, _): (Vec<_>, Vec<_>) =
            groups.iter().partition(|originals| straddles(self.protocol, originals));
        let shown = |groups: Vec<&Vec<i64>>| {
            let names = |originals: &Vec<i64>| {
                let name =
                    |original| self.protocol.labels.original.get(original).cloned().unwrap_or_default();
                listed(originals.iter().map(name), ", ")
            };
            listed(groups.into_iter().map(names), "; ")
        };
        let effect = if self.protocol.conventions.split_multiplicity {
            "their common probability is split evenly among them"
        } else {
            "each takes the whole of their common probability, so that n of them in one class weigh n times"
        };
        let shared = (!groups.is_empty()).then(|| {
            whole(
                "shared-channels",
                format!("no head separates {}: {effect}", shown(groups.iter().collect())),
            )
        });
        let inseparable = (!torn.is_empty()).then(|| {
            whole(
                "inseparable-classes",
                format!(
                    "no head separates {} although they lie in different classes: these tie at every pixel \
                     and the first one wins",
                    shown(torn)
                ),
            )
        });
        shared.into_iter().chain(inseparable).collect()
    }

    fn missing_heads(&self) -> Vec<Warning> {
        let lacking = |row: &Row, head: u32| {
            row.pixels.as_ref().is_some_and(|pixels| pixels.missing_heads.contains(&head))
        };
        let heads = (0..).zip(&self.protocol.heads).filter_map(|(position, head)| {
            let units = self.rows.iter().filter(|row| lacking(row, position)).count();
            (units > 0).then(|| format!("head {} in {units}", head.name))
        });
        let heads: Vec<String> = heads.collect();
        let effect = if self.protocol.conventions.split_multiplicity {
            "what only that head separates is shared evenly"
        } else {
            "classes that only that head separates each take the whole of their common probability"
        };
        self.units(
            "missing-head",
            |row| row.pixels.as_ref().is_some_and(|pixels| !pixels.missing_heads.is_empty()),
            |units| {
                format!(
                    "{} scored without a head: {}; {effect}",
                    are(units),
                    listed(heads.iter().cloned(), ", ")
                )
            },
        )
    }

    fn merged_too_late(&self) -> Vec<Warning> {
        let late = finer_than_global(self.protocol);
        let message = "label maps hold finer classes than are scored: the winner was chosen before the classes \
                       were merged, which is not comparable with a model scored from probabilities";
        late.then(|| whole("argmax-before-merge", message.into())).into_iter().collect()
    }

    /// Ids of originals in `ignore` meet truth maps of global ids.
    fn ignored_global_ids(&self) -> Vec<Warning> {
        let labels = &self.protocol.labels;
        if self.protocol.truth_space != Space::Global || self.rows.iter().all(|row| row.pixels.is_none()) {
            return Vec::new();
        }
        let global = (0..).zip(&labels.global).filter(|(id, _)| labels.ignore.contains(id));
        let names: Vec<String> = global.map(|(id, name)| format!("{id} ({name})")).collect();
        let classes = labels.global.len() as i64;
        let others = labels.ignore.iter().filter(|id| !(0..classes).contains(*id));
        let others: Vec<String> = others.map(i64::to_string).collect();
        let keep = match others.as_slice() {
            [] => String::new(),
            values => format!(
                "to score them, ignore only values that are no global ids (--ignore {}), or ",
                values.join(",")
            ),
        };
        let message = || {
            format!(
                "the truth holds global ids, and {} of them are ignored values too, so that these classes are \
                 not scored: {}; {keep}give the truth in original ids",
                names.len(),
                listed(names.iter().map(String::as_str), ", ")
            )
        };
        (!names.is_empty()).then(|| whole("global-ids-ignored", message())).into_iter().collect()
    }

    fn unpredicted(&self) -> Vec<Warning> {
        let (unpredicted, scored) = (self.totals.unpredicted_pixels(), self.totals.scored_pixels());
        if unpredicted == 0 {
            return Vec::new();
        }
        self.units(
            "unpredicted",
            |row| row.confusion.cells().any(|((_, pred), _)| pred as usize == self.protocol.classes()),
            |units| {
                format!(
                    "{unpredicted} of {scored} scored pixels ({}) in {} have no prediction and count as wrong",
                    percent(unpredicted, scored),
                    counted(units)
                )
            },
        )
    }

    fn not_scored(&self) -> Vec<Warning> {
        self.units(
            "unit-not-scored",
            |row| row.confusion.cells().all(|(_, count)| count == 0),
            |units| format!("{} without a scored pixel: the truth is ignored everywhere", are(units)),
        )
    }

    fn classes(&self) -> Vec<Warning> {
        let scored = self.totals.scored_pixels();
        if scored == 0 {
            return Vec::new();
        }
        let names = &self.protocol.labels.global;
        let named = |code: &str, concerns: &dyn Fn(usize) -> bool, words: &str| {
            let found: Vec<String> =
                (0..names.len()).filter(|&class| concerns(class)).map(|class| names[class].clone()).collect();
            (!found.is_empty()).then(|| whole(code, format!("{words}: {}", found.join(", "))))
        };
        let (truth, pred) = (|class| self.totals.truth(class), |class| self.totals.pred(class));
        [
            named("class-not-in-truth", &|class| truth(class) == 0, "classes that no truth holds"),
            named("class-never-predicted", &|class| pred(class) == 0, "classes that are never predicted"),
            named(
                "one-class-prediction",
                &|class| names.len() > 1 && pred(class) == scored,
                "every scored pixel is predicted as one class",
            ),
            named(
                "unlabeled-scored",
                &|class| is_unlabeled(&names[class]) && 20 * truth(class) > scored,
                "over 5 % of the scored truth belongs to a class that usually means \"not annotated\" \
                 (list it in ignore unless it is meant)",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn probabilities(&self) -> Vec<Warning> {
        let image = |row: &Row, wrong: fn(&CalibrationRow) -> bool| {
            row.pixels.as_ref().and_then(|pixels| pixels.calibration.as_deref()).is_some_and(wrong)
        };
        let infinite: u128 = self.calibrated().map(|image| u128::from(image.infinite)).sum();
        [
            self.units(
                "looks-like-probabilities",
                |row| row.pixels.as_ref().is_some_and(|pixels| pixels.looks_like_probabilities),
                |units| {
                    format!(
                        "in {} all logits lie in [0, 1] and sum to 1: softmax was probably applied before, and \
                         is now applied twice; kind is probs then",
                        counted(units)
                    )
                },
            ),
            self.units(
                "infinite-nll",
                |row| image(row, |image| image.infinite > 0),
                |units| {
                    format!(
                        "the true class has probability 0 at {infinite} pixels in {}: nll is infinite",
                        counted(units)
                    )
                },
            ),
        ]
        .concat()
    }

    fn mixed_sizes(&self) -> Vec<Warning> {
        let diagonal = |row: &Row| u128::from(row.height).pow(2) + u128::from(row.width).pow(2);
        let sizes = || self.rows.iter().filter(|row| row.pixels.is_some());
        let ends = sizes().min_by_key(|row| diagonal(row)).zip(sizes().max_by_key(|row| diagonal(row)));
        let mixed = ends.filter(|(small, large)| {
            self.protocol.measures(Measure::Boundary) && diagonal(large) > 4 * diagonal(small)
        });
        let message = |(small, large): (&Row, &Row)| {
            format!(
                "images from {} x {} to {} x {} (height x width) share one band of {} pixels: boundary \
                 numbers of images this different in size do not mean the same",
                small.height, small.width, large.height, large.width, self.protocol.boundary.thickness
            )
        };
        mixed.map(|ends| whole("mixed-sizes", message(ends))).into_iter().collect()
    }

    fn saturated(&self) -> Vec<Warning> {
        let sum = |count: fn(&CalibrationRow) -> u64| -> i128 {
            self.calibrated().map(|image| i128::from(count(image))).sum()
        };
        let (saturated, pixels) = (sum(|image| image.saturated), sum(|image| image.pixels));
        let message = || {
            format!(
                "{saturated} of {pixels} pixels ({}) have a confidence that is exactly 1 in single precision: \
                 calibration cannot tell them apart",
                percent(saturated, pixels)
            )
        };
        (100 * saturated > pixels).then(|| whole("saturated", message())).into_iter().collect()
    }

    fn calibrated(&self) -> impl Iterator<Item = &'a CalibrationRow> {
        self.rows.iter().filter_map(|row| row.pixels.as_ref()?.calibration.as_deref())
    }

    fn units(
        &self,
        code: &str,
        wrong: impl Fn(&Row) -> bool,
        message: impl Fn(&[String]) -> String,
    ) -> Vec<Warning> {
        let units: Vec<String> =
            self.rows.named().filter(|(_, row)| wrong(row)).map(|(name, _)| name.into()).collect();
        concerning(code, units, message)
    }
}

/// Warnings whose whole evidence was noticed while reading files.
fn files(provenance: &Provenance, codes: &[&str]) -> Vec<Warning> {
    let one = |&code: &&str| {
        let facts = provenance.facts.iter().filter(|fact| fact.code == code);
        let mut units: Vec<String> = facts.map(|fact| fact.unit.clone()).collect();
        units.dedup();
        concerning(code, units, |units| match code {
            "missing-predictions" => format!("{} left out: truth without a prediction", are(units)),
            "extra-predictions" => format!("{} left out: prediction without a truth", are(units)),
            "spacing-overridden" => {
                format!("in {} the file has another spacing than the one that was given", counted(units))
            }
            "spacing-unit" => {
                format!(
                    "in {} the file measures in metres or microns: distances are in that unit",
                    counted(units)
                )
            }
            "spacing-disagrees" => format!(
                "in {} the axes of the file are longer or shorter than its spacing: the spacing is used",
                counted(units)
            ),
            "origin-differs" => {
                format!("in {} truth and prediction begin at different places in space", counted(units))
            }
            "stack-of-images" => format!(
                "{} one slice of an array of three axes: a volume is a file of its own or an array of an npz",
                are(units)
            ),
            _ => format!("in {} the prediction is the truth, byte for byte", counted(units)),
        })
    };
    codes.iter().flat_map(one).collect()
}

/// One truth under several names.
fn repeated_truth(provenance: &Provenance) -> Vec<Warning> {
    let mut contents: Vec<([u8; 16], &str)> =
        provenance.contents.iter().map(|content| (content.truth, content.unit.as_str())).collect();
    // Units come in order, and a stable sort leaves them so where they share a truth.
    contents.sort_by_key(|(truth, _)| *truth);
    let same = contents.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1);
    let mut repeated: Vec<Vec<&str>> =
        same.map(|same| same.iter().map(|(_, unit)| *unit).collect()).collect();
    repeated.sort_unstable();
    let mut units = repeated.concat();
    // The stable sort merges runs, and each truth has left one.
    units.sort();
    let units = units.into_iter().map(String::from).collect();
    concerning("repeated-truth", units, |units| {
        let groups = listed(repeated.iter().map(|units| listed(units.iter().copied(), " = ")), "; ");
        format!(
            "{} share their truth with another one, which then counts more than once: {groups}",
            counted(units)
        )
    })
}

pub(crate) fn concerning(
    code: &str,
    units: Vec<String>,
    message: impl Fn(&[String]) -> String,
) -> Vec<Warning> {
    if units.is_empty() {
        return Vec::new();
    }
    vec![Warning { code: code.into(), message: message(&units), units }]
}

pub(crate) fn whole(code: &str, message: String) -> Warning {
    Warning { code: code.into(), message, units: Vec::new() }
}

pub(crate) fn counted(units: &[String]) -> String {
    format!("{} unit{}", units.len(), if units.len() == 1 { "" } else { "s" })
}

fn are(units: &[String]) -> String {
    format!("{} {}", counted(units), if units.len() == 1 { "is" } else { "are" })
}

/// The first few entries, and how many more there are.
fn listed(entries: impl IntoIterator<Item = impl Into<String>>, separator: &str) -> String {
    let mut entries: Vec<String> = entries.into_iter().map(Into::into).collect();
    let more = entries.len().saturating_sub(SHOWN);
    entries.truncate(SHOWN);
    let shown = entries.join(separator);
    if more == 0 { shown } else { format!("{shown}{separator}and {more} more") }
}

/// A share in percent with one decimal.
fn percent(part: i128, whole: i128) -> String {
    let tenths = (1000 * part + whole / 2) / whole.max(1);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

fn is_unlabeled(name: &str) -> bool {
    let plain: String = name
        .trim()
        .chars()
        .map(|c| if matches!(c, '_' | '-') { ' ' } else { c.to_ascii_lowercase() })
        .collect();
    UNLABELED.contains(&plain.as_str())
}
