//! How sure numbers are: one way of asking for every face, the same bits for any number of threads.

use calipers_core::resample::{Asked, Bootstrap, Held, Method, Scope};
use calipers_core::{Ledger, Report, Result};
use calipers_sources::clusters::ClusterRule;
use calipers_sources::run::Threads;

use calipers_io::memory::allowed;

/// What intervals are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// How to resample.
    pub bootstrap: Bootstrap,
    /// Which sampling units come together; `None` where it was not said.
    pub cluster_by: Option<ClusterRule>,
}

/// The resamples behind the intervals of a page, where no number is asked for.
pub const PAGE_RESAMPLES: u32 = 2_000;

/// Adds to a report of a ledger how sure its numbers are: what every output then shows.
pub fn add(ledger: &dyn Ledger, report: &mut Report, asked: &Intervals, threads: usize) -> Result<()> {
    let clusters = match &asked.cluster_by {
        Some(rule) => Some(rule.clusters(&ledger.sampling_units())?),
        None => None,
    };
    let asked = Asked { bootstrap: asked.bootstrap, clusters: clusters.as_ref(), memory: allowed() };
    ledger.add_intervals(report, &asked, &Threads(threads))
}

/// Refuses more resamples than there is memory for where the parameters of a ledger ask for some: its report
/// draws them itself. `asked` are those that its intervals are made of.
pub fn affordable(ledger: &dyn Ledger, asked: Option<&Bootstrap>, threads: usize) -> Result<()> {
    let Some(own) = ledger.bootstrap() else { return Ok(()) };
    let asked = asked.unwrap_or(&own);
    let numbers = ledger.resampler(Scope::Intervals, &|_| true).leaves().len();
    let held = Held {
        numbers,
        resamples: own.resamples.max(asked.resamples),
        others: if asked.method == Method::Bca { ledger.units() } else { 0 },
        columns: threads.clamp(1, numbers.max(1)),
        rows: ledger.units(),
        workers: threads,
        more: 0,
    };
    held.within(allowed(), "--bootstrap")
}

/// Refuses more resamples than there is memory for whatever is measured: one number of each is kept at least.
pub fn conceivable(resamples: u32, option: &str) -> Result<()> {
    let held = Held { numbers: 1, resamples, ..Held::default() };
    held.within(allowed(), option)
}

/// What a report says of its own intervals: asking for it again gives the same ones.
pub fn asked_by(report: &Report) -> Result<Option<Intervals>> {
    let Some(intervals) = &report.intervals else { return Ok(None) };
    let rule = intervals.drawn.cluster_by.as_deref().map(str::parse).transpose()?;
    Ok(Some(Intervals { bootstrap: intervals.drawn.bootstrap, cluster_by: rule }))
}
