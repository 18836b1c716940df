//! Which runs, and which rows of tables, are read at all.

use std::fmt;
use std::str::FromStr;

use calipers_io::history::{Numbers, Table, Texts};
use regex::Regex;

/// One condition on a run or on a row: `KEY=VALUE`, `KEY!=VALUE` or `KEY~REGEX`.
#[derive(Clone, Debug)]
pub struct Where {
    /// The field, the key of a configuration or the column that it looks at.
    pub key: String,
    test: Test,
    given: String,
}

#[derive(Clone, Debug)]
enum Test {
    Is(String),
    IsNot(String),
    Finds(Regex),
}

impl Where {
    /// Whether the condition holds for a text; none where the key is absent.
    pub fn holds(&self, text: Option<&str>) -> bool {
        match (&self.test, text) {
            (Test::Is(value), Some(text)) => same(text, value),
            (Test::IsNot(value), Some(text)) => !same(text, value),
            (Test::IsNot(_), None) => true,
            (Test::Finds(regex), Some(text)) => regex.is_match(text),
            (Test::Is(_) | Test::Finds(_), None) => false,
        }
    }
}

/// Whether two texts are equal, or are the same finite number.
fn same(a: &str, b: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    a == b || number(a).zip(number(b)).is_some_and(|(a, b)| (a + 0.0).to_bits() == (b + 0.0).to_bits())
}

impl FromStr for Where {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let first = ["!=", "=", "~"].into_iter().filter_map(|sign| Some((given.find(sign)?, sign))).min();
        let (at, sign) = first.filter(|(at, _)| *at > 0).ok_or("KEY=VALUE, KEY!=VALUE or KEY~REGEX")?;
        let (key, value) = (given[..at].to_owned(), &given[at + sign.len()..]);
        let test = match sign {
            "=" => Test::Is(value.to_owned()),
            "!=" => Test::IsNot(value.to_owned()),
            _ => Test::Finds(Regex::new(value).map_err(|error| error.to_string())?),
        };
        Ok(Self { key, test, given: given.to_owned() })
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given)
    }
}

/// The column of names that a key means in a table, be it with `config.` in front.
pub fn column<'t>(table: &'t Table, key: &str) -> Option<&'t Texts> {
    let bare = key.strip_prefix(super::known::CONFIG);
    table.text(key).or_else(|| table.text(bare?))
}

/// Which conditions look at a key that a log knows: by position.
pub fn met<'a>(
    tests: &'a [Where],
    table: &'a Table,
    knows: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = usize> + 'a {
    let met = move |test: &Where| column(table, &test.key).is_some() || knows(&test.key);
    tests.iter().enumerate().filter(move |(_, test)| met(test)).map(|(at, _)| at)
}

/// Leaves out the rows of a table for which a condition on one of its columns does not hold. The others
/// keep their numbers. Says whether any row was looked at.
pub fn rows(table: &mut Table, tests: &[Where]) -> bool {
    let mut kept: Option<Vec<bool>> = None;
    for test in tests {
        let Some(column) = column(table, &test.key) else { continue };
        let kept = kept.get_or_insert_with(|| vec![true; table.rows]);
        let holds: Vec<bool> = column.names.iter().map(|name| test.holds(Some(name))).collect();
        let absent = test.holds(None);
        let mut cells = column.cells.iter().peekable();
        for (row, kept) in kept.iter_mut().enumerate() {
            let cell = cells.next_if(|(at, _)| *at as usize == row);
            *kept &= cell.map_or(absent, |(_, name)| holds[*name as usize]);
        }
    }
    let Some(kept) = kept else { return false };
    for Numbers { rows, values, .. } in &mut table.numbers {
        let mut place = 0;
        values.retain(|_| {
            place += 1;
            kept[rows[place - 1] as usize]
        });
        rows.retain(|row| kept[*row as usize]);
    }
    for Texts { names, cells, .. } in &mut table.texts {
        cells.retain(|(row, _)| kept[*row as usize]);
        // Names that no row has any more are dropped.
        let mut place = vec![None; names.len()];
        let mut left = Vec::new();
        for (_, name) in cells.iter_mut() {
            let old = *name as usize;
            *name = *place[old].get_or_insert_with(|| {
                left.push(std::mem::take(&mut names[old]));
                left.len() as u32 - 1
            });
        }
        *names = left;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::table;
    use calipers_io::history::Origin;

    fn holds(test: &str, text: Option<&str>) -> bool {
        test.parse::<Where>().unwrap().holds(text)
    }

    #[test]
    fn the_first_sign_separates_key_and_value() {
        assert!(holds("lr=1e-3", Some("0.001")) && holds("lr=0.10", Some("0.1")));
        assert!(holds("a=b=c", Some("b=c")) && !holds("a=b", Some("c")) && !holds("a=b", None));
        assert!(holds("a!=b", Some("c")) && holds("a!=b", None) && !holds("a!=1", Some("1.0")));
        assert!(holds("a~^x", Some("xy")) && !holds("a~^x", Some("yx")) && !holds("a~.", None));
        for wrong in ["a", "=b", "~b", "a~("] {
            assert!(wrong.parse::<Where>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn rows_that_are_left_out_take_their_names_with_them() {
        let mut table = table(Origin::Table, &[("m", &[1.0, 2.0, 3.0])]);
        table.texts = vec![
            Texts { key: "model".into(), names: vec!["a".into(), "b".into()], cells: vec![(0, 0), (1, 1)] },
            Texts {
                key: "run".into(),
                names: vec!["x".into(), "y".into()],
                cells: vec![(0, 0), (1, 1), (2, 0)],
            },
        ];
        assert!(rows(&mut table, &["model!=a".parse().unwrap()]));
        assert_eq!(
            (&table.numbers[0].rows[..], &table.numbers[0].values[..]),
            (&[1, 2][..], &[2.0, 3.0][..])
        );
        assert_eq!(
            (&table.texts[1].names[..], &table.texts[1].cells[..]),
            (&["y".to_owned(), "x".into()][..], &[(1, 0), (2, 1)][..])
        );
        assert!(!rows(&mut table, &["absent=1".parse().unwrap()]), "nothing was looked at");
    }
}
