//! The single values inside a metric's value, each with the path that `undefined` and CSV use.

use calipers_core::Value;
use calipers_core::resample::Bounds;

/// A value that holds no other values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Leaf<'a> {
    /// A finite number.
    Number(f64),
    /// A whole number.
    Count(i128),
    /// No value, and why; empty where the place of the value says it all.
    Undefined(&'a str),
}

impl Leaf<'_> {
    /// The number; 0 where there is none.
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Number(x) => x,
            Self::Count(n) => n as f64,
            Self::Undefined(_) => 0.0,
        }
    }
}

/// The value as a leaf; `None` when it holds other values or is a name.
pub(crate) fn leaf(value: &Value) -> Option<Leaf<'_>> {
    match value {
        Value::Number(x) if x.is_finite() => Some(Leaf::Number(*x)),
        Value::Number(_) => Some(Leaf::Undefined("not finite")),
        Value::Count(n) => Some(Leaf::Count(*n)),
        Value::Undefined(reason) => Some(Leaf::Undefined(reason)),
        Value::PerLabel(_) | Value::Series(_) | Value::Text(_) => None,
    }
}

/// The values directly below, with their keys or positions from 0.
pub(crate) fn children(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::PerLabel(entries) => entries.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Series(values) => values.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect(),
        _ => Vec::new(),
    }
}

/// Calls `visit` with every leaf in report order and its path: the id, then keys and positions
/// joined with dots.
pub(crate) fn visit_leaves<'a>(id: &str, value: &'a Value, visit: &mut impl FnMut(&str, Leaf<'a>)) {
    visit_with_bounds(id, value, None, &mut |path, leaf, _| visit(path, leaf));
}

/// The same with the interval of every leaf that has one.
pub(crate) fn visit_with_bounds<'a>(
    id: &str,
    value: &'a Value,
    bounds: Option<&Bounds>,
    visit: &mut impl FnMut(&str, Leaf<'a>, Option<[f64; 2]>),
) {
    match leaf(value) {
        Some(leaf) => visit(id, leaf, bounds.and_then(Bounds::single)),
        None => {
            for (key, child) in children(value) {
                let below = bounds.and_then(|bounds| bounds.below(&key));
                visit_with_bounds(&format!("{id}.{key}"), child, below, visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_join_keys_and_positions_with_dots() {
        let curve = Value::Series(vec![Value::Count(3), Value::undefined("empty")]);
        let value = Value::PerLabel(vec![("0.05".into(), curve), ("x".into(), Value::Number(f64::NAN))]);
        let mut found = Vec::new();
        visit_leaves("f.curve", &value, &mut |path, leaf| found.push((path.to_string(), leaf)));
        assert_eq!(
            found,
            [
                ("f.curve.0.05.0".to_string(), Leaf::Count(3)),
                ("f.curve.0.05.1".to_string(), Leaf::Undefined("empty")),
                ("f.curve.x".to_string(), Leaf::Undefined("not finite")),
            ]
        );
    }
}
