//! A section's blocks as HTML.

use std::collections::BTreeMap;

use calipers_core::resample::{Bounds, Intervals};
use calipers_core::{InputFiles, Table, Warning};

use super::data::Shelf;
use super::figure::Figure;
use super::markup::Markup;
use super::{Block, Section, pictures};
use crate::chart::{Art, Picture};
use crate::grid::{Cell, Grid};
use crate::leaf::leaf;
use crate::number::rounded;
use crate::sampling::words;
use crate::table::number;

/// The most units named under a warning, numbers under a reason, and lines of a table in the markup.
const UNITS_NAMED: usize = 12;
const MOST_NAMES: usize = 200;
const MOST_ROWS: usize = 1_000;

/// The most cards beside each other.
const CARDS: usize = 5;

/// Writes a section: pictures that follow each other stand in one gallery.
pub(crate) fn section(html: &mut Markup, shelf: &mut Shelf, section: &Section, slug: &str) {
    html.open("section", &[("id", slug), ("aria-labelledby", &format!("{slug}-heading"))]);
    html.raw("\n").element("h2", &[("id", &format!("{slug}-heading"))], &section.heading).raw("\n");
    let mut blocks = section.blocks.iter().enumerate().peekable();
    while let Some((i, block)) = blocks.next() {
        let place = |i: usize| format!("{slug}-{}", i + 1);
        let Block::Picture(first) = block else {
            write(html, shelf, block, &place(i));
            continue;
        };
        let mut row = vec![(place(i), first)];
        while let Some((i, Block::Picture(picture))) = blocks.next_if(|(_, b)| matches!(b, Block::Picture(_)))
        {
            row.push((place(i), picture));
        }
        gallery(html, shelf, row);
    }
    html.raw("</section>\n");
}

/// Pictures that follow each other: those that share rows first, then those that fill one, then in a
/// line each what is not drawn. A picture that would stand beside nothing fills its row.
fn gallery(html: &mut Markup, shelf: &mut Shelf, row: Vec<(String, &Picture)>) {
    let (missing, drawn): (Vec<_>, Vec<_>) =
        row.into_iter().partition(|(_, picture)| matches!(picture.art, Art::Missing(_)));
    let (wide, narrow): (Vec<_>, Vec<_>) =
        drawn.into_iter().partition(|(_, picture)| pictures::is_wide(picture));
    let alone = narrow.len() == 1;
    if !(wide.is_empty() && narrow.is_empty()) {
        html.raw("<div class=\"gallery\">\n");
        for (place, picture) in narrow {
            pictures::write(html, shelf, picture, &place, alone);
        }
        for (place, picture) in wide {
            pictures::write(html, shelf, picture, &place, true);
        }
        html.raw("</div>\n");
    }
    for (_, picture) in missing {
        if let Art::Missing(reason) = &picture.art {
            pictures::missing(html, &picture.title, reason);
        }
    }
}

fn write(html: &mut Markup, shelf: &mut Shelf, block: &Block, place: &str) {
    match block {
        Block::Headline(figures) => headline(html, shelf, figures),
        Block::ByLabel(table) => table.write(html, shelf),
        Block::Warnings(all) => warnings(html, all),
        Block::Metrics(figures) => metrics(html, shelf, figures),
        Block::Undefined(reasons) => undefined(html, reasons),
        Block::Protocol(parameters) => protocol(html, parameters),
        Block::Units { table, all } => units(html, shelf, (table, *all), place),
        Block::Picture(picture) => gallery(html, shelf, vec![(place.to_owned(), picture)]),
        Block::Table { title, grid } => table(html, title, grid),
        Block::Intervals(intervals) => intervals.iter().for_each(|intervals| sureness(html, intervals)),
        Block::Text(text) => {
            html.raw("<p class=\"text\">").prose(text).raw("</p>\n");
        }
        Block::Inputs(files) => inputs(html, files),
    }
}

/// Single numbers as cards, in rows that are full. What has no number here has no card: its reason stands
/// below.
fn headline(html: &mut Markup, shelf: &mut Shelf, figures: &[Figure]) {
    let mut shown = Vec::new();
    for figure in figures {
        let bounds = figure.intervals.as_ref().and_then(Bounds::single);
        shown.extend(number(&figure.value, bounds).map(|(number, interval)| (figure, number, interval)));
    }
    if shown.is_empty() {
        return;
    }
    let rows = shown.len().div_ceil(CARDS);
    html.open("ul", &[("class", &format!("cards of-{}", shown.len().div_ceil(rows)))]).raw("\n");
    for (figure, number, interval) in shown {
        html.raw("<li><p class=\"card-name\">");
        figure.write_name(html, shelf);
        html.raw("</p><p class=\"card-value\">").element("span", &[("class", "number")], &number);
        html.raw("</p><p class=\"card-interval\">").text(&interval.unwrap_or_default()).raw("</p></li>\n");
    }
    html.raw("</ul>\n");
}

fn warnings(html: &mut Markup, warnings: &[Warning]) {
    if warnings.is_empty() {
        return;
    }
    let count = warnings.len();
    html.raw("<aside class=\"warnings\" aria-label=\"Warnings\">\n");
    html.element("h3", &[], &format!("{count} warning{}", if count == 1 { "" } else { "s" })).raw("<ul>\n");
    for warning in warnings {
        html.raw("<li>").element("code", &[], &warning.code).raw(" ").prose(&warning.message);
        if !warning.units.is_empty() {
            let named = warning.units.iter().take(UNITS_NAMED);
            html.raw("<p class=\"names\">");
            named.for_each(|unit| _ = html.element("span", &[], unit).raw(" "));
            match warning.units.len().saturating_sub(UNITS_NAMED) {
                0 => {}
                more => _ = html.text(&format!("and {more} more")),
            }
            html.raw("</p>");
        }
        html.raw("</li>\n");
    }
    html.raw("</ul></aside>\n");
}

/// Every number under its group.
fn metrics(html: &mut Markup, shelf: &mut Shelf, figures: &[Figure]) {
    let mut groups: Vec<(&str, Vec<&Figure>)> = Vec::new();
    for figure in figures {
        let group = figure.info.as_ref().map_or("", |info| info.group);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, members)) => members.push(figure),
            None => groups.push((group, vec![figure])),
        }
    }
    html.raw("<div class=\"metrics\">\n<h3>All numbers</h3>\n<div class=\"groups\">\n");
    for (group, figures) in groups {
        let intervals = figures.iter().any(|figure| figure.bounds().is_some());
        html.raw("<table class=\"group\"><caption>").text(group).raw("</caption><tbody>\n");
        for figure in figures {
            html.raw("<tr><th scope=\"row\">");
            figure.write_name(html, shelf);
            let nested = leaf(&figure.value).is_none();
            html.raw(if nested && intervals { "</th><td colspan=\"2\">" } else { "</th><td>" });
            figure.write_value(html);
            html.raw("</td>");
            if intervals && !nested {
                html.element("td", &[("class", "interval")], &figure.bounds().unwrap_or_default());
            }
            html.raw("</tr>\n");
        }
        html.raw("</tbody></table>\n");
    }
    html.raw("</div></div>\n");
}

/// What was drawn, and which numbers have no interval.
fn sureness(html: &mut Markup, intervals: &Intervals) {
    html.raw("<p class=\"text\">").prose(&words(&intervals.drawn)).raw("</p>\n");
    let mut shared: Vec<(String, Vec<String>)> = Vec::new();
    for (path, reason) in &intervals.missing {
        match shared.iter_mut().find(|(known, _)| known == reason) {
            Some((_, paths)) => paths.push(path.clone()),
            None => shared.push((reason.clone(), vec![path.clone()])),
        }
    }
    reasons(html, "No interval", &shared);
}

fn undefined(html: &mut Markup, all: &[(String, Vec<String>)]) {
    reasons(html, "Not defined here", all);
}

/// Every reason with the numbers it concerns, folded.
fn reasons(html: &mut Markup, what: &str, reasons: &[(String, Vec<String>)]) {
    if reasons.is_empty() {
        return;
    }
    let count: usize = reasons.iter().map(|(_, names)| names.len()).sum();
    html.raw("<details class=\"fold\"><summary>");
    html.text(&format!("{what}: {count} {}", if count == 1 { "number" } else { "numbers" }));
    html.raw("</summary><dl class=\"reasons\">\n");
    for (reason, names) in reasons.iter().take(MOST_NAMES) {
        html.element("dt", &[], reason).raw("<dd class=\"names\">");
        names.iter().take(MOST_NAMES).for_each(|name| _ = html.element("span", &[], name).raw(" "));
        match names.len().saturating_sub(MOST_NAMES) {
            0 => {}
            more => _ = html.text(&format!("and {more} more")),
        }
        html.raw("</dd>\n");
    }
    html.raw("</dl></details>\n");
}

fn protocol(html: &mut Markup, parameters: &[(String, String)]) {
    html.raw("<div class=\"protocol\">\n<h3>Protocol</h3>\n<dl class=\"parameters\">\n");
    for (path, value) in parameters.iter().take(MOST_ROWS) {
        html.raw("<div>").element("dt", &[], path).raw("<dd>").text(value).raw("</dd></div>\n");
    }
    html.raw("</dl>");
    if parameters.len() > MOST_ROWS {
        html.element(
            "p",
            &[("class", "note")],
            &format!("and {} more, which --json holds", parameters.len() - MOST_ROWS),
        );
    }
    html.raw("</div>\n");
}

/// The frame of the per-unit table; its rows are in a JSON block and put in by the script.
fn units(html: &mut Markup, shelf: &mut Shelf, (table, all): (&Table, usize), place: &str) {
    let (data, kept) = shelf.units(table, all);
    html.open("div", &[("class", "units"), ("data-table", &data), ("data-name", place)]);
    html.raw("\n<h3>Units</h3>\n");
    let mut notes = Vec::new();
    if kept.units < all {
        notes.push(format!(
            "The first {} of {all} units are on this page; --per-unit writes them all.",
            kept.units
        ));
    }
    if !kept.exact {
        notes.push("Numbers have six digits here.".to_string());
    }
    if !notes.is_empty() {
        html.element("p", &[("class", "note")], &notes.join(" "));
    }
    html.raw(
        "<noscript><p class=\"note\">The table of units needs the page's script.</p></noscript>\n</div>\n",
    );
}

/// A small table in the markup.
fn table(html: &mut Markup, title: &str, grid: &Grid) {
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"group\"")
        .raw(" aria-label=\"Table\"><table class=\"plain\"><caption>");
    html.text(title).raw("</caption><thead><tr>");
    // A column is aligned as a whole: numbers stay below each other, whatever marks stand beside some.
    let aligned: Vec<&[(&str, &str)]> = (0..grid.columns.len())
        .map(|place| if grid.is_text(place) { &[][..] } else { &[("class", "number")] })
        .collect();
    for (name, class) in grid.columns.iter().zip(&aligned) {
        html.element("th", &[&[("scope", "col")], *class].concat(), name);
    }
    html.raw("</tr></thead><tbody>\n");
    for row in grid.rows.iter().take(MOST_ROWS) {
        html.raw("<tr>");
        for (cell, class) in row.iter().zip(&aligned) {
            match cell {
                Cell::Empty => _ = html.raw("<td class=\"undefined\">–</td>"),
                Cell::Number(x) if x.fract() == 0.0 && x.abs() < 1e15 => {
                    html.element("td", class, &format!("{x:.0}"));
                }
                Cell::Number(x) => _ = html.element("td", class, &rounded(*x)),
                Cell::Text(text) => _ = html.element("td", class, text),
                Cell::Bold(text) => _ = html.open("td", class).element("strong", &[], text).close("td"),
                Cell::Flag(on) => _ = html.element("td", class, if *on { "yes" } else { "no" }),
            }
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table>");
    if grid.rows.len() > MOST_ROWS {
        html.element("p", &[("class", "note")], &format!("and {} more rows", grid.rows.len() - MOST_ROWS));
    }
    html.raw("</div>\n");
}

fn inputs(html: &mut Markup, files: &InputFiles) {
    if files.is_empty() {
        return;
    }
    let bytes: u64 = files.iter().map(|(_, file)| file.bytes).sum();
    html.raw("<details class=\"fold inputs\"><summary>");
    html.text(&format!(
        "Inputs: {} {}, {bytes} bytes",
        files.len(),
        if files.len() == 1 { "file" } else { "files" }
    ));
    html.raw("</summary><div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Inputs\"><table class=\"plain\"><thead><tr><th scope=\"col\">file</th><th scope=\"col\">bytes</th><th scope=\"col\">blake3</th><th scope=\"col\">notes</th></tr></thead><tbody>\n");
    for (path, file) in files.iter().take(MOST_NAMES) {
        let notes: BTreeMap<&str, &str> =
            file.notes.iter().map(|(key, note)| (key.as_str(), note.as_str())).collect();
        let notes: Vec<String> = notes.into_iter().map(|(key, note)| format!("{key} {note}")).collect();
        html.raw("<tr>").element("td", &[], path);
        html.element("td", &[("class", "number")], &file.bytes.to_string());
        html.raw("<td>")
            .element("code", &[("title", &file.blake3.to_string())], &file.blake3.to_string()[..16])
            .raw("…</td>");
        html.element("td", &[], &notes.join(", ")).raw("</tr>\n");
    }
    html.raw("</tbody></table>");
    if files.len() > MOST_NAMES {
        html.element(
            "p",
            &[("class", "note")],
            &format!("and {} more, which report.json lists", files.len() - MOST_NAMES),
        );
    }
    html.raw("</div></details>\n");
}
