//! The Python extension module `calipers._calipers`: conversion and errors, nothing else.
//!
//! ```text
//! families   what the evaluator and the functions of each family take, one file per family
//! given      keyword arguments and paths; arrays, without a copy where memory allows; short tensors of torch
//! state      an accumulator of any family
//! report     the text forms of a report, its figures, and models side by side
//! files      files measured as the command line measures them
//! rung       the RUNG network, made and used
//! counts     exact counts of labels, for drop-ins
//! catalogue  what there is to measure
//! progress   how far the work has come, told to Python
//! failure    errors into exceptions, interrupts into a stop
//! ```
//!
//! Signatures, defaults and documentation live in the Python package.

mod catalogue;
mod counts;
mod failure;
mod families;
mod files;
mod given;
mod progress;
mod report;
mod rung;
mod state;

use pyo3::prelude::*;

/// What the package `calipers` is made from; not for direct use.
#[pymodule]
mod _calipers {
    #[pymodule_export]
    use crate::catalogue::{headline_ids, metric_definition, metric_ids, metric_list, unknown_metric};
    #[pymodule_export]
    use crate::counts::{count_id_pairs, count_masks};
    #[pymodule_export]
    use crate::families::explanation::{explanation_new, explanation_update, explanation_update_batch};
    #[pymodule_export]
    use crate::families::histories::{
        training_extract, training_keys, training_read, training_tables, training_write_tables,
    };
    #[pymodule_export]
    use crate::families::independent_set::{
        independent_set_greedy_decode, independent_set_is_independent, independent_set_loss_and_grad,
        independent_set_min_degree, independent_set_new, independent_set_swap_search, independent_set_update,
        independent_set_upper_bound,
    };
    #[pymodule_export]
    use crate::families::published_explanation::{
        pyg_agreement, pyg_characterization, pyg_curve_area, pyg_fidelity, pyg_unfaithfulness,
    };
    #[pymodule_export]
    use crate::families::robustness::{robustness_new, robustness_update, robustness_update_batch};
    #[pymodule_export]
    use crate::families::segmentation::{
        segmentation_boundary_counts, segmentation_contour_counts, segmentation_fuse, segmentation_hausdorff,
        segmentation_new, segmentation_update, segmentation_update_batch, segmentation_update_confusion,
    };
    #[pymodule_export]
    use crate::families::training::{training_new, training_update, training_update_batch};
    #[pymodule_export]
    use crate::files::{demo, evaluate, load, report_keywords, segmentation_fit, serve, verify};
    #[pymodule_export]
    use crate::given::array::address;
    #[pymodule_export]
    use crate::report::comparison::{Compared, compare_models};
    #[pymodule_export]
    use crate::report::figures::{report_chart, report_figure, report_figures};
    #[pymodule_export]
    use crate::report::{
        report_array, report_check, report_form, report_notebook, report_page, report_table,
    };
    #[pymodule_export]
    use crate::rung::{RungModel, rung_attack, rung_forward, rung_load, rung_reproduce, rung_train};
    #[pymodule_export]
    use crate::state::State;
    use pyo3::prelude::*;

    /// The version of the library.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Runs the command line with these arguments, the program's name first; returns the exit status.
    #[pyfunction]
    fn run_cli(py: Python<'_>, arguments: Vec<String>) -> u8 {
        py.detach(|| calipers_cli::run(arguments))
    }

    /// The same as the process that it is: a signal ends the process, with what is finished kept.
    #[pyfunction]
    fn run_process(py: Python<'_>, arguments: Vec<String>) -> u8 {
        py.detach(|| calipers_cli::run_process(arguments))
    }
}
