//! What the warnings of all families share: which units they concern, and lists that stay short.

use std::collections::BTreeSet;

use calipers_core::{Fact, Protocol, Provenance, Rows, Warning};

/// How many details a message spells out.
pub(crate) const SHOWN: usize = 5;

/// Something that can be wrong with a unit, and is seen in its row.
pub(crate) struct Wrong<P: Protocol> {
    pub(crate) code: &'static str,
    pub(crate) with: fn(&P, &P::Row) -> bool,
    pub(crate) words: &'static str,
}

impl<P: Protocol> Wrong<P> {
    pub(crate) fn warning(&self, protocol: &P, rows: &Rows<'_, P::Row>) -> Option<Warning> {
        in_units(self.code, units(rows, |row| (self.with)(protocol, row)), self.words)
    }
}

/// The warning about some units; none without units.
pub(crate) fn about(
    code: &str,
    units: Vec<String>,
    message: impl FnOnce(&[String]) -> String,
) -> Option<Warning> {
    (!units.is_empty()).then(|| Warning { code: code.into(), message: message(&units), units })
}

/// The same, where the message says in how many units.
pub(crate) fn in_units(code: &str, units: Vec<String>, words: &str) -> Option<Warning> {
    about(code, units, |units| format!("in {}: {words}", counted(units)))
}

/// The warning about the whole run.
pub(crate) fn about_run(code: &str, message: impl Into<String>) -> Warning {
    Warning { code: code.into(), message: message.into(), units: Vec::new() }
}

/// The names of the units that something is wrong with.
pub(crate) fn units<R>(rows: &Rows<'_, R>, wrong: impl Fn(&R) -> bool) -> Vec<String> {
    rows.named().filter(|(_, row)| wrong(row)).map(|(name, _)| name.into()).collect()
}

/// What was noticed under a code while files were read, unit by unit.
pub(crate) fn noticed<'p>(
    provenance: &'p Provenance,
    code: &'p str,
) -> impl Iterator<Item = &'p Fact> + Clone {
    provenance.facts.iter().filter(move |fact| fact.code == code)
}

/// The units of facts that come unit by unit, each once.
pub(crate) fn units_of<'p>(facts: impl Iterator<Item = &'p Fact>) -> Vec<String> {
    let mut units: Vec<String> = facts.map(|fact| fact.unit.clone()).collect();
    units.dedup();
    units
}

/// The details of facts, each once.
pub(crate) fn details_of<'p>(facts: impl Iterator<Item = &'p Fact>) -> BTreeSet<&'p str> {
    facts.map(|fact| fact.detail.as_str()).collect()
}

pub(crate) fn counted(units: &[String]) -> String {
    plural(units.len(), "unit")
}

pub(crate) fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The first few entries, and how many more there are.
pub(crate) fn listed(entries: impl IntoIterator<Item = impl Into<String>>, separator: &str) -> String {
    let mut entries: Vec<String> = entries.into_iter().map(Into::into).collect();
    let more = entries.len().saturating_sub(SHOWN);
    entries.truncate(SHOWN);
    if more > 0 {
        entries.push(format!("and {more} more"));
    }
    entries.join(separator)
}

/// The first few entries.
pub(crate) fn first_of(entries: impl IntoIterator<Item = impl Into<String>>, separator: &str) -> String {
    let mut entries: Vec<String> = entries.into_iter().map(Into::into).take(SHOWN + 1).collect();
    if let Some(more) = entries.get_mut(SHOWN) {
        *more = "...".into();
    }
    entries.join(separator)
}
