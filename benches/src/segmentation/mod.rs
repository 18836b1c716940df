//! The segmentation family: label maps, bands, contours, probabilities, and whole folders.

pub(crate) mod bands;
pub(crate) mod confusion;
pub(crate) mod files;
pub(crate) mod from_python;
pub(crate) mod fusion;
mod maps;
pub(crate) mod probabilities;
pub(crate) mod surfaces;

use crate::Outcome;
use crate::harness::clock::{by_turns, seconds_per_call};
use crate::harness::line::{Goal, Line};
use crate::harness::peer::Peer;

/// Times our job and one of a peer's by turns and reports million pixels per CPU second of both.
fn against<T>(
    report: &mut dyn FnMut(Line),
    job: String,
    pixels: usize,
    goal: Goal,
    mut ours: impl FnMut() -> T,
    (peer, peer_job): (&mut Peer, &str),
) -> Outcome {
    peer.seconds(peer_job)?;
    let (ours, theirs) =
        by_turns(5, || Ok(seconds_per_call(&mut ours)), || -> Outcome<f64> { peer.seconds(peer_job) })?;
    report(Line {
        job,
        ours: speed(pixels, ours),
        against: speed(pixels, theirs),
        ratio: theirs / ours,
        goal,
    });
    Ok(())
}

/// The same in two rounds, for peers that take many seconds.
fn against_once<T>(
    report: &mut dyn FnMut(Line),
    job: String,
    pixels: usize,
    goal: Goal,
    mut ours: impl FnMut() -> T,
    (peer, peer_job): (&mut Peer, &str),
) -> Outcome {
    let (ours, theirs) =
        by_turns(2, || Ok(seconds_per_call(&mut ours)), || -> Outcome<f64> { peer.seconds(peer_job) })?;
    report(Line {
        job,
        ours: speed(pixels, ours),
        against: speed(pixels, theirs),
        ratio: theirs / ours,
        goal,
    });
    Ok(())
}

/// What needs torch: label maps, then probabilities.
pub(crate) fn run_published(report: &mut dyn FnMut(Line)) -> Outcome {
    confusion::run_published(report)?;
    probabilities::run_published(report)?;
    fusion::run_published(report)
}

fn speed(pixels: usize, seconds: f64) -> String {
    let speed = pixels as f64 / seconds / 1e6;
    if speed < 10.0 { format!("{speed:.2} Mpix/s") } else { format!("{speed:.0} Mpix/s") }
}
