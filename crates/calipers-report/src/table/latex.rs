//! A table to paste into a paper.

use calipers_core::Better;
use calipers_core::Report;
use calipers_core::error::printable;
use calipers_core::metric::MetricInfo;

use super::{Cell, Extent, Line, interval, layout};

const EXTENT: Extent = Extent { gather: 1, most: usize::MAX };

/// The reports as booktabs tables. What is undefined is listed by reason in comments above its
/// table. `infos` holds the metric table of each report.
pub fn write(reports: &[Report], infos: &[Vec<MetricInfo>]) -> String {
    let tables = reports
        .iter()
        .enumerate()
        .map(|(i, report)| one(report, infos.get(i).map_or(&[][..], Vec::as_slice)));
    tables.collect::<Vec<_>>().join("\n")
}

fn one(report: &Report, infos: &[MetricInfo]) -> String {
    let layout = layout(report, infos, &EXTENT);
    let title = &layout.title;
    let preset = title.preset.as_ref().map(|preset| format!(", preset {preset}")).unwrap_or_default();
    let mut text = format!(
        "% \\usepackage{{booktabs}}\n% {}{}, {}\n",
        printable(&title.protocol),
        printable(&preset),
        title.units
    );
    for (reason, names) in &layout.undefined {
        text.push_str(&format!(
            "% not defined here: {}: {}\n",
            printable(reason),
            printable(&names.join(", "))
        ));
    }
    for warning in &report.warnings {
        text.push_str(&format!("% warning {}: {}\n", printable(&warning.code), printable(&warning.message)));
    }
    text.push_str("\\begin{tabular}{lrcl}\n  \\toprule\n  Metric & Value & Better & Range \\\\\n");
    for section in &layout.sections {
        text.push_str("  \\midrule\n");
        if layout.sections.len() > 1 && !section.title.is_empty() {
            text.push_str(&format!(
                "  \\multicolumn{{4}}{{l}}{{\\textit{{{}}}}} \\\\\n",
                escaped(section.title)
            ));
        }
        for line in &section.lines {
            if let Some(value) = value(line) {
                let (name, range) = (escaped(&line.path), escaped(line.range));
                // After a line break LaTeX would read a bracket or a star as its option.
                let guard = if name.starts_with(['[', '*']) { "{}" } else { "" };
                text.push_str(&format!(
                    "  {guard}{name} & {value} & {} & {range} \\\\\n",
                    arrow(line.better)
                ));
            }
        }
    }
    text.push_str("  \\bottomrule\n\\end{tabular}\n");
    text
}

/// The value column; `None` for a line that only heads others.
fn value(line: &Line) -> Option<String> {
    let value = match &line.cell {
        Cell::Number(number) => match line.interval {
            Some(bounds) => format!("{number} {}", interval(bounds)),
            None => number.clone(),
        },
        Cell::Interval(words) | Cell::Sweep(words) => words.clone(),
        Cell::Series { ends, length, .. } => format!("{ends} ({length} values)"),
        Cell::Undefined(reason) if reason.is_empty() => "–".into(),
        Cell::Undefined(reason) => format!("– ({reason})"),
        Cell::Heading | Cell::Omitted(_) => return None,
    };
    Some(escaped(&value))
}

fn arrow(better: Better) -> &'static str {
    match better {
        Better::Higher => "$\\uparrow$",
        Better::Lower => "$\\downarrow$",
        Better::Neither => "",
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
            '…' => safe.push_str("\\ldots{}"),
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use calipers_core::Value;

    #[test]
    fn a_report_is_a_booktabs_table() {
        let mut report = fixture::small();
        report.metrics.remove(2);
        report.metrics.push(("segmentation.loss_ce".into(), Value::Number(0.25)));
        report.metrics.push(("segmentation.ece".into(), Value::undefined("not requested")));
        let infos = vec![fixture::infos(&report)];
        let expected = r"% \usepackage{booktabs}
% segmentation, preset strict, 2 units
% not defined here: not requested: ece
% warning one-class: one class only
\begin{tabular}{lrcl}
  \toprule
  Metric & Value & Better & Range \\
  \midrule
  \multicolumn{4}{l}{\textit{Prediction}} \\
  miou & 0.4365 & $\uparrow$ & [0, 1] \\
  iou.sky & 0.9100 & $\uparrow$ & [0, 1] \\
  iou.car & -- (class occurs in neither truth nor prediction) & $\uparrow$ & [0, 1] \\
  bins & 1.0 \ldots{} -- (2 values) & $\uparrow$ & [0, 1] \\
  \midrule
  \multicolumn{4}{l}{\textit{Loss}} \\
  loss\_ce & 0.2500 & $\downarrow$ & [0, 1] \\
  \bottomrule
\end{tabular}
";
        assert_eq!(write(&[report], &infos), expected);
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
        let text = write(&[report], &[]);
        assert!(text.contains("  {}[1pt] & 1 &"), "{text}");
        assert!(text.lines().filter(|line| line.contains("\\end{tabular}")).count() == 2, "{text}");
        assert!(text.contains("% not defined here: x\\n\\end{tabular}: a\n"), "{text}");
    }
}
