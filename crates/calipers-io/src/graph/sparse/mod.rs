//! Graphs as sparse matrices, of which what is not zero is an edge: Matrix Market and SciPy.

pub mod matrix_market;
pub mod scipy;
