//! The logged values of one metric, run by run, in the order of logging.

use calipers_core::{Error, Result};
use calipers_io::history::{Numbers, Origin, Table};
use calipers_metrics::training::Sample;

use super::sessions::ranks;
use super::x_axis::XAxis;
use crate::training::runs::split::Split;

/// The samples of each run, in the order of their rows. Rows in which the key was not logged are not among
/// them.
pub fn by_run(table: &Table, column: &Numbers, axis: &XAxis, split: &Split) -> Result<Vec<Vec<Sample>>> {
    let mut runs: Vec<Vec<Sample>> = vec![Vec::new(); split.runs.len()];
    for ((row, value), x) in column.rows.iter().zip(&column.values).zip(&axis.x) {
        let run = split.run_of(*row).ok_or_else(|| {
            Error::value(format!("a value of '{}' that belongs to no run", column.key))
                .at(table.places.of(*row))
                .advice("fill in the columns that separate runs, or remove the row")
        })?;
        runs[run].push(Sample { row: *row, x: *x, value: *value, session: 0 });
    }
    for (samples, found) in runs.iter().zip(&axis.runs) {
        without_steps(table, found.key.as_deref(), samples)?;
    }
    Ok(runs)
}

/// A tracker that is given no steps writes 0 for all of them.
fn without_steps(table: &Table, x_key: Option<&str>, samples: &[Sample]) -> Result<()> {
    let mlflow = table.origin == Origin::Mlflow;
    let no_steps = samples.len() > 1 && samples.iter().all(|sample| sample.x.abs() <= 0.0);
    if mlflow && x_key == Some("step") && no_steps {
        return Err(Error::value("the values were logged without steps")
            .found(format!("{} values, all at step 0", samples.len()))
            .advice("use the time as x with --x timestamp"));
    }
    Ok(())
}

/// Puts samples into the order of logging, which matters where several share an x.
pub fn order(table: &Table, x_key: &str, samples: &mut [Sample]) -> Result<()> {
    if !shares_an_x(samples) {
        return Ok(());
    }
    let mlflow = table.origin == Origin::Mlflow;
    let ranks = ranks(table, x_key, samples)?;
    let rank = |at: usize| ranks.as_ref().map_or(0.0, |ranks| ranks[at]);
    let mut ranked: Vec<(f64, Sample)> =
        samples.iter().enumerate().map(|(at, sample)| (rank(at), *sample)).collect();
    // Stable: what is left is the position in the file.
    ranked.sort_by(|(a, x), (b, y)| {
        let by_value = if mlflow { x.value.total_cmp(&y.value) } else { std::cmp::Ordering::Equal };
        a.total_cmp(b).then(by_value)
    });
    for (place, (_, sample)) in samples.iter_mut().zip(ranked) {
        *place = sample;
    }
    Ok(())
}

/// Whether an x comes more than once.
pub fn shares_an_x(samples: &[Sample]) -> bool {
    if samples.windows(2).all(|pair| pair[0].x < pair[1].x) {
        return false;
    }
    // Both zeros are one x.
    let mut all: Vec<u64> = samples.iter().map(|sample| (sample.x + 0.0).to_bits()).collect();
    all.sort_unstable();
    all.windows(2).any(|pair| pair[0] == pair[1])
}

/// Whether a NaN under the key was really logged: its format marks what is missing in another way,
/// or the key is missing in some row, be it `elsewhere` in the file.
pub fn marks_missing(table: &Table, column: &Numbers, elsewhere: bool) -> bool {
    match table.origin {
        Origin::Wandb | Origin::Tensorboard | Origin::TrainerState | Origin::Mlflow => true,
        Origin::Dvclive => false,
        Origin::Table | Origin::Columns | Origin::Panel => elsewhere || column.rows.len() < table.rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::points::x_axis::{Chosen, Wish};
    use crate::training::tests::{options, table};

    /// The values of the only run, in the order of logging.
    fn values(origin: Origin, columns: &[(&str, &[f64])], x: &str) -> Result<Vec<f64>> {
        let table = table(origin, columns);
        let split = Split::new(&table, &options(&[], "m"))?;
        let column = table.number("m").unwrap();
        let wish = Wish { asked: Some(x), ..Wish::default() };
        let Chosen::Known(axis) = XAxis::choose(&table, column, &split, wish)? else {
            panic!("all was read")
        };
        let mut samples = by_run(&table, column, &axis, &split)?.remove(0);
        order(&table, x, &mut samples)?;
        Ok(samples.iter().map(|sample| sample.value).collect())
    }

    #[test]
    fn the_step_says_which_of_two_values_was_logged_later() {
        let columns: &[(&str, &[f64])] =
            &[("epoch", &[0.0, 0.0, 1.0]), ("m", &[0.1, 0.2, 0.3]), ("_step", &[5.0, 2.0, 9.0])];
        assert_eq!(values(Origin::Table, columns, "epoch").unwrap(), [0.2, 0.1, 0.3]);
        assert_eq!(
            values(Origin::Table, &columns[..2], "epoch").unwrap(),
            [0.1, 0.2, 0.3],
            "else the position"
        );
    }

    #[test]
    fn a_tracker_orders_by_time_and_then_by_value() {
        let columns: &[(&str, &[f64])] =
            &[("step", &[1.0, 1.0, 1.0]), ("m", &[0.3, 0.2, 0.1]), ("timestamp", &[8.0, 8.0, 9.0])];
        assert_eq!(values(Origin::Mlflow, columns, "step").unwrap(), [0.2, 0.3, 0.1]);
    }

    #[test]
    fn values_without_steps_ask_for_the_time() {
        let columns: &[(&str, &[f64])] =
            &[("step", &[0.0, 0.0]), ("m", &[0.3, 0.2]), ("timestamp", &[8.0, 9.0])];
        let error = values(Origin::Mlflow, columns, "step").unwrap_err().to_string();
        assert!(error.contains("--x timestamp"), "{error}");
        assert_eq!(values(Origin::Mlflow, columns, "timestamp").unwrap(), [0.3, 0.2]);
    }
}
