//! What looks wrong where surfaces are measured.

use calipers_core::{Rows, Warning};

use super::settings::{Missing, MissingRule};
use crate::segmentation::protocol::Segmentation;
use crate::segmentation::row::Row;
use crate::warnings::{about, about_run, counted, units};

/// Every warning about surfaces, volumes and spacings.
pub(crate) fn warnings(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Vec<Warning> {
    let mut all: Vec<Warning> = mixed_dimensions(rows).into_iter().collect();
    let Some(surface) = &protocol.surface else { return all };
    if surface.missing == Missing::Rule(MissingRule::Undefined) {
        all.extend(missing_surfaces(protocol, rows));
    }
    if protocol.labels.background.is_none() && rows.iter().any(|row| row.space().is_some()) {
        let message = "no background is declared, so that every class has a surface; declare it (--background) \
                       unless all classes are objects";
        all.push(about_run("background-undeclared", message));
    }
    all.extend(spacings(rows));
    all
}

fn missing_surfaces(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Option<Warning> {
    let one_sided = |row: &Row, class: usize| {
        let surfaces = row.space().and_then(|space| space.surfaces.get(&(class as u32)));
        surfaces.is_some_and(|surfaces| surfaces.apart.is_none())
    };
    let classes: Vec<String> = protocol
        .foreground_names()
        .filter_map(|(class, name)| {
            let count = rows.iter().filter(|row| one_sided(row, class)).count();
            (count > 0).then(|| format!("{name} in {count}"))
        })
        .collect();
    let concerned = units(rows, |row| protocol.foreground().any(|class| one_sided(row, class)));
    about("missing-surfaces", concerned, |units| {
        format!(
            "in {} a class has a surface in only one of truth and prediction and no distance there: {}; \
             --surface-missing gives them one",
            counted(units),
            classes.join(", ")
        )
    })
}

fn mixed_dimensions(rows: &Rows<'_, Row>) -> Option<Warning> {
    let volumes = units(rows, Row::is_volume);
    let images = rows.iter().filter(|row| row.pixels.is_some() && !row.is_volume()).count();
    if images == 0 {
        return None;
    }
    about("mixed-dimensions", volumes, |volumes| {
        format!("{} are volumes, {images} are images: their numbers do not mean the same", counted(volumes))
    })
}

fn spacings(rows: &Rows<'_, Row>) -> Option<Warning> {
    let is_placed =
        |row: &Row, known: bool| row.space().is_some_and(|space| space.spacing.is_some() == known);
    let (without, with) = (units(rows, |row| is_placed(row, false)), units(rows, |row| is_placed(row, true)));
    if !with.is_empty() {
        return about("mixed-spacing", without, |without| {
            format!(
                "{} without a spacing, {} with one: distances are in different units",
                counted(without),
                with.len()
            )
        });
    }
    let volumes = units(rows, Row::is_volume);
    about("no-spacing", volumes, |volumes| {
        format!(
            "{} are volumes without a spacing: distances are in voxels; --spacing gives one",
            counted(volumes)
        )
    })
}
