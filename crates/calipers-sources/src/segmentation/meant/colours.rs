//! What the colours of pictures stand for, as far as the pictures and what lies beside them tell.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use calipers_core::{Error, Retry};
use calipers_metrics::segmentation::LabelSpace;
use calipers_metrics::segmentation::labels::ClassRef;

use super::known_colours::{Table, ignored, tables};
use crate::inputs::Inputs;
use crate::segmentation::evidence::{Looked, Reader};
use crate::segmentation::plan::UnitPlan;
use crate::segmentation::rgb::Rule;
use crate::segmentation::side::{Place, Side};

/// The most colours that a message shows.
const COLOURS_SHOWN: usize = 6;
/// The most colours of a table that is proposed.
const MOST_COLOURS: usize = 256;
/// The most units that are looked at, spread evenly.
const MOST_UNITS: usize = 64;
/// The largest file of segments that is tried.
const MOST_BYTES: u64 = 128 << 20;
/// The file that a proposed table is written into.
const FILE: &str = "colours.toml";

type Colour = [u8; 3];

/// What is said of a picture of which nothing says what its colours stand for.
pub fn unexplained(pixels: &[Colour], reader: &Reader<'_>) -> Error {
    let error = without_table(pixels);
    match Evidence::of(reader).proposed() {
        Some((retry, Some(advice))) => error.advice(advice).again_with(retry),
        Some((retry, None)) => error.again_with(retry),
        None => error,
    }
}

/// What a configuration would have to say about the colours of a picture.
fn without_table(pixels: &[Colour]) -> Error {
    let colours: BTreeSet<Colour> = pixels.iter().copied().collect();
    let shown = || colours.iter().take(COLOURS_SHOWN).copied();
    let more = if colours.len() > COLOURS_SHOWN { ", .." } else { "" };
    let grey = colours.iter().all(|[red, green, blue]| red == green && green == blue);
    let entry = |colour: Colour| match grey {
        true => format!("\"{}\" = {}", hex(colour), colour[0]),
        false => format!("\"{}\" = \"CLASS\"", hex(colour)),
    };
    let entries: Vec<String> = shown().map(entry).collect();
    let found: Vec<String> = shown().map(hex).collect();
    Error::value("an RGB image is a label map only with a table of colours")
        .found(format!("mode RGB, {} colours: {}{more}", colours.len(), found.join(", ")))
        .allowed("grey or palette images, a class for each colour, or a rule")
        .advice(format!(
            "--truth-rgb and --pred-rgb know ids, panoptic:FILE and ade20k; else write labels.colors = {{ {}{more} }} into a file that ends in .toml, and give it first",
            entries.join(", ")
        ))
}

/// A colour as a configuration writes it.
pub fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// What some units of a run hold.
struct Evidence<'r> {
    reader: &'r Reader<'r>,
    /// By option, the colours of each picture on that side; empty where the side has ids.
    sides: Vec<(&'static str, &'r Side, Vec<Picture>)>,
    /// How many pixels of a colour have an id on the other side.
    beside: BTreeMap<Colour, BTreeMap<i64, u64>>,
}

/// The colours of one picture.
struct Picture {
    shown: String,
    colours: BTreeSet<Colour>,
}

impl<'r> Evidence<'r> {
    fn of(reader: &'r Reader<'r>) -> Self {
        let plan = reader.plan;
        let mut sides = vec![("--truth-rgb", &plan.truth, Vec::new())];
        sides.extend(plan.preds.iter().map(|pred| ("--pred-rgb", &pred.side, Vec::new())));
        let mut evidence = Self { reader, sides, beside: BTreeMap::new() };
        for unit in plan.units.iter().step_by(plan.units.len().div_ceil(MOST_UNITS).max(1)) {
            let places = std::iter::once(Some(&unit.truth)).chain(unit.preds.iter().map(Option::as_ref));
            let looked: Vec<Option<Looked>> = places
                .enumerate()
                .map(|(side, place)| place.and_then(|place| evidence.look(unit, side, place)))
                .collect();
            evidence.compare(&looked);
        }
        evidence
    }

    /// What the unit holds on one side; its colours are noted.
    fn look(&mut self, unit: &UnitPlan, side: usize, place: &Place) -> Option<Looked> {
        let (_, at, pictures) = &mut self.sides[side];
        let looked = self.reader.look(at, unit, place)?;
        if let Looked::Colours(pixels) = &looked {
            let shown = at.shown_place(unit.name.as_str(), place);
            pictures.push(Picture { shown, colours: pixels.iter().copied().collect() });
        }
        Some(looked)
    }

    /// Counts which ids lie where colours are.
    fn compare(&mut self, looked: &[Option<Looked>]) {
        let (Some(colours), Some(ids)) = (
            looked.iter().find_map(|side| match side {
                Some(Looked::Colours(pixels)) => Some(pixels),
                _ => None,
            }),
            looked.iter().find_map(|side| match side {
                Some(Looked::Ids(ids)) => Some(ids),
                _ => None,
            }),
        ) else {
            return;
        };
        if colours.len() == ids.len() {
            for (colour, id) in colours.iter().zip(ids) {
                *self.beside.entry(*colour).or_default().entry(*id).or_default() += 1;
            }
        }
    }

    /// What explains every colour of both sides, and what has to be said of it.
    fn proposed(&self) -> Option<(Retry, Option<String>)> {
        let (mut options, mut by_table) = (Vec::new(), BTreeSet::new());
        for (option, side, pictures) in self.sides.iter().filter(|(_, _, pictures)| !pictures.is_empty()) {
            match self.rule(side, pictures) {
                Some(rule) => options.push(format!("{option}={rule}")),
                None => by_table.extend(pictures.iter().flat_map(|picture| &picture.colours).copied()),
            }
        }
        if by_table.is_empty() {
            return (!options.is_empty()).then(|| (options.into(), None));
        }
        let (table, advice) = self.table(&by_table)?;
        let entries: Vec<String> = table
            .iter()
            .map(|(colour, class)| format!("\"{}\" = {}", hex(*colour), written(class)))
            .collect();
        options.insert(0, FILE.to_owned());
        let file = Some((FILE.to_owned(), format!("labels.colors = {{ {} }}", entries.join(", "))));
        Some((Retry { options, file }, Some(advice)))
    }

    fn labels(&self) -> &'r LabelSpace {
        &self.reader.protocol.labels
    }

    /// The rule under which all pictures of a side hold declared ids.
    fn rule(&self, side: &Side, pictures: &[Picture]) -> Option<String> {
        let labels = self.labels();
        let is_declared = |id: i64| labels.original.contains_key(&id) || labels.ignore.contains(&id);
        let unlabelled = labels.ignore.first().copied();
        let ids = |rule: &Rule| -> Option<BTreeSet<i64>> {
            let of_picture = |picture: &Picture| -> Option<Vec<i64>> {
                let of_image = rule.of_image(&picture.shown, unlabelled).ok()?;
                picture.colours.iter().map(|colour| of_image.id(*colour).ok()).collect()
            };
            let ids: Option<Vec<Vec<i64>>> = pictures.iter().map(of_picture).collect();
            Some(ids?.into_iter().flatten().collect())
        };
        // Dark colours are all class 0 by the rule of ADE20K, whatever they are.
        let tells =
            |rule: &Rule, ids: &BTreeSet<i64>| !matches!(rule, Rule::Ade20k) || ids.iter().any(|id| *id > 0);
        let explains = |rule: &Rule| {
            ids(rule).is_some_and(|ids| ids.iter().all(|id| is_declared(*id)) && tells(rule, &ids))
        };
        let words = std::iter::once("ids".to_owned()).chain(segment_files(&side.shown));
        let words = words.chain(["ade20k".to_owned()]);
        let read = |word: String| Some((Rule::read(&word, "", &Inputs::default()).ok()?, word));
        let mut rules = words.filter_map(read);
        rules.find(|(rule, _)| explains(rule)).map(|(_, word)| word)
    }

    /// A class for every colour, and where it comes from.
    fn table(&self, colours: &BTreeSet<Colour>) -> Option<(Table, String)> {
        let holds_all = |(_, table): &(_, Table)| colours.iter().all(|colour| table.contains_key(colour));
        if let Some((from, mut table)) = tables(self.labels()).into_iter().find(holds_all) {
            // What nothing is painted with makes no value an ignored one.
            table.retain(|colour, class| *class != ignored() || colours.contains(colour));
            return Some((table, format!("these are the colours of {from}; check the classes")));
        }
        if colours.len() > MOST_COLOURS {
            return None;
        }
        if !self.beside.is_empty() {
            let table = self.by_overlap(colours)?;
            let said = "each colour has the class that most of its pixels have on the other side; check them";
            return Some((table, said.to_owned()));
        }
        let classes = self.labels().to_global.keys();
        let painted = self.sides.iter().all(|(_, _, pictures)| !pictures.is_empty());
        let said = "both sides are read by one table, in the order of the colours; put the classes in yours";
        (painted && colours.len() <= classes.len()).then(|| {
            let table = colours.iter().copied().zip(classes.map(|id| ClassRef::Id(*id))).collect();
            (table, said.to_owned())
        })
    }

    /// The id that most pixels of a colour have, where no two colours share it.
    fn by_overlap(&self, colours: &BTreeSet<Colour>) -> Option<Table> {
        let (mut taken, mut table) = (BTreeSet::new(), Table::new());
        for colour in colours {
            let ids = self.beside.get(colour)?;
            let (id, most) = ids.iter().max_by_key(|(_, count)| **count)?;
            let is_most = 2 * most > ids.values().sum::<u64>();
            if !is_most || !taken.insert(*id) {
                return None;
            }
            let labels = self.labels();
            let class = match labels.ignore.contains(id) {
                true => ignored(),
                false => ClassRef::Id(*labels.original.get_key_value(id)?.0),
            };
            table.insert(*colour, class);
        }
        Some(table)
    }
}

fn written(class: &ClassRef) -> String {
    match class {
        ClassRef::Id(id) => id.to_string(),
        ClassRef::Name(name) => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// Files beside a folder of pictures that may list their segments.
fn segment_files(folder: &str) -> Vec<String> {
    let path = Path::new(folder);
    let parent = path.parent().unwrap_or(Path::new(""));
    let read = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let entries = std::fs::read_dir(read).into_iter().flatten().flatten();
    let small = entries.filter(|entry| entry.metadata().is_ok_and(|file| file.len() <= MOST_BYTES));
    let names = small.filter_map(|entry| entry.file_name().into_string().ok());
    let mut files: Vec<String> = names
        .filter(|name| name.ends_with(".json"))
        .map(|name| format!("panoptic:{}", parent.join(name).display()))
        .collect();
    files.sort_unstable();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_a_picture_become_entries_of_a_configuration() {
        let said = without_table(&[[128, 64, 128], [0, 0, 0]]).to_string();
        assert!(said.contains("2 colours: #000000, #804080"), "{said}");
        assert!(
            said.contains("labels.colors = { \"#000000\" = \"CLASS\", \"#804080\" = \"CLASS\" }"),
            "{said}"
        );
        let grey = without_table(&[[7, 7, 7], [7, 7, 7]]).to_string();
        assert!(grey.contains("{ \"#070707\" = 7 }"), "{grey}");
    }
}
