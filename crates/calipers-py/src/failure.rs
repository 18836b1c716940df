//! Errors into exceptions, and interrupts into a stop.

use std::sync::Mutex;

use calipers::core::{Error, ErrorKind, Result};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// The exception for an error, its text that of the command line.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Usage => "UsageError",
        ErrorKind::Io => "FileError",
        ErrorKind::Format => "FormatError",
        ErrorKind::Value => "InputError",
        ErrorKind::Duplicate => "DuplicateError",
        ErrorKind::Conflict => "ConflictError",
        ErrorKind::ProtocolMismatch => "ProtocolMismatchError",
        ErrorKind::Interrupted => return PyKeyboardInterrupt::new_err(()),
    };
    of_class(py, class, error)
}

/// The exception for an object of a type that cannot be meant.
pub(crate) fn wrong_type(py: Python<'_>, error: &Error) -> PyErr {
    of_class(py, "InputTypeError", error)
}

fn of_class(py: Python<'_>, class: &str, error: &Error) -> PyErr {
    let made = py
        .import("calipers._errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((error.to_string(),)));
    made.map_or_else(|broken| broken, PyErr::from_value)
}

/// Does work without the interpreter's lock. The work is handed a question to ask between its pieces:
/// whether to go on, or whether a signal such as Ctrl-C has arrived.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Fn() -> Result<()>) -> Result<T> + Send,
) -> PyResult<T> {
    let signal: Mutex<Option<PyErr>> = Mutex::new(None);
    let done = py.detach(|| {
        work(&|| match Python::attach(|py| py.check_signals()) {
            Ok(()) => Ok(()),
            Err(raised) => {
                if let Ok(mut signal) = signal.lock() {
                    *signal = Some(raised);
                }
                Err(Error::new(ErrorKind::Interrupted, "interrupted"))
            }
        })
    });
    py.check_signals()?;
    done.map_err(|error| match signal.into_inner() {
        Ok(Some(signalled)) => signalled,
        _ => raised(py, &error),
    })
}
