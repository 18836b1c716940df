//! Units of one attack and budget are repetitions of a condition.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use calipers_core::{Rows, Sums, Value};

use crate::robustness::budget::fraction::Budget;
use crate::robustness::row::Row;

/// The repetitions of one attack at one budget, in name order.
pub(crate) struct Condition<'a> {
    attack: Option<&'a str>,
    budget: &'a Budget,
    /// Names and rows.
    pub(crate) units: Vec<(&'a str, &'a Row)>,
}

impl Condition<'_> {
    /// The name in curves.
    pub(crate) fn name(&self) -> String {
        condition_name(self.attack, self.budget)
    }
}

/// The conditions of all rows, by attack and then by budget.
pub(crate) fn conditions<'a>(rows: &Rows<'a, Row>) -> Vec<Condition<'a>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (name, row) in rows.named() {
        groups.entry((row.attack.as_deref(), &row.budget)).or_default().push((name, row));
    }
    groups.into_iter().map(|((attack, budget), units)| Condition { attack, budget, units }).collect()
}

/// The order of conditions; rows that are equal in it are repetitions.
pub(crate) fn by_condition(a: &Row, b: &Row) -> Ordering {
    (a.attack.as_deref(), &a.budget).cmp(&(b.attack.as_deref(), &b.budget))
}

/// What is read from the only condition, or why there is not one.
pub(crate) fn of_only<'s>(groups: &[Sums<'s, Row>], read: impl FnOnce(&Sums<'s, Row>) -> Value) -> Value {
    match groups {
        [sums] => read(sums),
        _ => {
            let reason = format!("report holds {} conditions; see robustness.curve", groups.len());
            Value::Undefined(reason.into())
        }
    }
}

/// The name of a group's condition.
pub(crate) fn name(sums: &Sums<'_, Row>) -> String {
    let first = sums.rows().first();
    first.map_or_else(String::new, |row| condition_name(row.attack.as_deref(), &row.budget))
}

/// What repetitions have in common: `budget`, or `attack:budget`.
pub(crate) fn condition_name(attack: Option<&str>, budget: &Budget) -> String {
    match attack {
        Some(attack) => format!("{attack}:{budget}"),
        None => budget.to_string(),
    }
}
