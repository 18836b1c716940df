//! Holm's correction for many tests.
//!
//! With twenty metrics one in twenty looks significant by chance. Holm's procedure bounds the chance
//! of even one false claim by the level, whatever the tests have to do with each other (metrics of
//! one model always have), and is never less powerful than Bonferroni's.

/// The adjusted p-values, in the order given.
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0f64;
    for (rank, &at) in order.iter().enumerate() {
        largest = largest.max(p_values[at] * (p_values.len() - rank) as f64).min(1.0);
        adjusted[at] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_is_multiplied_by_all_and_order_is_kept() {
        assert_eq!(adjusted(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(adjusted(&[0.6, 0.7]), [1.0, 1.0]);
        assert!(adjusted(&[]).is_empty());
    }
}
