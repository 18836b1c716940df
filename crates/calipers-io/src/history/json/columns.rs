//! Histories that are one object of equally long lists, a list for each key.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};

use super::super::{Format, Places, Run, Table, Wanted};
use super::cells::{Cells, next_row};
use super::scan::Scanner;

const PLACES: Places = Places::Numbered("entry", 0);

/// Reads a document that is an object of lists.
pub(super) fn read(scan: &mut Scanner<'_>, wanted: &Wanted) -> Result<Table> {
    if scan.peek() != Some(b'{') {
        return Err(scan.unexpected("the columns are not in an object", "an object of lists"));
    }
    let mut cells = Cells::new(wanted);
    let mut keys: Vec<String> = Vec::new();
    let mut lengths = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut more = scan.open(b'}')?;
    while more {
        let key = scan.key()?.into_owned();
        if scan.peek() != Some(b'[') {
            let error = scan.unexpected("a column is not a list", "a list of values for each key");
            return Err(error.at(format_args!("key `{key}`")));
        }
        let column = cells.keys().position(|wanted| wanted == key);
        let length = entries(scan, &mut cells, column)?;
        match places.get(&key) {
            Some(place) => lengths[*place] = length,
            None => {
                places.insert(key.clone(), keys.len());
                keys.push(key);
                lengths.push(length);
            }
        }
        more = scan.more(b'}')?;
    }
    scan.end()?;
    let rows = lengths.first().copied().unwrap_or(0);
    if let Some(place) = lengths.iter().position(|length| *length != rows) {
        return Err(Error::format("the columns differ in length")
            .at(format_args!("key `{}`", keys[place]))
            .found(format_args!("{} entries", lengths[place]))
            .allowed(format_args!("{rows} entries, as under the key `{}`", keys[0])));
    }
    let (numbers, texts) = cells.take(wanted);
    Ok(Table {
        format: Format::JsonColumns,
        run: Run::default(),
        keys,
        before: 0,
        rows: rows as usize,
        numbers,
        texts,
        places: PLACES,
        cut_at: None,
    })
}

/// Reads one list into its column; gives its length.
fn entries(scan: &mut Scanner<'_>, cells: &mut Cells, column: Option<usize>) -> Result<u32> {
    if let Some(column) = column {
        cells.restart(column);
    }
    let mut row = 0;
    let mut more = scan.open(b']')?;
    while more {
        match column {
            Some(column) => cells.put(column, row, scan.value()?, || PLACES.of(row)),
            None => {
                scan.skip()?;
            }
        }
        row = next_row(row)?;
        more = scan.more(b']')?;
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Table> {
        let wanted = Wanted { numbers: vec!["b".into(), "a".into()], texts: vec!["n".into()] };
        read(&mut Scanner::new(text.as_bytes())?, &wanted)
    }

    #[test]
    fn each_list_is_a_column_and_the_last_of_two_counts() {
        let text = r#"{"a": [1, 2, 3, 4], "n": ["u", null], "x": [[], {}], "a": [null, NaN], "b": ["x", 1]}"#;
        let table = read_text(text).unwrap();
        assert_eq!((table.rows, &table.keys[..]), (2, &["a", "n", "x", "b"].map(String::from)[..]));
        let a = table.number("a").unwrap();
        assert!(a.rows == [1] && a.values[0].is_nan());
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
