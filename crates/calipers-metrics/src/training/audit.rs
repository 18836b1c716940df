//! What looks wrong in the evidence: every warning of the family, in report order.

mod files;
mod folds;

use calipers_core::{Provenance, Rows, Warning};

use super::protocol::{Direction, Duplicates, Preset, Training};
use super::row::Row;

/// How many details a message spells out.
const SHOWN: usize = 5;

/// Every warning the rows and the files give rise to.
pub(crate) fn warnings(protocol: &Training, rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
    let audit = Audit { protocol, rows };
    [
        audit.scale(),
        files::sampled(provenance),
        audit.repeated_x(),
        audit.missing_epochs(),
        audit.not_finite(),
        audit.zero_collapse(),
        audit.single_precision_ties(),
        folds::failed(protocol, rows),
        audit.late_saturation(),
        folds::trend(protocol, rows),
        folds::uneven(protocol, rows),
        folds::missing(protocol, rows),
        files::truncated(provenance),
        files::aggregated(provenance),
        files::groups_ignored(protocol, provenance),
        files::cumulative_carbon(provenance),
        files::without_history(rows, provenance),
        files::without_metric(provenance),
        audit.literal(),
    ]
    .concat()
}

struct Audit<'r, 'a> {
    protocol: &'r Training,
    rows: &'r Rows<'a, Row>,
}

impl Audit<'_, '_> {
    fn scale(&self) -> Vec<Warning> {
        let threshold = self.protocol.threshold;
        if self.protocol.direction != Direction::Max {
            return Vec::new();
        }
        let above_one = |row: &Row| row.best.is_some_and(|best| best > 1.0);
        let largest = self.rows.iter().filter_map(|row| row.best).reduce(f64::max);
        if threshold > 1.0 {
            let fractions = largest.filter(|largest| *largest <= 1.0);
            let message = |largest: f64| {
                format!(
                    "the threshold is {threshold} but no value is above 1 (the largest is {largest}): use \
                     --threshold {} if values are shares",
                    threshold / 100.0
                )
            };
            return fractions.map(|largest| whole("fraction-scale", message(largest))).into_iter().collect();
        }
        let message = |units: &[String]| {
            format!(
                "the threshold is {threshold} but values of {} go up to {}: use --scale 100 or --threshold {} if \
                 they are percentages",
                counted(units),
                largest.unwrap_or_default(),
                percentage(threshold)
            )
        };
        self.units("percent-scale", above_one, message)
    }

    fn repeated_x(&self) -> Vec<Warning> {
        let repeated: u64 = self.rows.iter().map(|row| row.doubts.repeated).sum();
        let rule = match self.protocol.duplicates {
            Duplicates::Last => "the last one logged counts",
            Duplicates::First => "the first one logged counts",
            Duplicates::Mean => "their mean counts",
            Duplicates::Error => "none counts",
        };
        let message =
            |units: &[String]| format!("{repeated} x of {} have different values: {rule}", counted(units));
        self.units("duplicate-x", |row| row.doubts.repeated > 0, message)
    }

    fn missing_epochs(&self) -> Vec<Warning> {
        let message = |units: &[String]| {
            format!(
                "epochs of {} do not follow each other at equal distances: rows may be missing; --index epoch \
                 numbers points by their epoch",
                counted(units)
            )
        };
        self.units("missing-epochs", |row| row.doubts.gaps, message)
    }

    fn not_finite(&self) -> Vec<Warning> {
        let logged: u64 = self.rows.iter().map(|row| row.doubts.not_finite).sum();
        let message = |units: &[String]| {
            format!(
                "{logged} NaN or infinite value{} logged in {}: --nan says what they are (missing: as if not \
                 logged, fail: the worst value, error: refused)",
                if logged == 1 { " was" } else { "s were" },
                counted(units)
            )
        };
        self.units("nan-values", |row| row.doubts.not_finite > 0, message)
    }

    fn zero_collapse(&self) -> Vec<Warning> {
        let zeros = |row: &Row| row.strict.as_ref().map_or(0, |aftermath| aftermath.zeros);
        let wrong = |row: &Row| self.protocol.direction == Direction::Max && zeros(row) > 0;
        let total: u64 = self.rows.iter().map(zeros).sum();
        let treated = if self.protocol.preset.is_published() {
            "skipped, as in the published program"
        } else {
            "counted as broken here, skipped by the published programs"
        };
        let message = |units: &[String]| {
            format!("{total} values after saturation are exactly 0 in {}: {treated}", counted(units))
        };
        self.units("zero-collapse", wrong, message)
    }

    fn single_precision_ties(&self) -> Vec<Warning> {
        let threshold = self.protocol.threshold;
        let message = |units: &[String]| {
            format!(
                "values of {} differ from the threshold {threshold} only beyond single precision: they were \
                 probably logged as the threshold itself",
                counted(units)
            )
        };
        self.units("float32-tie", |row| row.doubts.single_precision_ties > 0, message)
    }

    fn late_saturation(&self) -> Vec<Warning> {
        let late = |row: &Row| row.strict.as_ref().is_some_and(|aftermath| aftermath.points_after == 0);
        let message = |units: &[String]| {
            format!(
                "{} at the last point: the stability of such a run says nothing",
                if units.len() == 1 {
                    "1 unit saturates".into()
                } else {
                    format!("{} units saturate", units.len())
                }
            )
        };
        self.units("late-saturation", late, message)
    }

    fn literal(&self) -> Vec<Warning> {
        let literal = self.protocol.preset == Preset::Document && !self.rows.is_empty();
        let message = "stability is read as the document prints it: strict asks for broken steps in every fold, \
                       wise and naive sum velocities";
        literal.then(|| whole("document-literal", message.into())).into_iter().collect()
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

/// A share in percent, without the digits that the multiplication leaves behind.
fn percentage(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

fn concerning(code: &str, units: Vec<String>, message: impl Fn(&[String]) -> String) -> Vec<Warning> {
    if units.is_empty() {
        return Vec::new();
    }
    vec![Warning { code: code.into(), message: message(&units), units }]
}

fn whole(code: &str, message: String) -> Warning {
    Warning { code: code.into(), message, units: Vec::new() }
}

fn counted(units: &[String]) -> String {
    format!("{} unit{}", units.len(), if units.len() == 1 { "" } else { "s" })
}

/// The first few entries, and how many more there are.
fn listed(entries: impl IntoIterator<Item = impl Into<String>>) -> String {
    let mut entries: Vec<String> = entries.into_iter().map(Into::into).collect();
    let more = entries.len().saturating_sub(SHOWN);
    entries.truncate(SHOWN);
    let shown = entries.join("; ");
    if more == 0 { shown } else { format!("{shown}; and {more} more") }
}
