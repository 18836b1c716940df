//! A picture on the page: the art, what it says, and buttons that save it and the numbers behind it.

use super::data::Shelf;
use super::markup::Markup;
use super::policy::base64;
use crate::chart::{Art, Picture, Svg};

/// The most characters of one drawing and the most bytes of the images of one picture.
const LARGEST_DRAWING: usize = 1_500_000;
const LARGEST_PANELS: usize = 3_000_000;

/// Writes a picture; `place` is its name among the page's elements.
pub(crate) fn write(html: &mut Markup, shelf: &mut Shelf, picture: &Picture, place: &str) {
    let data = if picture.data.is_empty() { None } else { shelf.grids(&picture.data) };
    let wide = match &picture.art {
        Art::Svg(svg) => svg.width() > 720.0,
        Art::Variants(variants) => variants.iter().any(|(_, svg)| svg.width() > 720.0),
        Art::Panels(panels) => panels.len() > 1,
        Art::Missing(_) => false,
    };
    let class = if wide { "picture wide" } else { "picture" };
    html.open("figure", &[("class", class), ("id", place), ("data-name", &picture.slug)]);
    if let Some(id) = &data {
        html.open("span", &[("class", "source"), ("data-table", id), ("hidden", "")]).close("span");
    }
    html.raw("\n<figcaption>").element("h3", &[], &picture.title);
    html.raw("<p>").prose(&picture.caption).raw("</p></figcaption>\n");
    match &picture.art {
        Art::Svg(svg) => drawing(html, svg, None),
        Art::Variants(variants) => {
            for (name, svg) in variants {
                drawing(html, svg, Some(name));
            }
        }
        Art::Panels(panels) => {
            let bytes: usize = panels.iter().map(|panel| panel.png.len()).sum();
            html.raw("<div class=\"panels\">\n");
            for panel in panels.iter().filter(|_| bytes <= LARGEST_PANELS) {
                let source = format!("data:image/png;base64,{}", base64(&panel.png));
                html.raw("<figure>").void("img", &[("src", &source), ("alt", &panel.caption)]);
                html.element("figcaption", &[], &panel.caption).raw("</figure>\n");
            }
            html.raw("</div>\n");
            if bytes > LARGEST_PANELS {
                missing(html, "the images are too large for a page");
            }
        }
        Art::Missing(reason) => missing(html, reason),
    }
    html.raw("<div class=\"tools\"></div></figure>\n");
}

fn drawing(html: &mut Markup, svg: &Svg, variant: Option<&str>) {
    match variant {
        Some(name) => html.open("div", &[("class", "chart"), ("data-variant", name)]),
        None => html.open("div", &[("class", "chart")]),
    };
    if svg.to_string().len() > LARGEST_DRAWING {
        missing(html, "the drawing is too large for a page; the numbers behind it are in report.json");
    } else {
        html.svg(svg);
    }
    html.raw("</div>\n");
}

fn missing(html: &mut Markup, reason: &str) {
    html.raw("<p class=\"missing\">Not drawn: ").prose(reason).raw("</p>\n");
}
