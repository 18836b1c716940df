//! Keyword arguments and paths from Python.

pub(crate) mod array;
pub(crate) mod tensor;

use std::sync::Arc;

use calipers::core::Error;
use calipers::sources::training::assign::Called;
use calipers_cli::keywords::{Given, Options};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyMapping, PyString};

use crate::failure::wrong_type;
use crate::given::array::entries;
use crate::progress::Raised;

/// Keyword arguments by name; what is `None` is not given.
pub(crate) fn options(given: &Bound<'_, PyDict>) -> PyResult<Options> {
    entries(given, |value, name| read(name, value))
}

/// The same where functions of a name may stand for words; what one raises ends the work.
pub(crate) fn options_and_calls(given: &Bound<'_, PyDict>, raised: &Arc<Raised>) -> PyResult<Options> {
    entries(given, |value, name| {
        if !value.is_callable() || value.hasattr("tolist")? {
            return read(name, value);
        }
        let (call, raised, argument) = (value.clone().unbind(), Arc::clone(raised), name.to_owned());
        Ok(Given::Call(Called::new(move |name| {
            Python::attach(|py| called(call.bind(py), name, &argument)).map_err(|error| {
                raised.set(error);
                Error::usage("the function raised")
            })
        })))
    })
}

fn called(call: &Bound<'_, PyAny>, name: &str, argument: &str) -> PyResult<String> {
    let said = call.call1((name,))?;
    match said.cast::<PyString>() {
        Ok(text) => text.extract(),
        Err(_) => Err(refused(argument, &said, "a function of the name of a run that returns text")),
    }
}

/// Paths, as text.
pub(crate) fn paths(given: &[Bound<'_, PyAny>]) -> PyResult<Vec<String>> {
    let path = |one: &Bound<'_, PyAny>| match path(one)? {
        Some(path) => Ok(path),
        None => Err(refused("inputs", one, "paths: str or os.PathLike")),
    };
    given.iter().map(path).collect()
}

/// The path that an argument is.
pub(crate) fn path_of(name: &str, given: &Bound<'_, PyAny>) -> PyResult<String> {
    path(given)?.ok_or_else(|| refused(name, given, "a path: str or os.PathLike"))
}

/// Text, or the path of a path-like object.
fn path(given: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if given.is_instance_of::<PyString>() {
        return given.extract().map(Some);
    }
    match given.call_method0("__fspath__") {
        Ok(path) => Ok(path.extract::<String>().ok()),
        Err(error) if error.is_instance_of::<PyAttributeError>(given.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

const ALLOWED: &str = "True or False, a number, text, a path, or a list or mapping of them";

fn read(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Given> {
    if let Ok(switch) = given.cast::<PyBool>() {
        return Ok(Given::Switch(switch.is_true()));
    }
    if given.is_instance_of::<PyInt>() {
        return Ok(Given::Number(given.str()?.to_cow()?.into_owned()));
    }
    if given.is_instance_of::<PyFloat>() {
        let number: f64 = given.extract()?;
        // The shortest digits that read back to the same number.
        return Ok(Given::Number(number.to_string()));
    }
    if let Some(path) = path(given)? {
        return Ok(Given::Text(path));
    }
    if given.is_instance_of::<PyBytes>() || given.is_instance_of::<PyByteArray>() || given.hasattr("read")? {
        return Err(refused(name, given, ALLOWED));
    }
    if let Ok(mapping) = given.cast::<PyMapping>() {
        let mut items = Vec::new();
        for pair in mapping.items()?.iter() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            items.push((read(name, &key)?, read(name, &value)?));
        }
        return Ok(Given::Table(items));
    }
    // NumPy's numbers and arrays are numbers and lists of numbers.
    if given.hasattr("tolist")? {
        return read(name, &given.call_method0("tolist")?);
    }
    if given.hasattr("__iter__")? {
        let items = given.try_iter()?.map(|item| read(name, &item?));
        return items.collect::<PyResult<_>>().map(Given::List);
    }
    Err(refused(name, given, ALLOWED))
}

fn refused(name: &str, given: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let found = given.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    let what = Error::usage(format!("{name} is of a type that cannot be meant"));
    wrong_type(given.py(), &what.found(found).allowed(allowed))
}
