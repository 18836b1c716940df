//! How sure numbers are, as `report.json` and the page say it: `bootstrap`, `intervals`, `no_interval`.

use calipers_core::Result;
use calipers_core::resample::{Bootstrap, Bounds, Drawn, Intervals, Method};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::Pairs;
use super::read::{Object, text, unlike, whole};
use super::syntax::Node;

/// Writes the three keys.
pub(super) fn write<M: SerializeMap>(
    intervals: &Intervals,
    object: &mut M,
) -> std::result::Result<(), M::Error> {
    object.serialize_entry("bootstrap", &Draws(&intervals.drawn))?;
    let bounds = intervals.bounds.iter().map(|(id, bounds)| (id, Shape(bounds)));
    object.serialize_entry("intervals", &Pairs(bounds))?;
    object.serialize_entry("no_interval", &pairs(&intervals.missing))
}

/// The three keys of each report, as JSON for the page; a report without intervals has none.
pub(crate) fn of_page(reports: &[Option<&Intervals>]) -> String {
    let all: Vec<Keys<'_>> = reports.iter().map(|intervals| Keys(*intervals)).collect();
    serde_json::to_string(&all).expect("every key is a string")
}

struct Keys<'a>(Option<&'a Intervals>);

impl Serialize for Keys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        if let Some(intervals) = self.0 {
            write(intervals, &mut object)?;
        }
        object.end()
    }
}

/// Texts by path, in order.
fn pairs(entries: &[(String, String)]) -> Pairs<impl Iterator<Item = (&String, &String)> + Clone> {
    Pairs(entries.iter().map(|(path, reason)| (path, reason)))
}

struct Shape<'a>(&'a Bounds);

impl Serialize for Shape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Bounds::Interval(bounds) => bounds.serialize(serializer),
            Bounds::Labels(entries) => {
                serializer.collect_map(entries.iter().map(|(label, below)| (label, Shape(below))))
            }
        }
    }
}

struct Draws<'a>(&'a Drawn);

impl Serialize for Draws<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Drawn { bootstrap, sampling_unit, cluster_by, strata, percentile_used } = self.0;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("resamples", &bootstrap.resamples)?;
        object.serialize_entry("confidence", &bootstrap.confidence)?;
        object.serialize_entry("seed", &bootstrap.seed)?;
        object.serialize_entry("method", bootstrap.method.name())?;
        object.serialize_entry("sampling_unit", sampling_unit)?;
        object.serialize_entry("cluster_by", cluster_by)?;
        object.serialize_entry("strata", &Pairs(strata.iter().map(|(name, sizes)| (name, Sizes(*sizes)))))?;
        if !percentile_used.is_empty() {
            object.serialize_entry("percentile_used", &pairs(percentile_used))?;
        }
        object.end()
    }
}

struct Sizes([u64; 2]);

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("units", &self.0[0])?;
        object.serialize_entry("sampling_units", &self.0[1])?;
        object.end()
    }
}

/// The three keys back from a report, where it has them.
pub(super) fn read(report: &mut Object<'_>) -> Result<Option<Intervals>> {
    let keys = ["bootstrap", "intervals", "no_interval"].map(|key| report.take_if_there(key));
    match keys {
        [None, None, None] => Ok(None),
        [Some(drawn), Some(bounds), Some(missing)] => Ok(Some(Intervals {
            drawn: draws(drawn)?,
            bounds: Object::new("intervals", bounds)?
                .entries
                .into_iter()
                .map(|(id, node)| shape(&format!("intervals.{id}"), node).map(|bounds| (id, bounds)))
                .collect::<Result<_>>()?,
            missing: texts("no_interval", missing)?,
        })),
        _ => Err(unlike("bootstrap, intervals and no_interval", "all three, or none of them")),
    }
}

fn texts(place: &str, node: &RawValue) -> Result<Vec<(String, String)>> {
    let entries = Object::new(place, node)?.entries.into_iter();
    entries.map(|(path, node)| text(&format!("{place}.{path}"), node).map(|text| (path, text))).collect()
}

fn shape(place: &str, node: &RawValue) -> Result<Bounds> {
    let bound = |node: &&RawValue| match Node::of(node).ok()? {
        Node::Number(x) => Some(x),
        Node::Whole(n) => Some(n as f64),
        _ => None,
    };
    match Node::of(node)? {
        Node::List(pair) => match pair.iter().map(bound).collect::<Option<Vec<f64>>>().as_deref() {
            Some([low, high]) => Ok(Bounds::Interval([*low, *high])),
            _ => Err(unlike(place, "an array of two numbers")),
        },
        Node::Object(entries) => {
            let below = entries
                .into_iter()
                .map(|(label, node)| shape(&format!("{place}.{label}"), node).map(|below| (label, below)));
            below.collect::<Result<_>>().map(Bounds::Labels)
        }
        _ => Err(unlike(place, "an array of two numbers, or an object of them")),
    }
}

fn draws(node: &RawValue) -> Result<Drawn> {
    let mut object = Object::new("bootstrap", node)?;
    let resamples = whole("bootstrap.resamples", object.take("resamples")?)?;
    let method = |name: String| {
        Method::NAMES
            .iter()
            .position(|known| *known == name)
            .map(|at| [Method::Expanded, Method::Percentile, Method::Bca][at])
            .ok_or_else(|| unlike("bootstrap.method", &Method::NAMES.join(", ")))
    };
    let drawn = Drawn {
        bootstrap: Bootstrap {
            resamples: u32::try_from(resamples)
                .map_err(|_| unlike("bootstrap.resamples", "a whole number"))?,
            confidence: match Node::of(object.take("confidence")?)? {
                Node::Number(share) if share > 0.0 && share < 1.0 => share,
                _ => return Err(unlike("bootstrap.confidence", "a number between 0 and 1")),
            },
            seed: whole("bootstrap.seed", object.take("seed")?)?,
            method: method(text("bootstrap.method", object.take("method")?)?)?,
        },
        sampling_unit: text("bootstrap.sampling_unit", object.take("sampling_unit")?)?,
        cluster_by: match object.take("cluster_by")? {
            node if matches!(Node::of(node)?, Node::Null) => None,
            node => Some(text("bootstrap.cluster_by", node)?),
        },
        strata: Object::new("bootstrap.strata", object.take("strata")?)?
            .entries
            .into_iter()
            .map(|(name, node)| sizes(&format!("bootstrap.strata.{name}"), node).map(|sizes| (name, sizes)))
            .collect::<Result<_>>()?,
        percentile_used: match object.take_if_there("percentile_used") {
            Some(node) => texts("bootstrap.percentile_used", node)?,
            None => Vec::new(),
        },
    };
    object.done()?;
    Ok(drawn)
}

fn sizes(place: &str, node: &RawValue) -> Result<[u64; 2]> {
    let mut object = Object::new(place, node)?;
    let sizes = [whole(place, object.take("units")?)?, whole(place, object.take("sampling_units")?)?];
    object.done()?;
    Ok(sizes)
}
