//! The graph of one attack: given as a graph, or as the pairs to toggle.

use std::path::Path;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays};
use calipers_metrics::robustness::{Edge, Pairs, edges_once};
use calipers_sources::array_file;
use calipers_sources::array_file::axis;
use calipers_sources::inputs::Inputs;
use calipers_sources::walk::Found;

use super::graph_file::{Form, GraphFile, one_file};
use super::prepare;
use crate::from_model::conditions::AttackFile;
use crate::model::Graph;

/// An attacked graph, and the flips it was given by.
#[derive(Debug)]
pub struct AttackedGraph {
    /// The graph.
    pub graph: Graph,
    /// The pairs that were toggled, sorted, where the file holds them.
    pub flips: Option<Vec<Edge>>,
}

/// Reads the attacked graph of a file, which is recorded as `word`.
pub fn read(
    path: &Path,
    form: AttackFile,
    word: &str,
    clean: &Graph,
    inputs: &Inputs,
) -> Result<AttackedGraph> {
    let found = one_file(path, word)?;
    let read = || match form {
        AttackFile::Graph => {
            let file = GraphFile::open(&found, inputs)?;
            let nodes = file.nodes()?.unwrap_or(clean.nodes());
            let stored = file.graph(Some(nodes))?;
            Ok(AttackedGraph { graph: prepare::attacked(&stored, clean.nodes())?, flips: None })
        }
        AttackFile::Flips => {
            let flips = flips(&found, clean.nodes(), inputs)?;
            Ok(AttackedGraph { graph: clean.flipped(&flips)?, flips: Some(flips) })
        }
    };
    read().map_err(|error: Error| error.in_file(&found.shown))
}

/// The attacked graph that an array in memory is: its `edge_index`, or the pairs to toggle.
pub fn of_given(array: &Array, form: AttackFile, clean: &Graph) -> Result<AttackedGraph> {
    match form {
        AttackFile::Graph => {
            let arrays = Arrays::of([("edge_index".to_owned(), array.clone())]);
            let stored = GraphFile::Arrays(Form::Keys, arrays).graph(Some(clean.nodes()))?;
            Ok(AttackedGraph { graph: prepare::attacked(&stored, clean.nodes())?, flips: None })
        }
        AttackFile::Flips => {
            let flips = of_array(array, clean.nodes())?;
            Ok(AttackedGraph { graph: clean.flipped(&flips)?, flips: Some(flips) })
        }
    }
}

/// The flips of an npy file, sorted.
fn flips(found: &Found, nodes: usize, inputs: &Inputs) -> Result<Vec<Edge>> {
    if array_file::reader(&found.name).is_none_or(|reader| reader.has_names()) {
        return Err(
            Error::value("flips are an npy file").allowed("(k, 2) whole numbers in a file that ends in .npy")
        );
    }
    let array = array_file::open_one(&found.name, inputs.open_found(found)?)?.read_all()?;
    of_array(&array, nodes)
}

/// The flips in an array; one without any is taken whatever its type and shape.
fn of_array(array: &Array, nodes: usize) -> Result<Vec<Edge>> {
    if array.is_empty() {
        return Ok(Vec::new());
    }
    let shape = array.shape().iter().map(|length| axis(*length)).collect::<Result<Vec<_>>>()?;
    edges_once(&array.to_i64s()?, &shape, nodes, Pairs::Flips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_are_sorted_and_none_is_none_of_any_shape() {
        let array = Array::of_elements(&[2, 2], &[3i64, 1, 0, 2]).unwrap();
        assert_eq!(of_array(&array, 4).unwrap(), [(0, 2), (1, 3)]);
        for shape in [&[0][..], &[0, 2]] {
            assert!(of_array(&Array::of_elements(shape, &[0f64; 0]).unwrap(), 4).unwrap().is_empty());
        }
        let text = of_array(&Array::of_elements(&[1, 2], &[0i64, 4]).unwrap(), 4).unwrap_err().to_string();
        assert!(text.contains("row 0") && text.contains("0 to 3"), "{text}");
        assert!(of_array(&Array::of_elements(&[1, 2], &[0.5, 1.0]).unwrap(), 4).is_err());
    }
}
