//! Colour tables that data sets have published: which class a colour is, by number or by name.

use std::collections::BTreeMap;

use calipers_metrics::segmentation::LabelSpace;
use calipers_metrics::segmentation::labels::{CITYSCAPES, ClassRef};

/// A colour for each class.
pub(super) type Table = BTreeMap<[u8; 3], ClassRef>;

/// What Pascal VOC paints the rims of objects with.
const VOC_RIM: [u8; 3] = [224, 224, 192];

/// The tables that these classes may have been painted with, and what they are called, the more particular
/// first.
pub(super) fn tables(labels: &LabelSpace) -> Vec<(&'static str, Table)> {
    let tables = [
        ("ids as shades of grey", grey(labels)),
        ("Cityscapes", cityscapes(labels)),
        ("Pascal VOC", Some(voc(labels))),
    ];
    tables.into_iter().filter_map(|(name, table)| Some((name, table?))).collect()
}

pub(super) fn ignored() -> ClassRef {
    ClassRef::from("ignore")
}

/// An id of truth that is a byte.
fn bytes(labels: &LabelSpace) -> impl Iterator<Item = (u8, i64)> {
    let ids = labels.original.keys().chain(&labels.ignore);
    ids.filter_map(|id| Some((u8::try_from(*id).ok()?, *id)))
}

fn class(id: i64, labels: &LabelSpace) -> ClassRef {
    if labels.ignore.contains(&id) { ignored() } else { ClassRef::Id(id) }
}

/// Every id as a shade of grey.
fn grey(labels: &LabelSpace) -> Option<Table> {
    let table: Table = bytes(labels).map(|(byte, id)| ([byte; 3], class(id, labels))).collect();
    (!table.is_empty()).then_some(table)
}

/// By the names of the classes, else by train id where there are as many; black is everything else.
fn cityscapes(labels: &LabelSpace) -> Option<Table> {
    let has_name = |name: &str| labels.original.values().any(|original| original == name);
    let named = CITYSCAPES.iter().all(|(name, _)| has_name(name));
    let numbered = labels.to_global.keys().copied().eq(0..19);
    let class = |(id, (name, _)): (i64, &(&str, _))| match (named, numbered) {
        (true, _) => Some(ClassRef::from(*name)),
        (false, true) => Some(ClassRef::Id(id)),
        (false, false) => None,
    };
    let mut table = Table::from([([0; 3], ignored())]);
    for (id, entry) in (0..).zip(&CITYSCAPES) {
        table.insert(entry.1, class((id, entry))?);
    }
    Some(table)
}

/// The bits of the id in turn as the highest bits of red, green and blue, the next highest, and so on.
fn voc(labels: &LabelSpace) -> Table {
    let colour = |id: u8| {
        let mut colour = [0_u8; 3];
        for bit in 0..8 {
            colour[bit % 3] |= (id >> bit & 1) << (7 - bit / 3);
        }
        colour
    };
    let mut table: Table = bytes(labels).map(|(byte, id)| (colour(byte), class(id, labels))).collect();
    table.entry(VOC_RIM).or_insert_with(ignored);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_metrics::segmentation::config::{Config, LabelsConfig};
    use calipers_metrics::segmentation::labels::Originals;

    fn labels(classes: usize) -> LabelSpace {
        let ignore = vec![ClassRef::Id(255)];
        let labels =
            LabelsConfig { original: Some(Originals::numbered(classes)), ignore, ..LabelsConfig::default() };
        Config { labels, ..Config::default() }.resolve().unwrap().labels
    }

    #[test]
    fn voc_is_painted_as_it_was_published() {
        let table = voc(&labels(21));
        for (colour, id) in [([0, 0, 0], 0), ([128, 0, 0], 1), ([192, 128, 128], 15), ([0, 64, 128], 20)] {
            assert_eq!(table[&colour], ClassRef::Id(id), "{colour:?}");
        }
        assert_eq!((&table[&VOC_RIM], table.len()), (&ignored(), 22));
    }

    #[test]
    fn cityscapes_needs_its_names_or_its_number_of_classes() {
        assert_eq!(cityscapes(&labels(19)).unwrap()[&[0, 0, 142]], ClassRef::Id(13));
        assert!(cityscapes(&labels(21)).is_none());
    }
}
