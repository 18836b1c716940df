//! The images that went worst: truth, prediction, errors and boundary bands.

use calipers_core::{Accumulator, Result};
use calipers_metrics::segmentation::Segmentation;
use calipers_metrics::segmentation::overlap::MIOU;
use calipers_report::chart::{Art, Panel, Picture};
use calipers_report::grid::Cell;
use calipers_report::number::rounded;

use super::super::readings::{missing, of_each, table, words};
use super::class_colours::ClassColours;
use super::pixels::{bands, classes, errors};
use crate::families::segmentation;
use crate::replay::{Evidence, Replay};

/// How many images are shown.
const SHOWN: usize = 4;
const SLUG: &str = "worst-images";
const TITLE: &str = "Worst images";

/// The pictures, worst first.
pub(super) fn pictures(rows: &Accumulator<Segmentation>, evidence: &Evidence) -> Vec<Picture> {
    let replay = match evidence {
        Evidence::Available(replay) => replay,
        Evidence::Missing(why) => return vec![missing(SLUG, TITLE, why)],
    };
    if rows.rows().iter().all(|row| row.pixels.is_none()) {
        return vec![missing(SLUG, TITLE, "confusion matrices carry no pixels")];
    }
    let mut ranked = of_each(rows, &MIOU);
    ranked.sort_by(|a, b| a.2.total_cmp(&b.2).then_with(|| a.1.cmp(&b.1)));
    if ranked.is_empty() {
        return vec![missing(SLUG, TITLE, "no image has a mean intersection over union")];
    }
    let colours = ClassColours::new(rows);
    let shown = ranked.iter().take(SHOWN).enumerate();
    shown
        .map(|(i, (_, name, miou))| {
            let slug = format!("{SLUG}-{}", i + 1);
            let title = format!("{TITLE}, {} of {}: {name}", i + 1, ranked.len());
            match panels(rows.protocol(), replay, name, &colours) {
                Err(error) => missing(&slug, &title, error.to_string()),
                Ok(panels) => Picture {
                    slug,
                    title,
                    caption: format!(
                        "Mean intersection over union {}. Wrong pixels are red, pixels without a prediction \
                         black, unscored ones grey. Bands of {} pixels: blue in the truth alone, orange in the \
                         prediction alone, dark in both.",
                        rounded(*miou),
                        rows.protocol().boundary.thickness
                    ),
                    art: Art::Panels(panels),
                    data: vec![(
                        "worst".into(),
                        table(&["unit", MIOU.id], [vec![words(name), Cell::Number(*miou)]]),
                    )],
                },
            }
        })
        .collect()
}

fn panels(
    protocol: &Segmentation,
    replay: &Replay,
    name: &str,
    colours: &ClassColours,
) -> Result<Vec<Panel>> {
    let maps = segmentation::unit(replay, name)?;
    let thickness = protocol.boundary.thickness as usize;
    let paintings = [
        ("truth", classes(&maps, &maps.truth, colours)),
        ("prediction", classes(&maps, &maps.prediction, colours)),
        ("errors", errors(&maps, colours)),
        ("boundary bands", bands(&maps, thickness, protocol.labels.background, colours)),
    ];
    let panel = |(caption, painting): (&str, super::pixels::Painting)| {
        Ok(Panel { caption: caption.into(), png: painting.png()? })
    };
    paintings.into_iter().map(panel).collect()
}
