//! Confusion matrices: how pairs of classes are counted, and what is read from the counts.

pub(crate) mod agreement;
mod binary_masks;
pub(crate) mod classes;
mod confusion;
mod count;
mod given;
mod id_pairs;
pub(crate) mod images;
pub(crate) mod pixels;
mod totals;
pub(crate) mod worst;

pub use binary_masks::{MaskCounts, mask_counts};
pub use classes::{IOU, MIOU};
pub use confusion::{Cell, Confusion};
pub use id_pairs::IdPairs;

pub(crate) use agreement::pixel_accuracy;
pub(crate) use classes::miou;
pub(crate) use count::{CountPairs, Joint, confusion_u8};
pub(crate) use given::regroup;
pub(crate) use totals::{COUNTS, Overlap, add_matrix};
