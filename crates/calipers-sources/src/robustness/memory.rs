//! Pairs from arrays in memory: what a binding passes.

use calipers_core::{Accumulator, Result};
use calipers_io::array::Arrays;
use calipers_metrics::robustness::Robustness;

use super::arrays::plain_budgets;
use super::keys::{ATTACKED, Layout, Plain};
use super::options::check_attack;
use super::run::Run;
use super::unknown_keys;

/// Measures the pairs of one run, given under the keys of array files.
pub fn measure(
    protocol: &Robustness,
    run: &str,
    attack: Option<&str>,
    given: Arrays,
) -> Result<Accumulator<Robustness>> {
    attack.map_or(Ok(()), check_attack)?;
    let keys = given.keys();
    let bare = keys.iter().any(|key| key == ATTACKED);
    let budgets = if bare { plain_budgets(&given, None)? } else { Plain::Unsaid };
    let layout = Layout::new(&keys, &budgets)?;
    let arrays = Run::read(given, &layout, protocol)?;
    let mut accumulator = Accumulator::new(protocol.clone());
    for condition in &layout.conditions {
        let pair = arrays.pair(run, attack, condition)?;
        let name = pair.name();
        accumulator.update(name.as_str(), pair.pair().map_err(|error| error.at(format!("unit {name}")))?)?;
        accumulator.provenance.facts.extend(unknown_keys(name, &layout.unknown));
    }
    Ok(accumulator)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use calipers_core::Value;
    use calipers_io::array::{Array, Dtype};

    use super::*;

    fn floats(shape: &[u64], values: &[f32]) -> Array {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Array::shared(Dtype::F32, shape.to_vec(), Arc::new(bytes)).unwrap()
    }

    fn given(keys: &[(&str, Array)]) -> Arrays {
        Arrays::of(keys.iter().map(|(key, array)| ((*key).to_owned(), array.clone())))
    }

    #[test]
    fn arrays_in_memory_are_measured_like_those_of_a_file() {
        let arrays = given(&[
            ("clean", floats(&[2, 1], &[1.0, 2.0])),
            ("attacked", floats(&[2, 2, 1], &[1.0, 4.0, 3.0, 2.0])),
            ("budgets", floats(&[2], &[0.05, 0.1])),
            ("note", floats(&[1], &[0.0])),
        ]);
        let measured = measure(&Robustness::default(), "a", Some("pgd"), arrays).unwrap();
        let rows = measured.rows();
        let names: Vec<&str> = rows.named().map(|(name, _)| name).collect();
        assert_eq!(names, ["a/pgd:0.05", "a/pgd:0.1"]);
        let report = measured.finish();
        let Some(Value::PerLabel(curve)) = report.get("robustness.bias_curve") else { panic!("no curve") };
        let total = |condition: usize| match &curve[condition].1 {
            Value::PerLabel(numbers) => numbers[0].1.as_f64(),
            _ => None,
        };
        assert_eq!([total(0), total(1)], [Some(4.0), Some(4.0)]);
        assert!(report.warnings.iter().any(|warning| warning.code == "unknown_keys"));
    }

    #[test]
    fn errors_name_the_key_and_the_unit() {
        let nan =
            given(&[("clean", floats(&[1, 1], &[1.0])), ("attacked_0.1", floats(&[1, 1], &[f32::NAN]))]);
        let text = measure(&Robustness::default(), "a", None, nan).unwrap_err().to_string();
        assert!(text.contains("unit a/0.1, key attacked_0.1, [0, 0]"), "{text}");
        let none = given(&[("clean", floats(&[1, 1], &[1.0]))]);
        assert!(measure(&Robustness::default(), "a", None, none).is_err());
    }
}
