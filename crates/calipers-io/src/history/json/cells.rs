//! The wanted columns while they are being filled.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};

use super::super::{Numbers, Texts, Wanted};
use super::syntax::value::{Kind, Value};
use crate::text::shown;

/// The columns of the wanted keys, each once.
pub(super) struct Cells {
    columns: Vec<Column>,
}

struct Column {
    key: String,
    found: bool,
    numbers: Option<Numbers>,
    names: Option<Names>,
}

#[derive(Default)]
struct Names {
    texts: Texts,
    places: BTreeMap<String, u32>,
}

impl Cells {
    pub(super) fn new(wanted: &Wanted) -> Self {
        let mut cells = Self { columns: Vec::new() };
        for key in &wanted.numbers {
            let numbers = Numbers { key: key.clone(), ..Numbers::default() };
            cells.column(key).numbers = Some(numbers);
        }
        for key in &wanted.texts {
            let texts = Texts { key: key.clone(), ..Texts::default() };
            cells.column(key).names = Some(Names { texts, ..Names::default() });
        }
        cells
    }

    fn column(&mut self, key: &str) -> &mut Column {
        let place = self.columns.iter().position(|column| column.key == key).unwrap_or_else(|| {
            self.columns.push(Column { key: key.to_owned(), found: false, numbers: None, names: None });
            self.columns.len() - 1
        });
        &mut self.columns[place]
    }

    /// The wanted keys, in the order of their columns.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.key.as_str())
    }

    /// Notes that a key was found, with whatever value, and forgets what a column held.
    pub(super) fn restart(&mut self, place: usize) {
        let column = &mut self.columns[place];
        column.found = true;
        if let Some(numbers) = &mut column.numbers {
            *numbers = Numbers { key: std::mem::take(&mut numbers.key), ..Numbers::default() };
        }
        if let Some(names) = &mut column.names {
            let texts = Texts { key: std::mem::take(&mut names.texts.key), ..Texts::default() };
            *names = Names { texts, ..Names::default() };
        }
    }

    /// Notes that a key occurs twice in one object: using its numbers gives a warning, and it gives no names.
    pub(super) fn spoil(&mut self, place: usize, places: &str) -> Result<()> {
        let column = &mut self.columns[place];
        column.found = true;
        let error = Error::format("a key occurs twice in one object")
            .at(format_args!("key `{}`, {places}", column.key))
            .allowed("each key once")
            .advice("remove one of them");
        if column.names.is_some() {
            return Err(error);
        }
        if let Some(numbers) = &mut column.numbers {
            numbers.unreadable.get_or_insert(error);
        }
        Ok(())
    }

    /// Puts a value into a column.
    #[inline]
    pub(super) fn put(
        &mut self,
        place: usize,
        row: u32,
        value: Value<'_>,
        row_place: impl FnOnce() -> String,
    ) {
        let column = &mut self.columns[place];
        column.found = true;
        if value.kind == Kind::Null {
            return;
        }
        if let Some(names) = &mut column.names {
            names.put(row, value);
        }
        if let Some(numbers) = column.numbers.as_mut().filter(|numbers| numbers.unreadable.is_none()) {
            match value.number() {
                Some(number) => {
                    numbers.rows.push(row);
                    numbers.values.push(number);
                }
                None => {
                    let error = Error::value("a value is not a number")
                        .at(format_args!("{}, key `{}`", row_place(), column.key))
                        .found(shown(value.raw.as_bytes()))
                        .allowed("a number, NaN, Infinity, -Infinity, or null where nothing was logged");
                    numbers.unreadable = Some(error);
                }
            }
        }
    }

    /// What was put into the columns found so far; the reasons why values are no numbers stay.
    pub(super) fn take(&mut self, wanted: &Wanted) -> (Vec<Numbers>, Vec<Texts>) {
        let found = |key: &String| {
            let place = self.columns.iter().position(|column| column.key == *key);
            place.filter(|place| self.columns[*place].found)
        };
        // A key that is wanted twice is given once.
        let once = |keys: &[String]| -> Vec<usize> {
            let mut places: Vec<usize> = Vec::new();
            for place in keys.iter().filter_map(found) {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
            places
        };
        let (numbers, texts) = (once(&wanted.numbers), once(&wanted.texts));
        let numbers = numbers.into_iter().filter_map(|place| {
            let Numbers { key, rows, values, unreadable, stored } = self.columns[place].numbers.as_mut()?;
            let (rows, values) = (std::mem::take(rows), std::mem::take(values));
            Some(Numbers { key: key.clone(), rows, values, unreadable: unreadable.clone(), stored: *stored })
        });
        let numbers = numbers.collect();
        let texts = texts.into_iter().filter_map(|place| {
            let Names { texts, places } = self.columns[place].names.as_mut()?;
            places.clear();
            let (names, cells) = (std::mem::take(&mut texts.names), std::mem::take(&mut texts.cells));
            Some(Texts { key: texts.key.clone(), names, cells })
        });
        (numbers, texts.collect())
    }
}

impl Names {
    fn put(&mut self, row: u32, value: Value<'_>) {
        let name = value.name();
        let Texts { names, cells, .. } = &mut self.texts;
        // Runs come in blocks, so the name is mostly that of the row before.
        let last = cells.last().map(|(_, place)| *place).filter(|place| names[*place as usize] == *name);
        let place = last.or_else(|| self.places.get(&*name).copied()).unwrap_or_else(|| {
            let place = names.len() as u32;
            names.push(name.to_string());
            self.places.insert(name.into_owned(), place);
            place
        });
        cells.push((row, place));
    }
}

/// The number of the next row.
pub(super) fn next_row(row: u32) -> Result<u32> {
    row.checked_add(1).ok_or_else(|| {
        Error::format("too many rows").allowed(format_args!("at most {} rows in one file", u32::MAX))
    })
}
