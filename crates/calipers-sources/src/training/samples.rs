//! The logged values of one metric, run by run, in the order of logging.

use calipers_core::{Error, Result};
use calipers_io::history::{Numbers, Origin, Table};
use calipers_metrics::training::Sample;

use super::split::Split;
use super::x_axis::{Cursor, LATER, XAxis, readable};

/// The samples of each run. Rows in which the key was not logged are not among them.
pub fn by_run(table: &Table, column: &Numbers, x: &XAxis<'_>, split: &Split) -> Result<Vec<Vec<Sample>>> {
    readable(column)?;
    let mut runs: Vec<Vec<Sample>> = vec![Vec::new(); split.runs.len()];
    let mut along = x.along();
    for (row, value) in column.rows.iter().zip(&column.values) {
        let x_here = along.at(*row);
        let run = split.run_of(*row).ok_or_else(|| {
            Error::value(format!("a value of '{}' that belongs to no run", column.key))
                .at(table.places.of(*row))
                .advice("fill in the columns that separate runs, or remove the row")
        })?;
        let x_here = x_here.filter(|x| x.is_finite()).ok_or_else(|| {
            let found = x_here.map_or_else(|| "nothing".into(), |x| x.to_string());
            Error::value(format!("a value of '{}' without its x", column.key))
                .at(table.places.of(*row))
                .found(format!("{found} under '{}'", x.key))
                .allowed("a finite number")
                .advice("name another key with --x KEY, or count rows with --x row")
        })?;
        runs[run].push(Sample { row: *row, x: x_here, value: *value });
    }
    for samples in &mut runs {
        without_steps(table, x.key, samples)?;
        order(table, x.key, samples)?;
    }
    Ok(runs)
}

/// A tracker that is given no steps writes 0 for all of them.
fn without_steps(table: &Table, x_key: &str, samples: &[Sample]) -> Result<()> {
    let mlflow = table.origin == Origin::Mlflow;
    let no_steps = samples.len() > 1 && samples.iter().all(|sample| sample.x.abs() <= 0.0);
    if mlflow && x_key == "step" && no_steps {
        return Err(Error::value("the values were logged without steps")
            .found(format!("{} values, all at step 0", samples.len()))
            .advice("use the time as x with --x timestamp"));
    }
    Ok(())
}

/// Puts samples into the order of logging, which matters where several share an x.
fn order(table: &Table, x_key: &str, samples: &mut Vec<Sample>) -> Result<()> {
    if !shares_an_x(samples) {
        return Ok(());
    }
    let mlflow = table.origin == Origin::Mlflow;
    let keys: &[&str] = match table.origin {
        Origin::Tensorboard => &["wall_time"],
        Origin::Mlflow => &["timestamp"],
        _ => &LATER[..LATER.len() - 1],
    };
    let later = keys.iter().filter(|key| **key != x_key).find_map(|key| table.number(key));
    let mut ranked: Vec<(f64, Sample)> = match later {
        None => samples.iter().map(|sample| (0.0, *sample)).collect(),
        Some(column) => {
            readable(column)?;
            let mut cursor = Cursor::new(column);
            // A row without the key was logged before anything is known of.
            let mut rank = |row| cursor.at(row).filter(|rank| !rank.is_nan()).unwrap_or(f64::NEG_INFINITY);
            samples.iter().map(|sample| (rank(sample.row), *sample)).collect()
        }
    };
    // Stable: what is left is the position in the file.
    ranked.sort_by(|(a, x), (b, y)| {
        let by_value = if mlflow { x.value.total_cmp(&y.value) } else { std::cmp::Ordering::Equal };
        a.total_cmp(b).then(by_value)
    });
    samples.clear();
    samples.extend(ranked.into_iter().map(|(_, sample)| sample));
    Ok(())
}

fn shares_an_x(samples: &[Sample]) -> bool {
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
        Origin::Table | Origin::Columns | Origin::Panel => elsewhere || column.rows.len() < table.rows,
    }
}

#[cfg(test)]
mod tests {
    use super::super::split::Split;
    use super::super::tests::{options, table};
    use super::*;

    /// The values of the only run, in the order of logging.
    fn values(origin: Origin, columns: &[(&str, &[f64])], x: &str) -> Result<Vec<f64>> {
        let table = table(origin, columns);
        let split = Split::new(&table, &options(&[], "m"))?;
        let axis = XAxis::choose(&table, Some(x), None)?;
        let column = table.number("m").unwrap();
        Ok(by_run(&table, column, &axis, &split)?[0].iter().map(|sample| sample.value).collect())
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
