//! Binary logs of training runs, TensorBoard events and W&B offline files: written here, from the
//! golden cases and, where they are at hand, from real runs.

mod real;
mod tensorboard;
mod wandb;
mod writer;
