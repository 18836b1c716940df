//! Logs of three configurations, five folds each: one that learns and stays, one that wavers, and
//! one that often gives up. Their curves are written the way loggers write them: train and
//! validation on different rows, and a test row at the end.

use std::fmt::Write;
use std::path::Path;

use calipers_core::{Result, SplitMix64};
use calipers_sources::output;

use super::create_folder;

/// The key of the curve to look at.
pub const KEY: &str = "val_F1";
const FOLDS: usize = 5;
const EPOCHS: usize = 24;

/// How a configuration learns.
struct Habit {
    name: &'static str,
    /// The value it approaches.
    plateau: f64,
    /// In how many epochs it closes two thirds of the gap.
    pace: f64,
    /// How far single epochs stray.
    noise: f64,
    /// The share of folds that never learn.
    lost: f64,
}

const HABITS: [Habit; 3] = [
    Habit { name: "steady", plateau: 0.955, pace: 3.0, noise: 0.006, lost: 0.0 },
    Habit { name: "wavering", plateau: 0.925, pace: 2.0, noise: 0.05, lost: 0.0 },
    Habit { name: "fragile", plateau: 0.965, pace: 4.0, noise: 0.012, lost: 0.4 },
];

/// Writes `<configuration>/<fold>.csv`.
pub fn write(folder: &Path, seed: u64) -> Result<()> {
    let mut random = SplitMix64::new(seed);
    for habit in &HABITS {
        let below = folder.join(habit.name);
        create_folder(&below)?;
        for fold in 0..FOLDS {
            output::write(&below.join(format!("{fold}.csv")), log(habit, &mut random).as_bytes())?;
        }
    }
    Ok(())
}

fn log(habit: &Habit, random: &mut SplitMix64) -> String {
    let lost = random.unit() < habit.lost;
    let plateau = if lost { 0.55 } else { habit.plateau };
    let pace = habit.pace * (0.7 + 0.6 * random.unit());
    let mut text = format!("epoch,step,train_loss,{KEY},test_F1\n");
    let (mut value, mut gap) = (0.0, plateau - 0.2);
    for epoch in 0..EPOCHS {
        gap *= 1.0 - 1.0 / pace;
        value = (plateau - gap + habit.noise * (2.0 * random.unit() - 1.0)).clamp(0.0, 1.0);
        let step = 100 * (epoch + 1);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{epoch},{},{:.4},,", step - 1, 0.1 + gap);
        let _ = writeln!(text, "{epoch},{step},,{value:.4},");
    }
    let _ = writeln!(text, "{EPOCHS},{},,,{:.4}", 100 * EPOCHS, value - 0.004);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_logs() {
        let logs = |seed| {
            let mut random = SplitMix64::new(seed);
            HABITS.iter().map(|habit| log(habit, &mut random)).collect::<Vec<_>>()
        };
        assert_eq!(logs(3), logs(3));
        assert_ne!(logs(3), logs(4));
        assert!(logs(0).iter().all(|log| log.lines().count() == 2 * EPOCHS + 2));
    }
}
