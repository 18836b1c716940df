//! Arrays beside the features, as files hold them: node sets, labels, graphs, budgets.

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays, Dtype};
use calipers_metrics::robustness::{
    Budget, Edge, NumberSlice, Pairs, Repeats, edges_both_ways, edges_once, entries, labels, nodes_of_index,
    nodes_of_mask, same_nodes,
};

use super::keys::{BUDGET, BUDGETS, Plain};
use crate::array_file::{axis, shape};

/// The budgets behind the key `attacked`: those of the file, or the one of the command line.
pub(super) fn plain_budgets(arrays: &Arrays, given: Option<&Budget>) -> Result<Plain> {
    let one = arrays.get(BUDGET)?.map(|array| budgets(BUDGET, &array)).transpose()?;
    let several = arrays.get(BUDGETS)?.map(|array| budgets(BUDGETS, &array)).transpose()?;
    let contradiction = |found: String| {
        Err(Error::value("two budgets for one `attacked`")
            .at(format!("key {BUDGET}"))
            .found(found)
            .advice("say the budget in one place"))
    };
    match (one.as_deref(), several, given) {
        (None, None, None) => Ok(Plain::Unsaid),
        (None, None, Some(given)) => Ok(Plain::One(given.clone())),
        (Some([one]), None, given) if given.is_none_or(|given| given == one) => Ok(Plain::One(one.clone())),
        (Some([one]), None, Some(given)) => {
            contradiction(format!("{one} in the file, --budget {given} on the command line"))
        }
        (None, Some(several), None) => Ok(Plain::Several(several)),
        (None, Some(several), Some(given)) => {
            contradiction(format!("{} of them in `budgets`, and --budget {given}", several.len()))
        }
        (Some([_]), Some(_), _) => contradiction("both `budget` and `budgets`".into()),
        (Some(many), _, _) => Err(Error::value("`budget` must be one number")
            .at(format!("key {BUDGET}"))
            .found(format!("{} numbers", many.len()))
            .advice("several of them are `budgets`")),
    }
}

fn budgets(key: &str, array: &Array) -> Result<Vec<Budget>> {
    let read = || {
        if array.shape().len() > 1 {
            return Err(Error::value("budgets have one axis")
                .found(shape(array))
                .allowed("(budgets,)")
                .advice("list the budgets one after the other"));
        }
        with_cells(array, |cells| {
            (0..cells.len()).map(|position| Budget::from_cell(&cells, position)).collect()
        })
    };
    read().map_err(|error| error.at(format!("key {key}")))
}

/// The nodes of `NAME_idx` and `NAME_mask`, which must agree where both are given.
pub(super) fn node_set(
    arrays: &Arrays,
    name: &str,
    nodes: usize,
    repeats: Repeats,
) -> Result<Option<Vec<u32>>> {
    let (index_key, mask_key) = (format!("{name}_idx"), format!("{name}_mask"));
    let index = one_axis(arrays, &index_key, |array| {
        if array.dtype() == Dtype::Bool {
            return Err(Error::value("an index list holds node numbers")
                .found("bool")
                .advice(format!("call a mask `{mask_key}`")));
        }
        with_cells(array, |cells| nodes_of_index(cells, nodes, repeats))
    })?;
    let mask = one_axis(arrays, &mask_key, |array| with_cells(array, |cells| nodes_of_mask(cells, nodes)))?;
    if let (Some(index), Some(mask)) = (&index, &mask) {
        same_nodes(index, mask).map_err(|error| error.at(format!("keys {index_key} and {mask_key}")))?;
    }
    Ok(index.or(mask))
}

/// The labels of all nodes.
pub(super) fn node_labels(arrays: &Arrays, nodes: usize, test: Option<&[u32]>) -> Result<Option<Vec<i64>>> {
    one_axis(arrays, "labels", |array| with_cells(array, |cells| labels(cells, nodes, test)))
}

fn one_axis<T>(arrays: &Arrays, key: &str, read: impl FnOnce(&Array) -> Result<T>) -> Result<Option<T>> {
    let Some(array) = arrays.get(key)? else { return Ok(None) };
    let checked = match array.shape() {
        [_] => read(&array),
        _ => Err(Error::value("the array must have one axis")
            .found(shape(&array))
            .allowed("(length,)")
            .advice("store one value for every node, or a list of node numbers")),
    };
    checked.map(Some).map_err(|error| error.at(format!("key {key}")))
}

/// The edges of an array with both directions of every edge.
pub(super) fn both_ways(arrays: &Arrays, key: &str, nodes: usize) -> Result<Option<Vec<Edge>>> {
    pairs(arrays, key, |values, shape| edges_both_ways(values, shape, nodes), [2, 0])
}

/// The entries of a matrix as they are.
pub(super) fn matrix_entries(arrays: &Arrays, key: &str, nodes: usize) -> Result<Option<Vec<Edge>>> {
    pairs(arrays, key, |values, shape| entries(values, shape, nodes), [2, 0])
}

/// The edges, or the flips, of an array with each of them once.
pub(super) fn once(arrays: &Arrays, key: &str, nodes: usize, what: Pairs) -> Result<Option<Vec<Edge>>> {
    pairs(arrays, key, |values, shape| edges_once(values, shape, nodes, what), [0, 2])
}

/// Reads pairs of nodes. An array without any is taken whatever type and shape it has, for an
/// empty list has neither; then it stands for `none`.
fn pairs(
    arrays: &Arrays,
    key: &str,
    read: impl Fn(&[i64], &[usize]) -> Result<Vec<Edge>>,
    none: [usize; 2],
) -> Result<Option<Vec<Edge>>> {
    let Some(array) = arrays.get(key)? else { return Ok(None) };
    let checked = || {
        if array.shape() == [0] {
            return read(&[], &none);
        }
        let shape = array.shape().iter().map(|&length| axis(length)).collect::<Result<Vec<_>>>()?;
        if array.is_empty() {
            return read(&[], &shape);
        }
        match array.elements::<i64>() {
            Some(values) => read(&values, &shape),
            None => {
                let stored = array.to_i64s();
                read(&stored.map_err(|error| error.advice("store node numbers as integers"))?, &shape)
            }
        }
    };
    checked().map(Some).map_err(|error| error.at(format!("key {key}")))
}

/// Passes numbers on in the type they have; truth values are 0 and 1.
fn with_cells<T>(array: &Array, read: impl FnOnce(NumberSlice<'_>) -> Result<T>) -> Result<T> {
    match array.dtype() {
        Dtype::Text => Err(Error::value("the array must hold numbers")
            .found(array.dtype().name())
            .allowed("integers, floats or bool")
            .advice("store it as numbers")),
        Dtype::Bool => read(NumberSlice::Int(&array.to_i64s()?)),
        _ => read(array.any_elements()?.view()),
    }
}
