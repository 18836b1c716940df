//! `report.json`: strict JSON whose bytes depend on the report alone.

mod intervals;
mod read;
mod syntax;

use std::collections::BTreeSet;
use std::io::{self, Write};

use calipers_core::{Input, InputFiles, Report, Value, Warning};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value as Json;

use self::intervals::write as intervals_in;
use crate::leaf::{Leaf, visit_leaves};

pub(crate) use intervals::of_page as intervals_of_page;
pub use read::read;

/// How much text is collected before it is handed on.
const BUFFER: usize = 1 << 16;

/// The reports as JSON with a final newline: one report is an object, several are an array.
pub fn write(reports: &[Report]) -> String {
    text(|out| write_to(reports, out))
}

/// The same, piece by piece: a report that lists very many files is never held as text.
pub fn write_to(reports: &[Report], out: &mut dyn Write) -> io::Result<()> {
    match reports {
        [report] => pretty(&Shown(report), out),
        several => pretty(&several.iter().map(Shown).collect::<Vec<_>>(), out),
    }
}

/// The reports as a JSON array, however many there are, with a final newline.
pub fn write_array(reports: &[Report]) -> String {
    text(|out| pretty(&reports.iter().map(Shown).collect::<Vec<_>>(), out))
}

fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("every key is a string and memory does not fail to be written to");
    String::from_utf8(bytes).expect("JSON is text")
}

/// A value is written in very many small pieces: they are collected where no call in between is virtual.
fn pretty(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(BUFFER, out);
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A metric's value as JSON; what is undefined or not finite is `null`.
pub(crate) struct Plain<'a>(pub(crate) &'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Number(x) => serializer.serialize_f64(*x),
            Value::Count(n) => serializer.serialize_i128(*n),
            Value::PerLabel(entries) => {
                serializer.collect_map(entries.iter().map(|(key, value)| (key, Plain(value))))
            }
            Value::Series(values) => serializer.collect_seq(values.iter().map(Plain)),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Undefined(_) => serializer.serialize_unit(),
        }
    }
}

struct Shown<'a>(&'a Report);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self.0;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("calipers", &report.version)?;
        object.serialize_entry("protocol", &report.protocol)?;
        if !report.reading.is_null() {
            object.serialize_entry("reading", &report.reading)?;
        }
        object.serialize_entry("units", &report.units)?;
        object.serialize_entry("metrics", &Pairs(report.metrics.iter().map(|(id, v)| (id, Plain(v)))))?;
        object.serialize_entry("undefined", &Pairs(reasons(report).into_iter()))?;
        if let Some(intervals) = &report.intervals {
            intervals_in(intervals, &mut object)?;
        }
        object.serialize_entry("warnings", &report.warnings.iter().map(Caution).collect::<Vec<_>>())?;
        object
            .serialize_entry("inputs", &Files(report.inputs.iter().map(|(path, input)| File(path, input))))?;
        object.end()
    }
}

/// Every reason by path. Where keys with dots give two values one path, the first is kept: an
/// object must not repeat a key.
fn reasons(report: &Report) -> Vec<(String, &str)> {
    let (mut reasons, mut seen) = (Vec::new(), BTreeSet::new());
    for (id, value) in &report.metrics {
        visit_leaves(id, value, &mut |path, leaf| {
            if let Leaf::Undefined(reason) = leaf
                && !reason.is_empty()
                && seen.insert(path.to_string())
            {
                reasons.push((path.to_string(), reason));
            }
        });
    }
    reasons
}

/// An object whose entries come in the order of the iterator.
struct Pairs<I>(I);

impl<K: Serialize, V: Serialize, I: Iterator<Item = (K, V)> + Clone> Serialize for Pairs<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

struct Caution<'a>(&'a Warning);

impl Serialize for Caution<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(3))?;
        object.serialize_entry("code", &self.0.code)?;
        object.serialize_entry("message", &self.0.message)?;
        object.serialize_entry("units", &self.0.units)?;
        object.end()
    }
}

/// An array whose elements come from an iterator.
struct Files<I>(I);

impl<'a, I: Iterator<Item = File<'a>> + Clone> Serialize for Files<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// Input files as reports list them.
pub(crate) fn inputs(files: &InputFiles) -> Json {
    let files = Files(files.iter().map(|(path, input)| File(path, input)));
    serde_json::to_value(files).expect("every key is a string")
}

struct File<'a>(&'a str, &'a Input);

impl Serialize for File<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(path, input) = self;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("path", path)?;
        object.serialize_entry("bytes", &input.bytes)?;
        object.serialize_entry("blake3", &*input.blake3.hex())?;
        for (key, note) in input.notes.iter() {
            object.serialize_entry(key, note)?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn keys_come_in_their_order_and_the_text_ends_with_a_newline() {
        let report = fixture::small();
        let expected = r#"{
  "calipers": "0.1.0",
  "protocol": {
    "name": "segmentation",
    "preset": "strict",
    "alpha": 0.5
  },
  "units": 2,
  "metrics": {
    "segmentation.miou": 0.4365,
    "segmentation.iou": {
      "sky": 0.91,
      "car": null
    },
    "segmentation.pixels": 170141183460469231731687303715884105727,
    "segmentation.bins": [
      1.0,
      null
    ]
  },
  "undefined": {
    "segmentation.iou.car": "class occurs in neither truth nor prediction"
  },
  "warnings": [
    {
      "code": "one-class",
      "message": "one class only",
      "units": [
        "0007"
      ]
    }
  ],
  "inputs": [
    {
      "path": "truth/0001.png",
      "bytes": 3022,
      "blake3": "HASH",
      "format": "png"
    }
  ]
}
"#;
        assert_eq!(write(&[report]), expected.replace("HASH", &"ab".repeat(32)));
    }

    #[test]
    fn several_reports_are_an_array_and_none_an_empty_one() {
        assert_eq!(write(&[]), "[]\n");
        let two = write(&[fixture::small(), fixture::small()]);
        assert!(two.starts_with("[\n  {\n    \"calipers\""), "{two}");
        assert_eq!(read(two.as_bytes()).unwrap().len(), 2);
    }

    #[test]
    fn a_number_that_is_not_finite_is_null_with_a_reason() {
        let mut report = fixture::small();
        report.metrics = vec![("f.x".into(), Value::Number(f64::INFINITY))];
        let text = write(&[report]);
        assert!(text.contains(r#""f.x": null"#) && text.contains(r#""f.x": "not finite""#), "{text}");
    }

    #[test]
    fn two_values_under_one_dotted_path_do_not_repeat_a_key() {
        let mut report = fixture::small();
        let inner = Value::PerLabel(vec![("b".into(), Value::undefined("second"))]);
        report.metrics = vec![(
            "f.x".into(),
            Value::PerLabel(vec![("a.b".into(), Value::undefined("first")), ("a".into(), inner)]),
        )];
        let text = write(&[report]);
        assert!(text.contains("first") && !text.contains("second"), "{text}");
        assert_eq!(write(&read(text.as_bytes()).unwrap()), text);
    }
}
