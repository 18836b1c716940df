//! A Python process that does the peer's job whenever it is asked, and says how long it took.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Outcome;

/// A running peer: one script of `benches/peers`, with its data loaded.
pub(crate) struct Peer {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the script on a folder of arrays and waits until it has loaded them.
    pub(crate) fn start(script: &str, data: &Path) -> Outcome<Self> {
        let python = std::env::var_os("CALIPERS_BENCH_PYTHON").unwrap_or_else(|| "python3".into());
        let mut command = Command::new(&python);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(script)).arg(data);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"] {
            command.env(variable, "1");
        }
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(questions), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("the peer has no pipes".into());
        };
        let mut peer = Self { process, questions, answers: BufReader::new(answers) };
        match peer.answer()?.as_str() {
            "ready" => Ok(peer),
            other => Err(format!("{script} is not ready: {other}").into()),
        }
    }

    /// CPU seconds of one run of the named job.
    pub(crate) fn seconds(&mut self, job: &str) -> Outcome<f64> {
        writeln!(self.questions, "{job}")?;
        Ok(self.answer()?.parse()?)
    }

    fn answer(&mut self) -> Outcome<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        if line.is_empty() {
            return Err(format!("the peer stopped: {}", self.process.wait()?).into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The script also ends by itself when its input does; nothing is left to report here.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
