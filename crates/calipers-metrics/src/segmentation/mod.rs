//! Label maps and probabilities in one global label space.

mod audit;
pub mod band;
mod bin_rule;
mod bit_tally;
mod block_source;
mod boundary_reading;
mod calibration;
mod calibration_reading;
pub mod cheng;
pub mod class_id;
pub mod class_map;
mod colors;
pub mod config;
pub mod contour;
mod exp_f32;
mod family;
mod fast_kernel;
mod fast_pass;
pub mod fit;
pub mod fusion;
mod fusion_kernel;
mod given_confusion;
mod heads_reading;
mod label_check;
pub mod labels;
mod legend;
mod mapping;
pub mod measure;
mod metrics;
pub mod overlap;
mod overlap_reading;
mod pixel_set;
mod presets;
pub mod protocol;
#[cfg(test)]
mod random_maps;
mod reading;
mod resolve;
pub mod row;
mod score_block;
#[cfg(test)]
mod score_oracle;
pub mod scores;
mod separability;
pub mod unit;
mod window;
