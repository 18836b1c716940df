//! Histories that are one object of equally long lists, a list for each key.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};

use super::super::window::Window;
use super::super::{Origin, Places, Run, Table, Wanted};
use super::cells::{Cells, next_row};
use super::state::LOG;
use super::syntax::scan::{Scanner, Start, empty};

const PLACES: Places = Places::Numbered("entry", 0);

/// Reads a document that is an object of lists, one chunk at a time.
pub(super) fn read(mut window: Window<'_>, wanted: &Wanted, certain: bool) -> Result<Table> {
    let mut reader = Reader {
        cells: Cells::new(wanted),
        keys: Vec::new(),
        lengths: Vec::new(),
        places: BTreeMap::new(),
        part: Part::Brace,
        certain,
    };
    let mut start = Start::default();
    while reader.part != Part::Nothing {
        let (used, outcome) = reader.read(window.text(), window.is_last(), start);
        // A value may go on after the text in the buffer.
        if window.is_last() || (used == 0 && window.is_long()) {
            outcome?;
        }
        start.pass(&window.text()[..used]);
        window.pass(used)?;
    }
    reader.table(wanted)
}

/// What was read so far.
struct Reader {
    cells: Cells,
    keys: Vec<String>,
    lengths: Vec<u32>,
    places: BTreeMap<String, usize>,
    part: Part,
    /// Whether the layout is known. Where only the beginning of a file was seen, a key that speaks
    /// for another layout is an error.
    certain: bool,
}

/// Which part of the document comes next.
#[derive(Clone, PartialEq, Eq)]
enum Part {
    Brace,
    Key,
    Entry(List),
    BehindList,
    End,
    Nothing,
}

/// A list that is being read: its key, its column, and how many entries were read.
#[derive(Clone, PartialEq, Eq)]
struct List {
    key: String,
    column: Option<usize>,
    row: u32,
}

impl Reader {
    /// Reads on through the text in the buffer; returns how much of it is done with.
    fn read(&mut self, text: &str, last: bool, start: Start) -> (usize, Result<()>) {
        let depth = match self.part {
            Part::Key | Part::BehindList => 1,
            Part::Entry(_) => 2,
            _ => 0,
        };
        let mut scan = Scanner::within(text, start, depth);
        let mut used = 0;
        loop {
            match self.step(&mut scan, last) {
                Ok(true) => used = scan.at(),
                Ok(false) => return (if self.part == Part::Nothing { text.len() } else { used }, Ok(())),
                Err(error) => return (used, Err(error)),
            }
        }
    }

    /// Reads one part of the document, or nothing; says whether to go on with this text.
    fn step(&mut self, scan: &mut Scanner<'_>, last: bool) -> Result<bool> {
        let open = |scan: &mut Scanner<'_>, close| -> Result<Option<bool>> {
            let more = scan.open(close)?;
            Ok((scan.peek().is_some() || last).then_some(more))
        };
        self.part = match &mut self.part {
            Part::Brace => match scan.peek() {
                Some(b'{') => match open(scan, b'}')? {
                    None => return Ok(false),
                    Some(true) => Part::Key,
                    Some(false) => Part::End,
                },
                None if last => return Err(empty()),
                None => return Ok(false),
                Some(_) => {
                    return Err(scan.unexpected("the columns are not in an object", "an object of lists"));
                }
            },
            Part::Key => {
                let key = scan.key()?.into_owned();
                if scan.peek() != Some(b'[') {
                    let error = scan.unexpected("a column is not a list", "a list of values for each key");
                    return Err(error.at(format_args!("key `{key}`")));
                }
                let Some(more) = open(scan, b']')? else { return Ok(false) };
                if !self.certain && (key == LOG || more && scan.peek() == Some(b'{')) {
                    return Err(Error::format("another layout"));
                }
                let column = self.cells.keys().position(|wanted| wanted == key);
                if let Some(column) = column {
                    match self.places.get(&key) {
                        None => self.cells.restart(column),
                        Some(first) => {
                            let lists = format!("list {} and {}", first + 1, scan.place(scan.at()));
                            self.cells.restart(column);
                            self.cells.spoil(column, &lists)?;
                        }
                    }
                }
                let list = List { key, column, row: 0 };
                if more { Part::Entry(list) } else { self.finish(list) }
            }
            Part::Entry(list) => {
                let value = scan.value()?;
                // Only what stands behind a number says that it is whole.
                let more = scan.more(b']')?;
                let row = list.row;
                if let Some(column) = list.column {
                    self.cells.put(column, row, value, || PLACES.of(row));
                }
                list.row = next_row(row)?;
                if more {
                    return Ok(true);
                }
                let list = list.clone();
                self.finish(list)
            }
            Part::BehindList => match scan.more(b'}')? {
                true => Part::Key,
                false => Part::End,
            },
            Part::End => {
                scan.end()?;
                if !last {
                    return Ok(false);
                }
                Part::Nothing
            }
            Part::Nothing => return Ok(false),
        };
        Ok(true)
    }

    /// Notes the length of a list; of two lists under one key that of the last one.
    fn finish(&mut self, list: List) -> Part {
        match self.places.get(&list.key) {
            Some(place) => self.lengths[*place] = list.row,
            None => {
                self.places.insert(list.key.clone(), self.keys.len());
                self.keys.push(list.key);
                self.lengths.push(list.row);
            }
        }
        Part::BehindList
    }

    fn table(mut self, wanted: &Wanted) -> Result<Table> {
        let rows = self.lengths.first().copied().unwrap_or(0);
        if let Some(place) = self.lengths.iter().position(|length| *length != rows) {
            return Err(Error::format("the columns differ in length")
                .at(format_args!("key `{}`", self.keys[place]))
                .found(format_args!("{} entries", self.lengths[place]))
                .allowed(format_args!("{rows} entries, as under the key `{}`", self.keys[0])));
        }
        let (numbers, texts) = self.cells.take(wanted);
        Ok(Table {
            origin: Origin::Columns,
            run: Run::default(),
            keys: self.keys,
            before: 0,
            rows: rows as usize,
            numbers,
            texts,
            places: PLACES,
            cut_at: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::syntax::scan::not_text;
    use super::*;

    fn read_text(text: &str) -> Result<Table> {
        let wanted =
            Wanted { numbers: vec!["b".into(), "a".into()], texts: vec!["n".into()], ..Wanted::default() };
        read(Window::whole(text.as_bytes(), not_text)?, &wanted, true)
    }

    #[test]
    fn each_list_is_a_column_and_two_of_one_key_cannot_be_used() {
        let text = r#"{"a": [1, 2, 3, 4], "n": ["u", null], "x": [[], {}], "a": [null, NaN], "b": ["x", 1]}"#;
        let table = read_text(text).unwrap();
        assert_eq!((table.rows, &table.keys[..]), (2, &["a", "n", "x", "b"].map(String::from)[..]));
        let a = table.number("a").unwrap();
        assert!(a.rows.is_empty());
        let place = a.unreadable.as_ref().unwrap().place();
        assert_eq!(place, Some("key `a`, list 1 and line 1, column 60"));
        assert_eq!(table.text("n").unwrap().cells, [(0, 0)]);
        let error = table.number("b").unwrap().unreadable.clone().unwrap();
        assert_eq!(error.place(), Some("entry 1, key `b`"));
        let keys: Vec<_> = table.numbers.iter().map(|column| column.key.as_str()).collect();
        assert_eq!(keys, ["b", "a"]);
    }

    #[test]
    fn lists_of_unequal_length_are_refused_with_both_lengths() {
        let error = read_text(r#"{"a": [1, 2], "x": [1, 2], "b": [1, 2, 3]}"#).unwrap_err().to_string();
        for words in ["key `b`", "3 entries", "2 entries", "`a`"] {
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_member_that_is_no_list_is_refused() {
        let error = read_text(r#"{"a": [1], "b": {"c": 1}}"#).unwrap_err().to_string();
        assert!(error.contains("key `b`, line 1, column 17") && error.contains("`{\"c\": 1}`"), "{error}");
        assert!(read_text("[1]").unwrap_err().to_string().contains("an object of lists"));
        assert_eq!(read_text("{}").unwrap().rows, 0);
    }
}
