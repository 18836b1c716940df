//! What can go wrong between a request and its answer, and what is worth another try.

use std::error::Error as _;
use std::time::Duration;

use calipers_core::Error;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// How long to wait before the second, third and fourth try.
const WAITS: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];
/// The longest wait that a server may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A request without a usable answer.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What went wrong.
    pub cause: Cause,
    /// The address, without credentials and parameters.
    pub address: String,
    /// How often it was tried.
    pub tries: usize,
}

/// What went wrong in the last try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No connection, or one that broke, in the words of the system.
    Connection(String),
    /// Nobody answered in time.
    Silence(Duration),
    /// An answer of this status, and how long the server asks to wait.
    Status(u16, Option<Duration>),
    /// The server sends the request somewhere else, too often or where it must not go.
    Redirect(String),
    /// More bytes than an answer may have.
    TooLong(usize),
    /// The request itself cannot be sent.
    Unsendable(String),
}

impl Cause {
    /// Why a request or the reading of its answer failed.
    pub(super) fn of(error: &reqwest::Error, timeout: Duration) -> Self {
        if error.is_timeout() {
            return Self::Silence(timeout);
        }
        // The innermost reason is the system's; those around it repeat the address.
        let mut reason = error.source();
        while let Some(inner) = reason.and_then(|reason| reason.source()) {
            reason = Some(inner);
        }
        let words = reason.map_or_else(|| "no answer".into(), ToString::to_string);
        match () {
            () if error.is_redirect() => Self::Redirect(words),
            () if error.is_builder() => Self::Unsendable(words),
            () => Self::Connection(words),
        }
    }

    /// The cause of an answer that is none.
    pub(super) fn of_status(status: StatusCode, headers: &HeaderMap) -> Self {
        // A date instead of seconds is not kept: clocks differ.
        let asked = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        Self::Status(status.as_u16(), asked.map(Duration::from_secs))
    }

    /// How long to wait before the next try after `tries`; none where another would not help.
    pub(super) fn wait(&self, tries: usize) -> Option<Duration> {
        let wait = *WAITS.get(tries.checked_sub(1)?)?;
        match self {
            Self::Connection(_) | Self::Silence(_) => Some(wait),
            Self::Status(408 | 429 | 500.., asked) => {
                Some(asked.map_or(wait, |asked| asked.min(LONGEST_WAIT)))
            }
            Self::Status(..) | Self::Redirect(_) | Self::TooLong(_) | Self::Unsendable(_) => None,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let tries = match failure.tries {
            1 => "1 try".to_owned(),
            tries => format!("{tries} tries"),
        };
        let (what, found) = match &failure.cause {
            Cause::Connection(words) => ("the server does not answer", words.clone()),
            Cause::Silence(time) => {
                ("the server does not answer", format!("no whole answer within {} s", time.as_secs_f64()))
            }
            // The client follows none but those to http and https.
            Cause::Status(status @ 300..400, _) => (
                "the server sends the request elsewhere",
                format!("a redirect that is not followed, status {status}"),
            ),
            Cause::Status(status, _) => ("the server refuses the request", format!("status {status}")),
            Cause::Redirect(words) => ("the server sends the request elsewhere", words.clone()),
            Cause::TooLong(most) => ("the answer is too long", format!("more than {most} bytes")),
            Cause::Unsendable(words) => ("the request cannot be sent", words.clone()),
        };
        let error = Self::io(what).in_file(&failure.address).found(format!("{found}, after {tries}"));
        match &failure.cause {
            Cause::Connection(_) => {
                error.advice("check that the server runs and that the address is its own")
            }
            Cause::Silence(_) => error.advice("check the address, or wait longer with --timeout SECONDS"),
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_by_itself_is_tried_three_more_times() {
        let waits = |cause: &Cause| (1..=4).map_while(|tries| cause.wait(tries)).collect::<Vec<_>>();
        for cause in [
            Cause::Connection("refused".into()),
            Cause::Silence(Duration::from_secs(1)),
            Cause::Status(408, None),
            Cause::Status(429, None),
            Cause::Status(503, None),
        ] {
            assert_eq!(waits(&cause), WAITS, "{cause:?}");
        }
        for cause in [Cause::Status(401, None), Cause::Status(404, None), Cause::TooLong(9)] {
            assert!(waits(&cause).is_empty(), "{cause:?}");
        }
    }

    #[test]
    fn a_server_may_ask_for_half_a_minute_at_most() {
        let asked = |seconds| Cause::Status(503, Some(Duration::from_secs(seconds))).wait(1);
        assert_eq!(asked(7), Some(Duration::from_secs(7)));
        assert_eq!(asked(3600), Some(LONGEST_WAIT));
    }
}
