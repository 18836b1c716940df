//! The subcommands.

pub(crate) mod chosen_metrics;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod explanation;
pub(crate) mod independent_set;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod segmentation;
pub(crate) mod segmentation_fit;
pub(crate) mod show;
pub(crate) mod training;
pub(crate) mod training_tables;
pub(crate) mod training_view;
