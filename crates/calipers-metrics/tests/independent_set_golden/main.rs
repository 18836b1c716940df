//! The independent_set family from units to reports: golden cases, worked examples, the published
//! code and properties.

mod cases;
mod examples;
mod properties;
mod published;
mod run;
