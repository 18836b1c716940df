//! The thread that moves all requests, so that any number of workers can wait for theirs.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use calipers_core::{Error, ErrorKind, Result, stop};
use tokio::runtime::{Builder, Handle};

/// How often whoever waits asks whether the work is still wanted.
const ASK: Duration = Duration::from_millis(50);

static RUNTIME: OnceLock<Option<Handle>> = OnceLock::new();

/// The runtime; its thread ends with the program.
fn handle() -> Result<&'static Handle> {
    let started = RUNTIME.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let handle = runtime.handle().clone();
        let moving = move || runtime.block_on(std::future::pending::<()>());
        std::thread::Builder::new().name("requests".into()).spawn(moving).ok()?;
        Some(handle)
    });
    started.as_ref().ok_or_else(|| Error::io("connections cannot be made"))
}

/// Waits for all pieces of work, which move on side by side; their results are in order.
pub(super) fn wait_all<T: Send + 'static>(
    work: Vec<impl Future<Output = Result<T>> + Send + 'static>,
) -> Result<Vec<T>> {
    let (send, results) = mpsc::channel();
    let mut done: Vec<Option<T>> = Vec::new();
    done.resize_with(work.len(), || None);
    let runtime = handle()?;
    let tasks: Vec<_> = work
        .into_iter()
        .enumerate()
        .map(|(place, work)| {
            let send = send.clone();
            // Whoever waited may have gone.
            runtime.spawn(async move { _ = send.send((place, work.await)) })
        })
        .collect();
    drop(send);
    let ended = loop {
        match results.recv_timeout(ASK) {
            Ok((place, Ok(result))) => done[place] = Some(result),
            Ok((_, Err(error))) => break Err(error),
            Err(RecvTimeoutError::Timeout) if stop::asked() => {
                break Err(Error::new(ErrorKind::Interrupted, "interrupted"));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
        }
    };
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    ended?;
    let all: Option<Vec<T>> = done.into_iter().collect();
    all.ok_or_else(|| Error::io("a request ended before its answer"))
}

/// Waits for one piece of work.
pub(super) fn wait<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let done = wait_all(vec![work])?;
    done.into_iter().next().ok_or_else(|| Error::io("a request ended before its answer"))
}
