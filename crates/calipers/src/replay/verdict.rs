//! A report against what its inputs give today.

use std::collections::BTreeSet;

use calipers_core::resample::{Drawn, Intervals};
use calipers_core::{Error, Ledger, Report, Result, Value, Warning};
use calipers_sources::run::Threads;
use serde_json::Value as Json;

use super::Replay;
use crate::chosen::Chosen;
use crate::registry;
use crate::resample;

/// Something that is not as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The key of the report, or the id of the metric and the path in it.
    pub place: String,
    /// What the report says.
    pub recorded: String,
    /// What comes out now.
    pub now: String,
}

/// What it takes to measure reports again. Reports of one reading that were made together are
/// measured together.
pub fn replays(reports: &[Report]) -> Vec<(std::ops::Range<usize>, Result<Replay>)> {
    let name = |report: &Report| report.protocol.get("name").and_then(Json::as_str).map(str::to_owned);
    let together = |a: &Report, b: &Report| {
        let family = name(a).as_deref().and_then(registry::find);
        family.is_some_and(|family| family.measured_together)
            && name(b) == name(a)
            && a.reading == b.reading
            && a.inputs == b.inputs
    };
    let mut all = Vec::new();
    let mut start = 0;
    for group in reports.chunk_by(together) {
        let protocols: Vec<_> = group.iter().map(|report| &report.protocol).collect();
        let replay = Replay::together(&protocols, &group[0].reading, &group[0].inputs);
        all.push((start..start + group.len(), replay));
        start += group.len();
    }
    all
}

impl Replay {
    /// The reports that the inputs give now, made like the recorded ones: with their intervals, and
    /// their choice of metrics.
    pub fn reports(&self, recorded: &[Report], threads: usize) -> Result<Vec<Report>> {
        let ledgers = self.measure_all(threads)?;
        let pairs = ledgers.iter().zip(recorded);
        pairs.map(|(ledger, recorded)| like(&**ledger, recorded, threads)).collect()
    }
}

/// The codes of warnings about shards.
const OF_SHARDS: [&str; 2] = ["missing-shards", "listings-differ"];

/// The report of a ledger, made like a recorded one.
pub(crate) fn like(ledger: &dyn Ledger, recorded: &Report, threads: usize) -> Result<Report> {
    let asked = resample::asked_by(recorded)?;
    resample::affordable(ledger, asked.as_ref().map(|asked| &asked.bootstrap), threads)
        .map_err(Error::as_value)?;
    let mut report = Chosen::of(recorded).cut(ledger.report_on(&Threads(threads)));
    // Which shards were there, and what could not be read, the inputs that are left do not say.
    for (at, warning) in recorded.warnings.iter().enumerate() {
        if OF_SHARDS.contains(&warning.code.as_str()) {
            report.warnings.insert(at.min(report.warnings.len()), warning.clone());
        }
    }
    let measured: BTreeSet<&str> = ledger.unit_names().into_iter().collect();
    let unmeasured = recorded.left_out.iter().filter(|(unit, _)| !measured.contains(unit.as_str()));
    report.left_out = unmeasured.cloned().collect();
    if let Some(asked) = asked {
        resample::add(ledger, &mut report, &asked, threads)?;
    }
    // A report may hold a selection of the numbers, in an order of its own.
    let ids: Vec<String> = recorded.metrics.iter().map(|(id, _)| id.clone()).collect();
    let has = |id: &String| report.metrics.iter().any(|(known, _)| known == id);
    if !ids.is_empty() && ids.iter().all(has) {
        return Chosen::select(report, &ids);
    }
    Ok(report)
}

/// Where two reports differ, in the order of the recorded one.
pub fn differences(recorded: &Report, now: &Report) -> Vec<Difference> {
    let (was, is) = (entries(recorded), entries(now));
    let find = |all: &[(String, String)], place: &str| {
        all.iter().find(|(known, _)| known == place).map(|(_, text)| text.clone())
    };
    let nothing = || "nothing".to_owned();
    let mut differences = Vec::new();
    // Both are long and almost always in one order, so that the neighbour is asked first.
    for (at, (place, text)) in was.iter().enumerate() {
        let other = match is.get(at) {
            Some((known, other)) if known == place => Some(other.clone()),
            _ => find(&is, place),
        };
        if other.as_ref() != Some(text) {
            let (place, recorded) = (place.clone(), text.clone());
            differences.push(Difference { place, recorded, now: other.unwrap_or_else(nothing) });
        }
    }
    for (at, (place, text)) in is.iter().enumerate() {
        let known = was.get(at).is_some_and(|(known, _)| known == place) || find(&was, place).is_some();
        if !known {
            let (place, now) = (place.clone(), text.clone());
            differences.push(Difference { place, recorded: nothing(), now });
        }
    }
    differences
}

/// Everything a report says, by place.
fn entries(report: &Report) -> Vec<(String, String)> {
    let mut entries = vec![
        ("calipers".to_owned(), report.version.clone()),
        ("reading".to_owned(), report.reading.to_string()),
        ("units".to_owned(), report.units.to_string()),
    ];
    for (key, value) in &report.protocol {
        entries.push((format!("protocol.{key}"), value.to_string()));
    }
    for (id, value) in &report.metrics {
        leaves(id, value, &mut entries);
    }
    if let Some(intervals) = &report.intervals {
        sureness(intervals, &mut entries);
    }
    for (number, Warning { code, message, units }) in report.warnings.iter().enumerate() {
        entries.push((format!("warnings.{number}"), format!("{code}: {message} {units:?}")));
    }
    for (unit, reason) in &report.left_out {
        entries.push((format!("left_out.{unit}"), reason.clone()));
    }
    for (path, input) in report.inputs.iter() {
        entries.push((format!("inputs.{path}"), format!("{} bytes, blake3 {}", input.bytes, input.blake3)));
        for (key, note) in input.notes.iter() {
            entries.push((format!("inputs.{path}, {key}"), note.clone()));
        }
    }
    entries
}

fn sureness(intervals: &Intervals, entries: &mut Vec<(String, String)>) {
    let Drawn { bootstrap, sampling_unit, cluster_by, strata, percentile_used } = &intervals.drawn;
    let mut put = |key: &str, text: String| entries.push((format!("bootstrap.{key}"), text));
    put("resamples", bootstrap.resamples.to_string());
    put("confidence", bootstrap.confidence.to_string());
    put("seed", bootstrap.seed.to_string());
    put("method", bootstrap.method.name().into());
    put("sampling_unit", sampling_unit.clone());
    put("cluster_by", cluster_by.clone().unwrap_or_else(|| "null".into()));
    for (name, [units, sampling_units]) in strata {
        put(&format!("strata.{name}"), format!("{units} units, {sampling_units} sampling units"));
    }
    for (path, reason) in percentile_used {
        put(&format!("percentile_used.{path}"), reason.clone());
    }
    for (id, bounds) in &intervals.bounds {
        bounds.visit(id, &mut |path, [low, high]| {
            entries.push((format!("intervals.{path}"), format!("[{low}, {high}]")));
        });
    }
    let missing = intervals.missing.iter();
    entries.extend(missing.map(|(path, reason)| (format!("no_interval.{path}"), reason.clone())));
}

fn leaves(path: &str, value: &Value, entries: &mut Vec<(String, String)>) {
    let text = match value {
        Value::Number(x) => x.to_string(),
        Value::Count(n) => n.to_string(),
        Value::Text(text) => text.clone(),
        Value::Undefined(reason) if reason.is_empty() => "undefined".into(),
        Value::Undefined(reason) => format!("undefined: {reason}"),
        Value::PerLabel(parts) => {
            return parts.iter().for_each(|(key, part)| leaves(&format!("{path}.{key}"), part, entries));
        }
        Value::Series(parts) => {
            return (0..).zip(parts).for_each(|(at, part): (usize, _)| {
                leaves(&format!("{path}.{at}"), part, entries);
            });
        }
    };
    entries.push((path.to_owned(), text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::InputFiles;

    fn report(metrics: &[(&str, Value)]) -> Report {
        Report {
            version: "1".into(),
            protocol: serde_json::Map::new(),
            reading: serde_json::Value::Null,
            units: 2,
            metrics: metrics.iter().map(|(id, value)| ((*id).to_owned(), value.clone())).collect(),
            intervals: None,
            warnings: Vec::new(),
            left_out: Vec::new(),
            inputs: InputFiles::default(),
        }
    }

    #[test]
    fn every_number_that_differs_is_named_with_both_values() {
        let iou = |car| Value::PerLabel(vec![("sky".into(), Value::Number(0.5)), ("car".into(), car)]);
        let was = report(&[("f.iou", iou(Value::undefined("absent"))), ("f.n", Value::Count(3))]);
        let is =
            report(&[("f.iou", iou(Value::Number(0.25))), ("f.m", Value::Series(vec![Value::Count(1)]))]);
        let found = differences(&was, &is);
        let shown: Vec<(&str, &str, &str)> =
            found.iter().map(|d| (d.place.as_str(), d.recorded.as_str(), d.now.as_str())).collect();
        assert_eq!(
            shown,
            [("f.iou.car", "undefined: absent", "0.25"), ("f.n", "3", "nothing"), ("f.m.0", "nothing", "1")]
        );
        assert!(differences(&was, &was).is_empty());
    }

    #[test]
    fn numbers_that_differ_in_the_last_bit_are_told_apart() {
        let was = report(&[("f.x", Value::Number(0.1))]);
        let is = report(&[("f.x", Value::Number(0.1f64.next_up()))]);
        let [only] = differences(&was, &is).try_into().unwrap();
        assert_ne!(only.recorded, only.now);
    }
}
