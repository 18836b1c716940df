//! What looks wrong in the evidence: every warning of the family, in report order.

mod files;
mod folds;

use calipers_core::{Provenance, Rows, Warning};

use super::protocol::Training;
use super::row::Row;
use crate::training::protocol::parameters::{Direction, Duplicates, Preset};
use crate::warnings::{about, about_run, counted, units};

/// Every warning that the rows and the files give rise to.
pub(crate) fn warnings(protocol: &Training, rows: &Rows<'_, Row>, provenance: &Provenance) -> Vec<Warning> {
    let all = [
        scale(protocol, rows),
        files::sampled(provenance),
        repeated_x(protocol, rows, provenance),
        missing_epochs(rows),
        late_start(rows),
        not_finite(rows),
        zero_collapse(protocol, rows),
        single_precision_ties(protocol, rows),
        folds::failed(rows),
        late_saturation(rows),
        folds::trend(protocol, rows),
        folds::uneven(protocol, rows),
        folds::missing(protocol, rows),
        files::truncated(provenance),
        files::aggregated(provenance),
        files::groups_ignored(protocol, provenance),
        files::restarted(protocol, provenance),
        files::shifted(provenance),
        files::same_name(provenance),
        files::mixed_x(rows, provenance),
        files::passed_x(provenance),
        files::logged_twice(provenance),
        files::joined(provenance),
        files::unread(provenance),
        files::cumulative_carbon(provenance),
        files::without_history(rows, provenance),
        files::without_metric(provenance),
        literal(protocol, rows),
    ];
    all.into_iter().flatten().collect()
}

fn scale(protocol: &Training, rows: &Rows<'_, Row>) -> Option<Warning> {
    let threshold = protocol.threshold;
    if protocol.direction != Direction::Max {
        return None;
    }
    let largest = rows.iter().filter_map(|row| row.best).reduce(f64::max);
    if threshold > 1.0 {
        let largest = largest.filter(|largest| *largest <= 1.0)?;
        let message = format!(
            "the threshold is {threshold} but no value is above 1 (the largest is {largest}): use \
             --threshold {} if values are shares",
            threshold / 100.0
        );
        return Some(about_run("fraction-scale", message));
    }
    let units = units(rows, |row| row.best.is_some_and(|best| best > 1.0));
    about("percent-scale", units, |units| {
        format!(
            "the threshold is {threshold} but values of {} go up to {}: use --scale 100 or --threshold {} if \
             they are percentages",
            counted(units),
            largest.unwrap_or_default(),
            percentage(threshold)
        )
    })
}

fn repeated_x(protocol: &Training, rows: &Rows<'_, Row>, provenance: &Provenance) -> Option<Warning> {
    let repeated: u64 = rows.iter().map(|row| row.doubts.repeated).sum();
    let rule = match protocol.duplicates {
        Duplicates::Last => "the last one logged counts",
        Duplicates::First => "the first one logged counts",
        Duplicates::Mean => "their mean counts",
        Duplicates::Error => "none counts",
    };
    about("duplicate-x", units(rows, |row| row.doubts.repeated > 0), |units| {
        let causes = files::details(provenance, "repeated-x");
        let causes = if causes.is_empty() { causes } else { format!("; {causes}") };
        format!("{repeated} x of {} have different values: {rule}{causes}", counted(units))
    })
}

fn missing_epochs(rows: &Rows<'_, Row>) -> Option<Warning> {
    about("missing-epochs", units(rows, |row| row.doubts.gaps), |units| {
        format!(
            "epochs of {} do not follow each other at equal distances: rows may be missing; --index epoch \
             numbers points by their epoch",
            counted(units)
        )
    })
}

fn late_start(rows: &Rows<'_, Row>) -> Option<Warning> {
    about("late-start", units(rows, |row| row.doubts.late_start), |units| {
        format!(
            "the log of {} begins late (overwritten on resume?): velocity counts from its first point; --index \
             epoch numbers points by their epoch",
            counted(units)
        )
    })
}

fn not_finite(rows: &Rows<'_, Row>) -> Option<Warning> {
    let logged: u64 = rows.iter().map(|row| row.doubts.not_finite).sum();
    about("nan-values", units(rows, |row| row.doubts.not_finite > 0), |units| {
        format!(
            "{logged} NaN or infinite value{} logged in {}: --nan says what they are (missing: as if not \
             logged, fail: the worst value, error: refused)",
            if logged == 1 { " was" } else { "s were" },
            counted(units)
        )
    })
}

fn zero_collapse(protocol: &Training, rows: &Rows<'_, Row>) -> Option<Warning> {
    let zeros = |row: &Row| row.strict.as_ref().map_or(0, |aftermath| aftermath.zeros);
    let total: u64 = rows.iter().map(zeros).sum();
    let treated = if protocol.preset.is_published() {
        "skipped, as in the published program"
    } else {
        "counted as broken here, skipped by the published programs"
    };
    let units = units(rows, |row| protocol.direction == Direction::Max && zeros(row) > 0);
    about("zero-collapse", units, |units| {
        format!("{total} values after saturation are exactly 0 in {}: {treated}", counted(units))
    })
}

fn single_precision_ties(protocol: &Training, rows: &Rows<'_, Row>) -> Option<Warning> {
    let ties: u64 = rows.iter().map(|row| row.doubts.single_precision_ties).sum();
    about("float32-tie", units(rows, |row| row.doubts.single_precision_ties > 0), |units| {
        format!(
            "{ties} value{} of {} differ{} from the threshold {} only beyond single precision and counted as above \
             or below it: --precision single takes them as the threshold itself",
            if ties == 1 { "" } else { "s" },
            counted(units),
            if ties == 1 { "s" } else { "" },
            protocol.threshold
        )
    })
}

fn late_saturation(rows: &Rows<'_, Row>) -> Option<Warning> {
    let late = |row: &Row| row.strict.as_ref().is_some_and(|aftermath| aftermath.points_after == 0);
    about("late-saturation", units(rows, late), |units| {
        let verb = if units.len() == 1 { "saturates" } else { "saturate" };
        format!("{} {verb} at the last point: the stability of such a run says nothing", counted(units))
    })
}

fn literal(protocol: &Training, rows: &Rows<'_, Row>) -> Option<Warning> {
    let literal = protocol.preset == Preset::Document && !rows.is_empty();
    let message = "stability is read as the document prints it: strict asks for broken steps in every fold, \
                   wise and naive sum velocities";
    literal.then(|| about_run("document-literal", message))
}

/// A share in percent, without the digits that the multiplication leaves behind.
fn percentage(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}
