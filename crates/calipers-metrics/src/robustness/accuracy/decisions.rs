//! Class decisions on the test nodes, before and after the attack.

use crate::robustness::protocol::Robustness;
use crate::robustness::row::{AccuracyRow, Decisions};
use crate::robustness::unit::Pair;
use crate::robustness::unit::matrix::Matrix;

/// Counts the decisions, as far as there is evidence.
pub(in crate::robustness) fn measure(protocol: &Robustness, pair: &Pair<'_>) -> AccuracyRow {
    let scores = pair.scores(protocol);
    let test = pair.test.filter(|test| !test.is_empty());
    let decisions = match (pair.labels, test, scores) {
        (Some(labels), Some(test), Some(scores)) => Some(decide(protocol, labels, test, scores)),
        _ => None,
    };
    AccuracyRow {
        labelled: pair.labels.is_some(),
        tested: pair.test.map(|test| test.len() as u64),
        scored: scores.is_some(),
        leak: leak(pair),
        decisions,
    }
}

fn decide(protocol: &Robustness, labels: &[i64], test: &[u32], scores: [Matrix<'_>; 2]) -> Decisions {
    let single = protocol.is_fork();
    let mut counts = Decisions::default();
    let mut first = [None; 2];
    let mut constant = [true; 2];
    let mut by_label = vec![0u64; scores[0].columns];
    for &node in test {
        let label = labels[node as usize];
        let [clean, attacked] = scores.map(|scores| decision(&scores, node as usize, single));
        let (right_clean, right_attacked) = (clean.class as i64 == label, attacked.class as i64 == label);
        counts.correct_clean += u64::from(right_clean);
        counts.correct_attacked += u64::from(right_attacked);
        counts.broken += u64::from(right_clean && !right_attacked);
        counts.ties += u64::from(clean.tied || attacked.tied);
        by_label[label as usize] += 1;
        for (side, decision) in [clean, attacked].into_iter().enumerate() {
            constant[side] &= *first[side].get_or_insert(decision.class) == decision.class;
        }
    }
    counts.majority = by_label.into_iter().max().unwrap_or_default();
    counts.constant = constant.map(|constant| constant && test.len() > 1);
    counts
}

/// The class of the largest score.
#[derive(Clone, Copy)]
pub(in crate::robustness) struct Decision {
    pub(in crate::robustness) class: usize,
    tied: bool,
}

/// The first class of the largest score of a node.
pub(in crate::robustness) fn decision(scores: &Matrix<'_>, node: usize, single: bool) -> Decision {
    let score = |class: usize| {
        let score = scores.get(node, class);
        if single { f64::from(score as f32) } else { score }
    };
    let mut best = (score(0), Decision { class: 0, tied: false });
    for class in 1..scores.columns {
        let score = score(class);
        if score > best.0 {
            best = (score, Decision { class, tied: false });
        } else if score >= best.0 {
            best.1.tied = true;
        }
    }
    best.1
}

fn leak(pair: &Pair<'_>) -> u64 {
    let (Some(test), Some(train)) = (pair.test, pair.train) else { return 0 };
    let mut in_train = vec![false; pair.clean.rows];
    train.iter().for_each(|&node| in_train[node as usize] = true);
    // Every node once, though a list may name it twice.
    test.iter().filter(|&&node| std::mem::take(&mut in_train[node as usize])).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robustness::budget::fraction::Budget;
    use crate::robustness::protocol::{Features, Preset};
    use calipers_core::NumberSlice;

    const CLEAN: [f64; 8] = [1.0, 0.0, 0.0, 2.0, -0.0, 0.0, 3.0, 3.0];
    const ATTACKED: [f64; 8] = [0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 5.0, 3.0];

    fn pair() -> Pair<'static> {
        let matrix = |data| Matrix::new(4, 2, NumberSlice::F64(data)).unwrap();
        let pair = Pair::new("a", Budget::parse("0.1").unwrap(), matrix(&CLEAN), matrix(&ATTACKED));
        Pair { labels: Some(&[0, 1, 1, 0]), test: Some(&[3, 0, 1, 2]), train: Some(&[0, 3]), ..pair }
    }

    #[test]
    fn the_first_of_equal_scores_wins_and_is_counted() {
        let row = measure(&Robustness::default(), &pair());
        let expected = Decisions {
            correct_clean: 3,
            correct_attacked: 3,
            broken: 1,
            ties: 2,
            majority: 2,
            constant: [false, false],
        };
        assert_eq!((row.decisions, row.leak, row.tested), (Some(expected), 2, Some(4)));
    }

    #[test]
    fn without_labels_test_nodes_or_scores_nothing_is_decided() {
        let strict = Robustness::default();
        assert!(measure(&strict, &Pair { labels: None, ..pair() }).decisions.is_none());
        assert!(measure(&strict, &Pair { test: Some(&[]), ..pair() }).decisions.is_none());
        let other = Robustness { features: Features::Other, ..strict };
        assert!(!measure(&other, &pair()).scored);
        let logits = Some(pair().clean);
        assert!(measure(&other, &Pair { clean_logits: logits, attacked_logits: logits, ..pair() }).scored);
    }

    #[test]
    fn the_published_module_counts_a_node_twice_and_sees_single_precision() {
        let fork = Robustness { preset: Preset::RungFork, ..Robustness::default() };
        let row = measure(&fork, &Pair { test: Some(&[0, 0, 3]), ..pair() });
        let decisions = row.decisions.unwrap();
        assert_eq!((row.tested, row.leak), (Some(3), 2));
        assert_eq!((decisions.correct_clean, decisions.broken), (3, 2));
        let scores = [1.0, 1.0 + 1e-12];
        let close = Matrix::new(1, 2, NumberSlice::F64(&scores)).unwrap();
        assert_eq!((decision(&close, 0, false).class, decision(&close, 0, true).class), (1, 0));
    }
}
