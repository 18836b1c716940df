//! The one table of families: whatever lists, explains, opens, draws or tests them walks it.

use std::any::Any;

use calipers_core::metric::{MetricInfo, metric_infos};
use calipers_core::protocol::from_json;
use calipers_core::resample::{Draws, Intervals, Sampling};
use calipers_core::spelling::distance;
use calipers_core::state::join::{Joined, NewScratch, join};
use calipers_core::state::{self, Section, StateReader, StateWriter};
use calipers_core::{Accumulator, Error, Ledger, Protocol, Result};
use calipers_metrics::explanation::Explanation;
use calipers_metrics::independent_set::IndependentSet;
use calipers_metrics::robustness::Robustness;
use calipers_metrics::segmentation::Segmentation;
use calipers_metrics::training::Training;
use calipers_report::chart::Picture;
use serde_json::{Map, Value as Json};

use crate::replay::{Evidence, Replay};

/// Every family, in the order in which it is listed.
pub const FAMILIES: &[Family] = &[
    Family::of::<IndependentSet>(),
    Family::of::<Explanation>(),
    Family::of::<Segmentation>(),
    Family::of::<Training>(),
    Family::of::<Robustness>(),
];

/// What the library does with a family beside reading its metrics.
pub(crate) trait Registered: Protocol + Default {
    /// What it scores, in a few words.
    const SUMMARY: &'static str;
    /// Whether a report may hold only the metrics that were asked for.
    const CHOSEN_METRICS: bool = false;
    /// Whether several protocols read the inputs once, together.
    const MEASURED_TOGETHER: bool = false;
    /// Measures recorded inputs again, under every recorded protocol.
    fn measure_again(replay: &Replay, threads: usize) -> Result<Vec<Accumulator<Self>>>;
    /// The groups of a sample that are experiments of their own, each with its rows under names that
    /// do not say the group; `None` where a family has no groups.
    fn groups(_rows: &Accumulator<Self>) -> Result<Option<Vec<Group<Self>>>> {
        Ok(None)
    }
    /// The rows with other names for their runs; `None` where units are no conditions of runs.
    fn with_runs(
        _rows: &Accumulator<Self>,
        _name: &dyn Fn(&str) -> Result<String>,
    ) -> Result<Option<Accumulator<Self>>> {
        Ok(None)
    }
    /// What several models look like together.
    fn compared(_models: &[(&str, &Accumulator<Self>)]) -> Vec<Picture> {
        Vec::new()
    }
    /// The pictures of its page, in order.
    fn pictures(rows: &Accumulator<Self>, evidence: &Evidence, intervals: Option<&Intervals>)
    -> Vec<Picture>;
}

/// Measures recorded inputs again, under every recorded protocol.
type MeasureAgain = fn(&Replay, usize) -> Result<Vec<Box<dyn Ledger>>>;

/// Joins the sections that states have begun into one.
type Join = fn(&mut [StateReader<'_>], &mut NewScratch<'_>, &mut StateWriter<'_>) -> Result<Joined>;
/// A group by its name, with its rows.
pub(crate) type Group<P> = (String, Accumulator<P>);
/// Gives the runs of a ledger other names.
type WithRuns = fn(&dyn Ledger, &dyn Fn(&str) -> Result<String>) -> Result<Option<Box<dyn Ledger>>>;
/// Draws ledgers by the names of their models.
type Compared = fn(&[(&str, &dyn Ledger)]) -> Vec<Picture>;
/// Ledgers by the name of their group.
type Groups = Vec<(String, Box<dyn Ledger>)>;

/// One family without its types.
pub struct Family {
    /// The name in reports, states and metric ids.
    pub name: &'static str,
    /// What it scores, in a few words.
    pub summary: &'static str,
    /// Its metric table under default parameters.
    pub metrics: fn() -> Vec<MetricInfo>,
    pub(crate) chosen_metrics: bool,
    pub(crate) measured_together: bool,
    pub(crate) measure_again: MeasureAgain,
    /// What a sample is made of.
    pub(crate) sampling: Sampling,
    pub(crate) groups: fn(&dyn Ledger) -> Result<Option<Groups>>,
    pub(crate) with_runs: WithRuns,
    pub(crate) compared: Compared,
    pub(crate) pictures: fn(&dyn Ledger, &Evidence, Option<&Intervals>) -> Vec<Picture>,
    /// Its metric table under the parameters of a report.
    metrics_of: fn(Json) -> Result<Vec<MetricInfo>>,
    open: fn(&Section, &str) -> Result<Box<dyn Ledger>>,
    /// Joins states of it that are larger than memory.
    pub(crate) join: Join,
}

impl Family {
    const fn of<P: Registered>() -> Self {
        Self {
            name: P::NAME,
            summary: P::SUMMARY,
            metrics: || metric_infos(&P::default()),
            chosen_metrics: P::CHOSEN_METRICS,
            measured_together: P::MEASURED_TOGETHER,
            measure_again: |replay, threads| {
                let boxed = |rows| -> Box<dyn Ledger> { Box::new(rows) };
                Ok(P::measure_again(replay, threads)?.into_iter().map(boxed).collect())
            },
            sampling: P::SAMPLING,
            groups: |ledger| {
                let Some(rows) = rows_of::<P>(ledger) else { return Ok(None) };
                let boxed = |(name, rows)| -> (String, Box<dyn Ledger>) { (name, Box::new(rows)) };
                Ok(P::groups(rows)?.map(|groups| groups.into_iter().map(boxed).collect()))
            },
            with_runs: |ledger, name| {
                let Some(rows) = rows_of::<P>(ledger) else { return Ok(None) };
                Ok(P::with_runs(rows, name)?.map(|rows| -> Box<dyn Ledger> { Box::new(rows) }))
            },
            compared: |models| {
                let typed = models.iter().map(|(name, ledger)| Some((*name, rows_of::<P>(*ledger)?)));
                typed.collect::<Option<Vec<_>>>().map_or_else(Vec::new, |models| P::compared(&models))
            },
            pictures: |ledger, evidence, intervals| {
                let rows = (ledger as &dyn Any).downcast_ref();
                rows.map_or_else(Vec::new, |rows| P::pictures(rows, evidence, intervals))
            },
            metrics_of: |parameters| from_json::<P>(parameters).map(|protocol| metric_infos(&protocol)),
            open: |section, source| Ok(Box::new(state::accumulator::<P>(section, source)?)),
            join: join::<P>,
        }
    }
}

fn rows_of<P: Protocol>(ledger: &dyn Ledger) -> Option<&Accumulator<P>> {
    (ledger as &dyn Any).downcast_ref()
}

impl Family {
    /// Whether every stratum is drawn as if it were alone, and every number reads one.
    pub(crate) fn is_drawn_by_stratum(&self) -> bool {
        self.sampling.draws == Draws::Separate
    }
}

/// The family of that name.
pub fn find(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// The family that a state names.
pub(crate) fn family(name: &str) -> Result<&'static Family> {
    find(name).ok_or_else(|| Error::format("a state of an unknown family").found(name).allowed(names()))
}

/// Decodes a section of a state; `source` names the state in messages.
pub fn open(section: &Section, source: &str) -> Result<Box<dyn Ledger>> {
    let family = family(section.name()).map_err(|error| error.in_file(source))?;
    (family.open)(section, source)
}

/// The metric table behind a report's `protocol` object; empty for a family this version lacks.
pub fn metrics_of(protocol: &Map<String, Json>) -> Vec<MetricInfo> {
    let name = protocol.get("name").and_then(Json::as_str);
    let Some(family) = name.and_then(find) else { return Vec::new() };
    described(protocol).unwrap_or_else(|_| (family.metrics)())
}

/// The metric table behind a report's `protocol` object, whose parameters are checked as those of a command
/// line are.
pub(crate) fn described(protocol: &Map<String, Json>) -> Result<Vec<MetricInfo>> {
    let mut parameters = protocol.clone();
    let name = parameters.shift_remove("name");
    let name = name.as_ref().and_then(Json::as_str).unwrap_or_default();
    let family = find(name).ok_or_else(|| {
        Error::format("a report of an unknown family").at("protocol.name").found(name).allowed(names())
    })?;
    (family.metrics_of)(Json::Object(parameters))
}

/// One metric by its id; the family may be left out where only one has that id. Fails with the ids
/// that may have been meant.
pub fn metric(id: &str) -> Result<MetricInfo> {
    match alike(id)?.as_slice() {
        [info] => Ok(info.clone()),
        several => {
            let ids: Vec<&str> = several.iter().map(|info| info.id.as_str()).collect();
            Err(Error::usage("several families have a metric of that id")
                .found(id)
                .advice(format!("say {}", ids.join(" or "))))
        }
    }
}

/// The metrics that an id may mean, one for each family at most. Fails with the ids that may have been
/// meant, where there is none.
pub fn alike(id: &str) -> Result<Vec<MetricInfo>> {
    let all: Vec<MetricInfo> = FAMILIES.iter().flat_map(|family| (family.metrics)()).collect();
    let alike: Vec<MetricInfo> = all.iter().filter(|info| is_meant(id, &info.id)).cloned().collect();
    if alike.is_empty() { Err(unknown(id, all.iter().map(|info| &*info.id))) } else { Ok(alike) }
}

/// Whether a word means a metric: its id with or without the family, in any case, with `-` for `_`.
pub(crate) fn is_meant(word: &str, id: &str) -> bool {
    let word = plain(word);
    word == id || word == short(id)
}

fn plain(word: &str) -> String {
    word.trim().to_ascii_lowercase().replace(['-', ' '], "_")
}

/// The error for an id that is none of `ids`, with those that may have been meant.
pub fn unknown<'a>(id: &str, ids: impl Iterator<Item = &'a str>) -> Error {
    let word = plain(id);
    let far = |known: &str| distance(short(known), short(&word));
    let mut near: Vec<&str> = ids.filter(|known| far(known) <= 3).collect();
    near.sort_by_key(|known| far(known));
    near.truncate(3);
    let error = Error::usage("no metric of that id").found(id);
    if near.is_empty() {
        return error.advice("`calipers list` shows every metric");
    }
    error.advice(format!("did you mean {}?", near.join(" or ")))
}

fn short(id: &str) -> &str {
    id.split_once('.').map_or(id, |(_, short)| short)
}

fn names() -> String {
    FAMILIES.iter().map(|family| family.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_metric_id_occurs_twice_and_every_one_carries_its_family() {
        let mut seen = BTreeSet::new();
        for family in FAMILIES {
            for info in (family.metrics)() {
                assert!(info.id.starts_with(&format!("{}.", family.name)), "{}", info.id);
                assert!(seen.insert(info.id.clone()), "{} is listed twice", info.id);
            }
        }
        assert!(!seen.is_empty());
    }

    #[test]
    fn a_misspelt_id_is_answered_with_its_neighbour() {
        let error = metric("loss_bec").map(|info| info.id).unwrap_err();
        assert!(error.to_string().contains("independent_set.loss_bce"), "{error}");
        assert_eq!(metric("independent_set.gap").unwrap().id, metric("gap").unwrap().id);
        assert_eq!(metric("mIoU").unwrap().id, metric("segmentation.miou").unwrap().id);
        assert_eq!(metric("Pixel-Accuracy").unwrap().id, "segmentation.pixel_accuracy");
        let error = metric("f1").map(|info| info.id).unwrap_err().to_string();
        assert!(error.contains("independent_set.f1 or segmentation.f1"), "{error}");
    }
}
