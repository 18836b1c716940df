//! Molecules whose true explanation is known, a model that classifies them and an explainer that
//! finds the bonds which matter, more or less.

use std::path::Path;

use calipers_core::{Result, SplitMix64};
use calipers_sources::output;
use serde_json::{Value as Json, json};

use super::create_folder;

/// The file with the units.
pub const UNITS: &str = "molecules.jsonl";

const MOLECULES: usize = 60;
const CLASSES: usize = 3;
/// The shares of bonds that the sweep keeps.
const KEPT: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 1.0];

/// Logits of one molecule.
type Logits = [f64; CLASSES];

/// A draw around 0, between -1 and 1, rounded so that its decimals are few.
fn noise(random: &mut SplitMix64) -> f64 {
    short(random.unit() + random.unit() - 1.0)
}

fn short(value: f64) -> f64 {
    (value * 65536.0).round() / 65536.0
}

/// What the model says when only a share of the evidence is left.
fn weakened(full: &Logits, share: f64, random: &mut SplitMix64) -> Logits {
    full.map(|logit| short(logit * share + noise(random)))
}

/// One explained prediction; `skill` says how well the explainer knows the true bonds.
fn molecule(number: usize, skill: f64, random: &mut SplitMix64) -> Json {
    let bonds = 12 + random.below(24) as usize;
    let (group, length) = (random.below(bonds as u64 - 4) as usize, 2 + random.below(3) as usize);
    let truth: Vec<u8> = (0..bonds).map(|bond| u8::from((group..group + length).contains(&bond))).collect();
    let importance: Vec<f64> = truth
        .iter()
        .map(|&bond| short((0.45 + skill * (f64::from(bond) - 0.5) + 0.5 * noise(random)).clamp(0.0, 1.0)))
        .collect();
    let class = random.below(CLASSES as u64) as usize;
    let y_hat: Logits =
        std::array::from_fn(|c| if c == class { 1.5 + noise(random) } else { 1.5 * noise(random) });
    // The better the explainer, the more of the evidence lies in its explanation.
    let y_sub = weakened(&y_hat, skill, random);
    let y_comp = weakened(&y_hat, 1.0 - skill, random);
    let grown = KEPT.map(|kept| skill + (1.0 - skill) * kept * kept);
    let sub_sweep = grown.map(|share| [weakened(&y_hat, share, random)]);
    let comp_sweep = grown.map(|share| [weakened(&y_hat, 1.0 - share, random)]);
    json!({
        "unit": format!("molecule_{number:02}"),
        "y": [class],
        "y_hat": [y_hat],
        "y_sub": [y_sub],
        "y_comp": [y_comp],
        "edge_index": ends(bonds),
        "pred_mask": importance,
        "target_mask": truth,
        "x": KEPT,
        "y_sub_sweep": sub_sweep,
        "y_comp_sweep": comp_sweep,
    })
}

/// The ends of the bonds: rings of six atoms on a chain, as far as the bonds go.
fn ends(bonds: usize) -> [Vec<usize>; 2] {
    let (mut ends, mut atom) = ([Vec::new(), Vec::new()], 0);
    for bond in 0..bonds {
        // After five bonds along the ring the sixth closes it.
        let other = if bond % 7 == 5 { atom - 5 } else { atom + 1 };
        ends[0].push(atom);
        ends[1].push(other);
        atom = atom.max(other);
    }
    ends
}

/// Writes the data set: one JSON object a line.
pub fn write(folder: &Path, seed: u64) -> Result<()> {
    create_folder(folder)?;
    let mut random = SplitMix64::new(seed);
    let mut lines = String::new();
    for number in 0..MOLECULES {
        let skill = short(0.25 + 0.5 * random.unit());
        lines.push_str(&molecule(number, skill, &mut random).to_string());
        lines.push('\n');
    }
    output::write(&folder.join(UNITS), lines.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::Value;
    use calipers_metrics::explanation::{Explanation, Scores};
    use calipers_sources::explanation::{Options, measure};
    use calipers_sources::inputs::Inputs;
    use calipers_sources::run::Work;

    #[test]
    fn the_explainer_is_good_but_not_perfect_and_a_seed_repeats_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = |seed| {
            write(folder.path(), seed).unwrap();
            std::fs::read(folder.path().join(UNITS)).unwrap()
        };
        assert_ne!(bytes(1), bytes(0));
        assert_eq!(bytes(0), bytes(0));
        let protocol = Explanation { scores: Some(Scores::Logits), ..Explanation::default() };
        let options = Options { inputs: vec![folder.path().to_owned()], protocol };
        let report = measure(&options, Inputs::default(), &Work::quiet(1)).unwrap().finish();
        assert_eq!(report.units, MOLECULES as u64);
        for (id, low, high) in
            [("auroc", 0.7, 0.999), ("fid_plus_model", 0.2, 0.9), ("fidelity_curve_auc_model", 0.1, 2.0)]
        {
            let value = report.get(&format!("explanation.{id}")).unwrap();
            assert!(matches!(value, Value::Number(x) if (low..high).contains(x)), "{id}: {value:?}");
        }
    }
}
