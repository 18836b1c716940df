//! Label spaces: what the ids of maps mean, and from maps of ids to maps of classes.

mod check;
mod cityscapes;
mod class_id;
mod class_map;
mod class_maps;
mod colors;
mod legend;
pub(crate) mod mapping;
mod originals;

pub use cityscapes::CITYSCAPES;
pub use class_id::ClassId;
pub use class_map::truth_classes;
pub(crate) use class_maps::decided;
pub use class_maps::{ClassMaps, class_maps};
pub use originals::{ClassRef, MOST_CLASSES, Originals};

pub(crate) use class_map::{head_truth, predicted_classes};
pub(crate) use legend::{Legend, Meaning};
