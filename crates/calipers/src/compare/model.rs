//! A model as it comes to a comparison: accumulators, or a table of its units.

use std::ops::Deref;
use std::path::Path;

use calipers_core::metric::MetricInfo;
use calipers_core::resample::{Clusters, Leaf, Means, Plan, Resampler, Scope};
use calipers_core::{Error, ErrorKind, InputFiles, Ledger, Result};
use calipers_io::file::InputFile;
use calipers_sources::clusters::ClusterRule;
use serde_json::{Map, Value as Json};

use super::unit_table::{self, UnitTable};
use crate::registry::{self, Family};
use crate::states;

/// A model to compare.
pub struct Model {
    /// What tables call it.
    pub name: String,
    /// The file it came from, or what else it is.
    pub source: String,
    evidence: Evidence,
}

enum Evidence {
    /// One accumulator a protocol.
    State(Vec<Box<dyn Ledger>>),
    /// Numbers of units, without the rows behind them.
    Table(unit_table::File),
}

impl Model {
    /// A model from its accumulators.
    pub fn from_ledgers(name: &str, source: &str, ledgers: Vec<Box<dyn Ledger>>) -> Self {
        Self { name: name.into(), source: source.into(), evidence: Evidence::State(ledgers) }
    }

    /// A model from the bytes of a state or of a per-unit file, which the ending of its path tells apart.
    pub fn from_bytes(name: &str, path: &Path, bytes: &[u8]) -> Result<Self> {
        let source = path.display().to_string();
        let evidence = if states::is_state(bytes) {
            Evidence::State(states::from_bytes(bytes, &source)?)
        } else {
            Evidence::Table(unit_table::read(path, bytes).map_err(|error| error.in_file(&source))?)
        };
        Ok(Self { name: name.into(), source, evidence })
    }

    /// Refuses a state of which shards are missing.
    pub fn require_whole(&self) -> Result<()> {
        states::require_whole(self.ledgers()).map_err(|error| error.in_file(&self.source))
    }

    /// How many units it has.
    pub fn units(&self) -> usize {
        match &self.evidence {
            Evidence::State(ledgers) => ledgers.iter().map(|ledger| ledger.units()).sum(),
            Evidence::Table(file) => file.units(),
        }
    }

    /// Its families, one a protocol; of a per-unit file that whose metrics its columns are.
    pub fn families(&self) -> Result<Vec<&'static str>> {
        match &self.evidence {
            Evidence::State(ledgers) => Ok(ledgers.iter().map(|ledger| ledger.name()).collect()),
            Evidence::Table(file) => unit_table::family([file].into_iter()).map(|family| vec![family]),
        }
    }

    /// Whether it is a parquet file that does not say which rows were written.
    pub(super) fn is_unchecked(&self) -> bool {
        matches!(&self.evidence, Evidence::Table(file) if file.is_unchecked())
    }

    /// Its accumulators, one a protocol; none of a per-unit file.
    pub(super) fn ledgers(&self) -> &[Box<dyn Ledger>] {
        match &self.evidence {
            Evidence::State(ledgers) => ledgers,
            Evidence::Table(_) => &[],
        }
    }
}

/// Opens states and per-unit files (csv, jsonl, parquet), and names each by what its path has of its
/// own.
pub fn open(paths: &[impl AsRef<Path>]) -> Result<Vec<Model>> {
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let names = names(&paths);
    paths.iter().zip(names).map(|(path, name)| open_one(path, &name)).collect()
}

fn open_one(path: &Path, name: &str) -> Result<Model> {
    let bytes = InputFile::open(path)?.read_all().map_err(|error| error.in_file(path.display()))?;
    Model::from_bytes(name, path, &bytes)
}

/// File names without their endings where that tells them apart, else whole paths.
fn names(paths: &[&Path]) -> Vec<String> {
    let stems: Vec<String> = paths
        .iter()
        .map(|path| path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned())
        .collect();
    let alike = (1..stems.len()).any(|i| stems[..i].contains(&stems[i]));
    if alike { paths.iter().map(|path| path.display().to_string()).collect() } else { stems }
}

/// An accumulator of the caller, or one whose units have other names here.
pub(super) enum Held<'m> {
    Given(&'m dyn Ledger),
    Renamed(Box<dyn Ledger>),
}

impl Deref for Held<'_> {
    type Target = dyn Ledger;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Given(ledger) => *ledger,
            Self::Renamed(ledger) => &**ledger,
        }
    }
}

/// One protocol of one model.
pub(super) struct Side<'m> {
    /// What tables call the model.
    pub(super) name: String,
    pub(super) source: &'m str,
    /// The accumulator; `None` where models are compared by the numbers of their units alone.
    pub(super) ledger: Option<Held<'m>>,
    /// The numbers of single units, where there is no accumulator.
    pub(super) table: UnitTable,
    /// What is known about the metrics.
    pub(super) infos: Vec<MetricInfo>,
}

impl<'m> Side<'m> {
    /// The side of an accumulator.
    pub(super) fn of(name: String, source: &'m str, ledger: Held<'m>) -> Self {
        let (infos, table) = (ledger.metrics(), UnitTable::default());
        Self { name, source, ledger: Some(ledger), table, infos }
    }

    /// The parameters of the protocol; none where only a table is known.
    pub(super) fn protocol(&self) -> Map<String, Json> {
        self.ledger.as_ref().map(|ledger| ledger.parameters()).unwrap_or_default()
    }

    /// Its family, if this version has it.
    pub(super) fn family(&self) -> Option<&'static Family> {
        let (family, _) = self.infos.first()?.id.split_once('.')?;
        registry::find(family)
    }

    /// The names of the units, in key order.
    pub(super) fn units(&self) -> Vec<&str> {
        match &self.ledger {
            Some(ledger) => ledger.unit_names(),
            None => self.table.units.iter().map(String::as_str).collect(),
        }
    }

    /// What is drawn in a resample, and the files that the rule was read from.
    pub(super) fn plan(&self, rule: Option<&ClusterRule>) -> Result<(Plan, InputFiles)> {
        let units = match &self.ledger {
            Some(ledger) => ledger.sampling_units(),
            None => self.table.sampling_units(),
        };
        let clusters: Option<Clusters> = rule.map(|rule| rule.clusters(&units)).transpose()?;
        let plan = match &self.ledger {
            Some(ledger) => ledger.plan(clusters.as_ref()),
            None => self.table.plan(self.family().map(|family| family.sampling), clusters.as_ref()),
        }?;
        Ok((plan, clusters.map_or_else(InputFiles::default, |clusters| clusters.inputs)))
    }

    /// The numbers of the metrics with these ids over resamples.
    pub(super) fn resampler(&self, scope: Scope, ids: &[String]) -> Box<dyn Resampler + '_> {
        match &self.ledger {
            Some(ledger) => ledger.resampler(scope, &|id| ids.iter().any(|wanted| wanted == id)),
            None => {
                let wanted = |(leaf, _): &(Leaf, _)| {
                    (scope != Scope::Single || leaf.label.is_none()) && ids.contains(&leaf.id)
                };
                let columns = self.table.columns().into_iter().filter(wanted);
                Box::new(Means::new(self.table.units.len(), columns))
            }
        }
    }
}

/// The sides of all models, protocol by protocol. Where one model is only a table, all are read as
/// tables.
pub(super) fn sides(models: &[Model]) -> Result<Vec<Vec<Side<'_>>>> {
    let protocols = models.iter().map(|model| model.ledgers().len()).max().unwrap_or(0);
    let only_tables = models.iter().any(|model| matches!(model.evidence, Evidence::Table(_)));
    if only_tables && protocols > 1 {
        return Err(Error::usage("a state of several protocols cannot be compared with a per-unit file")
            .found(format!("{protocols} protocols"))
            .advice("compare states with states"));
    }
    let fewer = |model: &&Model| !only_tables && model.ledgers().len() != protocols;
    if let Some(model) = models.iter().find(fewer) {
        return Err(Error::new(
            ErrorKind::ProtocolMismatch,
            "the states hold different numbers of protocols",
        )
        .in_file(&model.source)
        .found(format!("{} here, {protocols} in another", model.ledgers().len())));
    }
    let known = models.iter().find_map(|model| model.ledgers().first()).map(|ledger| ledger.name());
    let family = match known {
        Some(family) => family,
        None => {
            let files = models.iter().filter_map(|model| match &model.evidence {
                Evidence::Table(file) => Some(file),
                Evidence::State(_) => None,
            });
            unit_table::family(files)?
        }
    };
    let round = |k: usize| models.iter().map(|model| side(model, k, family, only_tables)).collect();
    (0..protocols.max(1)).map(round).collect()
}

fn side<'m>(model: &'m Model, protocol: usize, family: &str, only_tables: bool) -> Result<Side<'m>> {
    let (name, source) = (model.name.clone(), model.source.as_str());
    let (table, infos) = match &model.evidence {
        Evidence::State(ledgers) => {
            let ledger = &*ledgers[protocol];
            if !only_tables {
                return Ok(Side::of(name, source, Held::Given(ledger)));
            }
            let infos = ledger.metrics();
            (UnitTable::from_ledger(ledger, &infos), infos)
        }
        Evidence::Table(file) => {
            let infos = registry::find(family).map_or_else(Vec::new, |family| (family.metrics)());
            (file.of_family(family, &infos).map_err(|error| error.in_file(source))?, infos)
        }
    };
    Ok(Side { name, source, ledger: None, table, infos })
}
