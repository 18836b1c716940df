//! Units in JSON: one object, an array of them, or one per line.

use std::collections::BTreeMap;

use calipers_core::Error;
use calipers_io::limits;
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::json_array::ArraySeed;
use super::keys::UNIT;
use super::record::{Record, Unit, is_read};
use super::stored::Stored;

/// A record and where it stands in its file.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) place: Option<String>,
    pub(super) record: Record,
}

/// The records of a `.json` file: an object, or an array of named objects.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Placed>, Error> {
    let bytes = without_mark(bytes);
    let mut at = At::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        let raw = RecordSeed(&mut at).deserialize(&mut reader).and_then(|raw| reader.end().map(|()| raw));
        let record = raw.map_err(|error| refused(&error, 1, &at)).and_then(Raw::record)?;
        return Ok(vec![Placed { place: None, record }]);
    }
    let raws = ArrayOfRecords(&mut at).deserialize(&mut reader).and_then(|raws| reader.end().map(|()| raws));
    let raws = raws.map_err(|error| refused(&error, 1, &at))?;
    let placed = raws.into_iter().enumerate().map(|(i, raw)| named(raw, format!("record {}", i + 1)));
    placed.collect()
}

/// Is told of a line that is no record, with its unit where it says one and its number, and decides whether the
/// others count.
type LeaveOut<'a> = dyn Fn(Option<&str>, usize, Error) -> Result<(), Error> + 'a;

/// The records of a `.jsonl` file or stream: a named object on every line that is not blank.
pub(super) fn parse_lines(bytes: &[u8], leave_out: &LeaveOut<'_>) -> Result<Vec<Placed>, Error> {
    let (mut placed, mut records) = (Vec::new(), 0);
    for (number, line) in (1..).zip(without_mark(bytes).split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        if line.len() > limits::LINE {
            return Err(Error::format("a line is too long")
                .at(format!("line {number}"))
                .found(format!("{} bytes", line.len()))
                .allowed(format!("at most {} bytes", limits::LINE)));
        }
        records += 1;
        let mut at = At::default();
        let mut reader = serde_json::Deserializer::from_slice(line);
        let raw = RecordSeed(&mut at).deserialize(&mut reader).and_then(|raw| reader.end().map(|()| raw));
        let raw = raw.map_err(|error| refused(&error, number, &at));
        match raw.and_then(|raw| named(raw, format!("record {records}, line {number}"))) {
            Ok(record) => placed.push(record),
            Err(error) => leave_out(unit_of(line).as_deref(), number, error)?,
        }
    }
    Ok(placed)
}

/// The unit that a line names, although it is no record.
fn unit_of(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        unit: String,
    }
    let whole = serde_json::from_slice::<Named>(line).ok().map(|named| named.unit);
    whole.or_else(|| {
        // A line that is cut short mostly begins with the name.
        let text = std::str::from_utf8(line).ok()?.trim_start().strip_prefix('{')?.trim_start();
        let value = text.strip_prefix("\"unit\"")?.trim_start().strip_prefix(':')?;
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
        values.next()?.ok()
    })
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn named(raw: Raw, place: String) -> Result<Placed, Error> {
    let record = raw.record().map_err(|error| error.at(&place))?;
    if record.is_named() {
        return Ok(Placed { place: Some(place), record });
    }
    Err(Error::format("the record has no `unit`")
        .at(place)
        .advice("give every record a name: \"unit\": \"...\""))
}

/// Where the reader is: the key, and the index in its lists.
#[derive(Default)]
struct At {
    key: String,
    index: Vec<usize>,
}

/// The error of the JSON reader with line, column, key and index.
fn refused(error: &serde_json::Error, first: usize, at: &At) -> Error {
    let text = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    let what = if error.is_data() { "a value of another kind" } else { "not valid JSON" };
    let line = first + error.line().saturating_sub(1);
    let mut place = format!("line {line}, column {}", error.column());
    if !at.key.is_empty() {
        place.push_str(&format!(", key {}", at.key));
    }
    if !at.index.is_empty() {
        place.push_str(&format!(", index {:?}", at.index));
    }
    let error = Error::format(what).at(place).found(text.strip_suffix(&suffix).unwrap_or(&text));
    if at.key.is_empty() {
        error
    } else {
        error.allowed("finite numbers or true and false in lists of equal lengths")
    }
}

/// An object as it was read, its boundaries not yet checked.
struct Raw {
    arrays: BTreeMap<String, Stored>,
    unit: Unit,
}

impl Raw {
    fn record(self) -> Result<Record, Error> {
        Record::new(self.arrays, self.unit)
    }
}

struct ArrayOfRecords<'a>(&'a mut At);

calipers_io::seed!(ArrayOfRecords<'_> => Vec<Raw>, deserialize_seq);

impl<'de> Visitor<'de> for ArrayOfRecords<'_> {
    type Value = Vec<Raw>;

    calipers_io::expecting!("an array of units");

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Raw>, A::Error> {
        let mut raws = Vec::new();
        while let Some(raw) = list.next_element_seed(RecordSeed(self.0))? {
            raws.push(raw);
        }
        Ok(raws)
    }
}

struct RecordSeed<'a>(&'a mut At);

calipers_io::seed!(RecordSeed<'_> => Raw, deserialize_map);

impl<'de> Visitor<'de> for RecordSeed<'_> {
    type Value = Raw;

    calipers_io::expecting!("an object with the arrays of a unit");

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut raw = Raw { arrays: BTreeMap::new(), unit: Unit::Unnamed };
        while let Some(key) = entries.next_key::<String>()? {
            self.0.key.clone_from(&key);
            if key == UNIT {
                if raw.unit != Unit::Unnamed {
                    return Err(twice(&key));
                }
                raw.unit = entries.next_value::<Names>()?.0;
            } else if is_read(&key) {
                entries.next_value_seed(Field { at: self.0, arrays: &mut raw.arrays })?;
            } else {
                // A value, not `IgnoredAny`, which would not keep to the limit of depth.
                entries.next_value::<serde_json::Value>()?;
                once(&mut raw.arrays, key, Stored::nothing())?;
            }
            self.0.index.clear();
        }
        self.0.key.clear();
        Ok(raw)
    }
}

fn twice<E: de::Error>(key: &str) -> E {
    E::custom(format_args!("the key `{key}` occurs twice"))
}

fn once<E: de::Error>(arrays: &mut BTreeMap<String, Stored>, key: String, array: Stored) -> Result<(), E> {
    match arrays.entry(key) {
        std::collections::btree_map::Entry::Occupied(entry) => Err(twice(entry.key())),
        std::collections::btree_map::Entry::Vacant(entry) => {
            entry.insert(array);
            Ok(())
        }
    }
}

/// The value of a key: an array, or an object with an array for each node or edge type.
struct Field<'a> {
    at: &'a mut At,
    arrays: &'a mut BTreeMap<String, Stored>,
}

calipers_io::seed!(Field<'_> => (), deserialize_any);

/// The array of a list or a single value, which the visitor was handed piece by piece.
macro_rules! array {
    ($self:ident, $deserializer:expr) => {{
        let array = ArraySeed(&mut $self.at.index).deserialize($deserializer)?;
        once($self.arrays, $self.at.key.clone(), array)
    }};
}

impl<'de> Visitor<'de> for Field<'_> {
    type Value = ();

    calipers_io::expecting!("lists of numbers, or an object with lists by node or edge type");

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        array!(self, de::value::I64Deserializer::new(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        array!(self, de::value::U64Deserializer::new(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        array!(self, de::value::F64Deserializer::new(value))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        array!(self, de::value::BoolDeserializer::new(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        array!(self, de::value::SeqAccessDeserializer::new(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut types: A) -> Result<(), A::Error> {
        let base = self.at.key.clone();
        let mut empty = true;
        while let Some(name) = types.next_key::<String>()? {
            self.at.key = format!("{base}.{name}");
            let array = types.next_value_seed(ArraySeed(&mut self.at.index))?;
            once(self.arrays, self.at.key.clone(), array)?;
            empty = false;
        }
        self.at.key = base;
        if empty { Err(de::Error::custom("an object without types")) } else { Ok(()) }
    }
}

/// One name or a list of them.
struct Names(Unit);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a name, or a list of names in a batch")]
        enum Either {
            One(String),
            Several(Vec<String>),
        }
        Either::deserialize(deserializer).map(|names| match names {
            Either::One(name) => Self(Unit::One(name)),
            Either::Several(names) => Self(Unit::Several(names)),
        })
    }
}
