//! The images that went worst, the one in the middle and the best: truth, prediction, errors and
//! boundary bands.

use std::path::Path;

use calipers_core::{Accumulator, Result};
use calipers_metrics::segmentation::Segmentation;
use calipers_metrics::segmentation::overlap::MIOU;
use calipers_report::chart::images::{Images, Panel};
use calipers_report::chart::{Art, Chart, Colour, Picture};
use calipers_report::grid::Cell;
use calipers_report::number::rounded;
use calipers_sources::segmentation::Units;

use super::super::readings::{missing, of_each, table, words};
use super::class_colours::ClassColours;
use super::photo::Photo;
use super::pixels::{Painting, bands, classes, errors, legend, legend_of_classes};
use crate::families::segmentation;
use crate::replay::Evidence;

/// How many of the worst images are shown.
const WORST: usize = 4;
const SLUG: &str = "worst-images";
const TITLE: &str = "Worst images";

/// An image that is shown: its slug, its title, its name and its number.
type Shown<'a> = (String, String, &'a str, f64);

/// The colours of a picture, and what each says.
type Legend = Vec<(Colour, String)>;

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
    let units = match segmentation::units(replay) {
        Ok(units) => units,
        Err(error) => return vec![missing(SLUG, TITLE, error.to_string())],
    };
    let colours = ClassColours::new(rows);
    let draw = |(slug, title, name, miou): Shown<'_>| {
        let (panels, classes) = match panels(rows.protocol(), (&units, replay.photos()), name, &colours) {
            Err(error) => return missing(&slug, &title, error.to_string()),
            Ok(drawn) => drawn,
        };
        let mistakes = legend(rows.protocol().boundary.thickness as usize);
        let drawing = Images {
            description: format!("{} images, mean intersection over union {}", panels.len(), rounded(miou)),
            title: title.clone(),
            panels,
            legend: classes.into_iter().chain(mistakes).collect(),
        };
        Picture {
            slug,
            title,
            caption: format!("Mean intersection over union {}.", rounded(miou)),
            art: Art::Chart(Chart::Images(drawing)),
            data: vec![("images".into(), table(&["unit", MIOU.id], [vec![words(name), Cell::Number(miou)]]))],
            unit: Some(name.to_owned()),
        }
    };
    shown(&ranked).into_iter().map(draw).collect()
}

/// The worst images, then those in the middle and at the end of the ranks that are not among them.
fn shown(ranked: &[(usize, String, f64)]) -> Vec<Shown<'_>> {
    let count = ranked.len();
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for (i, (_, name, miou)) in ranked.iter().take(WORST).enumerate() {
        let title = format!("{TITLE}, {} of {count}: {name}", i + 1);
        shown.push((format!("{SLUG}-{}", i + 1), title, name, *miou));
    }
    for (rank, slug, title) in
        [(count / 2, "median-image", "Median image"), (count - 1, "best-image", "Best image")]
    {
        let (_, name, miou) = &ranked[rank];
        if shown.iter().all(|(_, _, known, _)| known != name) {
            shown.push((slug.to_owned(), format!("{title}: {name}"), name, *miou));
        }
    }
    shown
}

fn panels(
    protocol: &Segmentation,
    (units, photos): (&Units, Option<&Path>),
    name: &str,
    colours: &ClassColours,
) -> Result<(Vec<Panel>, Legend)> {
    let photo = photos.map(|folder| Photo::find(folder, name)).transpose()?;
    let maps = segmentation::unit(units, name)?;
    let thickness = protocol.boundary.thickness as usize;
    let paintings = [
        ("truth", classes(&maps, &maps.truth, colours)),
        ("prediction", classes(&maps, &maps.prediction, colours)),
        ("errors", errors(&maps, colours)),
        ("boundary bands", bands(&maps, thickness, protocol.labels.background, colours)),
    ];
    let panel = |(caption, painting): (&str, Painting)| {
        let painting = match &photo {
            Some(photo) => painting.over(photo),
            None => painting,
        };
        Panel { caption: caption.into(), image: painting.image() }
    };
    let classes = legend_of_classes(&maps, &protocol.labels.global, colours);
    Ok((paintings.into_iter().map(panel).collect(), classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_image_is_shown_twice() {
        let ranked: Vec<(usize, String, f64)> = (0..9).map(|i| (i, i.to_string(), i as f64)).collect();
        let slugs = |count: usize| -> Vec<String> {
            shown(&ranked[..count]).into_iter().map(|(slug, ..)| slug).collect()
        };
        assert_eq!(slugs(1), ["worst-images-1"]);
        assert_eq!(slugs(5).last().unwrap(), "best-image");
        assert_eq!(slugs(9).len(), 6);
        assert_eq!(shown(&ranked)[4].2, "4");
    }
}
