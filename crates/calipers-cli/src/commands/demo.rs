//! `calipers demo`: a data set of every family, made on the spot and scored.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use calipers::chosen::Chosen;
use calipers::core::Better;
use calipers::report::json;
use calipers::report::number::rounded;
use calipers::report::page::Section;
use calipers::run::{Progress, Work};
use calipers::{Ledger, Report, Result, Value, output, pages, registry};
use clap::Args;

use super::families::DEMOS;
use crate::options::Output;
use crate::progress::Bar;
use crate::{Outcome, emit};

/// Make a small data set of every family and score it
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Where the data sets, report.json and report.html are written
    #[arg(long, value_name = "DIR", default_value = "calipers-demo")]
    out: PathBuf,
    /// Seed of the data sets
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
}

/// Writes the data of a family below a folder and measures it.
pub(super) type Show = fn(&Path, u64, &Work<'_>) -> Result<Shown>;

/// What the demo shows of a family.
#[derive(Default)]
pub(super) struct Shown {
    /// What was measured, with a name for each where there are several.
    pub(super) ledgers: Vec<(Option<&'static str>, Box<dyn Ledger>)>,
    /// What the page has after their sections.
    pub(super) sections: Vec<Section>,
    /// What the terminal says.
    pub(super) text: String,
    /// Commands to try next.
    pub(super) next: Vec<String>,
}

impl Demo {
    pub(crate) fn run(self) -> Result<Outcome> {
        let bar = Bar::new(&Output::default());
        let (_, text) = self.made(&bar)?;
        emit::say(&text)?;
        Ok(Outcome::Done)
    }

    /// Makes and scores the data sets: the reports, and what is said of them.
    pub(crate) fn made(&self, progress: &dyn Progress) -> Result<(Vec<Report>, String)> {
        let work = Work { progress, ..Work::quiet(emit::one_a_core()) };
        let asked = Output { confidence: 0.95, ..Output::default() }.page_intervals(self.seed);
        let (mut reports, mut sections, mut text, mut next) =
            (Vec::new(), Vec::new(), String::new(), String::new());
        for (family, show) in DEMOS {
            let shown = show(&self.out.join(family), self.seed, &work)?;
            for (name, ledger) in &shown.ledgers {
                reports.push(ledger.report());
                let shown = pages::report(&**ledger, &Chosen::default(), &asked, work.threads)?;
                let mut section = pages::of_ledger(&**ledger, &shown, &Chosen::default());
                section.heading.extend(name.iter().flat_map(|name| [", ", name]));
                sections.push(section);
            }
            sections.extend(shown.sections);
            text += &shown.text;
            shown.next.iter().for_each(|command| next += &format!("  calipers {command}\n"));
        }
        let [report, page] = ["report.json", "report.html"].map(|name| self.out.join(name));
        output::write(&report, json::write_array(&reports).as_bytes())?;
        emit::page(&page, sections)?;
        let (out, report, page) = (self.out.display(), report.display(), page.display());
        let said = format!(
            "{text}\nThe data is in {out}, the reports in {report}, the page to look at is {page}. Try next:\n{next}  \
             calipers show {report} --markdown\n  \
             calipers verify {report}\n  \
             calipers serve {out}\n  \
             calipers explain certified_ratio\n"
        );
        Ok((reports, said))
    }
}

/// The headline numbers of a report in lines, each with the direction that is better; `columns` are the
/// labels whose numbers stand side by side, the best of a line with a star.
pub(super) fn headlines(title: &str, report: &Report, columns: &[&str]) -> String {
    let mut infos = registry::metrics_of(&report.protocol);
    infos.retain(|info| info.headline.is_some());
    infos.sort_by_key(|info| info.headline);
    let mut text = format!("\n{title}\n");
    if !columns.is_empty() {
        let heading: String = columns.iter().map(|name| format!("{name:>14}")).collect();
        text += &format!("  {:<31}{heading}\n", "");
    }
    for info in &infos {
        let numbers: Vec<Option<f64>> = match report.get(&info.id) {
            Some(Value::PerLabel(entries)) => {
                let of = |name: &&str| entries.iter().find(|(label, _)| label == name)?.1.as_f64();
                columns.iter().map(of).collect()
            }
            Some(value) if columns.is_empty() => vec![value.as_f64()],
            _ => continue,
        };
        let defined = numbers.iter().copied().flatten();
        let (arrow, best) = match info.better {
            Better::Higher => ("↑", defined.max_by(f64::total_cmp)),
            Better::Lower => ("↓", defined.min_by(f64::total_cmp)),
            Better::Neither => (" ", None),
        };
        let short = info.id.split_once('.').map_or(&*info.id, |(_, short)| short);
        // Writing to a string cannot fail.
        let _ = write!(text, "  {short:<30}{arrow}");
        for number in &numbers {
            let star = if columns.len() > 1 && number.is_some() && *number == best { "*" } else { " " };
            let _ = write!(text, "{:>13}{star}", number.map_or("-".into(), rounded));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}
