//! What is wrong with a label map, said to the person who has to fix it.
//!
//! Nothing here is on the way of a good map: a translation that met a bad id asks which one it was.

use std::fmt::Write as _;

use calipers_core::Error;

use crate::segmentation::labels::{ClassId, Legend, Meaning};
use crate::segmentation::protocol::{Head, Segmentation, Space};
use crate::segmentation::unit::{LabelMap, MapData};

/// Ranges of ids that a message lists before it stops.
const MOST_RANGES: usize = 12;

/// The first id of a truth map that is neither a class nor ignored.
pub(crate) fn bad_truth(protocol: &Segmentation, map: &LabelMap<'_>, legend: &Legend) -> Error {
    let Found { at, id, pixels } = first_bad(map, |_, id| legend.meaning(id) == Meaning::Bad);
    let mut advice =
        format!("list {id} among the labels as a class, or leave its pixels out with --ignore {id}");
    let is_mask = id == 255 && ids(map).all(|id| id == 0 || id == 255);
    if is_mask {
        advice.push_str("; this looks like a 0/255 mask: a mask of two classes has the ids 0 and 1");
    }
    let classes = legend.known.iter().filter(|(_, meaning)| matches!(meaning, Meaning::Class(_)));
    let mut allowed = format!("classes {}", ranges(classes.map(|(&id, _)| id)));
    if !protocol.labels.ignore.is_empty() {
        let ignored = ranges(protocol.labels.ignore.iter().copied());
        _ = write!(allowed, "; ignored {ignored}");
    }
    Error::value("the truth holds an id that is neither a class nor ignored")
        .at(place(map, at))
        .found(format!("id {id}; such ids are at {pixels} pixel(s)"))
        .allowed(allowed)
        .advice(advice)
}

/// The first id of a predicted map that may not stand where it stands.
pub(crate) fn bad_prediction<T: ClassId>(
    protocol: &Segmentation,
    head: &Head,
    map: &LabelMap<'_>,
    truth: &[T],
) -> Error {
    let scored = Legend::scored(protocol, head);
    let unscored = protocol.conventions.keep_void_in_bands.then(|| Legend::unscored(protocol, head));
    let Found { at, id, pixels } = first_bad(map, |at, id| {
        let legend = if truth[at] == T::VOID { unscored.as_ref() } else { Some(&scored) };
        legend.is_some_and(|legend| legend.meaning(id) == Meaning::Bad)
    });
    let classes = scored.known.iter().filter(|(_, meaning)| matches!(meaning, Meaning::Class(_)));
    let allowed = format!("{} ids {}", space_name(head.space), ranges(classes.map(|(&id, _)| id)));
    let error = if protocol.labels.ignore.contains(&id) {
        Error::value("the prediction holds an ignored value at a scored pixel")
            .found(format!("{id}; such values are at {pixels} scored pixel(s)"))
            .advice("predict a class wherever truth is scored, or count such pixels as wrong with --unpredicted wrong")
    } else {
        let advice = if protocol.conventions.unknown_is_wrong {
            "check --space, or count such pixels as wrong with --unpredicted wrong"
        } else {
            "check --space: are these original ids, global ids or channels?"
        };
        Error::value("the prediction holds an unknown id")
            .found(format!("id {id}; such ids are at {pixels} pixel(s)"))
            .advice(advice)
    };
    error.at(place(map, at)).allowed(allowed)
}

struct Found {
    at: usize,
    id: i64,
    pixels: usize,
}

fn first_bad(map: &LabelMap<'_>, is_bad: impl Fn(usize, i64) -> bool) -> Found {
    let mut bad = ids(map).enumerate().filter(|&(at, id)| is_bad(at, id));
    let (at, id) = bad.next().unwrap_or_default();
    Found { at, id, pixels: 1 + bad.count() }
}

fn ids<'a>(map: &LabelMap<'a>) -> Box<dyn Iterator<Item = i64> + 'a> {
    match map.data {
        MapData::U8(ids) => Box::new(ids.iter().copied().map(i64::from)),
        MapData::U16(ids) => Box::new(ids.iter().copied().map(i64::from)),
        MapData::I64(ids) => Box::new(ids.iter().copied()),
    }
}

fn place(map: &LabelMap<'_>, at: usize) -> String {
    format!("x = {}, y = {}", at % map.width, at / map.width)
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Original => "original",
        Space::Global => "global",
        Space::Channel => "channel",
    }
}

/// Ascending ids as people write them: 0 to 3, 7, 9 to 11.
fn ranges(ids: impl Iterator<Item = i64>) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for id in ids {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(id) => *last = id,
            _ => ranges.push((id, id)),
        }
    }
    let named = ranges.iter().take(MOST_RANGES).map(|&(first, last)| match last.abs_diff(first) {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    });
    let text = named.collect::<Vec<_>>().join(", ");
    if ranges.len() > MOST_RANGES { format!("{text}, ..") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_ids_are_written_as_ranges() {
        let text = |ids: &[i64]| ranges(ids.iter().copied());
        assert_eq!(text(&[-1, 0, 1, 2, 7, 9, 10]), "-1 to 2, 7, 9, 10");
        assert_eq!(text(&[]), "");
        let even: Vec<i64> = (0..100).map(|id| 2 * id).collect();
        assert_eq!(text(&even), "0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, ..");
    }
}
