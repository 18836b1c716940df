//! Errors into exceptions, and interrupts into a stop.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use calipers::core::{Error, ErrorKind, Result, stop};
use calipers_cli::keywords::{Refused, in_keywords};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::progress::Raised;

/// The exception for an error, its text that of the command line in Python's words.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Usage => "UsageError",
        ErrorKind::Io => "FileError",
        ErrorKind::Format => "FormatError",
        ErrorKind::Value => "InputError",
        ErrorKind::Duplicate => "DuplicateError",
        ErrorKind::Conflict => "ConflictError",
        ErrorKind::ProtocolMismatch => "ProtocolMismatchError",
        ErrorKind::Internal => "InternalError",
        ErrorKind::Interrupted => return PyKeyboardInterrupt::new_err(()),
    };
    of_class(py, class, error)
}

/// The exception for an object of a type that cannot be meant.
pub(crate) fn wrong_type(py: Python<'_>, error: &Error) -> PyErr {
    of_class(py, "InputTypeError", error)
}

/// The exception for a call with keyword arguments that failed.
pub(crate) fn refused(py: Python<'_>, refused: Refused) -> PyErr {
    match refused {
        Refused::Unknown(error) => of_class(py, "UnknownArgumentError", &error),
        Refused::WrongType(error) => wrong_type(py, &error),
        Refused::Failed(error) => raised(py, &error),
    }
}

pub(crate) fn of_class(py: Python<'_>, class: &str, error: &Error) -> PyErr {
    let made = py
        .import("calipers._errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((in_keywords(error.clone()).to_string(),)));
    made.map_or_else(|broken| broken, PyErr::from_value)
}

/// How long a signal may wait. Looking for one takes the interpreter's lock, which others may hold.
const PATIENCE: Duration = Duration::from_millis(100);

/// Does work without the interpreter's lock. The work is handed a question to ask between its pieces:
/// whether to go on, or whether a signal such as Ctrl-C has arrived. Kernels ask the same by themselves
/// and leave early; what came of it is then dropped.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Fn() -> Result<()>) -> Result<T> + Send,
) -> PyResult<T> {
    let done = watched(py, || work(&stop::wanted))?;
    py.check_signals()?;
    done.map_err(|error| raised(py, &error))
}

/// Does work that cannot fail without the interpreter's lock, until a signal arrives.
pub(crate) fn watched<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    watched_unless(py, || false, work)
}

/// The same for work that reports its progress to Python; what the callable raised ends it.
pub(crate) fn detached_told<T: Send>(
    py: Python<'_>,
    raised: &Arc<Raised>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let asked = Arc::clone(raised);
    let done = watched_unless(py, move || asked.any(), work);
    if let Some(error) = raised.take() {
        return Err(error);
    }
    let done = done?;
    py.check_signals()?;
    Ok(done)
}

fn watched_unless<T: Send>(
    py: Python<'_>,
    unwanted: impl Fn() -> bool + Send + 'static,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(|| watch(unwanted, work))));
    match done {
        Ok(done) => done.map_err(|signal| signal.unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))),
        Err(panic) => Err(internal(py, &*panic)),
    }
}

/// The exception for a fault of our own.
fn internal(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it stopped");
    of_class(py, "InternalError", &Error::io("internal error, please report").found(text))
}

fn watch<T>(
    unwanted: impl Fn() -> bool + 'static,
    work: impl FnOnce() -> T,
) -> std::result::Result<T, Option<PyErr>> {
    let signal: Rc<Cell<Option<PyErr>>> = Rc::default();
    let heard = Rc::clone(&signal);
    let looked = Cell::new(Instant::now());
    let question = move || {
        if unwanted() {
            return true;
        }
        if looked.get().elapsed() < PATIENCE {
            return false;
        }
        let found = Python::attach(|py| py.check_signals());
        looked.set(Instant::now());
        found.map_err(|raised| heard.set(Some(raised))).is_err()
    };
    stop::watched(question, work).ok_or_else(|| signal.take())
}
