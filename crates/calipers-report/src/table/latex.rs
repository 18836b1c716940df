//! A table to paste into a paper.

use calipers_core::Report;
use calipers_core::error::printable;
use calipers_core::metric::MetricInfo;

use super::labels::{Entry, LabelTable, Window};
use super::terminal::arrow;
use super::{Cell, Extent, Layout, Line, Part, Shown, and_more, layout};

const EXTENT: Extent = Extent { gather: 1, most: usize::MAX };
/// The most metrics side by side, and the most rows that a page has room for.
const COLUMNS: usize = 8;
const COLUMNS_WITH_INTERVALS: usize = 3;
/// The most letters of a line of a heading.
const HEADING: usize = 12;
const ROWS: usize = 40;

/// The packages that a table needs, as a comment.
pub(crate) const PACKAGES: &str = "% \\usepackage{booktabs,graphicx}\n";

/// The reports as booktabs tables, each with what it is about, what is undefined and warnings in comments
/// above. `infos` holds the metric table of each report.
pub fn write(reports: &[Report], infos: &[Vec<MetricInfo>], shown: impl Into<Shown>) -> String {
    let shown = shown.into();
    let tables = reports.iter().enumerate().map(|(i, report)| {
        let infos = infos.get(i).map_or(&[][..], Vec::as_slice);
        one(report, &layout(report, infos, shown, &EXTENT))
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn one(report: &Report, layout: &Layout) -> String {
    let title = &layout.title;
    let preset = title.preset.as_ref().map(|preset| format!(", preset {preset}")).unwrap_or_default();
    let subject = title.subject.as_ref().map(|subject| format!(", {subject}")).unwrap_or_default();
    let mut notes = vec![format!("{}{subject}{preset}, {}", title.protocol, title.units)];
    notes.extend(layout.sampling.clone());
    notes.extend(
        layout
            .undefined
            .iter()
            .map(|(reason, names)| format!("not defined here: {reason}: {}", names.join(", "))),
    );
    for part in &layout.parts {
        let undefined = part.lines.iter().filter_map(|line| match &line.cell {
            Cell::Undefined(reason) if !reason.is_empty() => {
                Some(format!("not defined here: {reason}: {}", line.path))
            }
            _ => None,
        });
        notes.extend(undefined);
        let reasons = part.tables.iter().flat_map(LabelTable::reasons);
        notes.extend(reasons.map(|reason| format!("not defined here: {reason}")));
    }
    let warnings = report.warnings.iter();
    notes.extend(warnings.map(|warning| format!("warning {}: {}", warning.code, warning.message)));
    notes.extend((layout.more > 0).then(|| and_more(layout.more)));
    let mut text = PACKAGES.to_owned();
    notes.iter().for_each(|note| text.push_str(&format!("% {}\n", printable(note))));
    let tables: Vec<String> = layout.parts.iter().flat_map(|part| tables(part, layout)).collect();
    text + &tables.join("\n\\medskip\n\n")
}

/// The tables of a part: metrics one below the other, then labels.
fn tables(part: &Part, layout: &Layout) -> Vec<String> {
    let heading = if part.title.is_empty() { "Metric".into() } else { escaped(part.title) };
    let rows: Vec<[String; 3]> = part.lines.iter().filter_map(shown).collect();
    let sure = rows.iter().any(|[.., interval]| !interval.is_empty());
    let mut tables = Vec::new();
    for rows in rows.chunks(ROWS) {
        let mut table = Tabular::new(if sure { "lrl" } else { "lr" });
        let mut names = vec![heading.clone(), "Value".into()];
        names.extend(layout.share.iter().filter(|_| sure).map(|share| format!("{share}\\,\\% interval")));
        table.row(&names);
        table.rule();
        rows.iter().for_each(|row| table.row(&row[..names.len()]));
        tables.push(table.finish());
    }
    let heading = if rows.is_empty() { escaped(part.title) } else { String::new() };
    tables.extend(part.tables.iter().flat_map(|table| by_label(table, &heading)));
    tables
}

/// Labels by metrics; metrics by labels where there are few labels and many metrics. Where labels are
/// alternatives the best of them is bold.
fn by_label(table: &LabelTable, heading: &str) -> Vec<String> {
    let cell = |(entry, is_best): (&Entry, bool)| match (is_best, escaped(&entry.with_interval())) {
        (true, text) => format!("\\textbf{{{text}}}"),
        (false, text) => text,
    };
    let most = if table.has_intervals() { COLUMNS_WITH_INTERVALS } else { COLUMNS };
    if table.is_tall(most) {
        let names = table.labels.iter().map(|label| escaped(label));
        let names: Vec<String> = std::iter::once(heading.to_owned()).chain(names).collect();
        let tables = table.columns.chunks(ROWS).map(|columns| {
            let mut tabular = Tabular::new(&format!("l{}", "r".repeat(table.labels.len())));
            tabular.row(&names);
            tabular.rule();
            for column in columns {
                let first = format!("{} {}", column.name, arrow(column.better));
                let cells = column.entries.iter().zip(column.are_best(table)).map(cell);
                tabular.row(&std::iter::once(escaped(first.trim_end())).chain(cells).collect::<Vec<_>>());
            }
            tabular.finish()
        });
        return tables.collect();
    }
    let one = |window: &Window<'_>| {
        let mut tabular = Tabular::new(&format!("l{}", "r".repeat(window.columns.len())));
        let names = window.columns.iter().map(|column| stacked(&column.name, arrow(column.better)));
        tabular.row(&std::iter::once(heading.to_owned()).chain(names).collect::<Vec<_>>());
        tabular.rule();
        let best: Vec<Vec<bool>> = window.columns.iter().map(|column| column.are_best(table)).collect();
        for (row, label, entries) in window.rows() {
            let best = best.iter().map(|column| column[row]);
            let cells = entries.into_iter().zip(best).map(cell);
            tabular.row(&std::iter::once(escaped(label)).chain(cells).collect::<Vec<_>>());
        }
        tabular.finish()
    };
    table.balanced(most, ROWS).iter().map(one).collect()
}

/// A heading in lines that are not much wider than numbers; it is broken behind underscores.
fn stacked(name: &str, arrow: &str) -> String {
    let mut lines = vec![String::new()];
    for part in name.split_inclusive('_') {
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.len() + part.len() <= HEADING => line.push_str(part),
            _ => lines.push(part.to_owned()),
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
    let arrow = escaped(format!(" {arrow}").trim_end());
    match lines.as_slice() {
        [line] => format!("{line}{arrow}"),
        lines => format!("\\shortstack[r]{{{}{arrow}}}", lines.join("\\\\")),
    }
}

/// A line's name with its direction, its value and its interval; `None` for a line that only heads others.
fn shown(line: &Line) -> Option<[String; 3]> {
    let (value, interval) = match &line.cell {
        Cell::Number(number, interval) => (number.clone(), interval.clone().unwrap_or_default()),
        Cell::Interval(words) | Cell::Sweep(words) => (words.clone(), String::new()),
        Cell::Series { ends, length, .. } => (format!("{ends} ({length} values)"), String::new()),
        Cell::Undefined(_) => ("–".into(), String::new()),
        Cell::Heading | Cell::Omitted(_) => return None,
    };
    let name = format!("{} {}", line.path, arrow(line.better));
    Some([escaped(name.trim_end()), escaped(&value), escaped(&interval)])
}

/// A booktabs table that is never wider than a line.
pub(crate) struct Tabular(String);

impl Tabular {
    pub(crate) fn new(alignment: &str) -> Self {
        // A wide table is scaled down; the others keep the size of the text.
        Self(format!(
            "\\noindent\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n\
             \\begin{{tabular}}{{{alignment}}}\n  \\toprule\n"
        ))
    }

    /// A row of cells that are safe already.
    pub(crate) fn row(&mut self, cells: &[String]) {
        // After a line break LaTeX would read a bracket or a star as its option.
        let guard = if cells.first().is_some_and(|cell| cell.starts_with(['[', '*'])) { "{}" } else { "" };
        self.0.push_str(&format!("  {guard}{} \\\\\n", cells.join(" & ")));
    }

    pub(crate) fn rule(&mut self) {
        self.0.push_str("  \\midrule\n");
    }

    pub(crate) fn finish(self) -> String {
        self.0 + "  \\bottomrule\n\\end{tabular}}%\n"
    }
}

/// Text that LaTeX sets as it is.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in printable(text).chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => safe.extend(['\\', c]),
            '\\' => safe.push_str("\\textbackslash{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '<' => safe.push_str("\\textless{}"),
            '>' => safe.push_str("\\textgreater{}"),
            '|' => safe.push_str("\\textbar{}"),
            '∞' => safe.push_str("$\\infty$"),
            '≤' => safe.push_str("$\\leq$"),
            '≥' => safe.push_str("$\\geq$"),
            '–' => safe.push_str("--"),
            '±' => safe.push_str("$\\pm$"),
            '…' => safe.push_str("\\ldots{}"),
            '↑' => safe.push_str("$\\uparrow$"),
            '↓' => safe.push_str("$\\downarrow$"),
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::Amount;
    use super::*;
    use crate::fixture;
    use calipers_core::Value;

    #[test]
    fn a_report_is_booktabs_tables() {
        let mut report = fixture::small();
        report.metrics.remove(2);
        report.metrics.push(("segmentation.loss_ce".into(), Value::Number(0.25)));
        report.metrics.push(("segmentation.ece".into(), Value::undefined("not requested")));
        let mut intervals = fixture::intervals(&[("segmentation.miou", [0.4, 0.5])]);
        intervals.missing.clear();
        report.intervals = Some(intervals);
        let infos = vec![fixture::infos(&report)];
        let expected = r"% \usepackage{booktabs,graphicx}
% segmentation, preset strict, 2 units
% Intervals hold 95 % (expanded): 2000 resamples of 14 clusters, clusters by folder, seed 0.
% not defined here: not requested: ece
% not defined here: class occurs in neither truth nor prediction: iou of car
% warning one-class: one class only
\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
\begin{tabular}{lrl}
  \toprule
  Prediction & Value & 95\,\% interval \\
  \midrule
  miou $\uparrow$ & 0.436 & [0.400, 0.500] \\
  bins $\uparrow$ & 1.0000 \ldots{} -- (2 values) &  \\
  \bottomrule
\end{tabular}}%

\medskip

\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
\begin{tabular}{lr}
  \toprule
   & iou $\uparrow$ \\
  \midrule
  sky & 0.9100 \\
  car & -- \\
  \bottomrule
\end{tabular}}%

\medskip

\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
\begin{tabular}{lr}
  \toprule
  Loss & Value \\
  \midrule
  loss\_ce $\downarrow$ & 0.2500 \\
  \bottomrule
\end{tabular}}%
";
        assert_eq!(write(&[report], &infos, Amount::Everything), expected);
    }

    #[test]
    fn the_best_of_the_groups_is_bold_and_long_headings_are_stacked() {
        let mut report = fixture::small();
        let value = |numbers: [f64; 2]| {
            Value::PerLabel(vec![
                ("a".into(), Value::Number(numbers[0])),
                ("b".into(), Value::Number(numbers[1])),
            ])
        };
        report.metrics = vec![
            ("segmentation.mean_class_accuracy".into(), value([0.25, 0.5])),
            ("segmentation.iou".into(), value([0.5, 0.5])),
        ];
        let infos = vec![fixture::infos(&report)];
        let text = write(std::slice::from_ref(&report), &infos, Amount::Everything);
        assert!(!text.contains("textbf"), "classes are no alternatives: {text}");
        assert!(text.contains("\\shortstack[r]{mean\\_class\\_\\\\accuracy $\\uparrow$}"), "{text}");
        report.protocol.insert("group_by".into(), "folder".into());
        let text = write(&[report], &infos, Amount::Everything);
        assert!(
            text.contains("  b & \\textbf{0.5000} & 0.5000 ") && text.contains("  a & 0.2500 & 0.5000 "),
            "{text}"
        );
    }

    #[test]
    fn hostile_text_runs_no_command() {
        assert_eq!(escaped("\\input{x}"), "\\textbackslash{}input\\{x\\}");
        assert_eq!(
            escaped("50% & $x_1^2$ #~\n"),
            "50\\% \\& \\$x\\_1\\textasciicircum{}2\\$ \\#\\textasciitilde{}\\textbackslash{}n"
        );
        let mut report = fixture::small();
        report.metrics =
            vec![("[1pt]".into(), Value::Count(1)), ("a".into(), Value::undefined("x\n\\end{tabular}"))];
        let text = write(&[report], &[], Amount::Everything);
        assert!(text.contains("  {}[1pt] & 1 "), "{text}");
        assert!(text.lines().filter(|line| line.contains("\\end{tabular}")).count() == 2, "{text}");
        assert!(text.contains("% not defined here: x\\n\\end{tabular}: a\n"), "{text}");
    }
}
