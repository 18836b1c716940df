//! Rows of a history: objects whose wanted values go into columns.

use std::cmp::Reverse;

use calipers_core::Result;

use super::super::{Origin, Places, Run, Table, Wanted};
use super::cells::{Cells, next_row};
use super::keys::{Keys, Node};
use super::syntax::scan::Scanner;
use super::syntax::value::{Kind, Value};

/// The rows read so far.
pub(super) struct Rows {
    keys: Keys,
    cells: Cells,
    sources: Vec<Source>,
    /// How many rows there were before those that the cells hold, and with them.
    taken: u32,
    pub(super) count: u32,
}

/// A key that is, or whose joined name is, a wanted one.
struct Source {
    node: Node,
    column: usize,
    /// Whether another key has the same name.
    shared: bool,
}

/// The values of a row while it is read, by source, and where each ends.
pub(super) type Held<'a> = Vec<Option<(Value<'a>, usize)>>;

impl Rows {
    /// No row yet, of a file of so many bytes.
    pub(super) fn new(length: usize, wanted: &Wanted) -> Self {
        Self { keys: Keys::new(length), cells: Cells::new(wanted), sources: Vec::new(), taken: 0, count: 0 }
    }

    /// Reads the list of rows that starts here; messages call a row by `word`.
    pub(super) fn list(&mut self, scan: &mut Scanner<'_>, word: &'static str) -> Result<()> {
        let mut held = Held::new();
        let mut more = scan.open(b']')?;
        while more {
            more = self.item(scan, &mut held, word)?;
        }
        Ok(())
    }

    /// Reads one row of a list; whether another one follows.
    pub(super) fn item<'a>(
        &mut self,
        scan: &mut Scanner<'a>,
        held: &mut Held<'a>,
        word: &'static str,
    ) -> Result<bool> {
        let place = |row| Places::Numbered(word, 0).of(row);
        self.read(scan, held).map_err(|error| error.at(place(self.count)))?;
        let more = scan.more(b']')?;
        self.keep(held, place)?;
        Ok(more)
    }

    /// Reads one row without keeping it.
    pub(super) fn read<'a>(&mut self, scan: &mut Scanner<'a>, held: &mut Held<'a>) -> Result<()> {
        held.iter_mut().for_each(|value| *value = None);
        if scan.peek() != Some(b'{') {
            return Err(scan.unexpected("a row is not an object", "an object: {\"key\": value, ...}"));
        }
        self.members(scan, Node::ROW, held)?;
        Ok(())
    }

    /// Keeps the row that was read; `place` names it.
    pub(super) fn keep(&mut self, held: &Held<'_>, place: impl Fn(u32) -> String) -> Result<()> {
        let row = self.count;
        for index in 0..held.len() {
            let Some((value, _)) = held[index] else { continue };
            let source = &self.sources[index];
            if !(source.shared && self.outdone(held, index)) {
                self.cells.put(source.column, row - self.taken, value, || place(row));
            }
        }
        self.count = next_row(row)?;
        Ok(())
    }

    /// Whether another key of the same name goes before in this row: the less nested one, then the
    /// later one.
    fn outdone(&self, held: &Held<'_>, index: usize) -> bool {
        let column = self.sources[index].column;
        let rank = |index: usize| {
            let (_, end) = held[index]?;
            Some((self.keys.depth(self.sources[index].node), Reverse(end)))
        };
        let this = rank(index);
        (0..held.len())
            .filter(|other| self.sources[*other].column == column)
            .any(|other| rank(other).is_some_and(|rank| Some(rank) < this))
    }

    /// Reads the members of an object; says whether there are any.
    fn members<'a>(&mut self, scan: &mut Scanner<'a>, parent: Node, held: &mut Held<'a>) -> Result<bool> {
        let mut before = None;
        let mut more = scan.open(b'}')?;
        while more {
            let expected = self.keys.expected(parent, before);
            let node = match expected.filter(|(_, quoted)| scan.is_key(quoted)) {
                Some((node, _)) => node,
                None => self.other_key(scan, parent, before)?,
            };
            before = Some(node);
            let again = self.keys.seen(node, u64::from(self.count) + 1);
            let Some(first) = scan.peek() else { return Err(scan.no_value()) };
            if again {
                self.refuse_twice(scan, node, held)?;
            }
            let nested = first == b'{';
            let start = scan.at();
            let inside = nested && self.members(scan, node, held)?;
            if !inside {
                self.keys.list(node)?;
            }
            let value =
                if nested { Value { kind: Kind::Object, raw: scan.since(start) } } else { scan.value()? };
            if let Some(source) = self.keys.source(node) {
                if held.len() <= source {
                    held.resize(source + 1, None);
                }
                held[source] = Some((value, scan.at()));
            }
            more = scan.more(b'}')?;
        }
        Ok(before.is_some())
    }

    /// Reads a key that need not be the one expected.
    fn other_key(&mut self, scan: &mut Scanner<'_>, parent: Node, before: Option<Node>) -> Result<Node> {
        let key = scan.key()?;
        let (node, new) = self.keys.child(parent, before, &key);
        if new {
            self.look_for(node);
        }
        Ok(node)
    }

    fn look_for(&mut self, node: Node) {
        if let Some(column) = self.cells.keys().position(|key| self.keys.is_named(node, key)) {
            self.keys.set_source(node, self.sources.len());
            let mut shared = false;
            for other in self.sources.iter_mut().filter(|other| other.column == column) {
                (other.shared, shared) = (true, true);
            }
            self.sources.push(Source { node, column, shared });
        }
    }

    /// Spoils the wanted columns of a key that occurs once more in its row, or of what is in it. What the row
    /// held is dropped.
    #[cold]
    fn refuse_twice(&mut self, scan: &Scanner<'_>, node: Node, held: &mut Held<'_>) -> Result<()> {
        for (source, held) in self.sources.iter().zip(held) {
            if !self.keys.within(source.node, node) {
                continue;
            }
            let Some((value, end)) = held.take() else { continue };
            let places = [scan.place(end - value.raw.len()), scan.place(scan.at())];
            self.cells.spoil(source.column, &places.join(" and "))?;
        }
        Ok(())
    }

    /// The table of the rows since the last time.
    pub(super) fn take(&mut self, wanted: &Wanted, origin: Origin, places: Places) -> Table {
        let (numbers, texts) = self.cells.take(wanted);
        let before = std::mem::replace(&mut self.taken, self.count);
        Table {
            origin,
            run: Run::default(),
            keys: self.keys.names(),
            before: before as usize,
            rows: (self.count - before) as usize,
            numbers,
            texts,
            places,
            cut_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::json::{self, Layout};
    use super::*;

    fn wanted() -> Wanted {
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        Wanted {
            numbers: keys(&["val.F1", "epoch", "absent", "val"]),
            texts: keys(&["run", "epoch"]),
            ..Wanted::default()
        }
    }

    fn list(text: &str) -> Result<Table> {
        json::read(text.as_bytes(), Layout::Rows, &wanted())
    }

    fn lines(text: &str) -> Result<Table> {
        json::read(text.as_bytes(), Layout::Lines, &wanted())
    }

    /// The rows and values of a key.
    fn column(table: &Table, key: &str) -> (Vec<u32>, Vec<String>) {
        let numbers = table.number(key).unwrap();
        (numbers.rows.clone(), numbers.values.iter().map(f64::to_string).collect())
    }

    #[test]
    fn null_and_absent_are_not_logged_while_nan_and_infinity_are() {
        let table = list(
            r#"[{"epoch": 0}, {"epoch": null}, {}, {"epoch": NaN}, {"epoch": "NaN"}, {"epoch": -Infinity},
                {"epoch": "Infinity"}, {"epoch": Infinity}, {"epoch": "-Infinity"}, {"epoch": -2.5e-1}, {"epoch": 1e999}]"#,
        );
        let table = table.unwrap();
        let values = ["0", "NaN", "NaN", "-inf", "inf", "inf", "-inf", "-0.25", "inf"].map(String::from);
        assert_eq!(column(&table, "epoch"), (vec![0, 3, 4, 5, 6, 7, 8, 9, 10], values.to_vec()));
        assert_eq!((table.rows, table.number("epoch").unwrap().unreadable.clone()), (11, None));
        assert!(table.number("absent").is_none());
    }

    #[test]
    fn a_dotted_key_is_looked_for_before_the_nested_one_row_by_row() {
        let table = list(
            r#"[{"val": {"F1": 1}}, {"val": {"F1": 2}, "val.F1": 3}, {"val.F1": 4, "val": {"F1": 5}},
                {"val.F1": null, "val": {"F1": 6}}, {"val": {"F1": 7, "more": {}}}]"#,
        );
        let table = table.unwrap();
        let values = ["1", "3", "4", "7"].map(String::from);
        assert_eq!(column(&table, "val.F1"), (vec![0, 1, 2, 4], values.to_vec()));
        assert_eq!(table.keys, ["val.F1", "val.more"]);
    }

    #[test]
    fn a_wanted_key_that_occurs_twice_in_a_row_spoils_its_column() {
        let text = r#"[{"val.F1": 1, "x": 1, "x": 2}, {"val": {"F1": 1}, "val": {"x": 2}}, {"val.F1": 2}]"#;
        let table = list(text).unwrap();
        let spoiled = table.number("val.F1").unwrap();
        assert_eq!(spoiled.rows, [0]);
        let place = spoiled.unreadable.as_ref().unwrap().place();
        assert_eq!(place, Some("key `val.F1`, line 1, column 48 and line 1, column 59"));
        assert_eq!(table.keys, ["val.F1", "x", "val.x"]);
        let error = list(r#"[{"run": "a", "run": "b"}]"#).unwrap_err().to_string();
        assert!(error.contains("key `run`") && error.contains("column 10"), "{error}");
    }

    #[test]
    fn the_first_value_that_is_no_number_is_kept_with_its_row_and_does_not_stop_other_columns() {
        for wrong in ["\"0.5\"", "true", "[1]", "{}", "\"nan\"", "{\"a\": 1}"] {
            let text = format!("[{{\"epoch\": 0}}, {{\"epoch\": {wrong}, \"val\": {{\"F1\": 1}}}}]");
            let table = list(&text).unwrap();
            let error = table.number("epoch").unwrap().unreadable.clone().unwrap().to_string();
            assert!(error.contains("row 2, key `epoch`") && error.contains(wrong), "{error}");
            assert_eq!(column(&table, "val.F1"), (vec![1], vec!["1".to_owned()]));
            let object = table.number("val").unwrap().unreadable.clone().unwrap().to_string();
            assert!(object.contains("`{\"F1\": 1}`"), "{object}");
        }
    }

    #[test]
    fn names_are_texts_as_they_are_and_other_values_as_json() {
        let table = lines(
            "{\"run\": \"a\\n\\u00e9\"}\n{\"run\": 1.50, \"epoch\": 0}\n{\"run\": true}\n{\"run\": null}\n{\"run\": 1.50}\n{\"run\": [1, 2]}",
        );
        let table = table.unwrap();
        let run = table.text("run").unwrap();
        assert_eq!(run.names, ["a\né", "1.50", "true", "[1, 2]"]);
        assert_eq!(run.cells, [(0, 0), (1, 1), (2, 2), (4, 1), (5, 3)]);
        assert_eq!(table.text("epoch").unwrap().names, ["0"]);
        assert_eq!(table.number("epoch").unwrap().rows, [1]);
    }

    #[test]
    fn blank_lines_are_passed_over_and_rows_keep_their_lines() {
        let table = lines("\u{feff}{\"epoch\": 0}\r\n\r\n \n{\"epoch\": 1}").unwrap();
        assert_eq!((table.rows, table.places.clone()), (2, Places::Lines(vec![1, 4])));
        let table = lines("\n{\"epoch\": 0}\n{\"epoch\": 1}\n\n").unwrap();
        assert_eq!((table.rows, table.places.clone()), (2, Places::LinesFrom(2)));
        let error = lines("{\"epoch\": 0}\n\n{\"epoch\": []}").unwrap();
        let error = error.number("epoch").unwrap().unreadable.clone().unwrap();
        assert_eq!(error.place(), Some("line 3, key `epoch`"));
    }

    #[test]
    fn a_line_holds_one_whole_object() {
        for (text, words) in [
            ("{\"a\": 1}\n{\"a\":\n2}", "line 2, column 6"),
            ("{\"a\": 1}\n{\"a\":\n", "line 2, column 6"),
            ("{\"a\":", "the end of the file"),
            ("{\"a\": 1} {\"a\": 2}", "line 1, column 10"),
            ("{\"a\": 1}\n[1]", "not an object"),
            ("{\"a\": 1}\n{'a': 1}", "a key in double quotes"),
        ] {
            let error = lines(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_last_line_that_is_cut_off_is_dropped() {
        let first = "{\"epoch\": 0}\n";
        let second = "{\"epoch\": 1, \"x\": {\"y\": [\"}\\\"\", true]}}";
        let text = format!("{first}{second}");
        for end in first.len() + 1..text.len() {
            let table = lines(&text[..end]).unwrap();
            assert_eq!((table.rows, table.cut_at), (1, Some(first.len() as u64)), "{}", &text[..end]);
        }
        assert_eq!(lines(&text).unwrap().cut_at, None);
        assert!(lines(&text[..first.len() + 3]).unwrap().cut_at.is_some());
        assert!(lines(&format!("{}\n", &text[..text.len() - 1])).is_err(), "the line has its end");
    }

    #[test]
    fn a_list_that_holds_something_else_is_refused_by_row() {
        for (text, words) in [
            ("[{}, 5]", "row 2, line 1, column 6"),
            ("[{}, {\"a\" 1}]", "row 2, line 1, column 11"),
            ("[{}] []", "the end of the file"),
            ("{\"a\": [1]}", "not in a list"),
            // The keys before it must not make this one a key.
            (r#"[{"a\"b": 1}, {"a"b": 1}]"#, "row 2, line 1, column 19"),
        ] {
            let error = list(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert_eq!(list("[]").unwrap().rows, 0);
    }

    #[test]
    fn one_long_key_around_many_cannot_fill_the_memory() {
        let inner: Vec<String> = (0..4000).map(|key| format!("\"{key}\": 1")).collect();
        let text = format!("[{{\"{}\": {{{}}}}}]", "k".repeat(10_000), inner.join(","));
        assert!(list(&text).unwrap_err().to_string().contains("nested keys"));
    }

    /// The tokens of some rows; what stands behind a key is a token of its own.
    fn tokens() -> impl Strategy<Value = Vec<&'static str>> {
        let key = prop::sample::select(vec![
            "epoch",
            "val",
            "F1",
            "val.F1",
            "run",
            "é",
            "e",
            r#"e\"h"#,
            "v\\u0061l",
        ]);
        let value =
            prop::sample::select(vec!["1", "-0.25", "1e3", "NaN", "null", "\"x\"", "[]", "{\"F1\": 2}"]);
        let row = prop::collection::vec((key, value), 0..5).prop_map(|members| {
            let mut row = vec!["{"];
            for (key, value) in members {
                row.extend([if row.len() > 1 { ", \"" } else { "\"" }, key, COLON, value]);
            }
            row.push("}");
            row
        });
        prop::collection::vec(row, 1..4).prop_map(|rows| {
            let mut list = vec!["["];
            for row in rows.iter().chain(&rows) {
                list.extend((list.len() > 1).then_some(","));
                list.extend(row);
            }
            list.push("]");
            list
        })
    }

    const COLON: &str = "\":";

    /// A text without the columns of places.
    fn without_columns(text: &str) -> String {
        let digits = |part: &str| part.trim_start_matches(|digit: char| digit.is_ascii_digit()).to_owned();
        text.split("column ").map(digits).collect()
    }

    proptest! {
        /// A blank before the colon keeps keys from being taken as expected.
        #[test]
        fn keys_that_are_expected_change_nothing_but_the_time(
            tokens in tokens(),
            damage in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>())),
        ) {
            let mut tokens = tokens;
            // Colons stay behind keys as long as no quote moves.
            let without_quotes: Vec<usize> = (0..tokens.len()).filter(|place| !tokens[*place].contains('"')).collect();
            if let Some((place, other)) = damage {
                tokens[*place.get(&without_quotes)] = tokens[*other.get(&without_quotes)];
            }
            let outcome = |text: &str| match list(text) {
                // Texts, since a NaN equals nothing.
                Ok(table) => Ok(without_columns(&format!("{table:?}"))),
                // The blanks move the places.
                Err(error) => Err(error.to_string().replace(error.place().unwrap_or_default(), "")),
            };
            let blanks: Vec<&str> = tokens.iter().map(|token| if *token == COLON { "\" :" } else { token }).collect();
            prop_assert_eq!(outcome(&tokens.concat()), outcome(&blanks.concat()), "{}", tokens.concat());
        }
    }
}
