//! `calipers segmentation fit`: weights and temperatures of heads, found on a validation split.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use calipers::inputs::Inputs;
use calipers::report::number::{rounded, rounded_count};
use calipers::run::Progress;
use calipers::sources::segmentation::fit::{Fitted, Holdout, Share, fit, write};
use calipers::sources::segmentation::options::Options;
use calipers::{Error, Result, output};
use clap::Args;

use super::read;
use crate::options::{Output, Work};
use crate::progress::Bar;
use crate::{Outcome, emit, files};

/// Find alpha and tau of every head on the data of a configuration
#[derive(Args, Debug)]
#[command(after_help = "\
Minimises the mean -ln p of the true class (nll) over the scored pixels. tau is fitted to each
head alone; alpha is then fitted in the product of all heads, and is 1 where there is only one.
Use a validation split, never the data that is reported on.

Example:
  calipers segmentation fit val.toml -o fitted.toml")]
pub(crate) struct FitArgs {
    /// Configuration with scores (TOML)
    #[arg(value_name = "CONFIG.toml")]
    config: PathBuf,
    /// Where the configuration with the fitted heads is written
    #[arg(long = "output", short = 'o', value_name = "FITTED.toml")]
    output: PathBuf,
    /// The share of the units that is not fitted to, as a check
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, allow_negative_numbers = true)]
    holdout: f64,
    /// Seed of what is held back and of the pixels that are fitted to
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
    /// Number of worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print nothing
    #[arg(long, short)]
    quiet: bool,
    /// Draw no progress bar
    #[arg(long)]
    no_progress: bool,
}

impl FitArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        output::check(&self.output)?;
        let bar = Bar::new(&Output { quiet: self.quiet, no_progress: self.no_progress, ..Output::default() });
        let (fitted, written) = self.fitted(&bar)?;
        files::put(&self.output, &written, self.quiet)?;
        if !self.quiet {
            emit::show(&table(&fitted, &self.output))?;
            warnings(&fitted).iter().for_each(|warning| emit::note(warning));
        }
        Ok(Outcome::Done)
    }

    /// What is found, and the text of the configuration with it.
    pub(crate) fn fitted(&self, progress: &dyn Progress) -> Result<(Fitted, String)> {
        if !(0.0..1.0).contains(&self.holdout) {
            return Err(Error::usage("--holdout is a share of the units")
                .found(self.holdout)
                .allowed("0 up to, but not including, 1"));
        }
        let (config, text) = read(&self.config, &Inputs::default())?;
        let folder = self.config.parent().unwrap_or(Path::new(""));
        let options = Options::new(config, folder);
        let shown = self.config.display();
        options.check().map_err(|error| error.in_file(&shown))?;
        let holdout = Holdout { share: self.holdout, seed: self.seed };
        let work = Work { threads: self.threads, ..Work::default() };
        let fitted = fit(&options, holdout, &work.with(None, progress))?;
        let moved = Some(folder).filter(|folder| !is_same(folder, self.output.parent()));
        let written =
            write::fitted_config(&text, &fitted.heads, moved).map_err(|error| error.in_file(shown))?;
        Ok((fitted, written))
    }
}

fn is_same(folder: &Path, other: Option<&Path>) -> bool {
    let full = |folder: &Path| if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.into() };
    let full = |folder: &Path| full(folder).canonicalize().ok();
    full(folder) == full(other.unwrap_or(Path::new("")))
}

fn table(fitted: &Fitted, output: &Path) -> String {
    let mut text = String::new();
    let mut line = |cells: [&str; 5]| {
        let [name, units, pixels, before, after] = cells;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<20} {units:>9} {pixels:>13} {before:>12} {after:>12}");
    };
    line(["nll", "units", "pixels", "before", "after"]);
    let mut share = |name: &str, share: &Share| {
        let counts = [share.units, share.pixels - share.infinite].map(|count| rounded_count(count.into()));
        line([name, &counts[0], &counts[1], &rounded(share.before), &rounded(share.after)]);
    };
    share("fitted to", &fitted.fitted);
    if let Some(held_back) = &fitted.held_back {
        share("held back", held_back);
    }
    line(["", "", "", "", ""]);
    line(["head", "", "", "alpha", "tau"]);
    for (name, head) in &fitted.heads {
        line([name, "", "", &rounded(head.alpha), &rounded(head.tau)]);
    }
    let text: Vec<&str> = text.lines().map(str::trim_end).collect();
    let sampled = rounded_count(fitted.sampled.into());
    let one = if fitted.heads.len() == 1 { " With one head only tau matters: alpha is 1." } else { "" };
    format!("{}\n\nFitted to {sampled} pixels.{one} Written to {}.\n", text.join("\n"), output.display())
}

fn warnings(fitted: &Fitted) -> Vec<String> {
    let mut warnings = Vec::new();
    let shares = [Some(&fitted.fitted), fitted.held_back.as_ref()].into_iter().flatten();
    let infinite: u64 = shares.map(|share| share.infinite).sum();
    if infinite > 0 {
        warnings.push(format!(
            "warning[infinite-nll]: the true class has probability 0 at {infinite} pixel(s), which are left out"
        ));
    }
    match &fitted.held_back {
        None => {
            warnings.push("warning[nothing-held-back]: nothing shows whether the fit holds elsewhere".into())
        }
        Some(share) if share.after > share.before => warnings.push(format!(
            "warning[held-back-worse]: the nll of the units that were held back rose from {} to {}",
            rounded(share.before),
            rounded(share.after)
        )),
        Some(_) => {}
    }
    for (name, head) in &fitted.heads {
        if head.alpha > 0.0 && [head.alpha, head.tau].iter().any(|number| !(0.0011..900.0).contains(number)) {
            warnings.push(format!(
                "warning[fit-at-limit]: head {name} ends at the limit of the search, 1/1000 to 1000: \
                 its scores may say nothing, or everything"
            ));
        }
    }
    warnings
}
