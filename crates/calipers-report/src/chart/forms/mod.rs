//! The forms that numbers can take on paper: each holds its numbers and names, and draws itself at any
//! width.

pub mod bars;
pub mod forest;
pub mod heat;
pub mod histogram;
pub mod images;
pub mod lines;
pub mod network;
pub mod reliability;
pub mod scatter;
pub mod sheet;
pub mod stacked;
