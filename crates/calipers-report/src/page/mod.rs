//! A report as one HTML file: no outside request, no script but its own, every text escaped.
//!
//! ```text
//! Report, Table, Picture --report_section--> Section --write--> report.html
//! ```
//!
//! What is read is in the markup; what is sorted, searched or saved is in JSON blocks beside it.
//! The style and the script are the two files here, allowed by their hashes and nothing else is.

mod blocks;
mod by_label;
mod data;
mod figure;
mod markup;
mod pictures;
mod policy;
mod section;
mod side_by_side;
mod units;

use calipers_core::resample::Intervals;
use calipers_core::{InputFiles, Table, Warning};

use crate::chart::{Picture, palette};
use crate::grid::Grid;
use crate::json;
use data::Shelf;
pub(crate) use markup::Markup;

pub use by_label::ByLabel;
pub use figure::Figure;
pub(crate) use section::flatten;
pub use section::report_section;
pub use side_by_side::side_by_side;
pub use units::Room;

const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

/// A page of sections.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// What the window and the first heading say.
    pub title: String,
    /// The sections in order; each begins a sheet when printed.
    pub sections: Vec<Section>,
}

/// One section, such as a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// Its place in links: ASCII letters, digits and hyphens, chosen by this project. The page makes
    /// it unique.
    pub slug: String,
    /// What it holds, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// The numbers that are read first, large, with their intervals.
    Headline(Vec<Figure>),
    /// Numbers by class, group, type or condition.
    ByLabel(ByLabel),
    /// What looks wrong.
    Warnings(Vec<Warning>),
    /// Every number, under its group and with its definition.
    Metrics(Vec<Figure>),
    /// What has no value: each reason and the numbers it concerns.
    Undefined(Vec<(String, Vec<String>)>),
    /// Every parameter: its path and its value.
    Protocol(Vec<(String, String)>),
    /// The per-unit table, to be sorted and searched.
    Units {
        /// All units, or the first of very many.
        table: Table,
        /// How many there are.
        all: usize,
    },
    /// A picture with its downloads.
    Picture(Picture),
    /// Any other table.
    Table {
        /// Its heading.
        title: String,
        /// Its cells.
        grid: Grid,
    },
    /// How sure the numbers of a report are: in words, and as JSON that scripts read.
    Intervals(Option<Intervals>),
    /// A paragraph.
    Text(String),
    /// The files that were read.
    Inputs(InputFiles),
}

/// The page as HTML. Equal pages have equal bytes.
pub fn write(page: &Page) -> String {
    let style = style();
    let mut html = Markup::new();
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.void(
        "meta",
        &[("http-equiv", "Content-Security-Policy"), ("content", &policy::policy(SCRIPT, &style))],
    );
    html.raw(
        "\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n",
    );
    html.element("title", &[], &page.title);
    html.raw("\n<style>").raw(&style).raw("</style>\n</head>\n<body>\n");
    html.raw("<a class=\"skip\" href=\"#content\">Skip to the content</a>\n");
    let slugs: Vec<String> = page
        .sections
        .iter()
        .enumerate()
        .map(|(i, section)| format!("{}-{}", slug(&section.slug), i + 1))
        .collect();
    top(&mut html, page, &slugs);
    html.raw("<main id=\"content\" tabindex=\"-1\">\n");
    html.element("h1", &[], &page.title);
    let mut shelf = Shelf::new();
    for (section, slug) in page.sections.iter().zip(&slugs) {
        blocks::section(&mut html, &mut shelf, section, slug);
    }
    html.raw("</main>\n<div id=\"definition\" class=\"definition\" role=\"tooltip\" hidden></div>\n");
    shelf.write(&mut html);
    intervals(&mut html, page);
    html.raw("<script>").raw(SCRIPT).raw("</script>\n</body>\n</html>\n");
    html.finish()
}

/// The intervals of every report on the page, as its JSON has them.
fn intervals(html: &mut Markup, page: &Page) {
    let blocks = page.sections.iter().flat_map(|section| &section.blocks);
    let of_reports = blocks.filter_map(|block| match block {
        Block::Intervals(intervals) => Some(intervals.as_ref()),
        _ => None,
    });
    let of_reports: Vec<_> = of_reports.collect();
    if !of_reports.is_empty() {
        html.json("intervals", &json::intervals_of_page(&of_reports));
    }
}

/// What every page may do, as a content security policy: for those who serve it.
pub fn policy() -> String {
    policy::policy(SCRIPT, &style())
}

/// The bar at the top of the page: name, sections, colours.
fn top(html: &mut Markup, page: &Page, slugs: &[String]) {
    html.raw("<header class=\"top\">\n<a class=\"brand\" href=\"#content\">")
        .raw(MARK)
        .raw("<span>Calipers</span></a>\n");
    html.raw("<nav aria-label=\"Sections\"><ol>\n");
    for (section, slug) in page.sections.iter().zip(slugs) {
        html.raw("<li>").element("a", &[("href", &format!("#{slug}"))], &section.heading).raw("</li>\n");
    }
    html.raw(
        "</ol></nav>\n<div class=\"tools\">\
         <button type=\"button\" id=\"theme\" class=\"quiet\" hidden>Dark</button>\
         <button type=\"button\" id=\"print\" class=\"quiet\" hidden>Print</button></div>\n</header>\n",
    );
}

/// The mark of the project: two jaws around what is measured.
const MARK: &str = "<svg viewBox=\"0 0 24 24\" width=\"20\" height=\"20\" aria-hidden=\"true\">\
    <path d=\"M4 3v14M4 6h16M13 6v11M4 17l3-3M13 17l-3-3\" fill=\"none\" stroke=\"currentColor\" \
    stroke-width=\"2\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/></svg>";

/// The style sheet: its file, and the colours of pictures in light and dark.
fn style() -> String {
    let (light, dark) = (palette::light(), palette::dark());
    format!(
        ":root{{{light}}}\n\
         @media screen{{:root[data-theme=dark]{{{dark}}}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         {}{STYLE}",
        palette::rules()
    )
}

/// The letters, digits and hyphens of a name.
fn slug(name: &str) -> String {
    let kept: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(60).collect();
    if kept.is_empty() { "section".into() } else { kept.to_ascii_lowercase() }
}

#[cfg(test)]
mod tests;
