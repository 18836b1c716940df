//! Reports as sections of a page: numbers with intervals, pictures, units, protocol.

use calipers_core::resample::{Bootstrap, Scope};
use calipers_core::{Ledger, MetricInfo, Report, Result};
use calipers_report::chart::{Art, Picture};
use calipers_report::page::{Block, Section, report_section};

use crate::chosen::Chosen;
use crate::replay::Evidence;
use crate::{pictures, registry, resample};

/// The section of a ledger with the metrics that are shown. Intervals are those of the page alone; what
/// the inputs still show is drawn.
pub fn of_ledger(
    ledger: &dyn Ledger,
    chosen: &Chosen,
    bootstrap: &Bootstrap,
    threads: usize,
) -> Result<Section> {
    drawn(ledger, chosen, &Evidence::of(&ledger.report()), bootstrap, threads)
}

/// The same without a look at the inputs, for the reason given.
pub fn of_ledger_alone(
    ledger: &dyn Ledger,
    why: &str,
    bootstrap: &Bootstrap,
    threads: usize,
) -> Result<Section> {
    drawn(ledger, &Chosen::default(), &Evidence::Missing(why.to_owned()), bootstrap, threads)
}

fn drawn(
    ledger: &dyn Ledger,
    chosen: &Chosen,
    evidence: &Evidence,
    bootstrap: &Bootstrap,
    threads: usize,
) -> Result<Section> {
    let wanted = |id: &str| chosen.has(id);
    let intervals = resample::intervals(ledger, &wanted, bootstrap, Scope::Labels, threads)?;
    let intervals = intervals.into_iter().map(|(leaf, bounds)| (leaf.path(), bounds)).collect();
    let report = Report { intervals: Some(intervals), ..chosen.cut(ledger.report()) };
    let (units, pictures) =
        (chosen.cut_table(ledger.name(), ledger.per_unit()), pictures::of(ledger, evidence));
    let infos = ledger.metrics();
    let section = report_section(&report, &infos, Some(&units), pictures);
    let mut section = section.with_headline(&report, &infos, &headlines(&infos));
    let at = section.blocks.iter().position(|block| matches!(block, Block::Headline(_)));
    if let Some(at) = at.filter(|_| report.intervals.as_ref().is_some_and(|all| !all.is_empty())) {
        section.blocks.insert(at + 1, Block::Text(words(bootstrap)));
    }
    Ok(section)
}

/// The section of a report without its rows. When every input is still there, it is measured again
/// for what a report does not hold; otherwise the page says what is missing.
pub fn of_report(report: &Report, bootstrap: &Bootstrap, threads: usize) -> Result<Section> {
    let chosen = Chosen::of(report);
    let missing = match Evidence::of(report) {
        Evidence::Missing(why) => why,
        Evidence::Available(replay) => match replay.measure(threads) {
            Ok(ledger) if same(&chosen.cut(ledger.report()), report) => {
                return of_ledger(&*ledger, &chosen, bootstrap, threads);
            }
            Ok(_) => "the inputs give other numbers now".into(),
            Err(error) => error.what().to_owned(),
        },
    };
    Ok(of_report_alone(report, &missing))
}

/// The section of a report without its rows and without a look at its inputs, for the reason given.
pub fn of_report_alone(report: &Report, why: &str) -> Section {
    let picture = Picture {
        slug: "missing".into(),
        title: "Pictures, units and intervals".into(),
        caption: "A report holds numbers only; the rest is drawn from the inputs it names, or from a state."
            .into(),
        art: Art::Missing(why.to_owned()),
        data: Vec::new(),
    };
    let infos = registry::metrics_of(&report.protocol);
    let section = report_section(report, &infos, None, vec![picture]);
    section.with_headline(report, &infos, &headlines(&infos))
}

/// Whether two reports say the same; intervals are added on request and say nothing of the inputs.
fn same(now: &Report, then: &Report) -> bool {
    now.metrics == then.metrics && now.protocol == then.protocol && now.warnings == then.warnings
}

/// The ids of the numbers that are shown first, in their order.
fn headlines(infos: &[MetricInfo]) -> Vec<&str> {
    let mut first: Vec<&MetricInfo> = infos.iter().filter(|info| info.headline.is_some()).collect();
    first.sort_by_key(|info| info.headline);
    first.into_iter().map(|info| info.id.as_str()).collect()
}

fn words(bootstrap: &Bootstrap) -> String {
    format!(
        "Below each number: the interval that holds {} % of {} bootstrap resamples of the units (seed {}).",
        calipers_report::number::shortest(100.0 * bootstrap.confidence).trim_end_matches(".0"),
        bootstrap.resamples,
        bootstrap.seed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_leads_with_numbers_it_has() {
        for family in registry::FAMILIES {
            let infos = (family.metrics)();
            let places: Vec<u8> = infos.iter().filter_map(|info| info.headline).collect();
            let mut sorted = places.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (1..=places.len() as u8).collect::<Vec<u8>>(), "{}", family.name);
            assert!((4..=12).contains(&headlines(&infos).len()), "{}", family.name);
        }
    }
}
