//! `calipers robustness convert`: a checkpoint from one form into the other.

use std::path::PathBuf;

use calipers::inputs::Inputs;
use calipers::rung::files::checkpoint::{self, Checkpoint};
use calipers::{Error, Result};
use clap::Args;

use super::model_args::PenaltyArgs;
use super::speaking::{Speaking, fresh};
use crate::Outcome;

/// Convert a checkpoint between PyTorch (.pt) and safetensors
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers robustness convert author.pt model.safetensors --penalty mcp --weights legacy --gamma 3
  calipers robustness convert model.safetensors state_dict.pt

A state dict does not say which penalty it was trained with, so that the flags have to.")]
pub(crate) struct ConvertArgs {
    /// The checkpoint (.pt or .safetensors)
    #[arg(value_name = "FROM")]
    from: PathBuf,
    /// Where it is written, in the form of the ending
    #[arg(value_name = "TO")]
    to: PathBuf,
    #[command(flatten)]
    penalty: PenaltyArgs,
    #[command(flatten)]
    speaking: Speaking,
}

impl ConvertArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        checkpoint::check_ending(&self.to.to_string_lossy()).map_err(Error::as_usage)?;
        fresh(&self.to)?;
        let read = Checkpoint::read(&self.from, &self.penalty.flags(), &Inputs::default())?;
        let mut warnings = self.speaking.warnings();
        if let Some(replaced) = &read.replaced {
            warnings.add("penalty_replaced", &format!("flags replace {replaced}"));
        }
        checkpoint::write(&self.to, &read.model)?;
        self.speaking.wrote(&self.to);
        Ok(warnings.outcome())
    }
}
