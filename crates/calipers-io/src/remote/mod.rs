//! Requests to servers, with time-outs and tries again: what every reader of addresses shares.
//!
//! ```text
//! request  what is asked for             failure  what went wrong, and whether to try again
//! client   one request after the other   in_order several at a time, answered in order
//! ```
//!
//! For servers of logs there is no thread in the background: requests move on while the caller waits for one
//! of them. Files have a thread of their own. While it waits the caller asks several times per second whether
//! the work is still wanted.

mod client;
mod failure;
pub mod files;
mod in_order;
mod request;

pub use client::{Client, Sender, Settings};
pub use failure::{Cause, Failure};
pub use in_order::InOrder;
pub use request::{Authorization, Request};
