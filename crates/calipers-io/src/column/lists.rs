//! Lists of lists as arrays: what the levels of a parquet column say of one row.
//!
//! Every entry of a column has two levels. The repetition level `r` says that it goes on in the list of depth
//! `r`; 0 begins a row. The definition level says how deep the row goes: to a value, to an empty list, or to
//! a null. A row is an array where all lists of one depth have one length.

use calipers_core::{Error, Result};

/// What the definition levels of a column mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Levels {
    /// That of a value.
    pub(super) value: i16,
    /// From which on the list of each depth has an element.
    pub(super) lists: Vec<i16>,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A value, to be taken from those of the column.
    Value,
    /// An empty list.
    Empty,
    /// The whole row is null.
    Null,
}

/// The shape of the row that is being read.
#[derive(Default)]
pub(super) struct Shape {
    /// The length that all lists of each depth have.
    lengths: Vec<Option<u64>>,
    /// How long the list of each depth that is read now has become.
    open: Vec<Option<u64>>,
}

impl Shape {
    /// A row of which nothing is read yet.
    pub(super) fn new(depth: usize) -> Self {
        Self { lengths: vec![None; depth], open: vec![None; depth] }
    }

    /// Takes the next entry.
    pub(super) fn take(&mut self, repetition: i16, definition: i16, levels: &Levels) -> Result<Entry> {
        let present = levels.lists.iter().filter(|least| definition >= **least).count();
        let depth = levels.lists.len();
        // The list of depth `r` goes on; those inside it are complete.
        let goes_on = usize::try_from(repetition).unwrap_or(0);
        self.close(goes_on)?;
        if let Some(open) = goes_on.checked_sub(1).and_then(|at| self.open.get_mut(at)) {
            *open = open.map(|length| length + 1);
        }
        self.open[goes_on..present.max(goes_on)].fill(Some(1));
        if present == depth {
            return if definition == levels.value { Ok(Entry::Value) } else { Err(null_inside()) };
        }
        if definition + 1 == levels.lists[present] {
            self.open[present] = Some(0);
            return Ok(Entry::Empty);
        }
        if present == 0 { Ok(Entry::Null) } else { Err(null_inside()) }
    }

    /// The length of each axis, once the row has ended.
    pub(super) fn finish(mut self) -> Result<Vec<u64>> {
        self.close(0)?;
        // Nothing says how long lists are that no list holds.
        Ok(self.lengths.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Ends the lists below a depth.
    fn close(&mut self, depth: usize) -> Result<()> {
        for (length, open) in self.lengths.iter_mut().zip(&mut self.open).skip(depth) {
            let Some(open) = open.take() else { continue };
            let known = *length.get_or_insert(open);
            if known != open {
                return Err(Error::value("the lists of a row have different lengths")
                    .found(format!("{known} and {open} elements"))
                    .allowed("lists of one length, as the rows of an array are")
                    .advice("write every row as one array"));
            }
        }
        Ok(())
    }
}

fn null_inside() -> Error {
    Error::value("a list holds a null").allowed("a number").advice("write the rows without nulls")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `optional list of optional list of optional numbers`, as pyarrow writes it.
    fn levels() -> Levels {
        Levels { value: 5, lists: vec![2, 4] }
    }

    fn shape(entries: &[(i16, i16)]) -> Result<(Vec<u64>, Vec<Entry>)> {
        let mut shape = Shape::new(2);
        let taken = entries.iter().map(|(r, d)| shape.take(*r, *d, &levels())).collect::<Result<_>>()?;
        Ok((shape.finish()?, taken))
    }

    #[test]
    fn lists_of_one_length_are_an_array() {
        let (shape, taken) = shape(&[(0, 5), (2, 5), (2, 5), (1, 5), (2, 5), (2, 5)]).unwrap();
        assert_eq!((shape, taken), (vec![2, 3], vec![Entry::Value; 6]));
    }

    #[test]
    fn empty_lists_have_no_elements() {
        assert_eq!(shape(&[(0, 1)]).unwrap(), (vec![0, 0], vec![Entry::Empty]));
        assert_eq!(shape(&[(0, 3), (1, 3)]).unwrap(), (vec![2, 0], vec![Entry::Empty; 2]));
        assert_eq!(shape(&[(0, 0)]).unwrap(), (vec![0, 0], vec![Entry::Null]));
    }

    #[test]
    fn ragged_lists_and_nulls_inside_are_refused() {
        for (entries, words) in [
            (&[(0, 5), (2, 5), (1, 5)][..], "2 and 1 elements"),
            (&[(0, 5), (1, 3)], "1 and 0 elements"),
            (&[(0, 5), (2, 4)], "holds a null"),
            (&[(0, 2)], "holds a null"),
        ] {
            let error = shape(entries).unwrap_err().to_string();
            assert!(error.contains(words), "{entries:?}: {error}");
        }
    }
}
