//! What histories say beside their curves, for the tables of a study.

use std::collections::BTreeMap;

/// What the history of one fold says beside the curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ending {
    /// How many epochs the curve of the first metric has.
    pub epochs: Option<u64>,
    /// The last logged `_runtime`, in seconds.
    pub runtime: Option<f64>,
    /// The last logged value of each key of [`TEST_KEYS`].
    pub last: BTreeMap<String, f64>,
}

/// The endings by group and fold.
pub type Endings = BTreeMap<(String, String), Ending>;

/// The keys whose last logged value stands in for a missing summary.
pub const TEST_KEYS: [&str; 12] = [
    "test_part_parsed",
    "test_part_subj_ok",
    "test_part_valid",
    "test_F1_micro",
    "test_F1_macro",
    "test_prec_micro",
    "test_prec_macro",
    "test_recall_micro",
    "test_recall_macro",
    "test_BLEU",
    "test_dist_edit",
    "val_loss",
];
