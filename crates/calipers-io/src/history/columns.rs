//! The columns of a table while the records of a log are read, for formats that name the key of
//! every value.

use std::collections::HashMap;

use calipers_core::{Error, Result};

use super::{Numbers, Texts, Wanted};

/// Where the values of one key go; nowhere when the key is not wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    /// Which column of numbers.
    pub(super) number: Option<usize>,
    /// Which column of names.
    pub(super) text: Option<usize>,
}

/// Bytes of keys beyond which unwanted ones are no longer listed, for logs that are made to be
/// larger in memory than in the file.
const LISTED: usize = 64 << 20;

/// The keys found so far and the columns of those that are wanted.
pub(super) struct Columns {
    slots: HashMap<Vec<u8>, KnownKey>,
    /// The first key listed at each quick place: a log repeats a few keys in every record.
    quick: Vec<Option<(Box<[u8]>, Slot)>>,
    keys: Vec<String>,
    keys_length: usize,
    numbers: Vec<NumberColumn>,
    texts: Vec<TextColumn>,
}

#[derive(Default)]
struct KnownKey {
    slot: Slot,
    listed: bool,
}

struct NumberColumn {
    column: Numbers,
    found: bool,
}

struct TextColumn {
    column: Texts,
    places: HashMap<String, u32>,
    found: bool,
}

impl Columns {
    /// No key found yet.
    pub(super) fn new(wanted: &Wanted) -> Self {
        let mut slots: HashMap<Vec<u8>, KnownKey> = HashMap::new();
        for (place, key) in wanted.numbers.iter().enumerate() {
            slots.entry(key.clone().into_bytes()).or_default().slot.number.get_or_insert(place);
        }
        for (place, key) in wanted.texts.iter().enumerate() {
            slots.entry(key.clone().into_bytes()).or_default().slot.text.get_or_insert(place);
        }
        let number = |key: &String| {
            let column = Numbers { key: key.clone(), ..Numbers::default() };
            NumberColumn { column, found: false }
        };
        let text = |key: &String| {
            let column = Texts { key: key.clone(), ..Texts::default() };
            TextColumn { column, places: HashMap::new(), found: false }
        };
        Self {
            slots,
            quick: vec![None; QUICK],
            keys: Vec::new(),
            keys_length: 0,
            numbers: wanted.numbers.iter().map(number).collect(),
            texts: wanted.texts.iter().map(text).collect(),
        }
    }

    /// Lists the key as found and says where its values go.
    pub(super) fn slot(&mut self, key: &[u8]) -> Slot {
        let quick = quick_place(key);
        if let Some((known, slot)) = &self.quick[quick]
            && **known == *key
        {
            return *slot;
        }
        let slot = match self.slots.get_mut(key) {
            Some(KnownKey { slot, listed: true }) => return *slot,
            Some(known) => {
                known.listed = true;
                known.slot
            }
            None if self.keys_length + key.len() > LISTED => return Slot::default(),
            None => {
                self.slots.insert(key.to_vec(), KnownKey { listed: true, ..KnownKey::default() });
                Slot::default()
            }
        };
        self.keys_length += key.len();
        self.keys.push(String::from_utf8_lossy(key).into_owned());
        if let Some(number) = slot.number {
            self.numbers[number].found = true;
        }
        if let Some(text) = slot.text {
            self.texts[text].found = true;
        }
        self.quick[quick].get_or_insert_with(|| (key.into(), slot));
        slot
    }

    /// The column of numbers that the key would have, without listing the key.
    pub(super) fn wanted_number(&self, key: &str) -> Option<usize> {
        self.slots.get(key.as_bytes())?.slot.number
    }

    /// Whether the key has a column, without listing it.
    pub(super) fn is_wanted(&self, key: &[u8]) -> bool {
        self.slots.get(key).is_some_and(|known| known.slot != Slot::default())
    }

    /// Whether the column of names already holds one in this row.
    pub(super) fn holds_name(&self, text: usize, row: u32) -> bool {
        self.texts[text].column.cells.last().is_some_and(|(last, _)| *last == row)
    }

    /// Whether the column already holds a value in this row.
    pub(super) fn holds(&self, number: usize, row: u32) -> bool {
        self.numbers[number].column.rows.last() == Some(&row)
    }

    /// Logs a number; a later one of the same row takes the place of the earlier.
    pub(super) fn log(&mut self, number: usize, row: u32, value: f64) {
        let NumberColumn { column, found } = &mut self.numbers[number];
        *found = true;
        if column.rows.last() == Some(&row) {
            column.values.pop();
        } else {
            column.rows.push(row);
        }
        column.values.push(value);
    }

    /// Keeps the first reason why a value of the column is no number.
    pub(super) fn refuse(&mut self, number: usize, reason: impl FnOnce() -> Error) {
        self.numbers[number].column.unreadable.get_or_insert_with(reason);
    }

    /// Logs a name; a later one of the same row takes the place of the earlier.
    pub(super) fn name(&mut self, text: usize, row: u32, name: &str) {
        let TextColumn { column, places, found } = &mut self.texts[text];
        *found = true;
        let place = match places.get(name) {
            Some(place) => *place,
            None => {
                let place = places.len() as u32;
                places.insert(name.to_owned(), place);
                column.names.push(name.to_owned());
                place
            }
        };
        column.cells.pop_if(|(last, _)| *last == row);
        column.cells.push((row, place));
    }

    /// The keys in the order found, and the columns that were found in the order wanted.
    pub(super) fn finish(self) -> (Vec<String>, Vec<Numbers>, Vec<Texts>) {
        let numbers = self.numbers.into_iter().filter(|number| number.found).map(|number| number.column);
        let texts = self.texts.into_iter().filter(|text| text.found).map(|text| text.column);
        (self.keys, numbers.collect(), texts.collect())
    }
}

const QUICK: usize = 256;

/// A place that most keys of one log do not share.
fn quick_place(key: &[u8]) -> usize {
    let ends = |at: Option<&u8>| at.copied().map_or(0, usize::from);
    (key.len() * 37 + ends(key.first()) * 5 + ends(key.last())) % QUICK
}

/// The number of the row that comes after so many.
pub(super) fn row_after(rows: usize) -> Result<u32> {
    u32::try_from(rows).map_err(|_| {
        let error = Error::format("too many rows in one history").found(rows);
        error.allowed(format_args!("at most {}", u32::MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        let keys = |keys: [&str; 2]| keys.map(str::to_owned).to_vec();
        Columns::new(&Wanted { numbers: keys(["b", "a"]), texts: keys(["a", "c"]), ..Wanted::default() })
    }

    #[test]
    fn keys_are_listed_once_in_the_order_found_and_columns_in_the_order_wanted() {
        let mut columns = columns();
        for key in ["x", "a", "x", "b", "a"] {
            columns.slot(key.as_bytes());
        }
        let (keys, numbers, texts) = columns.finish();
        assert_eq!(keys, ["x", "a", "b"]);
        assert_eq!(numbers.iter().map(|column| &column.key).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(texts.iter().map(|column| &column.key).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn the_last_value_of_a_row_stays() {
        let mut columns = columns();
        let slot = columns.slot(b"a");
        assert_eq!(slot, Slot { number: Some(1), text: Some(0) });
        for (row, value, name) in [(0, 1.0, "u"), (0, 2.0, "v"), (3, 4.0, "u")] {
            columns.log(1, row, value);
            columns.name(0, row, name);
        }
        assert!(columns.holds(1, 3) && !columns.holds(1, 0));
        let (_, numbers, texts) = columns.finish();
        assert_eq!((&numbers[0].rows[..], &numbers[0].values[..]), (&[0, 3][..], &[2.0, 4.0][..]));
        assert_eq!(
            (&texts[0].names[..], &texts[0].cells[..]),
            (&["u".to_owned(), "v".to_owned()][..], &[(0, 1), (3, 0)][..])
        );
    }

    #[test]
    fn the_first_reason_stays() {
        let mut columns = columns();
        columns.slot(b"b");
        columns.refuse(0, || Error::value("first"));
        columns.refuse(0, || Error::value("second"));
        assert_eq!(columns.finish().1[0].unreadable, Some(Error::value("first")));
    }
}
