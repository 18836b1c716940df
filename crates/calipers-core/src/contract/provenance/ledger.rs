//! An accumulator without its type, so that `merge`, `show` and bindings handle every family alike.

use std::any::Any;
use std::collections::BTreeSet;
use std::io;

use serde_json::{Map, Value as Json};

use crate::accumulator::Accumulator;
use crate::error::{Error, ErrorKind, Result};
use crate::metric::{MetricInfo, metric_infos};
use crate::protocol::Protocol;
use crate::protocol::protocol_json;
use crate::provenance::Provenance;
use crate::report::{Report, Table};
use crate::resample::{self, Asked, Bootstrap, Clusters, Numbers, Plan, Resampler, Scope};
use crate::state::{self, Section, StateWriter};
use crate::value::Value;
use crate::workers::{Alone, Workers};

/// What can be done with an accumulator of any protocol.
pub trait Ledger: Any + Send + Sync {
    /// The protocol's name.
    fn name(&self) -> &'static str;
    /// How many units there are.
    fn units(&self) -> usize;
    /// See [`Accumulator::merge`]; another protocol is a `ProtocolMismatch`.
    fn merge(&mut self, other: Box<dyn Ledger>) -> Result<()>;
    /// See [`Accumulator::merge_repeated`]; another protocol is a `ProtocolMismatch`.
    fn merge_repeated(&mut self, other: Box<dyn Ledger>) -> Result<()>;
    /// Its rows without the protocol: see `state::rows`.
    fn rows_alone(&self) -> Vec<u8>;
    /// Adds rows that [`Ledger::rows_alone`] gave, several times over if need be, under this protocol.
    fn add_rows(&mut self, bytes: &[u8], source: &str) -> Result<()>;
    /// See [`Accumulator::finish`].
    fn report(&self) -> Report {
        self.report_on(&Alone)
    }
    /// See [`Accumulator::finish_on`].
    fn report_on(&self, workers: &dyn Workers) -> Report;
    /// See [`Protocol::bootstrap`].
    fn bootstrap(&self) -> Option<Bootstrap>;
    /// See [`Protocol::resample_as`].
    fn resample_as(&mut self, bootstrap: &Bootstrap);
    /// What is drawn in a resample; clusters bring their sampling units together.
    fn plan(&self, clusters: Option<&Clusters>) -> Result<Plan>;
    /// The names of the sampling units, each once, as a rule for clusters sees them.
    fn sampling_units(&self) -> Vec<&str>;
    /// Adds to a report of this accumulator how sure its numbers are, and what a reader should know
    /// about that.
    fn add_intervals(&self, report: &mut Report, asked: &Asked<'_>, workers: &dyn Workers) -> Result<()>;
    /// The numbers of the metrics whose ids are wanted, over resamples of its units, in pieces that
    /// can be read anywhere.
    fn resampler(&self, scope: Scope, wanted: &dyn Fn(&str) -> bool) -> Box<dyn Resampler + '_>;
    /// The names of the units, in key order.
    fn unit_names(&self) -> Vec<&str>;
    /// The name of the protocol and every parameter, as the report prints them.
    fn parameters(&self) -> Map<String, Json>;
    /// See [`Protocol::READING_PARAMETERS`].
    fn reading_parameters(&self) -> &'static [&'static str];
    /// See [`Accumulator::per_unit`].
    fn per_unit(&self) -> Table {
        self.per_unit_while(&mut |_, _| true)
    }
    /// See [`Accumulator::per_unit_while`].
    fn per_unit_while(&self, wanted: &mut dyn FnMut(&str, &[Value]) -> bool) -> Table;
    /// The units about which there is something to say, in key order; see [`Protocol::explain_unit`].
    fn explain_units(&self) -> Vec<(String, String)>;
    /// The metric table under this protocol's parameters.
    fn metrics(&self) -> Vec<MetricInfo>;
    /// Files, readings, facts, shards and what was left out.
    fn provenance(&self) -> &Provenance;
    /// See [`Accumulator::set_source`].
    fn set_source(&mut self, source: &str);
    /// The section of a state file that holds it.
    fn section(&self) -> Section;
    /// Writes that section without holding it.
    fn write_section(&self, out: &mut StateWriter<'_>) -> io::Result<()>;
}

impl<P: Protocol> Ledger for Accumulator<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn units(&self) -> usize {
        self.len()
    }

    fn merge(&mut self, other: Box<dyn Ledger>) -> Result<()> {
        Self::merge(self, of_family::<P>(other)?)
    }

    fn merge_repeated(&mut self, other: Box<dyn Ledger>) -> Result<()> {
        Self::merge_repeated(self, of_family::<P>(other)?)
    }

    fn rows_alone(&self) -> Vec<u8> {
        state::rows(self)
    }

    fn add_rows(&mut self, bytes: &[u8], source: &str) -> Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let rows = state::first_rows(self.protocol(), &mut rest, source)?;
            Self::merge(self, rows)?;
        }
        Ok(())
    }

    fn report_on(&self, workers: &dyn Workers) -> Report {
        self.finish_on(workers)
    }

    fn bootstrap(&self) -> Option<Bootstrap> {
        self.protocol().bootstrap()
    }

    fn resample_as(&mut self, bootstrap: &Bootstrap) {
        Self::resample_as(self, bootstrap);
    }

    fn plan(&self, clusters: Option<&Clusters>) -> Result<Plan> {
        let rows = self.rows();
        let sampled = rows.named().map(|(name, row)| self.protocol().sampled(name, row));
        Plan::new(P::SAMPLING, sampled, clusters)
    }

    fn sampling_units(&self) -> Vec<&str> {
        let rows = self.rows();
        let named = rows.named().map(|(name, row)| self.protocol().sampled(name, row).unit);
        named.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn add_intervals(&self, report: &mut Report, asked: &Asked<'_>, workers: &dyn Workers) -> Result<()> {
        resample::add(self, report, asked, workers)
    }

    fn resampler(&self, scope: Scope, wanted: &dyn Fn(&str) -> bool) -> Box<dyn Resampler + '_> {
        Box::new(Numbers::new(self, scope, wanted))
    }

    fn unit_names(&self) -> Vec<&str> {
        self.rows().named().map(|(name, _)| name).collect()
    }

    fn parameters(&self) -> Map<String, Json> {
        protocol_json(self.protocol())
    }

    fn reading_parameters(&self) -> &'static [&'static str] {
        P::READING_PARAMETERS
    }

    fn per_unit_while(&self, wanted: &mut dyn FnMut(&str, &[Value]) -> bool) -> Table {
        Self::per_unit_while(self, wanted)
    }

    fn explain_units(&self) -> Vec<(String, String)> {
        let explain = |(name, row): (&str, &P::Row)| Some((name.into(), self.protocol().explain_unit(row)?));
        self.rows().named().filter_map(explain).collect()
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        metric_infos(self.protocol())
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn set_source(&mut self, source: &str) {
        Self::set_source(self, source);
    }

    fn section(&self) -> Section {
        state::section(self)
    }

    fn write_section(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        state::write_section(self, out)
    }
}

fn of_family<P: Protocol>(other: Box<dyn Ledger>) -> Result<Accumulator<P>> {
    let name = other.name();
    let other: Box<dyn Any> = other;
    other.downcast::<Accumulator<P>>().map(|other| *other).map_err(|_| {
        Error::new(ErrorKind::ProtocolMismatch, "the states are of different families")
            .found(format!("{} and {name}", P::NAME))
            .advice("merge only states of one family")
    })
}
