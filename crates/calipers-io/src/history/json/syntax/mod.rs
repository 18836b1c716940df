//! JSON as text: tokens one after the other, what a value means, what stands between quotes.

mod digits;
pub(super) mod scan;
pub(super) mod string;
pub(super) mod value;
