//! The value of a keyword argument.

use std::fmt;

use calipers::sources::training::assign::Called;
use serde_json::{Map, Value as Json};

/// A value as a program has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// True or false.
    Switch(bool),
    /// A number, written so that it reads back to the same.
    Number(String),
    /// Text or a path.
    Text(String),
    /// Several values in order.
    List(Vec<Given>),
    /// Values by key.
    Table(Vec<(Given, Given)>),
    /// A function of a name.
    Call(Called),
}

impl Given {
    /// Whether it is a list or a table.
    pub fn is_structured(&self) -> bool {
        matches!(self, Self::List(_) | Self::Table(_))
    }

    /// A single value as a command line has it; none for switches, lists and tables.
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Number(text) | Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn json(&self) -> Json {
        match self {
            Self::Call(_) => Json::Null,
            Self::Switch(on) => Json::Bool(*on),
            Self::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| Json::from(text.as_str())),
            Self::Text(text) => Json::from(text.as_str()),
            Self::List(items) => items.iter().map(Self::json).collect(),
            Self::Table(items) => {
                let pairs = items.iter().map(|(key, value)| (key.to_string(), value.json()));
                Json::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |items: Vec<String>| items.join(", ");
        match self {
            Self::Call(_) => f.write_str("a function"),
            Self::Switch(true) => f.write_str("True"),
            Self::Switch(false) => f.write_str("False"),
            Self::Number(text) | Self::Text(text) => f.write_str(text),
            Self::List(items) => write!(f, "[{}]", listed(items.iter().map(Self::to_string).collect())),
            Self::Table(items) => {
                write!(
                    f,
                    "{{{}}}",
                    listed(items.iter().map(|(key, value)| format!("{key}: {value}")).collect())
                )
            }
        }
    }
}
