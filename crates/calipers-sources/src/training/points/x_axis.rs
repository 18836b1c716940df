//! Where a value stands in its run: which key is x, and the x of each row.

use calipers_core::spelling::nearest;
use calipers_core::{Error, Result};
use calipers_io::history::{Numbers, Origin, Table};

use super::x_values::{Source, readable};
use crate::training::runs::split::Split;

/// The keys that are x when none is named: the first that every value of a run has.
pub const DEFAULTS: [&str; 8] = [
    "epoch",
    "train/epoch",
    "trainer/global_step",
    "train/global_step",
    "global_step",
    "step",
    "Step",
    "_step",
];

/// What comes after them, in any case; they themselves in another case stand before.
const IN_ANY_CASE: [&str; 2] = ["iteration", "iter"];

/// The place of a key among those that are x when none is named.
pub fn rank(key: &str) -> Option<usize> {
    let exact = DEFAULTS.iter().position(|known| *known == key);
    let in_any_case =
        || DEFAULTS.iter().chain(&IN_ANY_CASE).position(|known| key.eq_ignore_ascii_case(known));
    exact.or_else(|| in_any_case().map(|place| DEFAULTS.len() + place))
}

/// The keys that say which of two values at one x was logged later: the first that a table has
/// and that is not x itself.
pub const LATER: [&str; 8] = [
    "_step",
    "step",
    "trainer/global_step",
    "train/global_step",
    "global_step",
    "_timestamp",
    "timestamp",
    "wall_time",
];

/// The word that stands for the position of a row.
pub const ROW: &str = "row";
pub(super) const STEP: &str = "step";

/// What is asked of x.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish<'a> {
    /// The key that was named.
    pub asked: Option<&'a str>,
    /// The key that the file itself takes for x.
    pub own: Option<&'a str>,
    /// Whether it must be epochs.
    pub epochs: bool,
}

/// The x of the runs of a table beside one of its keys.
#[derive(Debug, Default)]
pub struct XAxis {
    /// The x of each value of the key, in the order of its rows; NaN where a run has none.
    pub x: Vec<f64>,
    /// Of each run: the key that x was read from, and the better one that is not logged beside the values.
    pub runs: Vec<Found>,
}

/// The x of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The key it was read from; none in a run without values.
    pub key: Option<String>,
    /// A key that stands before it but is missing beside some value.
    pub passed: Option<String>,
}

/// The x of a table, or the keys that must be read first to tell.
pub enum Chosen {
    /// The x.
    Known(XAxis),
    /// These keys are in the file but were not asked for.
    Read(Vec<String>),
}

impl XAxis {
    /// Chooses the x of each run of a table for a key: the first candidate that all its values have.
    pub fn choose(table: &Table, column: &Numbers, split: &Split, wish: Wish<'_>) -> Result<Chosen> {
        readable(column)?;
        let mut axis =
            Self { x: vec![f64::NAN; column.rows.len()], runs: vec![Found::default(); split.runs.len()] };
        // Which values of which runs still look for their x.
        let of_row: Vec<Option<usize>> = column.rows.iter().map(|row| split.run_of(*row)).collect();
        let mut open = vec![false; split.runs.len()];
        of_row.iter().flatten().for_each(|run| open[*run] = true);
        let candidates = candidates(table, &column.key, wish);
        let mut unread = Vec::new();
        for key in &candidates {
            if !open.contains(&true) {
                break;
            }
            if key != ROW && table.number(key).is_none() {
                unread.extend(table.keys.contains(key).then(|| key.clone()));
                continue;
            }
            if !unread.is_empty() {
                break;
            }
            let source = Source::of(table, key)?;
            let mut along = source.along();
            let at: Vec<Option<f64>> =
                column.rows.iter().map(|row| along.at(*row).filter(|x| x.is_finite())).collect();
            let mut whole = open.clone();
            for (run, x) in of_row.iter().zip(&at) {
                if let (Some(run), None) = (run, x) {
                    whole[*run] = false;
                }
            }
            for ((run, x), place) in of_row.iter().zip(&at).zip(&mut axis.x) {
                if let (Some(run), Some(x)) = (run, x)
                    && whole[*run]
                {
                    *place = *x;
                }
            }
            let logged = runs_with(table, key, split);
            for (at, found) in axis.runs.iter_mut().enumerate() {
                if whole[at] {
                    found.key = Some(key.clone());
                    open[at] = false;
                } else if open[at] && logged[at] && found.passed.is_none() {
                    found.passed = Some(key.clone());
                }
            }
        }
        if !open.contains(&true) {
            return Ok(Chosen::Known(axis));
        }
        if !unread.is_empty() {
            return Ok(Chosen::Read(unread));
        }
        // Whose fault it is shows in the first value without an x.
        let at = of_row.iter().position(|run| run.is_some_and(|run| open[run])).unwrap_or(0);
        Err(lacking(table, column, column.rows[at], of_row[at].unwrap_or(0), split, &candidates, wish))
    }
}

/// Why the values of a run have no x.
fn lacking(
    table: &Table,
    column: &Numbers,
    first: u32,
    run: usize,
    split: &Split,
    candidates: &[String],
    wish: Wish<'_>,
) -> Error {
    if let Some(asked) = wish.asked
        && table.number(asked).is_none()
    {
        return missing(table, asked);
    }
    let Some(key) = candidates.iter().find(|key| runs_with(table, key, split)[run]) else {
        let tried = if wish.epochs { "a key that ends in epoch".into() } else { DEFAULTS.join(", ") };
        return Error::value("no x was found")
            .found(format!("the keys {}", table.keys.join(", ")))
            .allowed(tried)
            .advice("name the x of a row with --x KEY, or count rows with --x row");
    };
    let without = || -> Result<Option<(u32, Option<f64>)>> {
        let source = Source::of(table, key)?;
        let mut along = source.along();
        let mut rows = column.rows.iter().filter(|row| split.run_of(**row) == Some(run));
        Ok(rows.find_map(|row| {
            let x = along.at(*row);
            x.is_none_or(|x| !x.is_finite()).then_some((*row, x))
        }))
    };
    match without() {
        Err(error) => error,
        Ok(found) => {
            let (row, x) = found.unwrap_or((first, None));
            let found = x.map_or_else(|| "nothing".into(), |x| x.to_string());
            Error::value(format!("a value of '{}' without its x", column.key))
                .at(table.places.of(row))
                .found(format!("{found} under '{key}'"))
                .allowed("a finite number")
                .advice("name another key with --x KEY, or count rows with --x row")
        }
    }
}

/// The keys that may be x, best first. Some may not have been read yet.
fn candidates(table: &Table, key: &str, wish: Wish<'_>) -> Vec<String> {
    if let Some(asked) = wish.asked {
        return vec![asked.to_owned()];
    }
    let mut found: Vec<String> = Vec::new();
    if wish.epochs {
        found.extend(epochs(table, key));
    }
    match table.origin {
        Origin::Panel => found.extend(wish.own.map(String::from)),
        Origin::Tensorboard | Origin::TrainerState | Origin::Mlflow | Origin::Dvclive => {
            found.extend(has(table, STEP).then(|| STEP.to_owned()));
        }
        origin @ (Origin::Table | Origin::Columns | Origin::Wandb) => {
            found.extend(table.run.x_of.get(key).filter(|x| has(table, x)).cloned());
            found.extend(DEFAULTS.iter().filter(|key| has(table, key)).map(|key| (*key).to_owned()));
            for wanted in DEFAULTS.iter().chain(&IN_ANY_CASE) {
                found.extend(table.keys.iter().filter(|key| key.eq_ignore_ascii_case(wanted)).cloned());
            }
            if origin == Origin::Columns {
                found.push(ROW.into());
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|key| seen.insert(key.clone()));
    found
}

/// Whether a table has a key, read or not: the own step of a log is none of its keys.
fn has(table: &Table, key: &str) -> bool {
    table.number(key).is_some() || table.keys.iter().any(|known| known == key)
}

/// The keys that are named as epochs.
fn epochs<'t>(table: &'t Table, key: &'t str) -> impl Iterator<Item = String> + 't {
    // Logs that name the key of every value hold epochs under the tag of that name.
    let by_tag =
        matches!(table.origin, Origin::Tensorboard | Origin::TrainerState | Origin::Mlflow | Origin::Dvclive);
    let preferred = DEFAULTS.iter().filter(|known| is_epoch(known) && has(table, known));
    let others = table.keys.iter().filter(move |other| *other != key && is_epoch(other) && !by_tag);
    let tagged = ["epoch"].into_iter().filter(move |_| by_tag && has(table, "epoch"));
    preferred
        .filter(move |_| !by_tag)
        .map(|known| (*known).to_owned())
        .chain(others.cloned())
        .chain(tagged.map(String::from))
}

/// Whether the last part of a key is or ends in `epoch`, in any case.
pub fn is_epoch(key: &str) -> bool {
    let last = key.rsplit(['/', '.']).next().unwrap_or(key);
    last.to_lowercase().ends_with("epoch")
}

/// Which runs have a value under a key anywhere.
fn runs_with(table: &Table, key: &str, split: &Split) -> Vec<bool> {
    let mut with = vec![key == ROW; split.runs.len()];
    for row in table.number(key).map_or(&[][..], |column| &column.rows) {
        if let Some(run) = split.run_of(*row) {
            with[run] = true;
        }
    }
    with
}

/// The column that says which of two values was logged later, where x is read from another.
pub fn later<'t>(table: &'t Table, x_key: &str) -> Option<&'t Numbers> {
    let keys: &[&str] = match table.origin {
        Origin::Tensorboard => &["wall_time"],
        Origin::Mlflow => &["timestamp"],
        _ => &LATER[..LATER.len() - 1],
    };
    keys.iter().filter(|key| **key != x_key).find_map(|key| table.number(key))
}

/// A key that a file does not have, with the keys it has.
pub fn missing(table: &Table, key: &str) -> Error {
    let error = Error::value(format!("no key '{key}' in the history")).found(match table.keys.as_slice() {
        [] => "no keys".into(),
        keys => format!("the keys {}", keys.join(", ")),
    });
    match near(key, &table.keys).as_slice() {
        [] => error.advice("name a key exactly as the file has it"),
        near => error.advice(format!("did you mean {}?", near.join(" or "))),
    }
}

/// How many near keys a message names.
const NEAR: usize = 3;

/// The keys that may be meant: those that end in the word behind a separator, those that hold it, else
/// those that are spelt nearly so; in any case.
pub fn near(key: &str, keys: &[String]) -> Vec<String> {
    let word = key.to_lowercase();
    let quoted = |key: &&String| format!("'{key}'");
    let ends = |key: &&String| {
        let key = key.to_lowercase();
        key == word || key.strip_suffix(&word).is_some_and(|front| front.ends_with(['_', '/', '.', ' ']))
    };
    let mut found: Vec<String> = keys.iter().filter(ends).map(|key| quoted(&key)).collect();
    let holds = keys.iter().filter(|key| !word.is_empty() && key.to_lowercase().contains(&word));
    found.extend(holds.map(|key| quoted(&key)).filter(|key| !found.contains(key)).collect::<Vec<_>>());
    if found.is_empty() {
        found.extend(nearest(key, keys.iter().map(String::as_str)).map(|key| format!("'{key}'")));
    }
    found.truncate(NEAR);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::{options, table};

    fn chosen(table: &Table, wish: Wish<'_>) -> Result<(Option<String>, Option<String>, Vec<f64>)> {
        let split = Split::new(table, &options(&[], "m")).unwrap();
        match XAxis::choose(table, table.number("m").unwrap(), &split, wish)? {
            Chosen::Known(XAxis { x, runs }) => Ok((runs[0].key.clone(), runs[0].passed.clone(), x)),
            Chosen::Read(keys) => panic!("{keys:?} must be read"),
        }
    }

    fn key(origin: Origin, columns: &[(&str, &[f64])]) -> String {
        chosen(&table(origin, columns), Wish { own: Some("Step"), ..Wish::default() }).unwrap().0.unwrap()
    }

    const M: (&str, &[f64]) = ("m", &[1.0]);
    const ONE: &[f64] = &[1.0];

    #[test]
    fn each_format_has_its_own_x() {
        assert_eq!(key(Origin::Table, &[M, ("_step", ONE), ("epoch", ONE)]), "epoch");
        assert_eq!(key(Origin::Wandb, &[M, ("_step", ONE), ("global_step", ONE)]), "global_step");
        assert_eq!(key(Origin::TrainerState, &[M, ("step", ONE), ("epoch", ONE)]), "step");
        assert_eq!(key(Origin::Panel, &[M, ("Step", ONE)]), "Step");
        assert_eq!(key(Origin::Columns, &[M]), "row");
        assert_eq!(key(Origin::Table, &[M, ("iter", ONE), ("Epoch", ONE)]), "Epoch", "in any case");
        for origin in [Origin::Table, Origin::TrainerState] {
            let error = chosen(&table(origin, &[M]), Wish::default()).unwrap_err().to_string();
            assert!(error.contains("--x row"), "{origin:?} {error}");
        }
    }

    #[test]
    fn a_key_that_is_missing_beside_a_value_is_passed_over_and_named() {
        let mut table = table(Origin::Table, &[("m", &[0.1, 0.2]), ("step", &[5.0, 6.0])]);
        let epoch = Numbers { key: "epoch".into(), rows: vec![1], values: vec![3.0], ..Numbers::default() };
        table.keys.push("epoch".into());
        table.numbers.push(epoch);
        let (key, passed, x) = chosen(&table, Wish::default()).unwrap();
        assert_eq!((key.as_deref(), passed.as_deref(), x), (Some("step"), Some("epoch"), vec![5.0, 6.0]));
        let asked = Wish { asked: Some("epoch"), ..Wish::default() };
        let error = chosen(&table, asked).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("nothing under 'epoch'"), "{error}");
    }

    #[test]
    fn an_x_that_the_run_declared_stands_first() {
        let mut table = table(Origin::Wandb, &[M, ("epoch", ONE), ("own", &[7.0])]);
        table.run.x_of.insert("m".into(), "own".into());
        assert_eq!(chosen(&table, Wish::default()).unwrap().0.as_deref(), Some("own"));
    }

    #[test]
    fn epochs_are_told_by_the_last_part_of_their_key() {
        let epochs = Wish { epochs: true, ..Wish::default() };
        let found = table(Origin::Table, &[M, ("step", ONE), ("train.my_Epoch", ONE)]);
        assert_eq!(chosen(&found, epochs).unwrap().0.as_deref(), Some("train.my_Epoch"));
        let tagged = table(Origin::Tensorboard, &[M, ("step", ONE), ("x/epoch", ONE), ("epoch", ONE)]);
        assert_eq!(chosen(&tagged, epochs).unwrap().0.as_deref(), Some("epoch"));
    }

    #[test]
    fn an_x_that_was_logged_apart_is_joined_by_its_step() {
        let mut table = table(Origin::Tensorboard, &[("step", &[0.0, 0.0, 9.0, 9.0])]);
        let apart = |key: &str, rows: &[u32], values: &[f64]| Numbers {
            key: key.into(),
            rows: rows.to_vec(),
            values: values.to_vec(),
            ..Numbers::default()
        };
        table.numbers.push(apart("epoch", &[0, 2], &[1.0, 2.0]));
        table.numbers.push(apart("m", &[1, 3], &[0.1, 0.2]));
        let asked = Wish { asked: Some("epoch"), ..Wish::default() };
        assert_eq!(chosen(&table, asked).unwrap().2, [1.0, 2.0]);
    }

    #[test]
    fn near_keys_are_found_across_prefixes() {
        let keys: Vec<String> = ["eval_F1", "eval_F1_macro", "loss", "val/f1"].map(String::from).to_vec();
        assert_eq!(near("F1", &keys), ["'eval_F1'", "'val/f1'", "'eval_F1_macro'"]);
        assert_eq!(near("losss", &keys), ["'loss'"]);
        assert!(near("accuracy_of_all", &keys).is_empty());
    }
}
