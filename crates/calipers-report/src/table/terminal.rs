//! The table people read on a terminal.

mod page;
mod sheet;

use calipers_core::error::printable;
use calipers_core::metric::MetricInfo;
use calipers_core::{Better, Report};

use self::page::Page;
use super::labels::LabelTable;
use super::{Amount, Cell, Extent, Layout, Line, Part, Shown, and_more, layout};
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
/// The most labels of a table, shown first or among everything.
const LABELS_FIRST: usize = 20;
/// Where warnings need the room there are fewer, so that all fits on a screen.
const LABELS_AT_LEAST: usize = 8;
const LINES_FIRST: usize = 38;
/// The most lines of a warning there.
const LINES_OF_WARNING: usize = 2;
const LABELS: usize = 200;
/// The most reasons for dashes that are said below numbers that are shown first.
const REASONS_FIRST: usize = 3;
const UNITS_NAMED: usize = 5;

/// The reports as tables, aligned, each with its warnings below. `infos` holds the metric table of each
/// report.
pub fn write(reports: &[Report], infos: &[Vec<MetricInfo>], style: Style, shown: impl Into<Shown>) -> String {
    let shown = shown.into();
    let tables = reports.iter().enumerate().map(|(i, report)| {
        let infos = infos.get(i).map_or(&[][..], Vec::as_slice);
        one(report, &layout(report, infos, shown, &EXTENT), style, shown.amount)
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn one(report: &Report, layout: &Layout, style: Style, amount: Amount) -> String {
    if !layout.is_first {
        return with_labels(report, layout, style, amount, LABELS);
    }
    let text = with_labels(report, layout, style, amount, LABELS_FIRST);
    match text.lines().count().saturating_sub(LINES_FIRST) {
        0 => text,
        // The line that says how many rows are left out takes the place of one.
        over => {
            let labels = LABELS_FIRST.saturating_sub(over + 1).max(LABELS_AT_LEAST);
            with_labels(report, layout, style, amount, labels)
        }
    }
}

/// The same with at most so many rows of labels.
fn with_labels(report: &Report, layout: &Layout, style: Style, amount: Amount, labels: usize) -> String {
    let mut page = Page { text: String::new(), style, is_first: layout.is_first, labels };
    let title = &layout.title;
    let preset = title.preset.as_ref().map(|preset| format!("preset {preset} · ")).unwrap_or_default();
    let subject = title.subject.as_ref().map(|subject| format!("{subject} · ")).unwrap_or_default();
    let about = short(
        &format!("{subject}{preset}{}", title.units),
        style.width.saturating_sub(columns(&title.protocol) + 2),
    );
    page.line(&[(short(&title.protocol, style.width), Paint::Bold), (format!("  {about}"), Paint::Dim)]);

    let is_first = layout.is_first;
    let grid = Grid::fit(layout, style.width, amount);
    let mut more = layout.more;
    for part in &layout.parts {
        more += page.part(part, &grid, reading(report, part.title));
    }
    let reasons: Vec<String> = layout.parts.iter().flat_map(|part| part.reasons()).collect();
    let said = if is_first { REASONS_FIRST } else { usize::MAX };
    for (i, reason) in reasons.iter().take(said).enumerate() {
        if i == 0 {
            page.text.push('\n');
        }
        if is_first {
            page.line(&[(short(&format!("  – {reason}"), style.width), Paint::Dim)]);
        } else {
            page.paragraph(2, 4, &format!("– {reason}"), Paint::Dim);
        }
    }
    for (i, (reason, names)) in layout.undefined.iter().enumerate() {
        if i == 0 {
            page.text.push('\n');
        }
        let names: Vec<String> = names.iter().map(|name| printable(name)).collect();
        let text = format!("not defined here — {}: {}", printable(reason), names.join(", "));
        page.paragraph(2, 4, &text, Paint::Dim);
    }
    if let Some(sampling) = &layout.sampling {
        page.text.push('\n');
        page.paragraph(2, 2, sampling, Paint::Dim);
    }
    if !report.warnings.is_empty() {
        page.text.push('\n');
        let count = report.warnings.len();
        let heading = format!("  {count} warning{}", if count == 1 { "" } else { "s" });
        page.line(&[(heading, Paint::Yellow)]);
        report.warnings.iter().for_each(|warning| page.warning(warning));
    }
    if more > 0 {
        page.text.push('\n');
        page.line(&[(format!("  {}", and_more(more)), Paint::Dim)]);
    }
    page.text
}

impl Part {
    fn reasons(&self) -> impl Iterator<Item = String> {
        self.tables.iter().flat_map(LabelTable::reasons)
    }
}

/// What the protocol says about the numbers under a heading: its entry `<heading>_reading`.
fn reading<'a>(report: &'a Report, heading: &str) -> Option<&'a str> {
    report.protocol.get(&format!("{heading}_reading"))?.as_str()
}

/// The widths of the columns: name, direction, value, note.
struct Grid {
    name: usize,
    whole: usize,
    fraction: usize,
    value: usize,
    /// Whether notes show ranges: beside intervals, which look alike, they would mislead, and numbers that
    /// are shown first are to be read at a glance.
    ranges: bool,
}

impl Grid {
    fn fit(layout: &Layout, width: usize, amount: Amount) -> Self {
        let lines = || layout.parts.iter().flat_map(|part| &part.lines);
        let widest = |measure: &dyn Fn(&Line) -> usize| lines().map(measure).max().unwrap_or(0);
        let number = |line: &Line, side: fn((&str, &str)) -> usize| match &line.cell {
            Cell::Number(text, _) => side(at_point(text)),
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
            ranges: amount == Amount::Everything
                && lines().all(|line| !matches!(line.cell, Cell::Number(_, Some(_)))),
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
            Cell::Number(text, interval) => {
                (self.aligned(text), interval.clone().unwrap_or_else(|| range.into()), Paint::Plain)
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
    use calipers_core::{Value, Warning};

    fn shown(report: &Report, width: usize) -> String {
        let infos = vec![fixture::infos(report)];
        write(std::slice::from_ref(report), &infos, Style { colour: false, width }, Amount::Everything)
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
    approx_ratio_postprocessed_micro ↑       1.0000    [0, 1]
    postprocessed_size               ↑     425.9580    [0, 1]
    swap_size                        ↑       –  not requested: --decoders swap

  Trajectory
    accuracy_by_step                         ▁▃▅▇▇███  0.6100 … 0.9873, n = 8

           solved
    small  0.5000
    large       –

  Totals
    nodes_total                         638943         [0, 1]
    gap_total                              -12         [0, 1]

  – graph has no nodes: solved of large

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
        assert!(text.contains("  Intervals hold 95 % (expanded)"), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("No interval: 1 number (defined in 1204 of 2000 resamples)."), "{text}");
        assert!(!text.contains("[0, 1]"), "{text}");
    }

    /// A report with this many labels, of which each has some numbers.
    fn labelled(labels: usize, names: &[&str]) -> (Report, Vec<Vec<MetricInfo>>) {
        let value = || {
            let label = |i: usize| (format!("label {i}"), Value::Number(i as f64 / 100.0));
            Value::PerLabel((0..labels).map(label).collect())
        };
        let metrics = names.iter().map(|name| (format!("segmentation.{name}"), value()));
        let report = Report { metrics: metrics.collect(), warnings: Vec::new(), ..fixture::small() };
        let mut infos = fixture::infos(&report);
        let places = infos.iter_mut().zip(1..);
        places.for_each(|(info, place)| info.headline = Some(place));
        (report, vec![infos])
    }

    #[test]
    fn labels_are_rows_and_a_long_table_is_cut_and_says_so() {
        let (report, infos) = labelled(100, &["velocity_normalised_wise", "f1"]);
        let text = write(&[report], &infos, Style { colour: false, width: 80 }, Amount::Headline);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], "                velocity_");
        assert_eq!(lines[3], "              normalised_");
        assert_eq!(lines[4], "                   wise ↑    f1 ↑");
        assert_eq!(lines[6], "    label 1        0.0100  0.0100", "{text}");
        assert_eq!(lines.last(), Some(&"    … and 80 more rows"), "{text}");
        assert!(lines.len() < 40);
    }

    #[test]
    fn long_warnings_take_rows_of_labels_and_not_a_second_screen() {
        let (mut report, infos) = labelled(20, &["f1"]);
        let warning = fixture::small().warnings[0].clone();
        report.warnings = vec![Warning { message: "many words ".repeat(60), ..warning }; 5];
        let text = write(&[report], &infos, Style { colour: false, width: 80 }, Amount::Headline);
        assert!(text.lines().count() <= LINES_FIRST, "{text}");
        assert!(text.contains("more rows") && text.contains("words …\n"), "{text}");
    }

    #[test]
    fn many_metrics_of_few_labels_are_rows_and_what_has_no_room_is_counted() {
        let names: Vec<String> = (0..9).map(|i| format!("measured_number_{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (report, infos) = labelled(2, &names);
        let text = write(&[report], &infos, Style { colour: false, width: 60 }, Amount::Headline);
        assert!(text.contains("measured_number_8 ↑"), "{text}");
        let (report, infos) = labelled(12, &names);
        let text = write(&[report], &infos, Style { colour: false, width: 60 }, Amount::Headline);
        assert!(text.ends_with("\n  … and 5 more numbers: --all\n"), "{text}");
        let (report, infos) = labelled(1, &["one"]);
        let text = write(&[report], &infos, Style { colour: false, width: 60 }, Amount::Headline);
        assert!(text.contains("    one ↑   0.0000\n"), "{text}");
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
        let coloured = write(&[report], &[], Style { colour: true, width: 80 }, Amount::Everything);
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
