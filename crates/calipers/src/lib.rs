//! Calipers measures models the way a paper defines the number, and gives the same bits whoever runs it.
//!
//! A **unit** is one piece of evidence, such as an image with its truth. A **protocol** says how units
//! are measured, and lists the numbers of its family. An **accumulator** keeps one row per unit name.
//! A **report** is read from it, as often as you like:
//!
//! ```
//! use calipers::prelude::*;
//! use segmentation::overlap::MIOU;
//! use segmentation::{LabelMap, MapData, Prediction, Preset, Unit};
//!
//! // The defaults of a preset, for two classes.
//! let protocol = Segmentation::new(Preset::Strict).with_classes(["road", "sky"])?;
//! let mut images = Accumulator::new(protocol);
//!
//! // One image of four pixels, one of which is wrong.
//! let map = |ids| LabelMap { height: 2, width: 2, data: MapData::U8(ids) };
//! let truth = map(&[0, 0, 1, 1]);
//! let pred = Prediction::Labels(map(&[0, 1, 1, 1]));
//! images.update("frankfurt", Unit::Pixels { truth, pred })?;
//!
//! // A number by its constant, or everything at once.
//! assert_eq!(images.value(&MIOU), Value::Number((1.0 / 2.0 + 2.0 / 3.0) / 2.0));
//! let report = images.finish();
//! assert_eq!(report.get("segmentation.pixel_accuracy"), Some(&Value::Number(0.75)));
//! # Ok::<(), Error>(())
//! ```
//!
//! Accumulators of other threads and machines are joined with [`Accumulator::merge`], in any order and
//! any number of times. Files and folders are measured by [`sources`]; `examples/` holds whole programs.
//! The modules of the families have an example each: [`segmentation`](metrics::segmentation),
//! [`independent_set`](metrics::independent_set), [`explanation`](metrics::explanation),
//! [`training`](metrics::training), [`robustness`](metrics::robustness).
//!
//! ```text
//! prelude    what most programs need
//! registry   every family, once        families  what is done with each
//! run        units -> accumulator      (threads)
//! resample   accumulators -> intervals
//! compare    models over the same units
//! chosen     the metrics of a report that are shown
//! states     accumulators <-> files
//! replay     recorded inputs, read again
//! pictures   what a page draws of a family
//! pages      reports -> sections of a page
//! figures    reports -> charts by name
//! demo       data sets made from a seed
//! reproduce  the figures of a document
//! tables     reports joined with what else is known
//! ```

pub mod chosen;
pub mod compare;
pub mod demo;
pub mod families;
pub mod figures;
pub mod pages;
pub mod pictures;
pub mod prelude;
pub mod registry;
pub mod replay;
pub mod reports;
pub mod reproduce;
pub mod resample;
pub mod states;
pub mod tables;

pub use calipers_core as core;
pub use calipers_io as io;
pub use calipers_metrics as metrics;
pub use calipers_report as report;
pub use calipers_rung as rung;
pub use calipers_sources as sources;

pub use calipers_sources::{inputs, output, run};

pub use calipers_core::{Accumulator, Error, ErrorKind, Ledger, Report, Result, Value};
