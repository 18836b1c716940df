//! What a refused run was probably meant to be, for the command that its message proposes.

pub mod colours;
mod known_colours;
pub mod places;
pub mod scores;
