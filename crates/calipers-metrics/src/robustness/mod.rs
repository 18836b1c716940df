//! How far an attack moves a graph model: estimation bias, edge differences, robust accuracy.

mod accuracy;
mod audit;
mod bias;
mod budget;
mod budget_reading;
mod conditions;
mod difference;
mod dyadic;
mod edges;
mod family;
pub mod figures;
mod flips;
mod histogram;
mod histogram_reading;
mod matrix;
mod measure;
mod metrics;
mod nodes;
mod partials;
pub mod per_node;
pub mod protocol;
mod reading;
pub mod row;
mod spread;
mod squares;
pub mod unit;
