//! Which numbers follow from sums over explanations, and how.

use calipers_core::value::rounded_quotient;
use calipers_core::{Metric, Pooling, Sum, Tally, Term, Value};

use super::fidelity_reading::{
    Direction, Of, Side, changed, characterized, divergence, regression, robust, robust_drop_of, shifted,
};
use super::mask_reading::{Part, pooled_parts};
use super::protocol::{Explanation, Preset};
use super::reading::{NO_INSTANCES, given};
use super::row::Row;

/// How the metric over many explanations follows from sums over them.
pub(crate) fn pooling(protocol: &Explanation, metric: &Metric<Explanation>) -> Pooling<Explanation> {
    use Of::{Model, Phenomenon};
    use Side::{Minus, Plus};
    let published = protocol.preset == Preset::Pyg;
    match metric.id {
        "fid_plus_model"
        | "fid_minus_model"
        | "fid_plus_phenomenon"
        | "fid_minus_phenomenon"
        | "unfaithfulness"
        | "unfaithfulness_reversed"
            if published =>
        {
            Pooling::Mean
        }
        "fid_plus_model" => Pooling::Quotient(|_, row| flips(row, Plus, Model)),
        "fid_minus_model" => Pooling::Quotient(|_, row| flips(row, Minus, Model)),
        "fid_plus_phenomenon" => Pooling::Quotient(|_, row| flips(row, Plus, Phenomenon)),
        "fid_minus_phenomenon" => Pooling::Quotient(|_, row| flips(row, Minus, Phenomenon)),
        "fid_plus_signed_phenomenon" => Pooling::Quotient(|_, row| wide(shifted(row, Plus))),
        "fid_minus_signed_phenomenon" => Pooling::Quotient(|_, row| wide(shifted(row, Minus))),
        "characterization_score_model" => Pooling::Tally(Tally {
            name: "flips of the model",
            terms: |_, row| both_flips(row, Model),
            read: characterization,
        }),
        "characterization_score_phenomenon" => Pooling::Tally(Tally {
            name: "flips of the phenomenon",
            terms: |_, row| both_flips(row, Phenomenon),
            read: characterization,
        }),
        "fid_plus_prob_model" => Pooling::Average(|_, row| drop(row, Plus, Model, false)),
        "fid_minus_prob_model" => Pooling::Average(|_, row| drop(row, Minus, Model, false)),
        "fid_plus_prob_phenomenon" => Pooling::Average(|_, row| drop(row, Plus, Phenomenon, false)),
        "fid_minus_prob_phenomenon" => Pooling::Average(|_, row| drop(row, Minus, Phenomenon, false)),
        "fid_plus_prob_signed_model" => Pooling::Average(|_, row| drop(row, Plus, Model, true)),
        "fid_minus_prob_signed_model" => Pooling::Average(|_, row| drop(row, Minus, Model, true)),
        "fid_plus_prob_signed_phenomenon" => Pooling::Average(|_, row| drop(row, Plus, Phenomenon, true)),
        "fid_minus_prob_signed_phenomenon" => Pooling::Average(|_, row| drop(row, Minus, Phenomenon, true)),
        "fid_plus_mae" => Pooling::Average(|_, row| error(row, Plus, false)),
        "fid_minus_mae" => Pooling::Average(|_, row| error(row, Minus, false)),
        "fid_plus_mse" => Pooling::Average(|_, row| error(row, Plus, true)),
        "fid_minus_mse" => Pooling::Average(|_, row| error(row, Minus, true)),
        "unfaithfulness" if protocol.preset == Preset::Graphxai => {
            Pooling::Average(|_, row| unfaithful(row, Direction::Reversed))
        }
        "unfaithfulness" => Pooling::Average(|_, row| unfaithful(row, Direction::Forward)),
        "unfaithfulness_reversed" => Pooling::Average(|_, row| unfaithful(row, Direction::Reversed)),
        "kl" => Pooling::Average(|_, row| kl(row, Direction::Forward)),
        "kl_reversed" => Pooling::Average(|_, row| kl(row, Direction::Reversed)),
        "robust_fid_plus_model" => Pooling::Average(|_, row| perturbed(row, Plus)),
        "robust_fid_minus_model" => Pooling::Average(|_, row| perturbed(row, Minus)),
        "robust_fid_plus_prob_signed_model" => Pooling::Average(|_, row| robust_drop(row, Plus, Model)),
        "robust_fid_minus_prob_signed_model" => Pooling::Average(|_, row| robust_drop(row, Minus, Model)),
        "robust_fid_plus_prob_signed_phenomenon" => {
            Pooling::Average(|_, row| robust_drop(row, Plus, Phenomenon))
        }
        "robust_fid_minus_prob_signed_phenomenon" => {
            Pooling::Average(|_, row| robust_drop(row, Minus, Phenomenon))
        }
        "accuracy_pooled" => Pooling::Quotient(|_, row| pooled_parts(row, Part::Accuracy)),
        "recall_pooled" => Pooling::Quotient(|_, row| pooled_parts(row, Part::Recall)),
        "precision_pooled" => Pooling::Quotient(|_, row| pooled_parts(row, Part::Precision)),
        "f1_score_pooled" => Pooling::Quotient(|_, row| pooled_parts(row, Part::F1)),
        "jaccard_pooled" => Pooling::Quotient(|_, row| pooled_parts(row, Part::Jaccard)),
        "num_instances" | "num_mask_elements" => Pooling::Total,
        "accuracy"
        | "recall"
        | "precision"
        | "f1_score"
        | "auroc"
        | "jaccard"
        | "average_precision"
        | "relevance_mass"
        | "relevance_rank"
        | "fidelity_curve_auc"
        | "fidelity_curve_auc_normalized"
        | "sparsity"
        | "zero_fraction"
        | "entropy"
        | "gini"
        | "instability_cosine"
        | "instability_cosine_mean"
        | "sensitivity_max" => Pooling::Mean,
        _ => Pooling::Rows,
    }
}

fn wide(parts: Option<(i128, u64)>) -> Option<(i128, i128)> {
    parts.map(|(part, whole)| (part, whole.into()))
}

fn flips(row: &Row, side: Side, of: Of) -> Option<(i128, i128)> {
    wide(changed(row, side, of))
}

fn both_flips(row: &Row, of: Of) -> Vec<Term> {
    let sides = [Side::Plus, Side::Minus].map(|side| flips(row, side, of).unwrap_or((0, 0)));
    sides.into_iter().flat_map(|(part, whole)| [part, whole]).map(Term::Whole).collect()
}

fn characterization(protocol: &Explanation, sums: &[Sum]) -> Value {
    let [plus, of_plus, minus, of_minus] = [0, 1, 2, 3].map(|k| sums[k].whole());
    if of_plus == 0 || of_minus == 0 {
        return Value::undefined(NO_INSTANCES);
    }
    let (p, q) = (rounded_quotient(plus, of_plus), rounded_quotient(of_minus - minus, of_minus));
    given(Some(characterized(protocol, p, q)))
}

fn drop(row: &Row, side: Side, of: Of, signed: bool) -> Option<(Term, u64)> {
    let deviation = of.deviation(side.of(row)?)?;
    let sum = if signed { &deviation.signed } else { &deviation.absolute };
    Some((sum.into(), row.instances?))
}

fn error(row: &Row, side: Side, squared: bool) -> Option<(Term, u64)> {
    let sums = regression(row, side)?;
    Some(((if squared { &sums.squared } else { &sums.absolute }).into(), sums.values))
}

fn unfaithful(row: &Row, direction: Direction) -> Option<(Term, u64)> {
    Some(((&divergence(row, direction)?.unfaithfulness).into(), row.instances?))
}

fn kl(row: &Row, direction: Direction) -> Option<(Term, u64)> {
    Some(((&divergence(row, direction)?.finite).into(), row.instances?))
}

fn perturbed(row: &Row, side: Side) -> Option<(Term, u64)> {
    let sums = robust(row, side)?;
    Some(((sums.changed as f64 / sums.samples as f64).into(), row.instances?))
}

fn robust_drop(row: &Row, side: Side, of: Of) -> Option<(Term, u64)> {
    robust_drop_of(row, side, of).map(|(drop, instances)| (drop.into(), instances))
}
