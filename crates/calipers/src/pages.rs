//! Reports as sections of a page: numbers with intervals, pictures, units, protocol.

use calipers_core::{Error, Ledger, MetricInfo, Report, Result};
use calipers_report::chart::{Art, Picture};
use calipers_report::page::{Room, Section, report_section};
use calipers_sources::run::Threads;

use crate::chosen::Chosen;
use crate::replay::{self, Evidence, Replay};
use crate::resample::Intervals;
use crate::{pictures, registry, resample};

/// The section of a ledger: its report, with the intervals that the report has, and what the inputs
/// still show.
pub fn of_ledger(ledger: &dyn Ledger, report: &Report, chosen: &Chosen) -> Section {
    drawn(ledger, report, chosen, &Evidence::of(report))
}

/// The same without a look at the inputs, for the reason given.
pub fn of_ledger_alone(ledger: &dyn Ledger, report: &Report, why: &str) -> Section {
    drawn(ledger, report, &Chosen::default(), &Evidence::Missing(why.to_owned()))
}

/// The report of a ledger with the metrics that are shown and these intervals.
pub fn report(ledger: &dyn Ledger, chosen: &Chosen, asked: &Intervals, threads: usize) -> Result<Report> {
    resample::affordable(ledger, Some(&asked.bootstrap), threads)?;
    let mut report = chosen.cut(ledger.report_on(&Threads(threads)));
    resample::add(ledger, &mut report, asked, threads)?;
    Ok(report)
}

fn drawn(ledger: &dyn Ledger, report: &Report, chosen: &Chosen, evidence: &Evidence) -> Section {
    // Columns that are cut leave room for more units, so that all of these are made.
    let mut room = Room::default();
    let units = ledger.per_unit_while(&mut |unit, cells| chosen.is_cut() || room.takes(unit, cells));
    let units = (chosen.cut_table(ledger.name(), units), ledger.units());
    let pictures = pictures::of(ledger, evidence, report.intervals.as_ref());
    let infos = ledger.metrics();
    let section = report_section(report, &infos, Some(units), pictures);
    section.with_headline(report, &infos, &headlines(&infos))
}

/// The section of a report without its rows. When every input is still there, it is measured again
/// for what a report does not hold; otherwise the page says what is missing. A report without
/// intervals gets those that are asked for.
pub fn of_report(report: &Report, asked: &Intervals, threads: usize) -> Result<Section> {
    match measured_again(report, threads) {
        Err(missing) => Ok(of_report_alone(report, &missing)),
        Ok((ledger, mut now, replay)) => {
            if now.intervals.is_none() {
                resample::add(&*ledger, &mut now, asked, threads)?;
            }
            Ok(drawn(&*ledger, &now, &Chosen::of(report), &Evidence::Available(replay)))
        }
    }
}

/// The rows behind a report, measured again from its inputs, what they report now, and the inputs; else
/// why there are none.
pub(crate) fn measured_again(
    report: &Report,
    threads: usize,
) -> std::result::Result<(Box<dyn Ledger>, Report, Replay), String> {
    let replay = match Evidence::of(report) {
        Evidence::Missing(why) => return Err(why),
        Evidence::Available(replay) => replay,
    };
    let what = |error: Error| error.what().to_owned();
    let ledger = replay.measure(threads).map_err(what)?;
    let now = replay::like(&*ledger, report, threads).map_err(what)?;
    if same(&now, report) {
        Ok((ledger, now, replay))
    } else {
        Err("the inputs give other numbers now".into())
    }
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
        unit: None,
    };
    let infos = registry::metrics_of(&report.protocol);
    let section = report_section(report, &infos, None, vec![picture]);
    section.with_headline(report, &infos, &headlines(&infos))
}

/// Whether two reports say the same.
fn same(now: &Report, then: &Report) -> bool {
    now.metrics == then.metrics && now.protocol == then.protocol && now.warnings == then.warnings
}

/// The ids of the numbers that are shown first, in their order.
pub fn headlines(infos: &[MetricInfo]) -> Vec<&str> {
    let mut first: Vec<&MetricInfo> = infos.iter().filter(|info| info.headline.is_some()).collect();
    first.sort_by_key(|info| info.headline);
    first.into_iter().map(|info| info.id.as_str()).collect()
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
