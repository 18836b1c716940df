//! From measured runs to units: one run per identity, one unit per run.
//!
//! Who is who is known only when every log was read: two logs may be of one run, and two runs may have one
//! name. Rows are small, so that they wait for it here, and curves need not.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Accumulator, Error, ErrorKind, Fact, Result};
use calipers_io::history::FORMATS;
use calipers_metrics::training::{Point, Row, Sample, Training};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::claims::{self, Claim};
use crate::inputs::Inputs;
use crate::training::options::Options;
use crate::training::points::read::Read;
use crate::training::points::sketch::Sketch;
use crate::training::study::endings::{Ending, Endings};

/// The name of a format. By its own name it is not taken for text that is borrowed from a file.
type FormatName = &'static str;

/// A run that was measured and is not yet a unit.
#[derive(Clone, Serialize, Deserialize)]
pub struct Pending {
    /// Which unit it would be.
    pub claim: Claim,
    /// Whether its fold is its name, which another run may have as well.
    pub by_name: bool,
    /// What a tracker calls this run and no other.
    pub identity: Option<String>,
    /// Its identifier.
    pub id: Option<String>,
    /// The format it was read in.
    #[serde(deserialize_with = "format_name")]
    pub format: FormatName,
    /// What was noticed about it in its file: the code and the words.
    pub facts: Vec<(String, String)>,
    /// What came of each metric, or why it is missing.
    pub metrics: Vec<std::result::Result<Measured, Lacking>>,
    /// Sketches of its curves.
    pub sketches: Vec<Sketch>,
    /// What its history says beside its curves.
    pub ending: Option<Ending>,
    /// Its configuration, where points are kept.
    pub config: BTreeMap<String, String>,
}

/// The name of a format that this version has.
fn format_name<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<&'static str, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = FORMATS.called(&name).map(|format| format.name);
    known.ok_or_else(|| D::Error::custom("an unknown format"))
}

/// The row of one metric of a run.
#[derive(Clone, Serialize, Deserialize)]
pub struct Measured {
    /// The row.
    pub row: Row,
    /// The key that x was read from.
    pub x_key: String,
    /// What tells its values apart.
    pub print: Print,
    /// What was noticed about its values.
    pub facts: Vec<(String, String)>,
    /// Its points, where they are kept.
    #[serde(skip)]
    pub points: Vec<Point>,
}

/// Why a run has no value of a metric.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Lacking {
    /// Whether the key is there, without a value.
    pub has_key: bool,
    /// Whether the log has no history at all.
    pub empty: bool,
    /// Keys that may be meant.
    pub near: Vec<String>,
    /// The keys that are there.
    pub keys: Vec<String>,
}

/// What tells the values of a run apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Print {
    /// How many there are.
    pub values: usize,
    /// Of every x and value.
    exact: [u8; 32],
    /// Of the values alone, in single precision.
    single: [u8; 32],
}

impl Print {
    /// The print of values.
    pub fn of(samples: &[Sample]) -> Self {
        let (mut exact, mut single) = (blake3::Hasher::new(), blake3::Hasher::new());
        let mut sorted: Vec<&Sample> = samples.iter().collect();
        sorted.sort_by(|a, b| a.session.cmp(&b.session).then(a.x.total_cmp(&b.x)));
        for sample in sorted {
            exact.update(&sample.x.to_bits().to_le_bytes());
            exact.update(&sample.value.to_bits().to_le_bytes());
            single.update(&(sample.value as f32).to_bits().to_le_bytes());
        }
        Self { values: samples.len(), exact: exact.finalize().into(), single: single.finalize().into() }
    }
}

impl Print {
    /// How many values there are, what they are in single precision, and in which log they are.
    fn in_words(&self, format: &str, claim: &Claim) -> String {
        let digest = u64::from_le_bytes(*self.single.first_chunk().unwrap_or(&[0; 8]));
        format!("{} {digest:016x} {format} run {} in {}", self.values, claim.run, claim.file)
    }
}

/// Something noticed: its code and the words for it.
pub fn fact(code: &str, detail: String) -> (String, String) {
    (code.to_owned(), detail)
}

/// The fewest characters of an identifier in a fold.
const SHORTEST: usize = 8;

/// The runs as units, in the order of their places.
///
/// A run without a metric is left out where `inputs` goes on.
pub fn resolve(mut runs: Vec<Pending>, options: &Options, inputs: &Inputs) -> Result<Vec<Pending>> {
    runs.sort_by_key(|run| run.claim.place);
    let mut runs = one_per_identity(runs)?;
    has_metrics(&mut runs, options, inputs)?;
    tell_apart(&mut runs);
    claims::unique(runs.iter().filter(|run| run.is_measured()).map(|run| &run.claim))?;
    Ok(runs)
}

impl Pending {
    fn is_measured(&self) -> bool {
        self.metrics.iter().any(std::result::Result::is_ok)
    }

    /// The name of its unit; that of the run where no rule has looked at it.
    pub fn name(&self) -> String {
        if self.claim.group.is_empty() { self.claim.run.clone() } else { self.claim.unit() }
    }

    fn print(&self) -> Vec<Option<Print>> {
        self.metrics.iter().map(|metric| metric.as_ref().ok().map(|measured| measured.print)).collect()
    }

    /// Gives the rows and everything else of the run its unit.
    pub fn into_unit(
        self,
        accumulators: &mut [Accumulator<Training>],
        sketches: &mut Vec<((usize, usize), Sketch)>,
        endings: &mut Endings,
        read: &mut Vec<Read>,
    ) -> Result<()> {
        let name = self.name();
        let Self { claim, facts, metrics, sketches: mine, ending, format, config, .. } = self;
        let Claim { place, group, fold, .. } = &claim;
        let unit = claim.unit();
        let in_words = |(code, detail): &(String, String)| Fact {
            code: code.clone(),
            unit: unit.clone(),
            detail: detail.clone(),
        };
        for (accumulator, metric) in accumulators.iter_mut().zip(metrics) {
            match metric {
                Ok(measured) => {
                    let row = Row { group: group.clone(), fold: fold.clone(), ..measured.row };
                    accumulator.insert(unit.as_str(), row)?;
                    // What only all shards together can compare is noted of every run.
                    let told = [
                        fact("values-of", measured.print.in_words(format, &claim)),
                        fact("x-of", measured.x_key.clone()),
                    ];
                    let noticed = facts.iter().chain(&measured.facts).chain(&told).map(in_words);
                    accumulator.provenance.facts.extend(noticed);
                    let Measured { x_key, points, .. } = measured;
                    if !points.is_empty() {
                        read.push(Read {
                            claim: claim.clone(),
                            format,
                            x_key,
                            points,
                            config: config.clone(),
                        });
                    }
                }
                Err(_) => {
                    let unit = name.clone();
                    let detail = format!("run {} in {}", claim.run, claim.file);
                    let code = "metric-missing".into();
                    accumulator.provenance.facts.insert(Fact { code, unit, detail });
                }
            }
        }
        sketches.extend(
            mine.into_iter()
                .map(|sketch| (*place, Sketch { group: group.clone(), fold: fold.clone(), ..sketch })),
        );
        if let Some(ending) = ending.filter(|_| !group.is_empty()) {
            endings.insert((group.clone(), fold.clone()), ending);
        }
        Ok(())
    }
}

/// Of an identity that was read twice with one history one run stays; two histories are a conflict.
fn one_per_identity(runs: Vec<Pending>) -> Result<Vec<Pending>> {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<Pending> = Vec::new();
    for run in runs {
        // Sessions of one log that are runs of their own share its identity.
        let identity = run.identity.clone().map(|identity| match run.claim.run.rsplit_once('#') {
            Some((_, session)) => format!("{identity}#{session}"),
            None => identity,
        });
        let Some(identity) = identity else {
            kept.push(run);
            continue;
        };
        match first.get(&identity) {
            None => {
                first.insert(identity, kept.len());
                kept.push(run);
            }
            Some(at) if kept[*at].print() == run.print() => {}
            Some(at) => {
                let (one, two) = (&kept[*at].claim, &run.claim);
                return Err(Error::new(ErrorKind::Conflict, "one run has two different histories")
                    .at(identity)
                    .found(format!("run {} in {} and run {} in {}", one.run, one.file, two.run, two.file))
                    .advice("the two are no parts of one run: remove one of them"));
            }
        }
    }
    Ok(kept)
}

/// Refuses the first run without a metric, unless such runs are left out.
fn has_metrics(runs: &mut Vec<Pending>, options: &Options, inputs: &Inputs) -> Result<()> {
    if options.skip_missing {
        return Ok(());
    }
    let mut without = BTreeSet::new();
    for (at, training) in options.metrics.iter().enumerate() {
        for (number, run) in runs.iter().enumerate() {
            if let Some(Err(lacking)) = run.metrics.get(at)
                && without.insert(number)
            {
                inputs.leave_out(&run.name(), no_metric(runs, (run, lacking), (at, &training.metric)))?;
            }
        }
    }
    let mut number = 0..;
    runs.retain(|_| number.next().is_some_and(|number| !without.contains(&number)));
    Ok(())
}

/// The error for a run without a metric, which is one of several.
fn no_metric(runs: &[Pending], (run, lacking): (&Pending, &Lacking), (at, key): (usize, &str)) -> Error {
    let with = runs.iter().filter(|run| matches!(run.metrics.get(at), Some(Ok(_)))).count();
    let skip = if with > 0 { "leave such runs out with --skip-missing" } else { "" };
    let error = if lacking.has_key {
        Error::value(format!("a run without a single value of '{key}'"))
            .advice("leave such runs out with --skip-missing")
    } else {
        let near = match lacking.near.as_slice() {
            [] => "name a key exactly as the file has it".into(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        let found = match lacking.keys.as_slice() {
            _ if lacking.empty => "no history records".into(),
            [] => "no keys".into(),
            keys => format!("the keys {}", keys.join(", ")),
        };
        let advice = if skip.is_empty() { near } else { format!("{near}; or {skip}") };
        Error::value(format!("no key '{key}' in the history")).found(found).advice(advice)
    };
    error
        .at(format!("run {}", run.claim.run))
        .allowed(format!("'{key}' is in {with} of {} runs", runs.len()))
        .in_file(&run.claim.file)
}

/// Runs of one group that a tracker gave one name get their identifiers into their folds.
fn tell_apart(runs: &mut [Pending]) {
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate().filter(|(_, run)| run.is_measured()) {
        alike.entry(run.claim.unit()).or_default().push(at);
    }
    for places in alike.into_values().filter(|places| places.len() > 1) {
        let ids: Vec<Option<String>> = places.iter().map(|at| runs[*at].id.clone()).collect();
        let tracked = places.iter().all(|at| runs[*at].by_name && runs[*at].identity.is_some());
        let (true, Some(ids)) = (tracked, ids.into_iter().collect::<Option<Vec<String>>>()) else { continue };
        let cut = |length: usize| ids.iter().map(move |id| id.chars().take(length).collect::<String>());
        let longest = ids.iter().map(|id| id.chars().count()).max().unwrap_or(0);
        let differ = |length: &usize| cut(*length).collect::<BTreeSet<_>>().len() == ids.len();
        let Some(length) = (SHORTEST.min(longest)..=longest).find(differ) else { continue };
        let name = runs[places[0]].claim.run.clone();
        for (at, id) in places.iter().zip(cut(length)) {
            runs[*at].claim.fold = format!("{name} ({id})");
            runs[*at].facts.push(fact("same-name", format!("{} runs are called {name}", places.len())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::options;
    use calipers_core::Protocol;
    use calipers_metrics::training::Curve;

    fn run(at: usize, name: &str, id: Option<&str>, values: &[f64]) -> Pending {
        let samples = Sample::series(values);
        let row = Training::default().measure("", Curve::new("all", name, &samples)).unwrap();
        let claim = Claim {
            place: (at, 0),
            group: "all".into(),
            fold: name.into(),
            run: name.into(),
            file: format!("f{at}"),
            values: values.len(),
        };
        let (x_key, print) = ("epoch".into(), Print::of(&samples));
        Pending {
            claim,
            by_name: true,
            identity: id.map(|id| format!("run {id}")),
            id: id.map(String::from),
            format: if at < 5 { "csv" } else { "tensorboard" },
            facts: Vec::new(),
            metrics: vec![Ok(Measured { row, x_key, print, facts: Vec::new(), points: Vec::new() })],
            sketches: Vec::new(),
            ending: None,
            config: BTreeMap::new(),
        }
    }

    fn units(runs: Vec<Pending>) -> Result<Vec<String>> {
        Ok(resolve(runs, &options(&[], "m"), &Inputs::default())?
            .iter()
            .map(|run| run.claim.unit())
            .collect())
    }

    const A: &[f64] = &[0.1, 0.2, 0.95];
    const B: &[f64] = &[0.3, 0.2, 0.95];

    #[test]
    fn one_identity_read_twice_is_one_run_and_two_histories_are_a_conflict() {
        let twice = units(vec![run(0, "r", Some("u"), A), run(1, "r", Some("u"), A)]).unwrap();
        assert_eq!(twice, ["all/r"]);
        let error = units(vec![run(0, "r", Some("u"), A), run(1, "r", Some("u"), B)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.to_string().contains("f0") && error.to_string().contains("f1"), "{error}");
    }

    #[test]
    fn runs_of_one_name_are_told_apart_by_as_much_of_their_identifiers_as_it_takes() {
        let found = units(vec![
            run(0, "r", Some("abcdefgh1"), A),
            run(1, "r", Some("abcdefgh2"), B),
            run(2, "s", Some("abcdefgh3"), B),
        ]);
        assert_eq!(found.unwrap(), ["all/r (abcdefgh1)", "all/r (abcdefgh2)", "all/s"]);
        let untracked = units(vec![run(0, "r", None, A), run(1, "r", None, B)]).unwrap_err();
        assert_eq!(untracked.kind(), ErrorKind::Duplicate);
    }
}
