//! How far surfaces lie apart: over all cases, and in the slices where it is worst.

use calipers_core::{Accumulator, Value};
use calipers_metrics::segmentation::surface::{FarthestSlice, HD95};
use calipers_metrics::segmentation::{Measure, Row, Segmentation};
use calipers_report::chart::histogram::{Histogram, bins, counted};
use calipers_report::chart::images::{Images, Panel};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::Cell;
use calipers_report::number::rounded;

use super::super::readings::{missing, over_all, table, words};
use super::class_colours::ClassColours;
use super::pixels::{classes, legend_of_classes, legend_of_distances, surface};
use crate::families::segmentation;
use crate::replay::Evidence;

const SLUG: &str = "surface-distances";
const TITLE: &str = "Distances between surfaces";
const WORST_SLUG: &str = "worst-surfaces";
/// How many of the worst cases are shown, and how many classes have a histogram.
const WORST: usize = 3;
const MOST: usize = 8;
const BINS: usize = 30;

/// The pictures; none where surfaces were not asked for.
pub(super) fn pictures(rows: &Accumulator<Segmentation>, evidence: &Evidence) -> Vec<Picture> {
    if !rows.protocol().measures(Measure::Surface) {
        return Vec::new();
    }
    std::iter::once(distribution(rows)).chain(worst(rows, evidence)).collect()
}

/// The unit of distances, as far as it is known: nobody says that of a spacing.
fn unit_of(rows: &Accumulator<Segmentation>) -> &'static str {
    let is_spaced = |row: &Row| row.pixels.as_ref()?.space.as_ref()?.spacing;
    let spaced = rows.rows().iter().any(|row| is_spaced(row).is_some());
    if spaced { "units of the spacing" } else { "pixels" }
}

/// The distance that 95 % of the surface of a case keep, class by class.
fn distribution(rows: &Accumulator<Segmentation>) -> Picture {
    let mut by_class: Vec<(String, Vec<(String, f64)>)> = Vec::new();
    let (protocol, all) = (rows.protocol(), rows.rows());
    for (at, (unit, _)) in all.named().enumerate() {
        let Value::PerLabel(values) = HD95.read(protocol, &all.single(at)) else { continue };
        for (class, value) in values {
            let Some(distance) = value.as_f64() else { continue };
            match by_class.iter_mut().find(|(known, _)| *known == class) {
                Some((_, cases)) => cases.push((unit.to_owned(), distance)),
                None => by_class.push((class, vec![(unit.to_owned(), distance)])),
            }
        }
    }
    if by_class.is_empty() {
        return missing(SLUG, TITLE, "no case has a surface in both truth and prediction");
    }
    let means = over_all(rows, &HD95);
    let mean = |class: &str| match &means {
        Value::PerLabel(values) => values.iter().find(|(known, _)| known == class)?.1.as_f64(),
        _ => None,
    };
    let title = format!("95th percentile of the distance, in {}", unit_of(rows));
    let variants = by_class.iter().take(MOST).map(|(class, cases)| {
        let distances = || cases.iter().map(|(_, distance)| *distance);
        let x = Axis::around(title.clone(), distances().chain([0.0]));
        let edges = bins(&x, BINS);
        let counts = counted(distances(), &edges);
        let post = mean(class).map(|mean| (mean, format!("mean {}", rounded(mean))));
        let drawing = Histogram {
            title: format!("{TITLE}: {class}"),
            description: format!("{} cases", cases.len()),
            x,
            counted: "cases".into(),
            edges,
            counts: vec![(class.clone(), Colour::Series(0), counts)],
            posts: post.into_iter().collect(),
        };
        (class.clone(), Chart::Histogram(drawing))
    });
    let variants = variants.collect();
    let left_out = match by_class.len().saturating_sub(MOST) {
        0 => String::new(),
        n => format!(" The first {MOST} classes are drawn, {n} are left out."),
    };
    let cells = by_class.iter().flat_map(|(class, cases)| {
        cases.iter().map(move |(unit, distance)| vec![words(class), words(unit), Cell::Number(*distance)])
    });
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: format!(
            "How far truth and prediction lie apart in each case, without the farthest 5 %. Cases in which one \
             side alone has a surface are not drawn.{left_out}"
        ),
        art: Art::Variants(variants),
        data: vec![(SLUG.into(), table(&["class", "unit", HD95.id], cells))],
        unit: None,
    }
}

/// The cases with the largest distances, each in the slice through its largest.
fn worst(rows: &Accumulator<Segmentation>, evidence: &Evidence) -> Vec<Picture> {
    const TITLE: &str = "Farthest surfaces";
    let replay = match evidence {
        Evidence::Available(replay) => replay,
        Evidence::Missing(why) => return vec![missing(WORST_SLUG, TITLE, why)],
    };
    let all = rows.rows();
    let farthest = |row: &Row| {
        let space = row.pixels.as_ref()?.space.as_deref()?;
        let apart = space.surfaces.iter().filter_map(|(_, surfaces)| surfaces.apart.as_deref());
        apart.flat_map(|apart| apart.farthest).filter(|squared| squared.is_finite()).reduce(f64::max)
    };
    let mut ranked: Vec<(&str, f64)> = all
        .named()
        .filter_map(|(name, row)| Some((name, farthest(row)?)))
        .filter(|(_, d)| *d > 0.0)
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let (count, unit) = (ranked.len(), unit_of(rows));
    let units = match segmentation::units(replay) {
        Ok(units) => units,
        Err(error) => return vec![missing(WORST_SLUG, TITLE, error.to_string())],
    };
    let colours = ClassColours::new(rows);
    let names = &rows.protocol().labels.global;
    let draw = |(i, (name, _)): (usize, &(&str, f64))| {
        let slug = format!("{WORST_SLUG}-{}", i + 1);
        let title = format!("{TITLE}, {} of {count}: {name}", i + 1);
        match segmentation::farthest(&units, name) {
            Err(error) => missing(&slug, &title, error.to_string()),
            Ok(None) => missing(&slug, &title, "truth and prediction have no surface of one class"),
            Ok(Some(slice)) => drawn((slug, title, name), &slice, names, &colours, unit),
        }
    };
    ranked.iter().take(WORST).enumerate().map(draw).collect()
}

fn drawn(
    (slug, title, name): (String, String, &str),
    slice: &FarthestSlice,
    names: &[String],
    colours: &ClassColours,
    unit: &str,
) -> Picture {
    let FarthestSlice { maps, largest, surfaces: [truth, pred], .. } = slice;
    let class = names.get(slice.class).map_or("", String::as_str);
    let panels = [
        ("truth", classes(maps, &maps.truth, colours)),
        ("prediction", classes(maps, &maps.prediction, colours)),
        ("true surface", surface(maps, truth, *largest, colours)),
        ("predicted surface", surface(maps, pred, *largest, colours)),
    ];
    let place = if slice.slices > 1 {
        format!("Slice {} of {}", slice.slice + 1, slice.slices)
    } else {
        "The image".to_owned()
    };
    let panels = panels.map(|(caption, painting)| Panel { caption: caption.into(), image: painting.image() });
    let legend =
        legend_of_classes(maps, names, colours).into_iter().chain(legend_of_distances(*largest, unit));
    let drawing = Images {
        title: title.clone(),
        description: format!("{} images, largest distance {}", panels.len(), rounded(*largest)),
        panels: panels.into(),
        legend: legend.collect(),
    };
    Picture {
        slug,
        title,
        caption: format!(
            "{place} through the largest distance, {} {unit}, of {class}. Colours say how far an element of one \
             surface is from the other.",
            rounded(*largest)
        ),
        art: Art::Chart(Chart::Images(drawing)),
        data: vec![(
            "surfaces".into(),
            table(
                &["unit", "class", "slice", "largest"],
                [vec![
                    words(name),
                    words(class),
                    Cell::Number((slice.slice + 1) as f64),
                    Cell::Number(*largest),
                ]],
            ),
        )],
        unit: Some(name.to_owned()),
    }
}
