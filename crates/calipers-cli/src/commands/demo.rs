//! `calipers demo`: a data set of every family, made on the spot and scored.

use std::path::{Path, PathBuf};

use calipers::chosen::Chosen;
use calipers::report::page::Section;
use calipers::report::{Amount, json, terminal};
use calipers::run::{Progress, Work};
use calipers::{Ledger, Report, Result, output, pages};
use clap::Args;

use super::families::DEMOS;
use crate::options::Output;
use crate::progress::Bar;
use crate::{Outcome, emit, files};

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
        emit::show(&text)?;
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
            text += &format!("{}{}", if text.is_empty() { "" } else { "\n" }, shown.text);
            shown.next.iter().for_each(|command| next += &format!("  calipers {command}\n"));
        }
        let [report, page] = ["report.json", "report.html"].map(|name| self.out.join(name));
        output::write(&report, json::write_array(&reports).as_bytes())?;
        files::put(&page, emit::page_text(sections), true)?;
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

/// The first numbers of what was measured.
pub(super) fn first_numbers(ledger: &dyn Ledger) -> String {
    terminal::write(&[ledger.report()], &[ledger.metrics()], emit::style(), Amount::Headline)
}
