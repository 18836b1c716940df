//! A batched file: where each of its units begins and ends in the arrays they share.

use std::collections::BTreeMap;
use std::ops::Range;

use calipers_core::{Error, Result};

use super::keys::{MASK_PTR, PTR, Role, base, role};
use super::stored::{Stored, Values};

/// The boundaries of the units.
#[derive(Debug)]
pub(super) struct Cuts {
    units: usize,
    instances: Option<Vec<usize>>,
    elements: Option<Vec<usize>>,
}

impl Cuts {
    /// Takes `ptr` and `mask_ptr`, and holds them against the names and every array they cut.
    pub(super) fn new(
        names: Option<usize>,
        pointers: [Option<Stored>; 2],
        arrays: &BTreeMap<String, Stored>,
    ) -> Result<Self> {
        let mut units = names.map(|names| (names, format!("`unit` has {}", counted(names, "name"))));
        let mut boundaries = [None, None];
        for ((key, pointer), place) in [PTR, MASK_PTR].into_iter().zip(pointers).zip(&mut boundaries) {
            let Some(pointer) = pointer else { continue };
            let found = offsets(key, &pointer)?;
            let says = format!("`{key}` has {} units", found.len() - 1);
            match &units {
                Some((count, other)) if *count != found.len() - 1 => {
                    return Err(Error::value(format!("{other}, {says}"))
                        .at(format!("key {key}"))
                        .found(format!("{} entries", found.len()))
                        .allowed(format!("{} entries, one more than there are units", count + 1)));
                }
                _ => units = Some((found.len() - 1, says)),
            }
            *place = Some(found);
        }
        let [instances, elements] = boundaries;
        let cuts = Self { units: units.map_or(0, |(units, _)| units), instances, elements };
        arrays.iter().try_for_each(|(key, array)| cuts.check(key, &array.shape))?;
        Ok(cuts)
    }

    /// How many units there are.
    pub(super) fn units(&self) -> usize {
        self.units
    }

    /// What a unit has of an array.
    pub(super) fn part(&self, key: &str, array: &Stored, unit: usize) -> Stored {
        match role(key) {
            Some(Role::Instances(axis)) => array.cut(axis, self.instances_of(unit)),
            Some(Role::Elements(axes)) => match &self.elements {
                Some(elements) => array.cut(axes - 1, elements[unit]..elements[unit + 1]),
                None => array.clone(),
            },
            // Without a boundary nobody knows whose edges these are.
            Some(Role::Edges) => match (&self.elements, array.shape.as_slice()) {
                (Some(elements), &[2, edges]) if elements.last() == Some(&edges) => {
                    array.cut(1, elements[unit]..elements[unit + 1])
                }
                _ => Stored::nothing(),
            },
            _ => array.clone(),
        }
    }

    /// Without `ptr` every unit has one instance.
    fn instances_of(&self, unit: usize) -> Range<usize> {
        self.instances.as_ref().map_or(unit..unit + 1, |starts| starts[unit]..starts[unit + 1])
    }

    fn check(&self, key: &str, shape: &[usize]) -> Result<()> {
        let bad = |what: String| Error::value(what).at(format!("key {key}"));
        let shown = format!("`{key}` has shape {shape:?}");
        match role(key) {
            Some(Role::Instances(axis)) => {
                let Some(&length) = shape.get(axis) else {
                    return Err(bad(format!("{shown}; an axis of instances is needed")));
                };
                match &self.instances {
                    Some(starts) => ends_at(PTR, starts, key, length, "instance"),
                    None if length == self.units => Ok(()),
                    None => Err(bad(format!(
                        "`{key}` has {}, the file has {}",
                        counted(length, "instance"),
                        counted(self.units, "unit")
                    ))
                    .advice("say with `ptr` which instances belong to which unit")),
                }
            }
            Some(Role::Elements(_)) if base(key) != key => {
                Err(bad(format!("`{key}` is a mask by type, which a batched file cannot hold"))
                    .advice("write one file per unit"))
            }
            Some(Role::Elements(axes)) => match &self.elements {
                None => Err(bad(format!("`{key}` in a batched file needs `mask_ptr`"))),
                Some(_) if shape.len() != axes => {
                    let allowed =
                        if axes == 1 { "one axis of elements" } else { "two axes, the last of elements" };
                    Err(bad(shown).allowed(allowed).advice("flatten the masks of all units"))
                }
                Some(starts) => ends_at(MASK_PTR, starts, key, shape[axes - 1], "element"),
            },
            Some(Role::Single) => Err(bad(format!("`{key}` is not allowed in a batched file"))
                .advice("write one file or one JSON object a unit")),
            Some(Role::Shared | Role::Edges) | None => Ok(()),
        }
    }
}

/// Boundaries as places, ascending from 0.
fn offsets(key: &str, pointer: &Stored) -> Result<Vec<usize>> {
    let bad = |what: String| Error::value(what).at(format!("key {key}"));
    let (Values::Int(entries), [_]) = (&pointer.values, pointer.shape.as_slice()) else {
        return Err(bad(format!("`{key}` is no list of integers")).allowed("integers [U+1] for U units"));
    };
    if entries.is_empty() {
        return Err(bad(format!("`{key}` has no entries")).allowed("integers [U+1] for U units"));
    }
    let mut before = 0;
    let mut starts = Vec::with_capacity(entries.len());
    for (place, &entry) in entries.iter().enumerate() {
        if place == 0 && entry != 0 {
            return Err(bad(format!("`{key}` entry 0 is {entry}; it must be 0")));
        }
        let start = usize::try_from(entry).ok().filter(|start| *start >= before);
        before = start.ok_or_else(|| {
            bad(format!("`{key}` entry {place} is {entry}, below entry {} ({before})", place.max(1) - 1))
        })?;
        starts.push(before);
    }
    Ok(starts)
}

fn ends_at(pointer: &str, starts: &[usize], key: &str, length: usize, what: &str) -> Result<()> {
    let last = starts.len() - 1;
    if starts[last] == length {
        return Ok(());
    }
    Err(Error::value(format!(
        "`{pointer}` entry {last} is {}; `{key}` has {}",
        starts[last],
        counted(length, what)
    ))
    .at(format!("key {pointer}"))
    .allowed(length))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(shape: &[usize], values: &[i64]) -> Stored {
        Stored { shape: shape.to_vec(), values: Values::Int(values.to_vec().into()) }
    }

    fn list(values: &[i64]) -> Stored {
        ints(&[values.len()], values)
    }

    #[test]
    fn units_are_cut_out_of_every_axis_that_counts_them() {
        let arrays: BTreeMap<String, Stored> = [
            ("y", list(&[0, 1, 2])),
            ("y_sub_sweep", ints(&[2, 3], &[0, 1, 2, 3, 4, 5])),
            ("target_masks", ints(&[2, 4], &[0, 1, 2, 3, 4, 5, 6, 7])),
            ("edge_index", ints(&[2, 4], &[0, 1, 2, 0, 1, 2, 0, 1])),
            ("x", list(&[1, 2])),
        ]
        .map(|(key, array)| (key.to_owned(), array))
        .into();
        let pointers = [Some(list(&[0, 0, 3])), Some(list(&[0, 3, 4]))];
        let cuts = Cuts::new(Some(2), pointers, &arrays).unwrap();
        let part = |key: &str, unit: usize| cuts.part(key, &arrays[key], unit);
        assert_eq!(part("y", 0), list(&[]));
        assert_eq!(part("y", 1), list(&[0, 1, 2]));
        assert_eq!(part("y_sub_sweep", 1), ints(&[2, 3], &[0, 1, 2, 3, 4, 5]));
        assert_eq!(part("target_masks", 1), ints(&[2, 1], &[3, 7]));
        assert_eq!(part("edge_index", 1), ints(&[2, 1], &[0, 1]));
        assert_eq!(part("x", 0), list(&[1, 2]));
    }

    #[test]
    fn bad_boundaries_show_key_entry_and_value() {
        let refusal = |pointer: Stored, names: Option<usize>| {
            let arrays = [("pred_mask".to_owned(), list(&[1, 1, 0]))].into();
            Cuts::new(names, [None, Some(pointer)], &arrays).unwrap_err().to_string()
        };
        for (pointer, names, words) in [
            (list(&[1, 3]), None, "`mask_ptr` entry 0 is 1"),
            (list(&[-1, 3]), None, "`mask_ptr` entry 0 is -1"),
            (list(&[0, 2, 1, 3]), None, "`mask_ptr` entry 2 is 1, below entry 1 (2)"),
            (list(&[0, 2, -5]), None, "`mask_ptr` entry 2 is -5"),
            (list(&[0, 2]), None, "`mask_ptr` entry 1 is 2; `pred_mask` has 3 elements"),
            (list(&[0, 2, 3]), Some(1), "`unit` has 1 name, `mask_ptr` has 2 units"),
            (list(&[]), None, "no entries"),
            (ints(&[1, 2], &[0, 3]), None, "no list of integers"),
        ] {
            let error = refusal(pointer, names);
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}
