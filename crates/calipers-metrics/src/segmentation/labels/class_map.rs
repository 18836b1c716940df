//! Label maps as class maps: every id translated through a table, every bad one noticed on the way.

use std::collections::BTreeMap;

use calipers_core::Result;

use crate::segmentation::labels::check::{bad_prediction, bad_truth};
use crate::segmentation::labels::{ClassId, Legend, Meaning};
use crate::segmentation::protocol::{Head, Segmentation};
use crate::segmentation::unit::{LabelMap, MapData};

/// The widest range of ids that is looked up by position.
const MOST_POSITIONS: u64 = 1 << 16;

/// Pixels that are looked up at once where they are of one id, as most of a map is.
const BLOCK: usize = 64;

/// The truth in global classes, [`ClassId::VOID`] where it is not scored.
pub fn truth_classes<T: ClassId>(protocol: &Segmentation, map: &LabelMap<'_>) -> Result<Vec<T>> {
    let legend = Legend::truth(protocol);
    translated(map, &legend).ok_or_else(|| bad_truth(protocol, map, &legend))
}

/// The truth, already known to be good, in the channels of a head.
pub(crate) fn head_truth<T: ClassId>(head: &Head, map: &LabelMap<'_>) -> Vec<T> {
    translated(map, &Legend::head_truth(head)).unwrap_or_default()
}

/// A predicted label map in global classes: one past the last where a scored pixel has no prediction,
/// [`ClassId::VOID`] where `truth` has it, unless bands keep void pixels.
pub(crate) fn predicted_classes<T: ClassId>(
    protocol: &Segmentation,
    head: &Head,
    map: &LabelMap<'_>,
    truth: &[T],
) -> Result<Vec<T>> {
    let scored = Legend::scored(protocol, head);
    let unscored = protocol.conventions.keep_void_in_bands.then(|| Legend::unscored(protocol, head));
    let classes = match map.data {
        MapData::U8(ids) => translate_masked(ids, truth, &scored, unscored.as_ref()),
        MapData::U16(ids) => translate_masked(ids, truth, &scored, unscored.as_ref()),
        MapData::I64(ids) => translate_masked(ids, truth, &scored, unscored.as_ref()),
    };
    classes.ok_or_else(|| bad_prediction(protocol, head, map, truth))
}

fn translated<T: ClassId>(map: &LabelMap<'_>, legend: &Legend) -> Option<Vec<T>> {
    match map.data {
        MapData::U8(ids) => translate(ids, legend),
        MapData::U16(ids) => translate(ids, legend),
        MapData::I64(ids) => translate(ids, legend),
    }
}

/// `None` when an id is bad.
fn translate<T: ClassId, R: RawId>(ids: &[R], legend: &Legend) -> Option<Vec<T>> {
    let table = Table::new::<R>(legend);
    let mut bad = false;
    let mut look = |id: R| {
        let entry = id.entry(&table);
        bad |= entry.bad;
        entry.class
    };
    let mut classes = Vec::with_capacity(ids.len());
    for block in ids.chunks(BLOCK) {
        match one_value(block) {
            Some(id) => classes.resize(classes.len() + block.len(), look(id)),
            None => classes.extend(block.iter().map(|&id| look(id))),
        }
    }
    (!bad).then_some(classes)
}

/// `None` when an id is bad at a pixel that is looked at.
fn translate_masked<T: ClassId, R: RawId>(
    ids: &[R],
    truth: &[T],
    scored: &Legend,
    unscored: Option<&Legend>,
) -> Option<Vec<T>> {
    let scored = Table::new::<R>(scored);
    let unscored = unscored.map(|legend| Table::new::<R>(legend));
    let never_read = Entry { class: T::VOID, bad: false };
    let mut bad = false;
    let mut look = |id: R, truth: T| {
        let entry = if truth != T::VOID {
            id.entry(&scored)
        } else {
            unscored.as_ref().map_or(never_read, |table| id.entry(table))
        };
        bad |= entry.bad;
        entry.class
    };
    let mut classes = Vec::with_capacity(ids.len());
    for (block, truth) in ids.chunks(BLOCK).zip(truth.chunks(BLOCK)) {
        match (one_value(block), one_value(truth)) {
            (Some(id), Some(truth)) => classes.resize(classes.len() + block.len(), look(id, truth)),
            _ => classes.extend(block.iter().zip(truth).map(|(&id, &truth)| look(id, truth))),
        }
    }
    (!bad).then_some(classes)
}

/// The value of a block that holds no other.
fn one_value<V: Copy + Eq>(block: &[V]) -> Option<V> {
    let first = *block.first()?;
    // Without leaving early, which would be slower.
    let is_other = block.iter().fold(false, |any, value| any | (*value != first));
    (!is_other).then_some(first)
}

#[derive(Clone, Copy)]
struct Entry<T> {
    class: T,
    bad: bool,
}

impl<T: ClassId> Entry<T> {
    fn new(meaning: Meaning, classes: usize) -> Self {
        let class = match meaning {
            Meaning::Class(class) => T::new(class),
            Meaning::NoPrediction => T::new(classes),
            Meaning::Void | Meaning::Bad => T::VOID,
        };
        Self { class, bad: meaning == Meaning::Bad }
    }
}

/// A legend by position: the ids from `first` on.
struct Table<T> {
    first: i64,
    entries: Vec<Entry<T>>,
    /// Ids that lie too far apart for positions.
    scattered: BTreeMap<i64, Entry<T>>,
    other: Entry<T>,
}

impl<T: ClassId> Table<T> {
    fn new<R: RawId>(legend: &Legend) -> Self {
        let entry = |&meaning: &Meaning| Entry::new(meaning, legend.classes);
        let ends = (legend.known.first_key_value(), legend.known.last_key_value());
        let (first, length) = match (R::EVERY, ends) {
            (Some(every), _) => (0, every),
            (None, (Some((&first, _)), Some((&last, _)))) if last.abs_diff(first) < MOST_POSITIONS => {
                (first, last.abs_diff(first) as usize + 1)
            }
            _ => (0, 0),
        };
        let other = entry(&legend.other);
        let mut table = Self { first, entries: vec![other; length], scattered: BTreeMap::new(), other };
        for (&id, meaning) in &legend.known {
            match usize::try_from(id.wrapping_sub(first)).ok().and_then(|at| table.entries.get_mut(at)) {
                Some(place) => *place = entry(meaning),
                None => _ = table.scattered.insert(id, entry(meaning)),
            }
        }
        table
    }
}

/// The pixel type of a label map.
trait RawId: Copy + Eq {
    /// How many ids there are, where a table may hold them all.
    const EVERY: Option<usize>;

    fn entry<T: ClassId>(self, table: &Table<T>) -> Entry<T>;
}

impl RawId for u8 {
    const EVERY: Option<usize> = Some(1 << 8);

    fn entry<T: ClassId>(self, table: &Table<T>) -> Entry<T> {
        table.entries[usize::from(self)]
    }
}

impl RawId for u16 {
    const EVERY: Option<usize> = Some(1 << 16);

    fn entry<T: ClassId>(self, table: &Table<T>) -> Entry<T> {
        table.entries[usize::from(self)]
    }
}

impl RawId for i64 {
    const EVERY: Option<usize> = None;

    fn entry<T: ClassId>(self, table: &Table<T>) -> Entry<T> {
        let position = usize::try_from(self.wrapping_sub(table.first)).ok();
        match position.and_then(|at| table.entries.get(at)) {
            Some(&entry) => entry,
            None => table.scattered.get(&self).copied().unwrap_or(table.other),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::segmentation::protocol::config::Config;

    fn protocol(config: serde_json::Value) -> Segmentation {
        serde_json::from_value::<Config>(config).unwrap().resolve().unwrap()
    }

    /// Sparse and negative ids, one of them ignored.
    fn streets(head: serde_json::Value) -> Segmentation {
        protocol(json!({
            "labels": {"original": {"7": "road", "8": "kerb", "-1": "plate", "1000000": "sky"},
                       "global": ["flat", "sky"], "groups": {"flat": ["road", "kerb"]}, "ignore": ["plate", 255]},
            "heads": [head],
        }))
    }

    fn row<'a>(data: MapData<'a>, width: usize) -> LabelMap<'a> {
        LabelMap { height: 1, width, data }
    }

    fn truth(protocol: &Segmentation, ids: &[i64]) -> Result<Vec<u8>> {
        truth_classes(protocol, &row(MapData::I64(ids), ids.len()))
    }

    fn predicted(protocol: &Segmentation, ids: &[i64]) -> Result<Vec<u8>> {
        predicted_classes(
            protocol,
            &protocol.heads[0],
            &row(MapData::I64(ids), ids.len()),
            &vec![0; ids.len()],
        )
    }

    #[test]
    fn sparse_and_negative_ids_become_classes() {
        let streets = streets(json!({"name": "h", "kind": "labels"}));
        assert_eq!(truth(&streets, &[7, 1_000_000, -1, 8, 255]).unwrap(), [0, 1, 255, 0, 255]);
        for id in [6, 9, 0, -2, i64::MIN, i64::MAX, 999_999] {
            let text = truth(&streets, &[7, id]).unwrap_err().to_string();
            assert!(text.contains(&format!("id {id};")) && text.contains("x = 1, y = 0"), "{text}");
        }
    }

    #[test]
    fn an_unknown_truth_id_is_named_with_place_count_and_what_to_do() {
        let numbered = protocol(json!({"labels": {"original": ["a", "b", "c"], "ignore": [255]}}));
        let map = LabelMap { height: 2, width: 3, data: MapData::U8(&[0, 1, 2, 255, 9, 8]) };
        let text = truth_classes::<u8>(&numbered, &map).unwrap_err().to_string();
        for word in ["id 9", "x = 1, y = 1", "2 pixel(s)", "0 to 2", "ignored 255", "--ignore 9"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(!text.contains("mask"), "{text}");
    }

    #[test]
    fn a_mask_of_0_and_255_is_recognised() {
        let two = protocol(json!({"labels": {"original": ["a", "b"]}}));
        for ids in [&[0u8, 255, 0][..], &[255, 255, 255]] {
            let text = truth_classes::<u8>(&two, &row(MapData::U8(ids), 3)).unwrap_err().to_string();
            assert!(text.contains("looks like a 0/255 mask") && text.contains("--ignore 255"), "{text}");
        }
        let text = truth_classes::<u8>(&two, &row(MapData::U8(&[0, 255, 1]), 3)).unwrap_err().to_string();
        assert!(!text.contains("mask"), "{text}");
    }

    #[test]
    fn predictions_are_read_in_each_of_the_three_spaces() {
        let original = streets(json!({"name": "h", "kind": "labels"}));
        assert_eq!(predicted(&original, &[7, 8, 1_000_000]).unwrap(), [0, 0, 1]);
        let global = streets(json!({"name": "h", "kind": "labels", "space": "global"}));
        assert_eq!(predicted(&global, &[0, 1]).unwrap(), [0, 1]);
        assert!(predicted(&global, &[2]).is_err());
        let channel = streets(json!({"name": "h", "kind": "labels", "space": "channel",
            "channels": ["sky", "-", "kerb", "road"]}));
        assert_eq!(predicted(&channel, &[0, 2, 3]).unwrap(), [1, 0, 0]);
        for (id, word) in [(1, "unknown id"), (4, "unknown id"), (-1, "ignored value")] {
            let text = predicted(&channel, &[id]).unwrap_err().to_string();
            assert!(text.contains(word) && text.contains("channel ids 0, 2, 3"), "{text}");
        }
    }

    #[test]
    fn a_channel_that_stands_for_no_class_is_unknown() {
        let empty_rest = streets(json!({"name": "h", "kind": "labels", "space": "channel",
            "channels": ["sky", "near", "nothing"], "groups": {"near": ["road", "kerb"]}, "rest": "nothing"}));
        assert_eq!(predicted(&empty_rest, &[0, 1]).unwrap(), [1, 0]);
        let text = predicted(&empty_rest, &[1, 2]).unwrap_err().to_string();
        assert!(text.contains("id 2;") && text.contains("channel ids 0, 1"), "{text}");
    }

    #[test]
    fn originals_that_a_head_cannot_predict_are_not_scored_there() {
        let streets = streets(json!({"name": "h", "channels": ["kerb", "sky"], "absent": ["road"]}));
        let map = row(MapData::I64(&[7, 8, 1_000_000, -1, 255]), 5);
        assert_eq!(head_truth::<u8>(&streets.heads[0], &map), [255, 0, 1, 255, 255]);
    }

    #[test]
    fn truth_may_be_given_in_global_ids() {
        let mut streets = streets(json!({"name": "h", "kind": "labels"}));
        streets.truth_space = crate::segmentation::protocol::Space::Global;
        assert_eq!(truth(&streets, &[0, 1, 255, -1]).unwrap(), [0, 1, 255, 255]);
        assert!(truth(&streets, &[7]).is_err());
    }
}
