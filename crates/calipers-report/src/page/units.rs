//! The per-unit table as JSON for the page's script.

use std::collections::BTreeMap;

use calipers_core::{Table, Value};
use serde_json::{Value as Json, json};

use crate::json::Plain;
use crate::leaf::{Leaf, leaf};

/// The most bytes of data a page holds; with its markup it stays below 20 MB.
pub(crate) const MOST: usize = 14_000_000;
/// The largest whole number that every script reads exactly.
const EXACT: u128 = 1 << 53;
/// The most characters of a name or a nested value that are kept.
const LONGEST: usize = 1_000;

/// How much of a table the page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The number of units.
    pub(crate) units: usize,
    /// Whether numbers have every digit, or six.
    pub(crate) exact: bool,
}

/// The table of `all` units in at most `room` bytes: with every digit if they fit, else with six, else with
/// as many of the first units as there is room for. A cell in brackets is undefined; the number is that of
/// its reason.
pub(crate) fn json(table: &Table, all: usize, room: usize) -> (String, Kept) {
    let exact = Lines::new(table, true, room);
    let (lines, exact) =
        if exact.rows == all { (exact, true) } else { (Lines::new(table, false, room), false) };
    let kept = Kept { units: lines.rows, exact };
    (lines.finish(table), kept)
}

/// How much of the table of units a page can hold: whoever makes the table need not make more.
#[derive(Debug)]
pub struct Room {
    left: usize,
    reasons: Reasons,
}

impl Default for Room {
    fn default() -> Self {
        Self { left: MOST, reasons: Reasons::default() }
    }
}

impl Room {
    /// Whether there is room left for the next unit, at the fewest digits.
    pub fn takes(&mut self, unit: &str, cells: &[Value]) -> bool {
        let is_left = self.left > 0;
        self.left = self.left.saturating_sub(line(unit, cells, false, &mut self.reasons).len());
        is_left
    }
}

/// Why cells have no value, each reason once.
#[derive(Debug, Default)]
struct Reasons {
    all: Vec<String>,
    known: BTreeMap<String, usize>,
}

impl Reasons {
    fn number(&mut self, reason: &str) -> usize {
        if let Some(number) = self.known.get(reason) {
            return *number;
        }
        self.known.insert(reason.to_owned(), self.all.len());
        self.all.push(short(reason));
        self.all.len() - 1
    }
}

/// A unit and its cells.
fn line(unit: &str, cells: &[Value], exact: bool, reasons: &mut Reasons) -> String {
    let cell = |value: &Value| match leaf(value) {
        Some(Leaf::Number(x)) => number(x, exact),
        Some(Leaf::Count(n)) if n.unsigned_abs() <= EXACT => json!(n as i64),
        Some(Leaf::Count(n)) => n.to_string().into(),
        Some(Leaf::Undefined(reason)) => json!([reasons.number(reason)]),
        None => words(value).into(),
    };
    let line: Vec<Json> = std::iter::once(short(unit).into()).chain(cells.iter().map(cell)).collect();
    Json::Array(line).to_string()
}

struct Lines {
    text: String,
    rows: usize,
    reasons: Reasons,
}

impl Lines {
    fn new(table: &Table, exact: bool, room: usize) -> Self {
        let (mut text, mut rows, mut reasons) = (String::new(), 0, Reasons::default());
        // Headings, reasons and brackets have their room too.
        let room = room.saturating_sub(room / 16);
        for (unit, cells) in &table.rows {
            let line = line(unit, cells, exact, &mut reasons);
            if text.len() + line.len() + 1 > room {
                break;
            }
            if rows > 0 {
                text.push(',');
            }
            text.push_str(&line);
            rows += 1;
        }
        Self { text, rows, reasons }
    }

    fn finish(self, table: &Table) -> String {
        let columns: Vec<String> = table.columns.iter().map(|name| short(name)).collect();
        format!(
            "{{\"columns\":{},\"reasons\":{},\"rows\":[{}]}}",
            Json::from(columns),
            Json::from(self.reasons.all),
            self.text
        )
    }
}

fn number(x: f64, exact: bool) -> Json {
    let rounded = if exact { None } else { format!("{x:.5e}").parse().ok() };
    json!(rounded.unwrap_or(x))
}

fn words(value: &Value) -> String {
    match value {
        Value::Text(name) => short(name),
        nested => short(&serde_json::to_string(&Plain(nested)).unwrap_or_default()),
    }
}

fn short(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(units: usize) -> Table {
        let cells = vec![Value::Number(1.0 / 3.0), Value::Count(1 << 60), Value::undefined("no truth")];
        Table {
            columns: ["unit", "ratio", "pixels", "gap"].map(String::from).to_vec(),
            rows: (0..units).map(|i| (format!("u{i:05}"), cells.clone())).collect(),
        }
    }

    #[test]
    fn cells_keep_their_kind_and_their_reason() {
        let (text, kept) = json(&table(1), 1, 1_000);
        assert_eq!(kept, Kept { units: 1, exact: true });
        let expected = r#"{"columns":["unit","ratio","pixels","gap"],"reasons":["no truth"],"rows":[["u00000",0.3333333333333333,"1152921504606846976",[0]]]}"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn a_large_table_loses_digits_first_and_then_units() {
        let (text, kept) = json(&table(1_000), 1_000, 52_000);
        assert_eq!(kept, Kept { units: 1_000, exact: false });
        assert!(text.contains("0.333333,") && text.len() < 52_000, "{}", text.len());
        let (text, kept) = json(&table(1_000), 1_000, 20_000);
        assert!(kept.units > 300 && kept.units < 1_000 && text.len() < 20_000, "{kept:?}");
        assert!(serde_json::from_str::<Json>(&text).is_ok());
    }
}
