//! A picture on the page: the art, what it says, and buttons that save it and the numbers behind it.

use super::data::Shelf;
use super::markup::Markup;
use crate::chart::images::Images;
use crate::chart::{Art, Chart, Picture};

/// The most characters of one drawing and the most bytes of the images of one picture.
const LARGEST_DRAWING: usize = 1_500_000;
const LARGEST_PANELS: usize = 3_000_000;
/// The most characters of a drawing that is on the page a second time, for phones.
const LARGEST_TWICE: usize = 300_000;
/// The most bars beside another picture.
const MOST_BARS: usize = 24;
/// How wide drawings are: beside another one, alone in a row, and on a phone. They are shown at these
/// sizes, so that their words are as large as they were drawn.
const COLUMN: f64 = 500.0;
const ROW: f64 = 1040.0;
const PHONE: f64 = 318.0;

/// Whether a picture takes a whole row.
pub(crate) fn is_wide(picture: &Picture) -> bool {
    match &picture.art {
        Art::Chart(chart) => chart.is_wide() || is_long(chart),
        Art::Variants(variants) => variants.iter().any(|(_, chart)| chart.is_wide()),
        Art::Missing(_) => false,
    }
}

/// Whether a picture beside it would leave a hole below itself.
fn is_long(chart: &Chart) -> bool {
    matches!(chart, Chart::Bars(bars) if bars.bars.len() > MOST_BARS)
}

/// Writes a picture; `place` is its name among the page's elements.
pub(crate) fn write(html: &mut Markup, shelf: &mut Shelf, picture: &Picture, place: &str, wide: bool) {
    let data = if picture.data.is_empty() { None } else { shelf.grids(&picture.data) };
    let class = if wide { "picture wide" } else { "picture" };
    let mut attributes = vec![("class", class), ("id", place), ("data-name", &picture.slug)];
    attributes.extend(picture.unit.as_deref().map(|unit| ("data-unit", unit)));
    html.open("figure", &attributes);
    if let Some(id) = &data {
        html.open("span", &[("class", "source"), ("data-table", id), ("hidden", "")]).close("span");
    }
    html.raw("\n<figcaption>").element("h3", &[], &picture.title);
    html.raw("<p>").prose(&picture.caption).raw("</p></figcaption>\n");
    let width = if wide { ROW } else { COLUMN };
    match &picture.art {
        Art::Chart(Chart::Images(images)) => panels(html, images),
        Art::Chart(chart) => drawing(html, chart, width, None),
        Art::Variants(variants) => {
            for (name, chart) in variants {
                drawing(html, chart, width, Some(name));
            }
        }
        Art::Missing(reason) => missing(html, "", reason),
    }
    html.raw("<div class=\"tools\"></div></figure>\n");
}

/// Images stay images, so that each can be saved and looked at alone.
fn panels(html: &mut Markup, images: &Images) {
    let files: Vec<String> = images.panels.iter().map(|panel| panel.image.address()).collect();
    if files.iter().map(String::len).sum::<usize>() > LARGEST_PANELS {
        return missing(html, "", "the images are too large for a page");
    }
    html.raw("<div class=\"panels\">\n");
    for (panel, file) in images.panels.iter().zip(&files) {
        html.raw("<figure>").void("img", &[("src", file), ("alt", &panel.caption)]);
        html.element("figcaption", &[], &panel.caption).raw("</figure>\n");
    }
    html.raw("</div>\n");
    if images.legend.is_empty() {
        return;
    }
    html.raw("<ul class=\"legend\">");
    for (colour, name) in &images.legend {
        let mark = format!(
            "<svg viewBox=\"0 0 12 12\" width=\"12\" height=\"12\" aria-hidden=\"true\">\
             <rect width=\"12\" height=\"12\" rx=\"2\" fill=\"{}\"/></svg>",
            colour.css()
        );
        html.raw("<li>").raw(&mark).element("span", &[], name).raw("</li>");
    }
    html.raw("</ul>\n");
}

fn drawing(html: &mut Markup, chart: &Chart, width: f64, variant: Option<&str>) {
    let drawn = chart.draw(width);
    let size = drawn.to_string().len();
    let class = if size > LARGEST_TWICE { "chart once" } else { "chart" };
    match variant {
        Some(name) => html.open("div", &[("class", class), ("data-variant", name)]),
        None => html.open("div", &[("class", class)]),
    };
    if size > LARGEST_DRAWING {
        missing(html, "", "the drawing is too large for a page; the numbers behind it are in report.json");
    } else {
        html.raw("<div class=\"usual\">").svg(&drawn).raw("</div>");
        if size <= LARGEST_TWICE {
            html.raw("<div class=\"phone\">").svg(&chart.draw(PHONE)).raw("</div>");
        }
    }
    html.raw("</div>\n");
}

/// Says what is not drawn, and why.
pub(crate) fn missing(html: &mut Markup, what: &str, reason: &str) {
    html.raw("<p class=\"missing\">");
    if !what.is_empty() {
        html.element("strong", &[], what).raw(" · ");
    }
    html.raw("Not drawn: ").prose(reason).raw("</p>\n");
}
