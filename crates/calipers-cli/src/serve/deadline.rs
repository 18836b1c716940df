//! Time that runs out: an answer that nobody takes, and the pause after a connection that cannot be accepted.

use std::io::{self, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A stream that is written to until a moment, however slowly the other side reads.
pub(super) struct Deadline<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl<'a> Deadline<'a> {
    pub(super) fn new(stream: &'a TcpStream, patience: Duration) -> Self {
        Self { stream, end: Instant::now() + patience }
    }
}

impl Write for Deadline<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_write_timeout(Some(left))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// How long to wait after a connection could not be accepted: twice as long each time, until one is accepted.
#[derive(Debug, Default)]
pub(super) struct Pause {
    last: Option<Duration>,
    told: Option<Instant>,
}

impl Pause {
    const FIRST: Duration = Duration::from_millis(10);
    const LONGEST: Duration = Duration::from_secs(1);
    /// A sentence so often is enough.
    const TOLD: Duration = Duration::from_secs(60);

    /// A connection was accepted.
    pub(super) fn reset(&mut self) {
        self.last = None;
    }

    /// The next pause.
    pub(super) fn longer(&mut self) -> Duration {
        let next = self.last.map_or(Self::FIRST, |last| (2 * last).min(Self::LONGEST));
        self.last = Some(next);
        next
    }

    /// Whether somebody should hear of it by now.
    pub(super) fn is_to_be_told(&mut self) -> bool {
        let is = self.told.is_none_or(|told| told.elapsed() >= Self::TOLD);
        if is {
            self.told = Some(Instant::now());
        }
        is
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_connections_that_cannot_be_accepted_make_pauses_and_no_end() {
        let mut pause = Pause::default();
        let first: Vec<u128> = (0..4).map(|_| pause.longer().as_millis()).collect();
        assert_eq!(first, [10, 20, 40, 80]);
        assert!((0..5000).map(|_| pause.longer()).all(|pause| pause <= Pause::LONGEST));
        pause.reset();
        assert_eq!(pause.longer(), Pause::FIRST);
        assert!(pause.is_to_be_told() && !pause.is_to_be_told(), "once a minute");
    }
}
