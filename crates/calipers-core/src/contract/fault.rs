//! Faults of this program. A panic ends at the program's edge as an error: one unit, one request, one call.

use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, set_hook};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, ErrorKind, Result};

/// What the last panic said, and where in the source it was.
static LAST: Mutex<Option<String>> = Mutex::new(None);
/// What a scope says when a thread in it panicked, who has said more.
const PASSED_ON: &str = "a scoped thread panicked";

/// Keeps panics from standard error and notes their places for [`caught`]. Call it once where a program begins.
pub fn note_places() {
    set_hook(Box::new(|panic| note(text(panic.payload()), panic.location())));
}

fn note(said: &str, place: Option<&Location<'_>>) {
    if said != PASSED_ON {
        let place = place.map_or("a place not known".into(), ToString::to_string);
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{said}, at {place}"));
    }
}

/// Does work that must not take others with it: a fault of this program becomes an error.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(internal(&*panic)))
}

/// The error for what was caught.
pub fn internal(panic: &(dyn Any + Send)) -> Error {
    let noted = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
    let found = noted.unwrap_or_else(|| text(panic).to_owned());
    Error::new(ErrorKind::Internal, "internal error, please report").found(found)
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it stopped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_that_says_what_and_where() {
        let error = caught::<()>(|| panic!("row {}", 7)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(
            error.to_string().contains("please report") && error.to_string().contains("row 7"),
            "{error}"
        );
        note("broken", Some(Location::caller()));
        note(PASSED_ON, None);
        let error = internal(&"a scoped thread panicked").to_string();
        assert!(error.contains("broken, at ") && error.contains("fault.rs"), "{error}");
        assert_eq!(caught(|| Ok(3)).unwrap(), 3);
    }
}
