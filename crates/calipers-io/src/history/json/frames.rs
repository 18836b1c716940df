//! Tables as pandas and W&B write them: names apart from values, or rows by their labels.
//!
//! ```text
//! split   {"columns": ["epoch", "F1"], "index": [0, 1], "data": [[0, 0.5], [1, 0.9]]}
//! table   {"schema": {..}, "data": [{"index": 0, "epoch": 0, "F1": 0.5}, ..]}
//! nested  {"epoch": {"0": 0, "1": 1}, "F1": {"0": 0.5, "1": 0.9}}, or rows outside and columns inside
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Error, Result};

use super::super::{Origin, Places, Run, Table, Wanted};
use super::cells::{Cells, next_row};
use super::rows::Rows;
use super::syntax::scan::Scanner;
use super::syntax::value::{Kind, Value};

/// The list of names of the layout `split`.
pub(super) const COLUMNS: &str = "columns";
/// The list of rows of the layouts `split` and `table`.
pub(super) const DATA: &str = "data";
/// What the layout `table` says of its columns.
pub(super) const SCHEMA: &str = "schema";
/// What the layout `table` calls the labels of rows without a name.
const INDEX: &str = "index";
const ROW: &str = "row";

/// Reads names and lists of values.
pub(super) fn read_split(bytes: &[u8], wanted: &Wanted) -> Result<Table> {
    let mut names: Option<Vec<String>> = None;
    members(&mut Scanner::new(bytes)?, |scan, key| {
        if key != COLUMNS {
            return scan.skip().map(|_| ());
        }
        let mut found = Vec::new();
        items(scan, |scan| {
            found.push(scan.value()?.name().into_owned());
            Ok(())
        })?;
        names = Some(found);
        Ok(())
    })?;
    let names = names.ok_or_else(|| Error::format("no list of `columns`"))?;
    let (mut cells, mut rows) = (Cells::new(wanted), 0);
    let columns = columns_of(&names, &mut cells)?;
    let place = |row| Places::Numbered(ROW, 0).of(row);
    members(&mut Scanner::new(bytes)?, |scan, key| {
        if key != DATA {
            return scan.skip().map(|_| ());
        }
        items(scan, |scan| {
            let mut at = 0;
            items(scan, |scan| {
                let value = scan.value()?;
                if let Some(column) = columns.get(at).copied().flatten() {
                    cells.put(column, rows, value, || place(rows));
                }
                at += 1;
                Ok(())
            })
            .map_err(|error| error.at(place(rows)))?;
            if at != names.len() {
                return Err(Error::format("a row of another length")
                    .at(place(rows))
                    .found(format_args!("{at} values"))
                    .allowed(format_args!("{} values, as in `columns`", names.len())));
            }
            rows = next_row(rows)?;
            Ok(())
        })
    })?;
    Ok(table(names, rows, &mut cells, wanted))
}

/// The wanted column of each name; what is wanted has one place.
fn columns_of(names: &[String], cells: &mut Cells) -> Result<Vec<Option<usize>>> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut columns = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        let column = cells.keys().position(|wanted| wanted == name);
        let before = first.insert(name, at);
        if let (Some(column), Some(before)) = (column, before) {
            return Err(twice(cells.keys().nth(column).unwrap_or_default(), before, at));
        }
        if let Some(column) = column {
            cells.restart(column);
        }
        columns.push(column);
    }
    Ok(columns)
}

fn twice(key: &str, before: usize, at: usize) -> Error {
    Error::format("two columns have the same name")
        .at(format_args!("columns {} and {}", before + 1, at + 1))
        .found(format_args!("`{key}`"))
        .advice("rename one of them")
}

/// Reads rows below a description of their columns.
pub(super) fn read_table(bytes: &[u8], wanted: &Wanted) -> Result<Table> {
    let not_index = |keys: &[String]| keys.iter().filter(|key| *key != INDEX).cloned().collect();
    let wanted =
        Wanted { numbers: not_index(&wanted.numbers), texts: not_index(&wanted.texts), ..wanted.clone() };
    let mut rows = Rows::new(bytes.len(), &wanted);
    members(&mut Scanner::new(bytes)?, |scan, key| {
        if key != DATA {
            return scan.skip().map(|_| ());
        }
        rows = Rows::new(bytes.len(), &wanted);
        rows.list(scan, ROW)
    })?;
    let mut table = rows.take(&wanted, Origin::Table, Places::Numbered(ROW, 0));
    table.keys.retain(|key| key != INDEX);
    Ok(table)
}

/// Reads columns of values by label, or rows of values by name.
pub(super) fn read_nested(bytes: &[u8], wanted: &Wanted) -> Result<Table> {
    let mut shape = Shape::default();
    members(&mut Scanner::new(bytes)?, |scan, key| shape.member(scan, key))?;
    let rows_outside = shape.has_rows_outside();
    let Shape { outer, inner, .. } = shape;
    let (names, labels) = if rows_outside { (inner, outer) } else { (outer, inner) };
    let mut cells = Cells::new(wanted);
    let columns = columns_of(&names, &mut cells)?;
    let rows = u32::try_from(labels.len()).map_err(|_| Error::format("too many rows"))?;
    let (names_at, labels_at) = (Order::of(&names), Order::of(&labels));
    if let Some(twice) = labels.iter().enumerate().find(|(at, label)| labels_at.places[label.as_str()] != *at)
    {
        return Err(Error::format("a row occurs twice")
            .at(format_args!("row '{}'", twice.1))
            .allowed("each label once"));
    }
    let place = |row: u32| format!("row '{}'", labels[row as usize]);
    let mut values: Vec<(usize, u32, Value<'_>)> = Vec::new();
    members(&mut Scanner::new(bytes)?, |scan, outer| {
        let mut at = 0;
        members_of(scan, |scan, inner| {
            let (name, label) = if rows_outside { (inner, outer) } else { (outer, inner) };
            let value = scan.value()?;
            let (name_hint, label_hint) = if rows_outside { (at, 0) } else { (0, at) };
            at += 1;
            let (Some(name), Some(row)) =
                (names_at.place(name, name_hint), labels_at.place(label, label_hint))
            else {
                return Err(unequal(outer, inner));
            };
            if let Some(column) = columns[name] {
                values.push((column, row as u32, value));
            }
            Ok(())
        })
    })?;
    // Columns take their values in the order of rows.
    values.sort_by_key(|(column, row, _)| (*column, *row));
    if let Some(pair) = values.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
        return Err(Error::format("a row occurs twice").at(place(pair[0].1)).allowed("each label once"));
    }
    for (column, row, value) in values {
        cells.put(column, row, value, || place(row));
    }
    Ok(table(names, rows, &mut cells, wanted))
}

/// Where each text of a list is.
struct Order<'a> {
    texts: &'a [String],
    places: BTreeMap<&'a str, usize>,
}

impl<'a> Order<'a> {
    fn of(texts: &'a [String]) -> Self {
        Self { texts, places: texts.iter().enumerate().map(|(at, text)| (text.as_str(), at)).collect() }
    }

    /// The place of a text, which is looked for at the expected one first.
    fn place(&self, text: &str, expected: usize) -> Option<usize> {
        if self.texts.get(expected).is_some_and(|known| known == text) {
            return Some(expected);
        }
        self.places.get(text).copied()
    }
}

/// The keys of an object of objects.
#[derive(Default)]
pub(super) struct Shape {
    /// The keys of the object.
    outer: Vec<String>,
    /// The keys of the first object in it, in their order.
    inner: Vec<String>,
    /// How many keys the object has that is looked at, and whether they are those of the first one.
    seen: usize,
    alike: bool,
    /// Whether there is a value that can be a number.
    numbers: bool,
}

impl Shape {
    /// Looks at one member; an error where it is none of such an object.
    pub(super) fn member(&mut self, scan: &mut Scanner<'_>, key: &str) -> Result<()> {
        if scan.peek() != Some(b'{') {
            return Err(scan.unexpected("a column is not an object", "an object of values by label"));
        }
        let first = self.outer.is_empty();
        self.outer.push(key.to_owned());
        (self.seen, self.alike) = (0, true);
        let mut sorted: Option<Vec<&str>> = None;
        let Self { inner, seen, alike, numbers, .. } = self;
        let known: Vec<String> = if first { Vec::new() } else { inner.clone() };
        members_of(scan, |scan, label| {
            let value = scan.value()?;
            if matches!(value.kind, Kind::List | Kind::Object) {
                return Err(Error::format("a value by label is no single value"));
            }
            *numbers |= matches!(value.kind, Kind::Number | Kind::Null);
            if first {
                inner.push(label.to_owned());
            } else if known.get(*seen).is_none_or(|known| known != label) {
                let sorted = sorted.get_or_insert_with(|| {
                    let mut sorted: Vec<&str> = known.iter().map(String::as_str).collect();
                    sorted.sort_unstable();
                    sorted
                });
                *alike &= sorted.binary_search(&label).is_ok();
            }
            *seen += 1;
            Ok(())
        })?;
        if self.alike && (first || self.seen == self.inner.len()) { Ok(()) } else { Err(unequal(key, "")) }
    }

    /// Whether what was seen is a table: with one column, rows have the numbers that pandas gives them.
    pub(super) fn is_table(&self) -> bool {
        self.numbers && (self.outer.len() > 1 || self.inner.iter().all(|label| is_position(label)))
    }

    fn has_rows_outside(&self) -> bool {
        self.outer.iter().all(|key| is_position(key)) && !self.inner.iter().all(|label| is_position(label))
    }
}

fn is_position(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn unequal(outer: &str, inner: &str) -> Error {
    Error::format("the columns differ in their rows")
        .at(format_args!("key `{outer}`"))
        .found(format_args!("`{inner}`"))
        .allowed("the same keys in every object")
}

fn table(names: Vec<String>, rows: u32, cells: &mut Cells, wanted: &Wanted) -> Table {
    let (numbers, texts) = cells.take(wanted);
    let places = Places::Numbered(ROW, 0);
    let (origin, run, rows) = (Origin::Table, Run::default(), rows as usize);
    let mut seen = BTreeSet::new();
    let keys = names.into_iter().filter(|name| seen.insert(name.clone())).collect();
    Table { origin, run, keys, before: 0, rows, numbers, texts, places, cut_at: None }
}

/// Goes through the members of a document that is one object.
fn members<'a>(
    scan: &mut Scanner<'a>,
    member: impl FnMut(&mut Scanner<'a>, &str) -> Result<()>,
) -> Result<()> {
    members_of(scan, member)?;
    scan.end()
}

/// Goes through the members of the object that starts here.
fn members_of<'a>(
    scan: &mut Scanner<'a>,
    mut member: impl FnMut(&mut Scanner<'a>, &str) -> Result<()>,
) -> Result<()> {
    if scan.peek() != Some(b'{') {
        return Err(scan.unexpected("not an object", "an object: {\"key\": value, ...}"));
    }
    let mut more = scan.open(b'}')?;
    while more {
        let key: Cow<'_, str> = scan.key()?;
        member(scan, &key)?;
        more = scan.more(b'}')?;
    }
    Ok(())
}

/// Goes through the items of the list that starts here.
fn items<'a>(scan: &mut Scanner<'a>, mut item: impl FnMut(&mut Scanner<'a>) -> Result<()>) -> Result<()> {
    if scan.peek() != Some(b'[') {
        return Err(scan.unexpected("not a list", "a list: [value, ...]"));
    }
    let mut more = scan.open(b']')?;
    while more {
        item(scan)?;
        more = scan.more(b']')?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Reader = fn(&[u8], &Wanted) -> Result<Table>;

    fn wanted() -> Wanted {
        let keys = ["epoch", "F1", INDEX].map(String::from).to_vec();
        Wanted { numbers: keys, texts: vec!["run".into()], ..Wanted::default() }
    }

    fn column(table: &Table, key: &str) -> (Vec<u32>, Vec<f64>) {
        table.number(key).map(|column| (column.rows.clone(), column.values.clone())).unwrap_or_default()
    }

    #[test]
    fn every_layout_gives_the_same_table() {
        let split = r#"{"columns":["epoch","F1","run"],"index":[0,1],"data":[[0,0.5,"a"],[1,null,"b"]]}"#;
        let data_first = r#"{"data":[[0,0.5,"a"],[1,null,"b"]],"columns":["epoch","F1","run"]}"#;
        let table = r#"{"schema":{"fields":[{"name":"index"}]},"data":[{"index":7,"epoch":0,"F1":0.5,"run":"a"},
            {"index":8,"epoch":1,"F1":null,"run":"b"}]}"#;
        let columns = r#"{"epoch":{"x":0,"y":1},"F1":{"y":null,"x":0.5},"run":{"x":"a","y":"b"}}"#;
        let index = r#"{"0":{"epoch":0,"F1":0.5,"run":"a"},"1":{"epoch":1,"F1":null,"run":"b"}}"#;
        for (read, text) in [
            (read_split as Reader, split),
            (read_split, data_first),
            (read_table, table),
            (read_nested, columns),
            (read_nested, index),
        ] {
            let found = read(text.as_bytes(), &wanted()).unwrap();
            assert_eq!((found.origin, found.rows), (Origin::Table, 2), "{text}");
            assert_eq!(found.keys, ["epoch", "F1", "run"], "{text}");
            assert_eq!(column(&found, "epoch"), (vec![0, 1], vec![0.0, 1.0]), "{text}");
            assert_eq!(column(&found, "F1"), (vec![0], vec![0.5]), "{text}");
            assert_eq!(found.text("run").unwrap().names, ["a", "b"], "{text}");
            assert!(found.number(INDEX).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (read, text, words) in [
            (
                read_split as Reader,
                r#"{"columns":["epoch"],"data":[[0],[1,2]]}"#,
                ["row 2", "2 values", "1 values"],
            ),
            (
                read_split,
                r#"{"columns":["F1","a","F1"],"data":[]}"#,
                ["columns 1 and 3", "`F1`", "same name"],
            ),
            (read_split, r#"{"columns":["F1"],"data":[{}]}"#, ["row 1", "not a list", "line 1"]),
            (read_split, r#"{"data":[]}"#, ["columns", "no list", ""]),
            (read_table, r#"{"schema":{},"data":[{},3]}"#, ["row 2", "not an object", ""]),
            (read_nested, r#"{"epoch":{"0":0},"F1":{"1":0}}"#, ["`F1`", "differ", ""]),
            (read_nested, r#"{"epoch":{"0":0},"F1":{"0":0}} x"#, ["line 1", "end of the file", ""]),
        ] {
            let error = read(text.as_bytes(), &wanted()).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{text}: {error}");
        }
        let text = r#"{"epoch":{"a":0,"b":1},"F1":{"a":0.5,"b":"x"}}"#;
        let found = read_nested(text.as_bytes(), &wanted()).unwrap();
        let error = found.number("F1").unwrap().unreadable.clone().unwrap().to_string();
        assert!(error.contains("row 'b', key `F1`"), "{error}");
    }
}
