//! The name of a unit.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a unit. Rows are kept and read in the byte order of these names. A clone shares the
/// memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitId(Arc<str>);

impl UnitId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for UnitId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for UnitId {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl From<String> for UnitId {
    fn from(name: String) -> Self {
        Self(name.into())
    }
}

impl From<&UnitId> for UnitId {
    fn from(name: &UnitId) -> Self {
        name.clone()
    }
}

impl Serialize for UnitId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for UnitId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
