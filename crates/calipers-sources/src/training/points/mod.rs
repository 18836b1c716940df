//! From the rows of a table to the curves of its runs.
//!
//! ```text
//! x_axis    which key is x          samples  the values of a run, in the order of logging
//! sessions  what a restart removes  repeats  what it means that an x comes again
//! sketch    a curve to be drawn         read     a run as it was read
//! ```

pub mod read;
pub mod repeats;
pub mod samples;
pub mod sessions;
pub mod sketch;
pub mod x_axis;
