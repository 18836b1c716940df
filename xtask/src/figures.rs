//! The figures of the bias document on Cora, from training to verdicts: a campaign, not a test.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Outcome, cargo, root, step};

/// Where Cora lies when the folder of shared data is beside the project.
const CORA: &str = "../shared/data/robustness/cora.npz";

/// Trains and attacks five penalties and writes `target/figures/`; goes on where it was stopped.
pub(crate) fn draw(quick: bool, graph: Option<&str>) -> Outcome {
    let graph = match graph {
        Some(given) => PathBuf::from(given),
        None => found(&root().join(CORA))?,
    };
    step("release build", &mut cargo("build --release --locked --package calipers-cli"))?;
    let out = root().join("target").join(if quick { "figures-quick" } else { "figures" });
    let mut figures = Command::new(root().join("target/release/calipers"));
    figures.args(["robustness", "reproduce", "--prepare", "rung", "--resume", "--graph"]).arg(graph);
    figures.arg("--out").arg(out).args(quick.then_some("--quick"));
    step("figures", &mut figures)
}

fn found(cora: &Path) -> Outcome<PathBuf> {
    if cora.is_file() {
        return Ok(cora.to_path_buf());
    }
    Err(format!("{CORA} is not there; name a graph: cargo xtask figures GRAPH.npz"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_graph_the_way_out_is_named() {
        let message = found(Path::new("no/such/cora.npz")).unwrap_err();
        assert!(message.contains("cargo xtask figures GRAPH.npz"), "{message}");
    }
}
