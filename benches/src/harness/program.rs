//! Runs of the release program, with the time on the wall and the peak of memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;

/// What a run took.
pub(crate) struct Run {
    /// Seconds on the wall.
    pub(crate) seconds: f64,
    /// The largest resident set seen, in bytes.
    pub(crate) peak: u64,
}

/// Runs `calipers` with these arguments and watches it until it ends.
pub(crate) fn calipers(arguments: &[&str], folder: &Path) -> Outcome<Run> {
    let start = Instant::now();
    let mut child = Command::new(beside_this_program()?)
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut peak = 0;
    let status = loop {
        peak = peak.max(high_water(child.id()));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let seconds = start.elapsed().as_secs_f64();
    if !status.success() {
        let output = child.wait_with_output()?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("calipers {} ended with {status}\n{message}", arguments.join(" ")).into());
    }
    Ok(Run { seconds, peak })
}

fn beside_this_program() -> Outcome<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("calipers");
    if program.is_file() { Ok(program) } else { Err(format!("{} is not built", program.display()).into()) }
}

/// The kernel's own high-water mark of a running process; 0 once it has ended.
fn high_water(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok()).map_or(0, |kib: u64| kib * 1024)
}
