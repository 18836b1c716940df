//! Files and folders on servers: addresses of objects, read in parts.
//!
//! ```text
//! address   what is meant, and how it is shown     store    S3, GCS and Azure, by their environment
//! transfer  one request, tried again               object   a file, read where it is asked for
//! folder    the files below an address             runtime  the thread that moves all requests
//! ```

mod address;
mod folder;
mod object;
mod runtime;
mod store;
mod transfer;

pub use address::Address;
pub use folder::{kind, listing};
pub use object::open;
