//! The progress of the work, reported to Python or drawn as a bar.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use calipers::core::Error;
use calipers::run::{Progress, Silent};
use calipers_cli::keywords::bar;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::failure::wrong_type;

/// Where progress is reported.
pub(crate) struct Told {
    told: Box<dyn Progress + Send>,
    /// What the callable raised; from then on the work is no longer wanted.
    pub(crate) raised: Arc<Raised>,
}

/// The exception of a callable.
#[derive(Default)]
pub(crate) struct Raised {
    any: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Raised {
    /// Whether there is one.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// The exception, once.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.error.lock().ok().and_then(|mut error| error.take())
    }

    pub(crate) fn set(&self, raised: PyErr) {
        if let Ok(mut error) = self.error.lock() {
            error.get_or_insert(raised);
        }
        self.any.store(true, Ordering::Relaxed);
    }
}

impl Told {
    /// No display for `False`, a bar for `True`, or a callable.
    pub(crate) fn new(progress: &Bound<'_, PyAny>) -> PyResult<Self> {
        let raised = Arc::<Raised>::default();
        let told: Box<dyn Progress + Send> = match progress.cast::<PyBool>() {
            Ok(drawn) if drawn.is_true() => Box::new(bar()),
            Ok(_) => Box::new(Silent),
            Err(_) if progress.is_none() => Box::new(Silent),
            Err(_) if progress.is_callable() => Box::new(Called {
                call: progress.clone().unbind(),
                counts: Mutex::default(),
                raised: Arc::clone(&raised),
            }),
            Err(_) => {
                let what = Error::usage("progress is of a type that cannot be meant");
                let found = progress.get_type().name()?.to_string();
                let what = what.found(found).allowed("False, True, or a callable f(done, total)");
                return Err(wrong_type(progress.py(), &what));
            }
        };
        Ok(Self { told, raised })
    }

    pub(crate) fn progress(&self) -> &dyn Progress {
        &*self.told
    }
}

/// A callable `f(done, total)`.
struct Called {
    call: Py<PyAny>,
    /// How many are done, and of how many. Held during a call, so that the numbers arrive in order.
    counts: Mutex<(u64, Option<u64>)>,
    raised: Arc<Raised>,
}

impl Called {
    fn tell(&self, change: impl FnOnce(&mut (u64, Option<u64>))) {
        let Ok(mut counts) = self.counts.lock() else { return };
        change(&mut counts);
        if self.raised.any() {
            return;
        }
        if let Err(error) = Python::attach(|py| self.call.call1(py, *counts).map(drop)) {
            self.raised.set(error);
        }
    }
}

impl Progress for Called {
    fn start(&self, total: u64) {
        self.tell(|counts| *counts = (0, Some(total)));
    }

    fn advance(&self) {
        self.tell(|counts| counts.0 += 1);
    }

    fn finish(&self) {}
}
