//! What a caller can ask of a run over arrays, checked before anything is read.

use std::path::PathBuf;

use calipers_core::provenance::Setting;
use calipers_core::{Error, Reading, Result};
use calipers_metrics::robustness::Budget;
use calipers_metrics::robustness::Robustness;

use super::names::RunBy;

/// Where the arrays are, what the attack behind them is called, and how they are measured.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Files, folders, or `-` for one file on standard input.
    pub inputs: Vec<PathBuf>,
    /// The name of the only run.
    pub run: Option<String>,
    /// What finds the names of run and model in the names of files.
    pub run_by: Option<RunBy>,
    /// The name of the attack, for conditions `attack:budget`.
    pub attack: Option<String>,
    /// The budget of arrays called `attacked` in files that have none.
    pub budget: Option<Budget>,
    /// The parameters.
    pub protocol: Robustness,
    /// Whether the table of nodes is wanted.
    pub per_node: bool,
}

impl Options {
    /// Refuses options that mean nothing: wrong usage, not wrong data.
    pub fn check(&self) -> Result<()> {
        self.protocol.clone().checked()?;
        if let Some(attack) = &self.attack {
            check_attack(attack)?;
        }
        self.run.as_deref().map_or(Ok(()), check_run)?;
        if self.run.is_some() && self.run_by.is_some() {
            return Err(Error::usage("--run and --run-by both name runs").advice("give one of them"));
        }
        if self.inputs.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(Error::usage("standard input can be read once").advice("give `-` once"));
        }
        Ok(())
    }

    /// The options that say how files are read.
    pub fn reading(&self) -> Reading {
        let text = |text: Option<&str>| text.map_or(Setting::Unset, |text| Setting::Text(text.into()));
        let settings = [
            ("attack", text(self.attack.as_deref())),
            ("budget", text(self.budget.as_ref().map(Budget::label))),
        ];
        let run = self.run.as_deref().map(|run| ("run", text(Some(run))));
        let run_by = self.run_by.as_ref().map(|rule| ("run_by", text(Some(&rule.text()))));
        settings
            .into_iter()
            .chain(run)
            .chain(run_by)
            .map(|(key, setting)| (key.to_owned(), setting))
            .collect()
    }
}

/// Refuses names that a line of a table could not show.
pub fn check_run(run: &str) -> Result<()> {
    if run.is_empty() || run.chars().any(char::is_control) {
        return Err(Error::usage("not a name for a run").at("--run").found(format!("{run:?}")));
    }
    Ok(())
}

/// Refuses names that could not be told from the rest of a unit's name.
pub fn check_attack(attack: &str) -> Result<()> {
    if attack.is_empty() || attack.contains(['/', ':']) || attack.chars().any(char::is_control) {
        return Err(Error::usage("not a name for an attack")
            .at("--attack")
            .found(format!("{attack:?}"))
            .allowed("text without / and :"));
    }
    Ok(())
}
