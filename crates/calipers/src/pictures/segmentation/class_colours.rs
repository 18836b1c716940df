//! A colour for each class: the one its label space has, else one of our own.

use calipers_core::Accumulator;
use calipers_core::provenance::Setting;
use calipers_metrics::segmentation::labels::{CITYSCAPES, ClassRef};
use calipers_metrics::segmentation::{LabelSpace, Segmentation};

/// Colours of classes that have none: neighbours differ in hue and lightness. They come again after the last.
const OWN: [[u8; 3]; 24] = [
    [0x4c, 0x88, 0xd3],
    [0xf5, 0x9d, 0x8a],
    [0x0f, 0x74, 0x5b],
    [0xb4, 0x87, 0xdd],
    [0xa8, 0x7f, 0x09],
    [0x5b, 0xc7, 0xea],
    [0x9c, 0x3e, 0x60],
    [0x75, 0xb1, 0x5e],
    [0x70, 0x7e, 0xd4],
    [0xef, 0xa3, 0x74],
    [0x06, 0x72, 0x6e],
    [0xc9, 0x80, 0xc8],
    [0x92, 0x8a, 0x07],
    [0x75, 0xc0, 0xf8],
    [0xa0, 0x3e, 0x43],
    [0x4a, 0xb6, 0x7e],
    [0x8d, 0x74, 0xcc],
    [0xe2, 0xac, 0x64],
    [0x07, 0x70, 0x7e],
    [0xd8, 0x7b, 0xad],
    [0x74, 0x93, 0x31],
    [0x92, 0xb7, 0xfe],
    [0x9e, 0x44, 0x21],
    [0x1a, 0xb7, 0x9e],
];

/// The colours of all classes.
pub(super) struct ClassColours(Vec<Option<[u8; 3]>>);

impl ClassColours {
    pub(super) fn new(rows: &Accumulator<Segmentation>) -> Self {
        let labels = &rows.protocol().labels;
        let mut colours = vec![None; labels.global.len()];
        let written = rows.provenance.readings.iter().filter_map(|reading| reading.get("colors"));
        for setting in written {
            let Setting::List(lines) = setting else { continue };
            for (colour, id) in lines.iter().filter_map(|line| parsed(line, labels)) {
                give(&mut colours, labels, id, colour);
            }
        }
        let street =
            |name: &String| CITYSCAPES.iter().find(|(known, _)| known == name).map(|(_, colour)| *colour);
        let known: Vec<Option<[u8; 3]>> = labels.global.iter().map(street).collect();
        // A few of the names are a chance; most of them are that label space.
        if 4 * known.iter().flatten().count() >= 3 * CITYSCAPES.len() {
            colours.iter_mut().zip(known).for_each(|(colour, known)| *colour = colour.or(known));
        }
        Self(colours)
    }

    /// The colour of a class.
    pub(super) fn of(&self, class: usize) -> [u8; 3] {
        self.0.get(class).copied().flatten().unwrap_or(OWN[class % OWN.len()])
    }
}

fn give(colours: &mut [Option<[u8; 3]>], labels: &LabelSpace, id: i64, colour: [u8; 3]) {
    if let Some(&class) = labels.to_global.get(&id)
        && colours[class].is_none()
    {
        colours[class] = Some(colour);
    }
}

/// A line `#rrggbb = class` of the reading: the colour and the original id.
fn parsed(line: &str, labels: &LabelSpace) -> Option<([u8; 3], i64)> {
    let (colour, class) = line.split_once(" = ")?;
    let value = u32::from_str_radix(colour.strip_prefix('#')?, 16).ok()?;
    let [_, red, green, blue] = value.to_be_bytes();
    let named = |name: &str| labels.original.iter().find(|(_, known)| *known == name).map(|(id, _)| *id);
    let id = match class.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) => named(plain)?,
        None => match ClassRef::from(class) {
            ClassRef::Id(id) => id,
            ClassRef::Name(name) => named(&name)?,
        },
    };
    Some(([red, green, blue], id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_a_known_label_space_have_its_colours() {
        let mut protocol = Segmentation::default();
        protocol.labels.global = CITYSCAPES.iter().map(|(name, _)| String::from(*name)).collect();
        let colours = ClassColours::new(&Accumulator::new(protocol));
        assert_eq!(colours.of(0), [128, 64, 128]);
        let mut two = Segmentation::default();
        two.labels.global = vec!["road".into(), "other".into()];
        assert_eq!(ClassColours::new(&Accumulator::new(two)).of(0), OWN[0]);
    }

    #[test]
    fn a_class_has_the_colour_that_the_reading_gives_it() {
        let mut rows = Accumulator::new(Segmentation::default());
        assert_eq!(ClassColours::new(&rows).of(1), OWN[1]);
        assert_eq!(ClassColours::new(&rows).of(25), OWN[1]);
        let lines = vec!["#804080 = 1".into(), "nonsense".into(), "#zz = 0".into()];
        let reading = [("colors".to_owned(), Setting::List(lines))].into_iter().collect();
        rows.provenance.readings.insert(reading);
        assert_eq!(ClassColours::new(&rows).of(1), [0x80, 0x40, 0x80]);
        assert_eq!(ClassColours::new(&rows).of(0), OWN[0]);
    }
}
