//! What each preset stands for: the conventions of published code, as parameters.

use crate::segmentation::protocol::{Conventions, MissingHeads, Preset, Unpredicted};

/// Exact formulas: what every preset starts from.
const STRICT: Conventions = Conventions {
    boundary_epsilon: false,
    overlap_epsilon: false,
    harmonic_f1: false,
    macro_pixel_accuracy: false,
    split_multiplicity: true,
    decide_in_head: false,
    fusion_floor: None,
    nll_floor: None,
    keep_void_in_bands: false,
    skip_absent_in_bands: false,
    empty_is_zero: false,
    absent_iou_is_zero: false,
    unknown_is_wrong: false,
};

impl Preset {
    /// Every preset, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Strict,
        Self::Document,
        Self::CoralMtl,
        Self::Cityscapes,
        Self::Mmseg,
        Self::TorchmetricsJaccard,
    ];

    /// The conventions it stands for.
    pub fn conventions(self) -> Conventions {
        match self {
            Self::Strict | Self::Cityscapes => STRICT,
            Self::Document => Conventions {
                boundary_epsilon: true,
                harmonic_f1: true,
                macro_pixel_accuracy: true,
                split_multiplicity: false,
                decide_in_head: true,
                ..STRICT
            },
            Self::CoralMtl => Conventions {
                boundary_epsilon: true,
                overlap_epsilon: true,
                harmonic_f1: true,
                split_multiplicity: false,
                decide_in_head: true,
                fusion_floor: Some(1e-12),
                nll_floor: Some(1e-8),
                keep_void_in_bands: true,
                skip_absent_in_bands: true,
                empty_is_zero: true,
                ..STRICT
            },
            Self::Mmseg => Conventions { harmonic_f1: true, unknown_is_wrong: true, ..STRICT },
            Self::TorchmetricsJaccard => Conventions { absent_iou_is_zero: true, ..STRICT },
        }
    }

    /// The background where the configuration names none.
    pub fn background(self) -> Option<usize> {
        (self == Self::CoralMtl).then_some(0)
    }

    /// What an ignored value predicted at a scored pixel is, unless the configuration says it.
    pub fn unpredicted(self) -> Unpredicted {
        match self {
            Self::Strict | Self::Document | Self::CoralMtl => Unpredicted::Error,
            Self::Cityscapes | Self::Mmseg | Self::TorchmetricsJaccard => Unpredicted::Wrong,
        }
    }

    /// What a unit without one of the heads is, unless the configuration says it.
    pub fn missing_heads(self) -> MissingHeads {
        match self {
            Self::Document | Self::CoralMtl => MissingHeads::Marginalise,
            Self::Strict | Self::Cityscapes | Self::Mmseg | Self::TorchmetricsJaccard => MissingHeads::Error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    /// What a preset changes in the conventions of strict.
    fn changes(preset: Preset) -> Json {
        let (strict, own) = (json!(STRICT), json!(preset.conventions()));
        let own = own.as_object().unwrap().iter().filter(|(key, value)| strict[*key] != **value);
        Json::Object(own.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    #[test]
    fn presets_differ_from_strict_as_documented() {
        let document = json!({ "boundary_epsilon": true, "harmonic_f1": true, "macro_pixel_accuracy": true,
            "split_multiplicity": false, "decide_in_head": true });
        let coral_mtl = json!({ "boundary_epsilon": true, "overlap_epsilon": true, "harmonic_f1": true,
            "split_multiplicity": false, "decide_in_head": true, "fusion_floor": 1e-12, "nll_floor": 1e-8,
            "keep_void_in_bands": true, "skip_absent_in_bands": true, "empty_is_zero": true });
        let mmseg = json!({ "harmonic_f1": true, "unknown_is_wrong": true });
        let torchmetrics = json!({ "absent_iou_is_zero": true });
        let expected = [json!({}), document, coral_mtl, json!({}), mmseg, torchmetrics];
        assert_eq!(Preset::ALL.map(changes), expected);
    }

    #[test]
    fn evaluations_of_label_maps_count_unpredicted_pixels_as_wrong() {
        let wrong = Preset::ALL.map(|preset| preset.unpredicted() == Unpredicted::Wrong);
        assert_eq!(wrong, [false, false, false, true, true, true]);
        let marginalise = Preset::ALL.map(|preset| preset.missing_heads() == MissingHeads::Marginalise);
        assert_eq!(marginalise, [false, true, true, false, false, false]);
    }
}
