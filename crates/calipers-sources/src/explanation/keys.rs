//! The keys of a unit's arrays, and what a batched file does with each.

/// What the array of a key is cut by when a file holds several units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// By `ptr`, along the given axis.
    Instances(usize),
    /// By `mask_ptr`, along the last axis of as many as given.
    Elements(usize),
    /// Not at all: every unit has the whole of it.
    Shared,
    /// By `mask_ptr` along the second of two axes, where it cuts that; drawn, and no evidence.
    Edges,
    /// It belongs to one unit and has no place in a batched file.
    Single,
}

/// The name of the key that holds unit names.
pub(super) const UNIT: &str = "unit";
/// The boundaries of units along the axis of instances.
pub(super) const PTR: &str = "ptr";
/// The boundaries of units along the axis of mask elements.
pub(super) const MASK_PTR: &str = "mask_ptr";

/// The part of a key before its node or edge type.
pub(super) fn base(key: &str) -> &str {
    key.split_once('.').map_or(key, |(base, _)| base)
}

/// What a key means, types left aside; `None` for one that nothing uses.
pub(super) fn role(key: &str) -> Option<Role> {
    Some(match base(key) {
        "y" | "y_hat" | "y_sub" | "y_comp" => Role::Instances(0),
        "y_sub_sweep" | "y_comp_sweep" | "y_sub_samples" | "y_comp_samples" => Role::Instances(1),
        "pred_mask" | "target_mask" => Role::Elements(1),
        "target_masks" | "pred_mask_samples" => Role::Elements(2),
        "x" => Role::Shared,
        "edge_index" => Role::Edges,
        "index" | "pos_fidelity" | "neg_fidelity" => Role::Single,
        _ => return None,
    })
}
