//! The figures of a report: every picture of its page, by a name that stays.

use std::path::PathBuf;

use calipers_core::resample::Intervals;
use calipers_core::spelling::distance;
use calipers_core::{Error, Ledger, Report, Result};
use calipers_report::chart::{Art, Chart, Picture};
use calipers_report::comparison::{self, Comparison};
use calipers_report::page::Block;

use crate::replay::Evidence;
use crate::{pages, pictures};

/// One figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name: ASCII letters, digits and hyphens.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What is drawn, or why it cannot be.
    pub chart: std::result::Result<Chart, String>,
}

/// The figures of a ledger; `intervals` are those of its report. Photos of the units are shown below
/// what was predicted.
pub fn of_ledger(
    ledger: &dyn Ledger,
    report: &Report,
    intervals: Option<&Intervals>,
    photos: Option<PathBuf>,
) -> Vec<Figure> {
    of_evidence(ledger, intervals, Evidence::of(report), photos)
}

fn of_evidence(
    ledger: &dyn Ledger,
    intervals: Option<&Intervals>,
    evidence: Evidence,
    photos: Option<PathBuf>,
) -> Vec<Figure> {
    let evidence = match (evidence, photos) {
        (Evidence::Available(replay), Some(folder)) => Evidence::Available(replay.with_photos(folder)),
        (evidence, _) => evidence,
    };
    pictures::of(ledger, &evidence, intervals).into_iter().flat_map(of_picture).collect()
}

/// The figures of a report without its rows: its inputs are measured again.
pub fn of_report(report: &Report, photos: Option<PathBuf>, threads: usize) -> Result<Vec<Figure>> {
    let (ledger, now, replay) = pages::measured_again(report, threads).map_err(|why| {
        Error::value(format!("a report holds numbers only, and its inputs do not give its figures: {why}"))
            .advice("draw them from a state, or say with --root where the inputs are")
    })?;
    Ok(of_evidence(&*ledger, now.intervals.as_ref(), Evidence::Available(replay), photos))
}

/// The figures of models that are compared: those of the family, with all models in one drawing, and how
/// they differ.
pub fn of_comparison(comparison: &Comparison) -> Vec<Figure> {
    let pictures = comparison::section(comparison).blocks.into_iter().filter_map(|block| match block {
        Block::Picture(picture) => Some(picture),
        _ => None,
    });
    pictures.flat_map(of_picture).collect()
}

/// The figure of that name, and what it draws.
pub fn find<'f>(figures: &'f [Figure], name: &str) -> Result<(&'f Figure, &'f Chart)> {
    let figure = figures.iter().find(|figure| figure.name.eq_ignore_ascii_case(name));
    let Some(figure) = figure else {
        let names = || figures.iter().map(|figure| figure.name.as_str());
        let near = names().min_by_key(|known| distance(known, name)).filter(|near| distance(near, name) <= 3);
        let error = Error::usage("no figure of that name")
            .found(name)
            .allowed(names().collect::<Vec<_>>().join(", "));
        return Err(match near {
            Some(near) => error.advice(format!("did you mean {near}?")),
            None => error,
        });
    };
    match &figure.chart {
        Ok(chart) => Ok((figure, chart)),
        Err(why) => Err(Error::value(format!("{} is not drawn: {why}", figure.name))),
    }
}

/// One figure, or one for each form of the picture: the form that is shown first has the plain name.
fn of_picture(picture: Picture) -> Vec<Figure> {
    let Picture { slug, title, art, .. } = picture;
    match art {
        Art::Chart(chart) => vec![Figure { name: slug, title, chart: Ok(chart) }],
        Art::Missing(why) => vec![Figure { name: slug, title, chart: Err(why) }],
        Art::Variants(variants) => variants
            .into_iter()
            .enumerate()
            .map(|(i, (form, chart))| Figure {
                name: if i == 0 { slug.clone() } else { format!("{slug}-{}", slugged(&form)) },
                title: format!("{title}: {form}"),
                chart: Ok(chart),
            })
            .collect(),
    }
}

/// A form's name in the name of a figure: every other run of characters becomes one hyphen.
fn slugged(form: &str) -> String {
    let parts = form.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).map(str::to_ascii_lowercase).collect();
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_names_of_their_own() {
        assert_eq!(slugged("by row"), "by-row");
        assert_eq!(slugged("at random:0.05"), "at-random-0-05");
    }

    #[test]
    fn an_unknown_figure_is_answered_with_the_nearest() {
        let figure = |name: &str, chart| Figure { name: name.into(), title: String::new(), chart };
        let figures = [figure("confusion", Err("no pixel".into())), figure("iou", Err(String::new()))];
        let error = |name: &str| find(&figures, name).err().unwrap().to_string();
        assert!(error("confuson").contains("did you mean confusion?"));
        assert!(error("x").contains("confusion, iou"));
        assert!(error("Confusion").contains("confusion is not drawn: no pixel"));
    }
}
