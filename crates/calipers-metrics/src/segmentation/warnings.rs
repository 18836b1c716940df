//! What looks wrong in the evidence: every warning of the family, in report order.

use calipers_core::{Provenance, Rows, Warning};

use crate::segmentation::heads::{finer_than_global, inseparable, straddles};
use crate::segmentation::overlap::Overlap;
use crate::segmentation::protocol::{Kind, Measure, Segmentation, Space};
use crate::segmentation::row::{CalibrationRow, PixelRow, Row};
use crate::segmentation::surface;
use crate::warnings::{about, about_run, counted, listed, noticed, units, units_of};

/// Names of classes that usually mean "nobody annotated this".
const UNLABELED: [&str; 6] = ["unlabeled", "unlabelled", "void", "ignore", "unknown", "no data"];

/// What is noticed of the files of a unit, in order.
const SPATIAL: [(&str, &str); 5] = [
    ("empty-segments", "segments are listed that have no pixel"),
    ("spacing-overridden", "the file has another spacing than the one that was given"),
    ("spacing-unit", "the file measures in metres or microns: distances are in that unit"),
    ("spacing-disagrees", "the axes of the file are longer or shorter than its spacing: the spacing is used"),
    ("origin-differs", "truth and prediction begin at different places in space"),
];

/// Every warning the rows and the files give rise to.
pub(crate) fn warnings(
    protocol: &Segmentation,
    rows: &Rows<'_, Row>,
    provenance: &Provenance,
) -> Vec<Warning> {
    let unpaired = unpaired(provenance);
    if rows.is_empty() {
        return unpaired.into_iter().flatten().collect();
    }
    let audit = Audit { protocol, rows, totals: Overlap::of_rows(protocol, rows) };
    let first = audit.shared_channels().into_iter().chain([audit.missing_heads()]).chain(unpaired);
    let maps = [audit.merged_too_late(), audit.ignored_global_ids(), audit.unpredicted(), audit.not_scored()];
    let files = [identical(provenance), repeated_truth(provenance)];
    let last = [audit.mixed_sizes(), audit.saturated()];
    let all = first.chain(maps).chain(audit.classes()).chain(audit.probabilities()).chain(files).chain(last);
    let surfaces = surface::warnings::warnings(protocol, rows);
    all.flatten().chain(surfaces).chain(placed(provenance)).collect()
}

struct Audit<'r, 'a> {
    protocol: &'r Segmentation,
    rows: &'r Rows<'a, Row>,
    totals: Overlap,
}

impl<'a> Audit<'_, 'a> {
    fn shared_channels(&self) -> [Option<Warning>; 2] {
        let scores = self.protocol.heads.iter().all(|head| head.kind != Kind::Labels);
        if !scores || self.rows.iter().all(|row| row.pixels.is_none()) {
            return [None, None];
        }
        let name = |original: &i64| self.protocol.labels.original.get(original).cloned().unwrap_or_default();
        let names = |originals: &Vec<i64>| listed(originals.iter().map(name), ", ");
        let groups = inseparable(self.protocol);
        let torn: Vec<_> = groups.iter().filter(|originals| straddles(self.protocol, originals)).collect();
        let effect = if self.protocol.conventions.split_multiplicity {
            "their common probability is split evenly among them"
        } else {
            "each takes the whole of their common probability, so that n of them in one class weigh n times"
        };
        let shared = || {
            let shown = listed(groups.iter().map(names), "; ");
            about_run("shared-channels", format!("no head separates {shown}: {effect}"))
        };
        let inseparable = || {
            let shown = listed(torn.iter().copied().map(names), "; ");
            let message = format!(
                "no head separates {shown} although they lie in different classes: these tie at every pixel and the \
                 first one wins"
            );
            about_run("inseparable-classes", message)
        };
        [(!groups.is_empty()).then(shared), (!torn.is_empty()).then(inseparable)]
    }

    fn missing_heads(&self) -> Option<Warning> {
        let lacks = |row: &Row, head| pixels(row, |pixels| pixels.missing_heads.contains(&head));
        let heads = (0..).zip(&self.protocol.heads).filter_map(|(position, head)| {
            let units = self.rows.iter().filter(|row| lacks(row, position)).count();
            (units > 0).then(|| format!("head {} in {units}", head.name))
        });
        let effect = if self.protocol.conventions.split_multiplicity {
            "what only that head separates is shared evenly"
        } else {
            "classes that only that head separates each take the whole of their common probability"
        };
        let units = units(self.rows, |row| pixels(row, |pixels| !pixels.missing_heads.is_empty()));
        about("missing-head", units, |units| {
            format!("{} scored without a head: {}; {effect}", are(units), listed(heads, ", "))
        })
    }

    fn merged_too_late(&self) -> Option<Warning> {
        let message = "label maps hold finer classes than are scored: the winner was chosen before the classes \
                       were merged, which is not comparable with a model scored from probabilities";
        finer_than_global(self.protocol).then(|| about_run("argmax-before-merge", message))
    }

    /// Ids of originals in `ignore` meet truth maps of global ids.
    fn ignored_global_ids(&self) -> Option<Warning> {
        let labels = &self.protocol.labels;
        if self.protocol.truth_space != Space::Global || self.rows.iter().all(|row| row.pixels.is_none()) {
            return None;
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
        let count = names.len();
        let message = |names| {
            format!(
                "the truth holds global ids, and {count} of them are ignored values too, so that these classes \
                 are not scored: {names}; {keep}give the truth in original ids"
            )
        };
        (count > 0).then(|| about_run("global-ids-ignored", message(listed(names, ", "))))
    }

    fn unpredicted(&self) -> Option<Warning> {
        let (unpredicted, scored) = (self.totals.unpredicted_pixels(), self.totals.scored_pixels());
        let lacks =
            |row: &Row| row.confusion.cells().any(|((_, pred), _)| pred as usize == self.protocol.classes());
        let units = if unpredicted > 0 { units(self.rows, lacks) } else { Vec::new() };
        about("unpredicted", units, |units| {
            format!(
                "{unpredicted} of {scored} scored pixels ({}) in {} have no prediction and count as wrong",
                percent(unpredicted, scored),
                counted(units)
            )
        })
    }

    fn not_scored(&self) -> Option<Warning> {
        let units = units(self.rows, |row| row.confusion.cells().all(|(_, count)| count == 0));
        about("unit-not-scored", units, |units| {
            format!("{} without a scored pixel: the truth is ignored everywhere", are(units))
        })
    }

    fn classes(&self) -> [Option<Warning>; 4] {
        let scored = self.totals.scored_pixels();
        let names = &self.protocol.labels.global;
        let named = |code: &str, concerns: &dyn Fn(usize) -> bool, words: &str| {
            let found = (0..names.len()).filter(|&class| scored > 0 && concerns(class));
            let found: Vec<&str> = found.map(|class| names[class].as_str()).collect();
            (!found.is_empty()).then(|| about_run(code, format!("{words}: {}", found.join(", "))))
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
    }

    fn probabilities(&self) -> [Option<Warning>; 2] {
        let infinite: u128 = self.calibrated().map(|image| u128::from(image.infinite)).sum();
        let is_infinite = |image: &CalibrationRow| image.infinite > 0;
        let likely = units(self.rows, |row| pixels(row, |pixels| pixels.looks_like_probabilities));
        let undefined = units(self.rows, |row| {
            pixels(row, |pixels| pixels.calibration.as_deref().is_some_and(is_infinite))
        });
        [
            about("looks-like-probabilities", likely, |units| {
                format!(
                    "in {} all logits lie in [0, 1] and sum to 1: softmax was probably applied before, and is now \
                     applied twice; kind is probs then",
                    counted(units)
                )
            }),
            about("infinite-nll", undefined, |units| {
                format!(
                    "the true class has probability 0 at {infinite} pixels in {}: nll is infinite",
                    counted(units)
                )
            }),
        ]
    }

    fn mixed_sizes(&self) -> Option<Warning> {
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
        mixed.map(|ends| about_run("mixed-sizes", message(ends)))
    }

    fn saturated(&self) -> Option<Warning> {
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
        (100 * saturated > pixels).then(|| about_run("saturated", message()))
    }

    fn calibrated(&self) -> impl Iterator<Item = &'a CalibrationRow> {
        self.rows.iter().filter_map(|row| row.pixels.as_ref()?.calibration.as_deref())
    }
}

fn pixels(row: &Row, wrong: impl Fn(&PixelRow) -> bool) -> bool {
    row.pixels.as_ref().is_some_and(wrong)
}

/// Truth or prediction without the other one.
fn unpaired(provenance: &Provenance) -> [Option<Warning>; 2] {
    let parts = [
        ("missing-predictions", "truth without a prediction"),
        ("extra-predictions", "prediction without a truth"),
    ];
    parts.map(|(code, words)| {
        let units = units_of(noticed(provenance, code));
        about(code, units, |units| format!("{} left out: {words}", are(units)))
    })
}

fn identical(provenance: &Provenance) -> Option<Warning> {
    const CODE: &str = "identical-files";
    about(CODE, units_of(noticed(provenance, CODE)), |units| {
        format!("in {} the prediction is the truth, byte for byte", counted(units))
    })
}

/// Spacings, origins and slices, as files say them.
fn placed(provenance: &Provenance) -> impl Iterator<Item = Warning> {
    let spatial = SPATIAL.map(|(code, words)| {
        about(code, units_of(noticed(provenance, code)), |units| format!("in {} {words}", counted(units)))
    });
    let stack = about("stack-of-images", units_of(noticed(provenance, "stack-of-images")), |units| {
        format!(
            "{} one slice of an array of three axes: a volume is a file of its own or an array of an npz",
            are(units)
        )
    });
    spatial.into_iter().chain([stack]).flatten()
}

/// One truth under several names.
fn repeated_truth(provenance: &Provenance) -> Option<Warning> {
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
    about("repeated-truth", units, |units| {
        let groups = listed(repeated.iter().map(|units| listed(units.iter().copied(), " = ")), "; ");
        format!(
            "{} share their truth with another one, which then counts more than once: {groups}",
            counted(units)
        )
    })
}

fn are(units: &[String]) -> String {
    format!("{} {}", counted(units), if units.len() == 1 { "is" } else { "are" })
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
