//! The chart of measured speeds, drawn from the tables of `benches/README.md`.

use std::fs;

use super::Generated;
use crate::step::{Outcome, root};

const TABLES: &str = "benches/README.md";
const CHART: &str = "docs/pictures/benchmarks.svg";

const WIDTH: f64 = 860.0;
/// Where bars begin and where the largest ends.
const BARS: [f64; 2] = [470.0, 800.0];
const ROW: f64 = 19.0;

/// A line of a table: how many times as fast as what.
#[derive(Debug, PartialEq)]
struct Speed {
    /// The first words of the table's paragraph.
    section: String,
    job: String,
    peer: String,
    ratio: f64,
    met: bool,
}

/// The chart as a file.
pub(super) fn chart() -> Outcome<Generated> {
    let text =
        fs::read_to_string(root().join(TABLES)).map_err(|error| format!("cannot read {TABLES}: {error}"))?;
    let speeds = speeds(&text)?;
    if speeds.is_empty() {
        return Err(format!("{TABLES} has no table with goals"));
    }
    Ok(Generated::new(CHART, drawn(&speeds)))
}

/// The lines whose goal is to be so many times as fast as a peer.
fn speeds(text: &str) -> Outcome<Vec<Speed>> {
    let (mut found, mut section, mut peer) = (Vec::new(), String::new(), String::new());
    let (mut in_table, mut paragraph) = (false, true);
    for line in text.lines() {
        if line.starts_with("| job |") {
            in_table = line.contains("| ratio | goal | met |");
            // A table against one peer has its name as the heading of the column.
            peer = line
                .split('|')
                .nth(3)
                .map(|name| name.trim().replace("compared with", ""))
                .unwrap_or_default();
        } else if !line.starts_with('|') {
            if !line.is_empty() && paragraph {
                section = line.split([',', ':', '.']).next().unwrap_or_default().to_owned();
            }
            (in_table, paragraph) = (false, line.is_empty());
        } else if in_table {
            found.extend(speed(line, &section, &peer)?);
        }
    }
    Ok(found)
}

fn speed(line: &str, section: &str, library: &str) -> Outcome<Option<Speed>> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [job, _, _, ratio, goal, met] = cells[..] else {
        return Err(format!("{TABLES}: a row of {} cells: {line}", cells.len()));
    };
    let is_faster = goal.starts_with('≥') || goal.parse::<f64>().is_ok();
    if line.starts_with("|--") || !is_faster {
        return Ok(None);
    }
    let ratio: f64 = ratio.parse().map_err(|_| format!("{TABLES}: the ratio {ratio:?} of {job}"))?;
    let (job, peer) = job.rsplit_once("; ").unwrap_or((job, library));
    Ok(Some(Speed {
        section: section.to_owned(),
        job: job.replace('`', ""),
        peer: peer.replace('`', ""),
        ratio,
        met: met == "yes",
    }))
}

fn drawn(speeds: &[Speed]) -> String {
    let sections = speeds.chunk_by(|a, b| a.section == b.section).count();
    let height = 62.0 + ROW * speeds.len() as f64 + 30.0 * sections as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"How many times as fast as its peers Calipers is\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"11.5\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#fff\"/>\n"
    );
    let largest = speeds.iter().map(|speed| speed.ratio).fold(10.0, f64::max);
    let x = |ratio: f64| BARS[0] + (BARS[1] - BARS[0]) * ratio.max(1.0).ln() / largest.ln();
    for tick in [1.0, 10.0, 100.0, 1000.0].into_iter().filter(|tick| *tick <= largest) {
        svg.push_str(&format!(
            "<path d=\"M{0:.1} 34V{1:.1}\" stroke=\"#d5d9de\"/><text x=\"{0:.1}\" y=\"26\" text-anchor=\"middle\" \
             fill=\"#4a5560\">{tick}×</text>\n",
            x(tick),
            height - 14.0
        ));
    }
    let mut y = 40.0;
    for section in speeds.chunk_by(|a, b| a.section == b.section) {
        y += 22.0;
        svg.push_str(&text(12.0, y, "font-weight=\"bold\" fill=\"#1b2733\"", &section[0].section));
        y += 8.0;
        for Speed { job, peer, ratio, met, .. } in section {
            y += ROW;
            let label = if peer.is_empty() { job.clone() } else { format!("{job} · {peer}") };
            svg.push_str(&text(
                BARS[0] - 8.0,
                y - 5.0,
                "text-anchor=\"end\" fill=\"#1b2733\"",
                &short(&label, 72),
            ));
            // A goal that was missed is an outline.
            let fill = if *met {
                "fill=\"#2b7a9b\""
            } else {
                "fill=\"#fff\" stroke=\"#b4531f\" stroke-width=\"1.5\""
            };
            let wide = (x(*ratio) - BARS[0]).max(1.0);
            svg.push_str(&format!(
                "<rect x=\"{}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"13\" {fill}/>\n",
                BARS[0],
                y - 15.0
            ));
            let shown = if *ratio < 100.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") };
            svg.push_str(&text(x(*ratio) + 5.0, y - 5.0, "fill=\"#1b2733\"", &shown));
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn text(x: f64, y: f64, style: &str, words: &str) -> String {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{words}</text>\n")
}

fn short(words: &str, room: usize) -> String {
    if words.chars().count() <= room {
        return words.to_owned();
    }
    let kept: String = words.chars().take(room - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "Sets, in one run:\n\n| job | Calipers | compared with | ratio | goal | met |\n|---|--:|--:|--:|--:|---|\n\
        | sort, `n`; NumPy | 1 | 20 | 20.5 | ≥ 6 | yes |\n| sum; plain | 1 | 2 | 2.0 | ≤ 3 | yes |\n\n\
        More of it\nOther words, cut\n\n\
        Masks & more. Times\n\n| job | Calipers | numpy | ratio | goal | met |\n|--|--|--|--|--|--|\n| `f`, 4 | 1 | 2 | 4 | 5 | **no** |\n";

    #[test]
    fn lines_with_a_goal_for_speed_are_found_under_the_words_before_their_table() {
        let found = speeds(PAGE).unwrap();
        let [first, second] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&first.section[..], &first.job[..], &first.peer[..]), ("Sets", "sort, n", "NumPy"));
        assert_eq!((first.ratio, first.met), (20.5, true));
        assert_eq!(
            (&second.section[..], &second.job[..], &second.peer[..]),
            ("Masks & more", "f, 4", "numpy")
        );
        assert!(!second.met);
    }

    #[test]
    fn the_chart_has_a_bar_per_line_and_an_outline_where_a_goal_was_missed() {
        let svg = drawn(&speeds(PAGE).unwrap());
        assert_eq!(svg.matches("height=\"13\"").count(), 2);
        assert_eq!(svg.matches("stroke=\"#b4531f\"").count(), 1);
        assert!(svg.contains("Masks &amp; more"), "{svg}");
    }

    #[test]
    fn a_row_that_cannot_be_read_is_an_error() {
        assert!(speeds(&PAGE.replace("| 20.5 |", "| fast |")).unwrap_err().contains("\"fast\""));
    }
}
