//! Colour tables: which class a colour of a map stands for.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Error, Result};

use crate::segmentation::labels::ClassRef;
use crate::segmentation::labels::mapping::Listed;
use crate::segmentation::protocol::LabelSpace;
use crate::segmentation::protocol::config::{Config, LabelsConfig};

/// The class of a colour that is not scored.
const IGNORE: &str = "ignore";

impl Config {
    /// The original id, or an ignored value, of every colour as red, green and blue; `labels` are those
    /// that this configuration resolved to.
    pub fn colors(&self, labels: &LabelSpace) -> Result<BTreeMap<[u8; 3], i64>> {
        let listed = Listed::new(&labels.original, BTreeSet::new());
        let mut colors = BTreeMap::new();
        for (written, class) in &self.labels.colors {
            let color = parse(written)?;
            let at = format!("[labels] colors, {written}");
            let id = match labels.ignore.first() {
                Some(value) if means_ignore(class, &labels.original) => *value,
                _ => listed.id(class, &at)?,
            };
            if colors.insert(color, id).is_some() {
                return Err(Error::value("a colour occurs twice").at(at));
            }
        }
        Ok(colors)
    }
}

impl LabelsConfig {
    /// A value for ignored colours, where no value is ignored otherwise.
    pub(crate) fn value_of_ignored_colors(
        &self,
        original: &BTreeMap<i64, String>,
        ignore: &BTreeSet<i64>,
        unlabelled: bool,
    ) -> Option<i64> {
        let means_ignore = |class| means_ignore(class, original);
        let needed = ignore.is_empty() && (unlabelled || self.colors.values().any(means_ignore));
        needed.then(|| (255..).find(|value| !original.contains_key(value))).flatten()
    }
}

/// The word `ignore`, unless a class is called so.
fn means_ignore(class: &ClassRef, original: &BTreeMap<i64, String>) -> bool {
    matches!(class, ClassRef::Name(name) if name == IGNORE) && !original.values().any(|name| name == IGNORE)
}

fn parse(written: &str) -> Result<[u8; 3]> {
    let digits = written.strip_prefix('#').filter(|digits| digits.len() == 6);
    let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let Some(value) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
        let error = Error::value("not a colour").at("[labels] colors").found(format!("{written:?}"));
        return Err(error.allowed("# and six hexadecimal digits, as in \"#804080\""));
    };
    let [_, red, green, blue] = value.to_be_bytes();
    Ok([red, green, blue])
}
