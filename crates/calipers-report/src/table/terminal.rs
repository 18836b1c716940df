//! The table people read on a terminal.

use calipers_core::error::printable;
use calipers_core::metric::MetricInfo;
use calipers_core::{Better, Report, Warning};

use super::matrix::{Matrix, blocks, reasons};
use super::{Cell, Extent, Layout, Line, interval, layout};
use crate::text::{Paint, columns, left, right, short, wrapped};

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether colours are wanted.
    pub colour: bool,
    /// The columns of a line.
    pub width: usize,
}

const EXTENT: Extent = Extent { gather: 3, most: 40 };
const UNITS_NAMED: usize = 5;

/// The reports as tables, grouped and aligned, each with its warnings below. `infos` holds the
/// metric table of each report.
pub fn write(reports: &[Report], infos: &[Vec<MetricInfo>], style: Style) -> String {
    let tables = reports.iter().enumerate().map(|(i, report)| {
        let infos = infos.get(i).map_or(&[][..], Vec::as_slice);
        one(report, &layout(report, infos, &EXTENT), style)
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn one(report: &Report, layout: &Layout, style: Style) -> String {
    let mut page = Page { text: String::new(), style };
    let title = &layout.title;
    let preset = title.preset.as_ref().map(|preset| format!("preset {preset} · ")).unwrap_or_default();
    let subject = title.subject.as_ref().map(|subject| format!("{subject} · ")).unwrap_or_default();
    let about = short(
        &format!("{subject}{preset}{}", title.units),
        style.width.saturating_sub(columns(&title.protocol) + 2),
    );
    page.line(&[(short(&title.protocol, style.width), Paint::Bold), (format!("  {about}"), Paint::Dim)]);

    let grid = Grid::fit(layout, style.width);
    let matrix = Matrix::fit(layout, style.width);
    if let Some(matrix) = &matrix {
        page.line(&[(matrix.heading(), Paint::Bold)]);
    }
    for section in &layout.sections {
        page.text.push('\n');
        if !section.title.is_empty() {
            let title = format!("  {}", section.title);
            let room = style.width.saturating_sub(columns(&title) + 2);
            let reading = reading(report, section.title).map(|text| format!("  {}", short(text, room)));
            page.line(&[(title, Paint::Bold), (reading.unwrap_or_default(), Paint::Dim)]);
        }
        for block in blocks(&section.lines) {
            match matrix.as_ref().and_then(|matrix| matrix.line(&block)) {
                Some((name, values)) => page.line(&[
                    (name, Paint::Plain),
                    (left(arrow(block.head.better), 3), Paint::Green),
                    (values, Paint::Plain),
                ]),
                None => {
                    std::iter::once(block.head).chain(block.below).for_each(|line| grid.put(line, &mut page));
                }
            }
        }
    }
    for (i, reason) in matrix.iter().flat_map(|_| reasons(layout)).enumerate() {
        if i == 0 {
            page.text.push('\n');
        }
        page.paragraph(2, 4, &format!("– {reason}"), Paint::Dim);
    }
    for (i, (reason, names)) in layout.undefined.iter().enumerate() {
        if i == 0 {
            page.text.push('\n');
        }
        let names: Vec<String> = names.iter().map(|name| printable(name)).collect();
        let text = format!("not defined here — {}: {}", printable(reason), names.join(", "));
        page.paragraph(2, 4, &text, Paint::Dim);
    }
    if !report.warnings.is_empty() {
        page.text.push('\n');
        let count = report.warnings.len();
        let heading = format!("  {count} warning{}", if count == 1 { "" } else { "s" });
        page.line(&[(heading, Paint::Yellow)]);
        report.warnings.iter().for_each(|warning| page.warning(warning));
    }
    page.text
}

/// What the protocol says about the numbers under a heading: its entry `<heading>_reading`.
fn reading<'a>(report: &'a Report, heading: &str) -> Option<&'a str> {
    report.protocol.get(&format!("{heading}_reading"))?.as_str()
}

/// The text so far.
struct Page {
    text: String,
    style: Style,
}

impl Page {
    /// A line of painted pieces, without blanks at its end.
    fn line(&mut self, pieces: &[(String, Paint)]) {
        let last = pieces.iter().rposition(|(text, _)| !text.trim_end().is_empty());
        for (i, (text, paint)) in pieces.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
            let text = if Some(i) == last { text.trim_end() } else { text };
            self.text.push_str(&paint.on(text, self.style.colour));
        }
        self.text.push('\n');
    }

    /// Text broken into lines, the first and the other lines indented as given.
    fn paragraph(&mut self, first: usize, others: usize, text: &str, paint: Paint) {
        let width = self.style.width.saturating_sub(first.max(others)).max(20);
        for (i, line) in wrapped(text, width).into_iter().enumerate() {
            let indent = if i == 0 { first } else { others };
            self.line(&[(" ".repeat(indent), Paint::Plain), (line, paint)]);
        }
    }

    fn warning(&mut self, warning: &Warning) {
        let message = format!("{}: {}", printable(&warning.code), printable(&warning.message));
        self.paragraph(4, 6, &message, Paint::Yellow);
        if warning.units.is_empty() {
            return;
        }
        let named: Vec<String> = warning.units.iter().take(UNITS_NAMED).map(|unit| short(unit, 60)).collect();
        let more = match warning.units.len().saturating_sub(UNITS_NAMED) {
            0 => String::new(),
            more => format!(", … and {more} more"),
        };
        self.paragraph(6, 6, &format!("{}{more}", named.join(", ")), Paint::Dim);
    }
}

/// The widths of the columns: name, direction, value, note.
struct Grid {
    name: usize,
    whole: usize,
    fraction: usize,
    value: usize,
    /// Whether notes show ranges: beside intervals, which look alike, they would mislead.
    ranges: bool,
}

impl Grid {
    fn fit(layout: &Layout, width: usize) -> Self {
        let lines = || layout.sections.iter().flat_map(|section| &section.lines);
        let widest = |measure: &dyn Fn(&Line) -> usize| lines().map(measure).max().unwrap_or(0);
        let number = |line: &Line, side: fn((&str, &str)) -> usize| match &line.cell {
            Cell::Number(text) => side(at_point(text)),
            _ => 0,
        };
        let whole = widest(&|line| number(line, |(whole, _)| whole.len())).max(1);
        let fraction = widest(&|line| number(line, |(_, fraction)| fraction.len()));
        let bars = widest(&|line| match &line.cell {
            Cell::Series { bars: text, .. } | Cell::Interval(text) => columns(text),
            _ => 0,
        });
        let most = (width / 2).max(20);
        let name = widest(&|line| indent(line) + columns(&short(&line.name, most))).min(most);
        Self {
            name,
            whole,
            fraction,
            value: (whole + fraction).max(bars),
            ranges: lines().all(|line| line.interval.is_none()),
        }
    }

    fn put(&self, line: &Line, page: &mut Page) {
        let indent = indent(line);
        let blanks = " ".repeat(indent);
        if let Cell::Omitted(count) = line.cell {
            let text = format!("{blanks}… and {count} more, which --csv and --json hold");
            return page.line(&[(text, Paint::Dim)]);
        }
        let name = format!("{blanks}{}", short(&line.name, self.name.saturating_sub(indent).max(8)));
        let range = if self.ranges && line.depth == 0 { line.range } else { "" };
        let arrow = if line.depth == 0 { arrow(line.better) } else { "" };
        let (value, note, paint) = match &line.cell {
            Cell::Number(text) => {
                (self.aligned(text), line.interval.map_or_else(|| range.into(), interval), Paint::Plain)
            }
            Cell::Interval(words) => (right(words, self.value), range.into(), Paint::Plain),
            Cell::Sweep(words) => (left("", self.value), words.clone(), Paint::Plain),
            Cell::Series { bars, ends, length } => {
                (right(bars, self.value), format!("{ends}, n = {length}"), Paint::Plain)
            }
            Cell::Undefined(reason) => {
                (right("–", self.value - self.fraction), printable(reason), Paint::Dim)
            }
            Cell::Heading | Cell::Omitted(_) => (left("", self.value), range.into(), Paint::Plain),
        };
        let start = self.name + 4 + columns(&value) + 2;
        let mut notes = wrapped(&note, page.style.width.saturating_sub(start).max(20)).into_iter();
        page.line(&[
            (left(&name, self.name + 1), paint),
            (left(arrow, 3), Paint::Green),
            (format!("{value}  "), paint),
            (notes.next().unwrap_or_default(), Paint::Dim),
        ]);
        for note in notes {
            page.line(&[(" ".repeat(start), Paint::Plain), (note, Paint::Dim)]);
        }
    }

    /// The number with its point in the column of points.
    fn aligned(&self, text: &str) -> String {
        let (whole, fraction) = at_point(text);
        right(&format!("{}{}", right(whole, self.whole), left(fraction, self.fraction)), self.value)
    }
}

/// The text before the decimal point, and the rest.
fn at_point(text: &str) -> (&str, &str) {
    text.split_at(text.find('.').unwrap_or(text.len()))
}

fn indent(line: &Line) -> usize {
    4 + 2 * line.depth.min(8)
}

/// The direction in which a metric is better, as an arrow.
pub(crate) fn arrow(better: Better) -> &'static str {
    match better {
        Better::Higher => "↑",
        Better::Lower => "↓",
        Better::Neither => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use calipers_core::Value;

    fn shown(report: &Report, width: usize) -> String {
        let infos = vec![fixture::infos(report)];
        write(std::slice::from_ref(report), &infos, Style { colour: false, width })
    }

    #[test]
    fn a_run_reads_as_a_table() {
        let expected = "independent_set  preset strict · 500 units

  Loss
    loss_bce                         ↓       0.4123    [0, 1]
    loss_feasibility                 ↓       1.235e-5  [0, 1]

  Prediction
    feasibility                      ↑       1.0000    [0, 1]
    accuracy                         ↑       0.9873    [0, 1]
    approx_ratio_postprocessed_micro ↑       1.0       [0, 1]
    postprocessed_size               ↑     425.9580    [0, 1]
    swap_size                        ↑       –  not requested: --decoders swap

  Trajectory
    accuracy_by_step                         ▁▃▅▇▇███  0.6100 … 0.9873, n = 8
    solved                                             [0, 1]
      small                                  0.5000
      large                                  –  graph has no nodes

  Totals
    nodes_total                         638943         [0, 1]
    gap_total                              -12         [0, 1]

  not defined here — no samples given: best_of_size, best_of_approx_ratio,
    best_of_curve

  2 warnings
    label-beaten: for 17 of 500 graphs this run found a larger independent set
      than the labels
      CBS_k3_n100_m403_b90_000, CBS_k3_n100_m403_b90_001,
      CBS_k3_n100_m403_b90_002, CBS_k3_n100_m403_b90_003,
      CBS_k3_n100_m403_b90_004, … and 12 more
    below-baseline: 193224 < 209815
";
        assert_eq!(shown(&fixture::realistic(), 80), expected);
    }

    #[test]
    fn a_heading_says_how_the_protocol_reads_its_numbers() {
        let mut report = fixture::realistic();
        report.protocol.insert("Loss_reading".into(), "0 is perfect".into());
        assert!(shown(&report, 80).contains("\n  Loss  0 is perfect\n"));
        report.protocol.insert("Loss_reading".into(), "0 is perfect ".repeat(20).into());
        assert!(shown(&report, 80).lines().all(|line| columns(line) <= 80));
    }

    #[test]
    fn intervals_stand_beside_their_value() {
        let mut report = fixture::realistic();
        report.intervals = Some(fixture::intervals(&[("independent_set.accuracy", [0.98, 0.9911])]));
        let text = shown(&report, 120);
        assert!(text.contains("0.9873    [0.9800, 0.9911]\n"), "{text}");
        assert!(!text.contains("[0, 1]"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for report in [fixture::small(), fixture::realistic()] {
            for width in [80, 200] {
                let text = shown(&report, width);
                let widest = text.lines().map(columns).max().unwrap();
                assert!(widest <= width && text.lines().all(|line| line.trim_end() == line), "{text}");
            }
        }
    }

    #[test]
    fn colour_adds_codes_and_changes_no_text() {
        let report = fixture::realistic();
        let plain = shown(&report, 80);
        let coloured = write(&[report], &[], Style { colour: true, width: 80 });
        assert!(coloured.contains("\u{1b}[33m") && !plain.contains('\u{1b}'));
        let mut bare = coloured;
        for code in [0, 1, 2, 32, 33] {
            bare = bare.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert!(!bare.contains('\u{1b}'));
        assert!(bare.contains("label-beaten: for 17 of 500 graphs"), "{bare}");
    }

    #[test]
    fn hostile_names_neither_forge_lines_nor_move_columns() {
        let mut report = fixture::small();
        let evil = "x\u{1b}[2J\n  miou  1.0\u{202e}";
        report.metrics.push(("segmentation.空間".into(), Value::Number(0.5)));
        report
            .metrics
            .push((evil.into(), Value::PerLabel(vec![(evil.repeat(50), Value::undefined("\r\n"))])));
        report.warnings[0] = Warning { code: evil.into(), message: evil.into(), units: vec![evil.into()] };
        let text = shown(&report, 80);
        assert!(!text.contains(['\u{1b}', '\r', '\u{202e}']), "{text}");
        let column = |name: &str| {
            let line = text.lines().find(|line| line.contains(name)).unwrap();
            columns(line.split(".5000").next().unwrap().split(".4365").next().unwrap())
        };
        assert_eq!(column("miou "), column("空間"));
    }
}
