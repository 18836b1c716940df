//! What repeated values of x in one run of a table mean: several runs in one table, several
//! evaluations at one x, or a start from the beginning.

use std::collections::BTreeSet;

use calipers_core::{Error, Result};
use calipers_io::history::{Table, Texts};
use calipers_metrics::training::Sample;

use super::sessions::ranks;
use super::x_axis::{LATER, later};

/// Parts of names that columns have which tell runs apart.
const TELLING: [&str; 9] =
    ["run", "fold", "seed", "trial", "split", "model", "config", "experiment", "group"];

/// How many values share their x with others, and how many x there are.
pub fn count(samples: &[Sample]) -> (usize, usize) {
    let x: BTreeSet<u64> = samples.iter().map(|sample| (sample.x + 0.0).to_bits()).collect();
    (samples.len(), x.len())
}

/// The columns that decide, as text, whether a table holds several runs.
pub fn undecided<'t>(table: &'t Table, key: &'t str, x_key: &'t str) -> impl Iterator<Item = &'t String> {
    let known = move |column: &str| column == key || column == x_key || LATER.contains(&column);
    table.keys.iter().filter(move |column| !known(column))
}

/// Refuses values that are those of several runs: columns tell their rows apart, and in none of the parts
/// does an x come again.
pub fn refuse_several_runs(table: &Table, key: &str, x_key: &str, samples: &[Sample]) -> Result<()> {
    let telling: Vec<&Texts> = undecided(table, key, x_key)
        .filter_map(|column| table.text(column))
        .filter(|column| tells_apart(column, samples))
        .collect();
    if telling.is_empty() {
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    let mut cursors: Vec<_> = telling.iter().map(|column| column.cells.iter().peekable()).collect();
    for sample in samples {
        let of_row: Vec<Option<u32>> = cursors
            .iter_mut()
            .map(|cells| {
                while cells.next_if(|(row, _)| *row < sample.row).is_some() {}
                cells.peek().filter(|(row, _)| *row == sample.row).map(|(_, name)| *name)
            })
            .collect();
        if !seen.insert((of_row, (sample.x + 0.0).to_bits())) {
            return Ok(());
        }
    }
    let (values, x) = count(samples);
    let names: Vec<String> = telling.iter().map(|column| format!("'{}'", column.key)).collect();
    let first = &telling[0].key;
    let by = match telling.get(1) {
        Some(second) => format!("--group-by column:{first} --fold-by column:{}", second.key),
        None => format!("--group-by column:{first}"),
    };
    Err(Error::value("the table holds several runs")
        .at(format!("column '{key}'"))
        .found(format!("{values} values at {x} x of '{x_key}', told apart by {}", names.join(", ")))
        .allowed("one value at each x of a run")
        .advice(format!(
            "separate the runs with --run-column {first} or {by}; --duplicates last takes them as one run"
        )))
}

/// Whether a column is there beside every value, has few texts, and says something about runs.
fn tells_apart(column: &Texts, samples: &[Sample]) -> bool {
    let mut cells = column.cells.iter().peekable();
    let mut used = BTreeSet::new();
    for sample in samples {
        while cells.next_if(|(row, _)| *row < sample.row).is_some() {}
        match cells.peek() {
            Some((row, name)) if *row == sample.row => used.insert(*name),
            _ => return false,
        };
    }
    let worded = || used.iter().any(|name| column.names[*name as usize].trim().parse::<f64>().is_err());
    let name = column.key.to_lowercase();
    (2..=samples.len() / 2).contains(&used.len())
        && (TELLING.iter().any(|part| name.contains(part)) || worded())
}

/// Why values of x repeat, and what to do about it. Values stand in the order of their rows.
pub fn cause(table: &Table, x_key: &str, samples: &[Sample]) -> Result<String> {
    let (values, x) = count(samples);
    if let (Some(column), Some(ranks)) = (later(table, x_key), ranks(table, x_key, samples)?) {
        let mut last: std::collections::BTreeMap<u64, f64> = std::collections::BTreeMap::new();
        let rises = samples.iter().zip(&ranks).all(|(sample, rank)| {
            last.insert((sample.x + 0.0).to_bits(), *rank).is_none_or(|before| before < *rank)
        });
        if rises {
            let key = &column.key;
            return Ok(format!("{values} values at {x} x; --x {key} counts every evaluation"));
        }
    }
    if !table.origin.is_table() {
        return Ok(format!("{values} values at {x} x; --duplicates first, mean or error decides otherwise"));
    }
    let back = samples.windows(2).find(|pair| pair[1].x < pair[0].x);
    Ok(match back {
        Some([before, after]) => format!(
            "x starts again at {} ({x_key} {} after {}); --restarts rewind, append or runs takes it as a restart",
            table.places.of(after.row),
            after.x,
            before.x
        ),
        _ => format!("{values} values at {x} x; --run-column COL separates the runs of a table"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::table;
    use calipers_io::history::Origin;

    const X: [f64; 4] = [0.0, 1.0, 0.0, 1.0];

    fn samples(x: &[f64]) -> Vec<Sample> {
        (0..).zip(x).map(|(row, x)| Sample { row, x: *x, value: 0.5, session: 0 }).collect()
    }

    fn with(key: &str, names: [&str; 4]) -> Table {
        let mut table = table(Origin::Table, &[("m", &[0.1; 4]), ("epoch", &X)]);
        let mut texts = Texts { key: key.into(), ..Texts::default() };
        for (row, name) in (0..).zip(names) {
            let known = texts.names.iter().position(|known| known == name);
            let at = known.unwrap_or_else(|| {
                texts.names.push(name.into());
                texts.names.len() - 1
            });
            texts.cells.push((row, at as u32));
        }
        table.keys.push(key.into());
        table.texts.push(texts);
        table
    }

    fn refused(key: &str, names: [&str; 4]) -> Option<String> {
        let table = with(key, names);
        refuse_several_runs(&table, "m", "epoch", &samples(&X)).err().map(|error| error.to_string())
    }

    #[test]
    fn columns_that_tell_runs_apart_are_named_with_the_flag_that_separates_them() {
        let error = refused("seed", ["1", "1", "2", "2"]).unwrap();
        assert!(error.contains("--run-column seed") && error.contains("--duplicates last"), "{error}");
        assert!(refused("optimizer", ["sgd", "sgd", "adam", "adam"]).is_some(), "a text that is no number");
        assert!(
            refused("lr", ["0.1", "0.1", "0.2", "0.2"]).is_none(),
            "numbers under a name that says nothing"
        );
        assert!(refused("seed", ["1", "2", "1", "2"]).is_none(), "an x comes again within one seed");
        assert!(refused("seed", ["1", "2", "3", "4"]).is_none(), "a text for every row");
    }

    #[test]
    fn the_cause_of_a_repeat_names_its_remedy() {
        let mut table = table(Origin::Table, &[("m", &[0.1; 4]), ("step", &[1.0, 2.0, 3.0, 4.0])]);
        let evaluations = cause(&table, "epoch", &samples(&[0.0, 0.0, 1.0, 1.0])).unwrap();
        assert!(evaluations.contains("4 values at 2 x") && evaluations.contains("--x step"), "{evaluations}");
        table.numbers.pop();
        let again = cause(&table, "epoch", &samples(&X)).unwrap();
        assert!(again.contains("line 4 (epoch 0 after 1)") && again.contains("--restarts rewind"), "{again}");
        let side = cause(&table, "epoch", &samples(&[0.0, 0.0, 1.0, 1.0])).unwrap();
        assert!(side.contains("--run-column"), "{side}");
    }
}
