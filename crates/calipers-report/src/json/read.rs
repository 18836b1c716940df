//! A report back from its JSON.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use calipers_core::{Error, Input, Report, Result, Value, Warning};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value as Json};

use super::intervals;
use super::syntax::{Node, parse};

/// The reports of a text that [`write`](super::write) made: an object, or an array of them.
pub fn read(text: &[u8]) -> Result<Vec<Report>> {
    let text = parse(text)?;
    match Node::of(text)? {
        Node::List(nodes) => nodes
            .into_iter()
            .enumerate()
            .map(|(i, node)| report(node).map_err(|error| error.at(format!("report {}", i + 1))))
            .collect(),
        _ => Ok(vec![report(text)?]),
    }
}

fn report(node: &RawValue) -> Result<Report> {
    let mut object = Object::new("report", node)?;
    let report = Report {
        version: text("calipers", object.take("calipers")?)?,
        protocol: match json("protocol", object.take("protocol")?)? {
            Json::Object(protocol) => protocol,
            _ => return Err(unlike("protocol", "an object")),
        },
        reading: object.take_if_there("reading").map_or(Ok(Json::Null), |node| json("reading", node))?,
        units: whole("units", object.take("units")?)?,
        metrics: metrics(object.take("metrics")?, object.take("undefined")?)?,
        intervals: intervals::read(&mut object)?,
        warnings: each("warnings", object.take("warnings")?, warning)?,
        left_out: object
            .take_if_there("left_out")
            .map_or(Ok(Vec::new()), |node| each("left_out", node, left_out))?,
        inputs: each("inputs", object.take("inputs")?, input)?.into_iter().collect(),
    };
    object.done()?;
    Ok(report)
}

fn metrics(metrics: &RawValue, undefined: &RawValue) -> Result<Vec<(String, Value)>> {
    let mut reasons = Reasons { by_path: BTreeMap::new(), used: BTreeSet::new() };
    for (path, reason) in Object::new("undefined", undefined)?.entries {
        let reason = text(&format!("undefined.{path}"), reason)?;
        reasons.by_path.insert(path, reason);
    }
    let metrics = Object::new("metrics", metrics)?
        .entries
        .into_iter()
        .map(|(id, node)| value(&id, node, &mut reasons).map(|value| (id, value)))
        .collect::<Result<_>>()?;
    match reasons.by_path.keys().find(|path| !reasons.used.contains(*path)) {
        None => Ok(metrics),
        Some(path) => Err(Error::format("a reason without an undefined value")
            .at(format!("undefined.{path}"))
            .advice("a reason stands beside a null in metrics: one of the two was edited")),
    }
}

/// The reasons by path, and which of them a `null` has asked for.
struct Reasons {
    by_path: BTreeMap<String, String>,
    used: BTreeSet<String>,
}

fn value(path: &str, node: &RawValue, reasons: &mut Reasons) -> Result<Value> {
    Ok(match Node::of(node).map_err(|error| error.at(format!("metrics.{path}")))? {
        Node::Number(x) => Value::Number(x),
        Node::Whole(n) => Value::Count(n),
        Node::Null => Value::Undefined(match reasons.by_path.get(path) {
            None => Cow::Borrowed(""),
            Some(reason) => {
                reasons.used.insert(path.into());
                Cow::Owned(reason.clone())
            }
        }),
        Node::List(nodes) => Value::Series(
            nodes
                .into_iter()
                .enumerate()
                .map(|(i, node)| value(&format!("{path}.{i}"), node, reasons))
                .collect::<Result<_>>()?,
        ),
        Node::Object(entries) => Value::PerLabel(
            entries
                .into_iter()
                .map(|(key, node)| value(&format!("{path}.{key}"), node, reasons).map(|value| (key, value)))
                .collect::<Result<_>>()?,
        ),
        Node::Flag(_) | Node::Text(_) => {
            return Err(unlike(&format!("metrics.{path}"), "a number, null, an array or an object"));
        }
    })
}

fn warning(place: &str, node: &RawValue) -> Result<Warning> {
    let mut object = Object::new(place, node)?;
    let warning = Warning {
        code: text(place, object.take("code")?)?,
        message: text(place, object.take("message")?)?,
        units: each(&format!("{place}.units"), object.take("units")?, text)?,
    };
    object.done()?;
    Ok(warning)
}

fn left_out(place: &str, node: &RawValue) -> Result<(String, String)> {
    let mut object = Object::new(place, node)?;
    let unit = text(place, object.take("unit")?)?;
    let reason = text(place, object.take("reason")?)?;
    object.done()?;
    Ok((unit, reason))
}

fn input(place: &str, node: &RawValue) -> Result<(String, Input)> {
    let mut object = Object::new(place, node)?;
    let path = text(place, object.take("path")?)?;
    let bytes = whole(place, object.take("bytes")?)?;
    let blake3 = text(place, object.take("blake3")?)?.parse().map_err(|error: Error| error.at(place))?;
    let notes = object
        .entries
        .into_iter()
        .map(|(key, node)| text(&format!("{place}.{key}"), node).map(|note| (key, note)))
        .collect::<Result<_>>()?;
    Ok((path, Input { bytes, blake3, notes: Arc::new(notes) }))
}

/// An object whose keys are taken one by one, so that what is left over is known.
pub(super) struct Object<'a> {
    place: String,
    pub(super) entries: Vec<(String, &'a RawValue)>,
}

impl<'a> Object<'a> {
    pub(super) fn new(place: &str, node: &'a RawValue) -> Result<Self> {
        match Node::of(node)? {
            Node::Object(entries) => Ok(Self { place: place.into(), entries }),
            _ => Err(unlike(place, "an object")),
        }
    }

    pub(super) fn take_if_there(&mut self, key: &str) -> Option<&'a RawValue> {
        let position = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.remove(position).1)
    }

    pub(super) fn take(&mut self, key: &str) -> Result<&'a RawValue> {
        self.take_if_there(key).ok_or_else(|| {
            let found: Vec<&str> = self.entries.iter().take(10).map(|(name, _)| name.as_str()).collect();
            Error::format(format!("no key '{key}'"))
                .at(&self.place)
                .found(found.join(", "))
                .advice("give a report that calipers wrote with --json")
        })
    }

    pub(super) fn done(self) -> Result<()> {
        match self.entries.first() {
            None => Ok(()),
            Some((key, _)) => Err(Error::format("a key that reports do not have")
                .at(self.place)
                .found(key)
                .advice("give a report that this version of calipers wrote with --json")),
        }
    }
}

fn each<T>(place: &str, node: &RawValue, read: fn(&str, &RawValue) -> Result<T>) -> Result<Vec<T>> {
    match Node::of(node)? {
        Node::List(nodes) => {
            nodes.into_iter().enumerate().map(|(i, node)| read(&format!("{place}.{i}"), node)).collect()
        }
        _ => Err(unlike(place, "an array")),
    }
}

pub(super) fn text(place: &str, node: &RawValue) -> Result<String> {
    match Node::of(node)? {
        Node::Text(text) => Ok(text),
        _ => Err(unlike(place, "text")),
    }
}

pub(super) fn whole(place: &str, node: &RawValue) -> Result<u64> {
    match Node::of(node)? {
        Node::Whole(n) => u64::try_from(n).map_err(|_| unlike(place, "a whole number from 0").found(n)),
        _ => Err(unlike(place, "a whole number from 0")),
    }
}

fn json(place: &str, node: &RawValue) -> Result<Json> {
    Ok(match Node::of(node).map_err(|error| error.at(place))? {
        Node::Null => Json::Null,
        Node::Flag(on) => Json::Bool(on),
        Node::Text(text) => Json::String(text),
        Node::Whole(n) => Number::from_i128(n)
            .map(Json::Number)
            .ok_or_else(|| unlike(place, "a whole number of 64 bits").found(n))?,
        Node::Number(x) => x.into(),
        Node::List(nodes) => {
            Json::Array(nodes.into_iter().map(|node| json(place, node)).collect::<Result<_>>()?)
        }
        Node::Object(entries) => Json::Object(
            entries
                .into_iter()
                .map(|(key, node)| json(&format!("{place}.{key}"), node).map(|json| (key, json)))
                .collect::<Result<Map<_, _>>>()?,
        ),
    })
}

pub(super) fn unlike(place: &str, allowed: &str) -> Error {
    Error::format("a value of the wrong kind").at(place).allowed(allowed)
}

#[cfg(test)]
mod tests {
    use super::super::write;
    use super::*;
    use crate::fixture;
    use calipers_core::resample::{Bounds, Intervals, Method};
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    fn message(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_report_comes_back_as_it_was() {
        for mut report in [fixture::small(), fixture::realistic()] {
            report.reading = serde_json::json!({"pair_strip": ["_pred"], "base": 1});
            let mut intervals = fixture::intervals(&[("segmentation.miou", [0.25, 0.5])]);
            let below = vec![("sky".into(), Bounds::Interval([0.5, 1.0]))];
            let deep = vec![
                ("a.b".into(), Bounds::Labels(below.clone())),
                ("c".into(), Bounds::Interval([0.0, 1.0])),
            ];
            intervals.bounds.push(("segmentation.iou".into(), Bounds::Labels(below)));
            intervals.bounds.push(("f.curve".into(), Bounds::Labels(deep)));
            intervals.drawn.bootstrap.seed = u64::MAX;
            for (method, rule) in [(Method::Bca, None), (Method::Percentile, Some("none".into()))] {
                intervals.drawn.bootstrap.method = method;
                intervals.drawn.cluster_by = rule;
                intervals.drawn.percentile_used = vec![("segmentation.miou".into(), "why".into())];
                report.intervals = Some(intervals.clone());
                assert_eq!(read(write(std::slice::from_ref(&report)).as_bytes()).unwrap(), [report.clone()]);
            }
            report.intervals = Some(intervals);
            assert_eq!(read(write(std::slice::from_ref(&report)).as_bytes()).unwrap(), [report]);
        }
    }

    #[test]
    fn an_edited_report_is_refused_at_the_edited_place() {
        let text = write(&[fixture::small()]);
        let edited = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            message(&text.replacen(from, to, 1))
        };
        assert!(edited("\"units\": 2", "\"units\": -2").contains("units"));
        assert!(edited("\"units\": 2,", "").contains("no key 'units'"));
        assert!(edited("\"units\": 2", "\"units\": 2, \"extra\": 1").contains("extra"));
        assert!(edited("\"car\": null", "\"car\": 0.5").contains("undefined.segmentation.iou.car"));
        assert!(edited("\"sky\": 0.91", "\"sky\": \"0.91\"").contains("metrics.segmentation.iou.sky"));
        assert!(edited("\"bytes\": 3022", "\"bytes\": 1e3").contains("inputs.0"));
        assert!(edited("0.4365", "NaN").contains("line 10, column 26"));
        assert!(message("[3]").contains("report 1"));
    }

    #[test]
    fn a_text_cut_anywhere_is_refused() {
        let text = write(&[fixture::small()]);
        let whole = text.trim_end().len();
        for end in 0..whole {
            assert!(read(&text.as_bytes()[..end]).is_err(), "cut at {end}");
        }
        assert!(read(&text.as_bytes()[..whole]).is_ok());
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<f64>().prop_map(Value::Number),
            any::<i128>().prop_map(Value::Count),
            (-9i128..9).prop_map(Value::Count),
            ".{0,6}".prop_map(|reason| Value::Undefined(reason.into())),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(Value::Series),
                btree_map("[ab.0\\PC]{0,3}", inner, 0..4)
                    .prop_map(|entries| Value::PerLabel(entries.into_iter().collect())),
            ]
        })
    }

    fn reports() -> impl Strategy<Value = Report> {
        let warning = (".*", ".*", vec(".*", 0..3));
        let warnings = vec(warning.prop_map(|(code, message, units)| Warning { code, message, units }), 0..3);
        let input = (any::<u64>(), any::<[u8; 32]>(), btree_map("x.{0,4}", ".*", 0..2));
        let input = input.prop_map(|(bytes, hash, notes)| Input {
            bytes,
            blake3: calipers_core::Digest(hash),
            notes: Arc::new(notes),
        });
        let inputs = btree_map(".*", input, 0..3);
        let intervals = proptest::option::of(btree_map("f\\..{0,4}", [-1e9..1e9f64, 0.0..1.0], 0..3));
        let left_out = vec((".*", ".*"), 0..3);
        let metrics = btree_map("f\\..{0,4}", values(), 0..6);
        (metrics, any::<u64>(), intervals, warnings, left_out, inputs).prop_map(
            |(metrics, units, intervals, warnings, left_out, inputs)| Report {
                units,
                metrics: metrics.into_iter().collect(),
                intervals: intervals.map(|intervals| {
                    let bounds = intervals.into_iter().map(|(id, bounds)| (id, Bounds::Interval(bounds)));
                    Intervals { bounds: bounds.collect(), ..fixture::intervals(&[]) }
                }),
                warnings,
                left_out,
                inputs: inputs.into_iter().collect(),
                ..fixture::small()
            },
        )
    }

    proptest! {
        #[test]
        fn writing_what_was_read_gives_the_same_bytes(reports in vec(reports(), 0..3)) {
            let text = write(&reports);
            prop_assert_eq!(write(&read(text.as_bytes()).unwrap()), text);
        }
    }
}
