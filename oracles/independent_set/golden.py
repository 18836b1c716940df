"""What the oracle of independent sets writes."""
import json

import case_file

from . import cases, oracle

# What every case decides over. An id that came later is pinned by the cases that name it in `pins`.
PINS = (oracle.DOCUMENT_IDS + """loss_bce_unweighted optimal_size is_independent is_maximal conflict_rate
solved_any_optimum optimal_rate label_is_independent label_is_maximal label_beaten label_certified_optimal upper_bound
certified_gap certified_ratio certified_optimal baseline_size baseline_approx_ratio model_lift score_degree_size
swap_size ils_size best_of_size best_of_approx_ratio solved_rate num_violations_total num_pred_1s_total
num_true_1s_total postprocessed_size_total tp_total fp_total fn_total tn_total nodes_total edges_total
isolated_nodes_total self_loops_total duplicate_edges_total one_directional_edges_total loss_bce_micro
loss_feasibility_micro loss_total_micro feasibility_micro accuracy_micro precision_micro recall_micro f1_micro
set_size_ratio_micro gap_total approx_ratio_raw_micro gap_ratio_micro approx_ratio_postprocessed_micro q_hat_micro
steps_to_solve_median accuracy_by_step num_violations_by_step postprocessed_size_by_step solved_by_step best_of_curve
drop_mean_of_ratios drop_ratio_of_means""".split())


def reports():
    return {"cases.json": case_file.text(PINS, cases.cases(), exact_unless_listed=sorted(oracle.INEXACT_IDS))}


def gradients():
    lines = ",\n".join(json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases.gradient_cases())
    return {"gradients.json": '{"cases": [\n' + lines + "\n]}\n"}


FILES = [reports, gradients]
NEARLY = set()
# The outputs of the published code, which no oracle can write.
RECORDED = {"published.json"}
