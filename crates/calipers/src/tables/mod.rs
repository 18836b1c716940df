//! Tables that join reports with what else is known of a study.

pub mod training;
