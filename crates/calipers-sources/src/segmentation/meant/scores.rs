//! Under which options an array that is no label map is read as scores.

use calipers_io::array::Array;

/// The options under which an array that is no label map can be read as scores over a map of this size.
/// They follow from its axes and the values of a few pixels.
pub fn as_scores(array: &Array, (height, width): (usize, usize)) -> Option<Vec<String>> {
    let (&[a, b, c] | &[1, a, b, c]) = array.shape() else { return None };
    let [a, b, c] = [a, b, c].map(|axis| axis as usize);
    let channels_first = (b, c) == (height, width);
    if !array.dtype().is_float() || (!channels_first && (a, b) != (height, width)) {
        return None;
    }
    let values = array.to_f64s().ok()?;
    let pixels = height * width;
    let some = (0..pixels).step_by((pixels / 64).max(1));
    let read = |pixel: usize| -> Vec<f64> {
        match channels_first {
            true => (0..a).map(|channel| values[channel * pixels + pixel]).collect(),
            false => values[pixel * c..(pixel + 1) * c].to_vec(),
        }
    };
    let near_one = |sum: f64| (sum - 1.0).abs() < 0.02;
    let mut kinds = [true; 2];
    for scores in some.map(read) {
        let sum: f64 = scores.iter().sum();
        kinds[0] &= scores.iter().all(|x| (0.0..=1.0).contains(x)) && near_one(sum);
        kinds[1] &= scores.iter().all(|x| *x <= 0.0) && near_one(scores.iter().map(|x| x.exp()).sum());
    }
    let kind = match kinds {
        [true, _] => "probs",
        [_, true] => "log-probs",
        _ => "logits",
    };
    let layout = (!channels_first).then(|| "--layout=HWC".to_owned());
    Some(std::iter::once(format!("--kind={kind}")).chain(layout).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_io::array::Dtype;

    fn array(shape: &[u64], values: &[f64]) -> Array {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        Array::shared(Dtype::F64, shape.to_vec(), std::sync::Arc::new(bytes)).unwrap()
    }

    #[test]
    fn what_scores_are_is_proposed_from_their_axes_and_values() {
        let said = |shape: &[u64], values: &[f64]| Some(as_scores(&array(shape, values), (1, 2))?.join(" "));
        assert_eq!(said(&[3, 1, 2], &[0.0; 6]).as_deref(), Some("--kind=logits"));
        let probs = [0.2, 0.5, 0.3, 0.5, 0.5, 0.0];
        assert_eq!(said(&[3, 1, 2], &probs).as_deref(), Some("--kind=probs"));
        assert_eq!(said(&[1, 2, 2], &[0.25, 0.75, 0.5, 0.5]).as_deref(), Some("--kind=probs --layout=HWC"));
        let logs = [0.25_f64, 0.75, 0.5, 0.5].map(f64::ln);
        assert_eq!(said(&[1, 2, 2], &logs).as_deref(), Some("--kind=log-probs --layout=HWC"));
        assert_eq!(said(&[3, 4, 5], &[0.0; 60]), None);
        assert_eq!(said(&[1, 2], &[0.0; 2]), None);
    }
}
