//! From the rows of a table to the curves of its runs.
//!
//! ```text
//! x_axis    which key is x          samples  the values of a run, in the order of logging
//! sessions  what a restart removes  repeats  what repeated values of x mean
//! x_values  the x of each row             read     a run as it was read
//! sketch    a curve to be drawn
//! ```

pub mod read;
pub mod repeats;
pub mod samples;
pub mod sessions;
pub mod sketch;
pub mod x_axis;
pub mod x_values;
