//! One clean/attacked pair of one run at one condition, as it is measured.

pub(super) mod edges;
pub(super) mod matrix;
pub(super) mod nodes;

use calipers_core::{Error, Result};

use self::edges::Edge;
use self::matrix::Matrix;
use super::budget::fraction::Budget;
use super::protocol::{Features, Nodes, Robustness};
use super::row::condition::condition_name;

/// A clean/attacked pair of borrowed arrays. Everything but the two feature arrays may be missing.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// The run: a split, a seed, a file.
    pub run: &'a str,
    /// The attack, where it is named.
    pub attack: Option<&'a str>,
    /// How strong the attack was.
    pub budget: Budget,
    /// The features on the clean graph.
    pub clean: Matrix<'a>,
    /// The features on the attacked graph.
    pub attacked: Matrix<'a>,
    /// The class scores on the clean graph, where the features are not.
    pub clean_logits: Option<Matrix<'a>>,
    /// The class scores on the attacked graph, where the features are not.
    pub attacked_logits: Option<Matrix<'a>>,
    /// The labels of all nodes; only those of test nodes are read.
    pub labels: Option<&'a [i64]>,
    /// The test nodes.
    pub test: Option<&'a [u32]>,
    /// The training nodes.
    pub train: Option<&'a [u32]>,
    /// The validation nodes.
    pub val: Option<&'a [u32]>,
    /// The edges of the clean graph, sorted, each once.
    pub clean_edges: Option<&'a [Edge]>,
    /// The edges of the attacked graph, sorted, each once.
    pub attacked_edges: Option<&'a [Edge]>,
    /// The entries of the attacked graph's matrix as they were given; only preset `rung-fork` reads
    /// them, and takes both directions of `attacked_edges` without them.
    pub raw_attacked_entries: Option<&'a [Edge]>,
}

impl<'a> Pair<'a> {
    /// A pair of feature arrays and nothing beside them.
    pub fn new(run: &'a str, budget: Budget, clean: Matrix<'a>, attacked: Matrix<'a>) -> Self {
        Self {
            run,
            attack: None,
            budget,
            clean,
            attacked,
            clean_logits: None,
            attacked_logits: None,
            labels: None,
            test: None,
            train: None,
            val: None,
            clean_edges: None,
            attacked_edges: None,
            raw_attacked_entries: None,
        }
    }

    /// The unit's name; see [`unit_name`].
    pub fn name(&self) -> String {
        unit_name(self.run, self.attack, &self.budget)
    }

    /// Class scores on the clean and on the attacked graph, where there are any.
    pub(super) fn scores(&self, protocol: &Robustness) -> Option<[Matrix<'a>; 2]> {
        match (self.clean_logits, self.attacked_logits) {
            (Some(clean), Some(attacked)) => Some([clean, attacked]),
            _ => (self.clean.columns > 1 && protocol.features == Features::Logits)
                .then_some([self.clean, self.attacked]),
        }
    }

    /// Refuses parts that do not fit together, or lack what the protocol needs.
    pub fn check(&self, protocol: &Robustness) -> Result<()> {
        self.attacked.same_shape_as(&self.clean)?;
        self.check_logits()?;
        let missing = match protocol.nodes {
            Nodes::Test if self.test.is_none() => Some(("test", "test_idx")),
            Nodes::NotTrain if self.train.is_none() => Some(("not-train", "train_idx")),
            _ => None,
        };
        if let Some((word, key)) = missing {
            let what = format!("--nodes {word}, but no `{key}` is given");
            return Err(Error::value(what).advice(format!("give `{key}`, or choose --nodes all")));
        }
        self.check_labels(protocol)
    }

    fn check_logits(&self) -> Result<()> {
        let nodes = self.clean.rows;
        match (self.clean_logits, self.attacked_logits) {
            (None, None) => Ok(()),
            (Some(clean), Some(attacked)) => {
                if clean.rows != nodes {
                    return Err(Error::value("`clean_logits` are of another number of nodes than `clean`")
                        .found(format!("shape ({}, {})", clean.rows, clean.columns))
                        .allowed(format!("{nodes} nodes"))
                        .advice("store one row for every node of `clean`"));
                }
                attacked.same_shape_as(&clean).map_err(|error| error.at("logits"))
            }
            (clean, _) => {
                let (given, lacks) =
                    if clean.is_some() { ("clean", "attacked") } else { ("attacked", "clean") };
                let budget = if clean.is_some() { format!("_{}", self.budget) } else { String::new() };
                Err(Error::value(format!("`{given}_logits` without `{lacks}_logits{budget}`"))
                    .advice("give the class scores on both graphs"))
            }
        }
    }

    fn check_labels(&self, protocol: &Robustness) -> Result<()> {
        let (Some(labels), Some(test), Some([scores, _])) = (self.labels, self.test, self.scores(protocol))
        else {
            return Ok(());
        };
        let classes = scores.columns as i64;
        match test.iter().map(|&node| (node, labels[node as usize])).find(|(_, y)| !(0..classes).contains(y))
        {
            None => Ok(()),
            Some((node, label)) => Err(Error::value("a test node's label is no column of the class scores")
                .at(format!("labels, node {node}"))
                .found(label)
                .allowed(format!("0 to {}", classes - 1))
                .advice("check the labels, or give the class scores as `clean_logits`")),
        }
    }
}

/// `run/budget`, or `run/attack:budget` when the attack is named.
pub fn unit_name(run: &str, attack: Option<&str>, budget: &Budget) -> String {
    format!("{run}/{}", condition_name(attack, budget))
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::NumberSlice;

    fn matrix(rows: usize, values: &[f64]) -> Matrix<'_> {
        Matrix::new(rows, values.len() / rows, NumberSlice::F64(values)).unwrap()
    }

    fn pair() -> Pair<'static> {
        let budget = Budget::parse("0.10").unwrap();
        Pair::new("a", budget, matrix(2, &[0.0, 1.0, 2.0, 3.0]), matrix(2, &[0.0; 4]))
    }

    fn refused(pair: &Pair<'_>, protocol: &Robustness) -> String {
        pair.check(protocol).unwrap_err().to_string()
    }

    #[test]
    fn a_unit_is_named_after_run_attack_and_budget() {
        assert_eq!(pair().name(), "a/0.1");
        assert_eq!(Pair { attack: Some("meta"), ..pair() }.name(), "a/meta:0.1");
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let strict = Robustness::default();
        let wide = matrix(2, &[0.0; 6]);
        let text = refused(&Pair { attacked: wide, ..pair() }, &strict);
        assert!(text.contains("(2, 3)") && text.contains("(2, 2)"), "{text}");
        let text = refused(&Pair { clean_logits: Some(wide), ..pair() }, &strict);
        assert!(text.contains("`clean_logits` without `attacked_logits_0.1`"), "{text}");
        let both = Pair { clean_logits: Some(wide), attacked_logits: Some(matrix(1, &[0.0])), ..pair() };
        assert!(refused(&both, &strict).contains("logits"));
        let test = Robustness { nodes: Nodes::Test, ..strict.clone() };
        assert!(refused(&pair(), &test).contains("--nodes test, but no `test_idx`"));
        let not_train = Robustness { nodes: Nodes::NotTrain, ..strict };
        assert!(refused(&pair(), &not_train).contains("`train_idx`"));
    }

    #[test]
    fn a_label_has_to_be_a_class_only_where_it_is_scored() {
        let strict = Robustness::default();
        let labelled = Pair { labels: Some(&[0, 2]), test: Some(&[0]), ..pair() };
        assert!(labelled.check(&strict).is_ok());
        let tested = Pair { test: Some(&[0, 1]), ..labelled.clone() };
        let text = refused(&tested, &strict);
        assert!(text.contains("node 1") && text.contains("0 to 1"), "{text}");
        assert!(tested.check(&Robustness { features: Features::Other, ..strict }).is_ok());
    }
}
