//! A report in every form people read or script against: JSON, CSV, Markdown, LaTeX, HTML, the terminal.
//!
//! ```text
//! Report --json----------------> report.json, and back
//!        --csv-----------------> one line per number
//!        --page----------------> one HTML file, with pictures
//!        --table--> sections --> terminal, markdown, latex
//! Table  --per_unit------------> csv, jsonl, parquet; also with many lines per unit
//! MetricInfo --catalogue-------> `calipers list`, `calipers explain`, `docs/metrics/`
//! ```
//!
//! **Architecture invariant:** nothing here knows a family. What a table says about a metric comes
//! from its [`MetricInfo`](calipers_core::metric::MetricInfo).

pub mod catalogue;
pub mod chart;
pub mod comparison;
pub mod curves;
pub mod json;
pub mod number;
pub mod page;
pub mod per_unit;
pub mod sampling;

mod leaf;
mod sparkline;
mod table;
mod text;

pub use table::{Amount, Shown, Spread, csv, grid, latex, markdown, notebook, terminal};

#[cfg(test)]
mod fixture;
