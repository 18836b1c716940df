//! From the arrays of a unit to its row.

use calipers_core::{Error, Result};

use crate::explanation::curve::curves;
use crate::explanation::fidelity::compare::compare;
use crate::explanation::fidelity::instances::Instances;
use crate::explanation::fidelity::predictions::{Given, Y_HAT};
use crate::explanation::fidelity::score_check::check;
use crate::explanation::mask::mask_row;
use crate::explanation::mask::values::EDGE_INDEX;
use crate::explanation::protocol::{Explanation, Preset, Task};
use crate::explanation::published;
use crate::explanation::row::{Keys, Row};
use crate::explanation::unit::Evidence;

/// Every key that something uses.
const KNOWN: [&str; 16] = [
    "y",
    Y_HAT,
    "y_sub",
    "y_comp",
    "index",
    "y_sub_sweep",
    "y_comp_sweep",
    "y_sub_samples",
    "y_comp_samples",
    "pred_mask",
    "target_mask",
    "target_masks",
    "pred_mask_samples",
    "pos_fidelity",
    "neg_fidelity",
    "x",
];

/// Measures one explanation.
pub(crate) fn measure(protocol: &Explanation, evidence: &Evidence<'_>) -> Result<Row> {
    let bases = || evidence.keys().map(|key| key.split_once('.').map_or(key, |(base, _)| base));
    let has = |key: &str| bases().any(|base| base == key);
    // Edges are drawn with the masks that lie on them.
    let is_used = |base: &str| KNOWN.contains(&base) || (base == EDGE_INDEX && has("pred_mask"));
    let mut row = Row {
        keys: Keys {
            y_hat: has(Y_HAT),
            y: has(Y_HAT) && has("y"),
            y_sub: has(Y_HAT) && has("y_sub"),
            y_comp: has(Y_HAT) && has("y_comp"),
            target: has("target_mask") || has("target_masks"),
        },
        unused: bases().filter(|base| !is_used(base)).map(String::from).collect(),
        ..Row::default()
    };
    row.unused.dedup();
    let given = Given::new(protocol, evidence)?;
    for array in &given.arrays {
        check(protocol, array, &mut row.noticed)?;
    }
    let index = evidence.plain("index")?;
    if let Some((count, _)) = given.instances {
        let instances = Instances::new(protocol.preset, index, count)?;
        if given.arrays.len() > 1 {
            row.instances = Some(instances.len() as u64);
            predictions(protocol, &given, &instances, &mut row)?;
        }
    }
    row.mask = mask_row(protocol, evidence, &mut row.noticed)?.map(Box::new);
    let curves = curves(protocol, evidence, &given)?;
    if row.instances.is_none() && row.mask.is_none() && curves.is_none() {
        let mut keys: Vec<&str> = bases().collect();
        keys.dedup();
        return Err(Error::value(format!(
            "no metric can be computed from the keys ['{}']",
            keys.join("', '")
        ))
        .advice("give y_hat and y_sub or y_comp, or pred_mask, or pos_fidelity and neg_fidelity"));
    }
    if let Some(curves) = curves {
        row.curve = curves.curve;
        row.sweep_x = curves.sweep_x;
    }
    Ok(row)
}

fn predictions(
    protocol: &Explanation,
    given: &Given<'_>,
    instances: &Instances,
    row: &mut Row,
) -> Result<()> {
    if protocol.preset == Preset::Pyg {
        if protocol.task == Task::Regression {
            return Err(Error::value("Fidelity not defined for 'regression' models"));
        }
        row.published = published::kl(protocol, given, instances);
    }
    let compared = compare(protocol, given, instances)?;
    row.plus = compared.plus;
    row.minus = compared.minus;
    row.faithfulness = compared.faithfulness;
    row.noticed.mask_without_effect = compared.without_effect;
    Ok(())
}
