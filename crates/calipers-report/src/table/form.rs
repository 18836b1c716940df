//! Lists that are no curves: intervals and sweeps, as people read them.

use calipers_core::{Form, Value};

use crate::leaf::{Leaf, leaf};
use crate::number::{rounded, rounded_count, shortest};

/// The list in words, where its form has words: `low .. high`, or `T: value` for each threshold.
pub(crate) fn in_words(value: &Value, form: Form) -> Option<String> {
    let Value::Series(values) = value else { return None };
    match (form, values.as_slice()) {
        (Form::Interval, [low, high]) => Some(format!("{} .. {}", number(low)?, number(high)?)),
        (Form::Sweep, pairs) => {
            let pairs = pairs.iter().map(pair).collect::<Option<Vec<_>>>()?;
            Some(pairs.join(", "))
        }
        _ => None,
    }
}

fn pair(value: &Value) -> Option<String> {
    let Value::Series(pair) = value else { return None };
    let [threshold, value] = pair.as_slice() else { return None };
    Some(format!("{}: {}", shortest(threshold.as_f64()?), number(value)?))
}

fn number(value: &Value) -> Option<String> {
    leaf(value).map(|leaf| match leaf {
        Leaf::Number(x) => rounded(x),
        Leaf::Count(n) => rounded_count(n),
        Leaf::Undefined(_) => "–".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[f64]) -> Value {
        Value::Series(values.iter().copied().map(Value::Number).collect())
    }

    #[test]
    fn an_interval_and_a_sweep_have_words_and_a_curve_has_none() {
        assert_eq!(in_words(&numbers(&[1.0, 2.5]), Form::Interval).as_deref(), Some("1.0 .. 2.5000"));
        let sweep = Value::Series(vec![
            numbers(&[0.9, 1.75]),
            Value::Series(vec![Value::Number(0.99), Value::undefined("")]),
        ]);
        assert_eq!(in_words(&sweep, Form::Sweep).as_deref(), Some("0.9: 1.7500, 0.99: –"));
        assert_eq!(in_words(&numbers(&[1.0, 2.5]), Form::Plain), None);
        assert_eq!(in_words(&numbers(&[1.0, 2.5, 3.0]), Form::Interval), None);
        assert_eq!(in_words(&Value::Number(1.0), Form::Sweep), None);
    }
}
