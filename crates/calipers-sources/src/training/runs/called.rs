//! A function that says the group or the fold of a run by its name, where a program has one.

use std::fmt;
use std::sync::Arc;

use calipers_core::{Error, Result};

/// The rule as it is recorded; what the function says of a name no record holds.
pub const CALLABLE: &str = "callable";

type Function = dyn Fn(&str) -> Result<String> + Send + Sync;

/// Such a function.
#[derive(Clone)]
pub struct Called(Arc<Function>);

impl Called {
    /// A function of the name of a run.
    pub fn new(function: impl Fn(&str) -> Result<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// What it says of a run; `option` names it in messages.
    pub(crate) fn of(&self, name: &str, option: &str) -> Result<String> {
        let said = self.0(name).map_err(|error| error.at(format!("run {name}")))?;
        if said.is_empty() {
            return Err(Error::value("the function gives no name for a run")
                .at(format!("run {name}"))
                .found("an empty text")
                .allowed(format!("a text from {option}")));
        }
        Ok(said)
    }
}

impl fmt::Debug for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CALLABLE)
    }
}

impl PartialEq for Called {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
