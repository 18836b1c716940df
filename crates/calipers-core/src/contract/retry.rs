//! What makes a refused command do what was meant.

use std::fmt;

/// The options with which the same command does what was meant, and a file that they need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retry {
    /// The words to add, one option each.
    pub options: Vec<String>,
    /// A file of one line that has to be there: its name and the line.
    pub file: Option<(String, String)>,
}

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.options.join(" "))?;
        match &self.file {
            Some((name, line)) => write!(f, ", where {name} holds: {line}"),
            None => Ok(()),
        }
    }
}

/// One option is all it takes.
impl From<String> for Retry {
    fn from(option: String) -> Self {
        Self { options: vec![option], file: None }
    }
}

impl From<&str> for Retry {
    fn from(option: &str) -> Self {
        option.to_owned().into()
    }
}

impl From<Vec<String>> for Retry {
    fn from(options: Vec<String>) -> Self {
        Self { options, file: None }
    }
}
