"""What the oracles of robustness write."""
import json

import case_file

from . import cases, model, oracle

# What every case decides over. An id that came later is pinned by the cases that name it in `pins`.
PINS = (oracle.DOCUMENT_IDS + """bias_relative bias_node_quantiles bias_touched_share bias_slope bias_linearity
accuracy_drop attack_success_rate accuracy_auc accuracy_average accuracy_3_min accuracy_weighted flips_added
flips_removed budget_used added_mean_diff kept_mean_diff removed_mean_diff diff_ratio added_hist_values
kept_hist_values removed_hist_values removed_bin_edges hist_outside pruned_added pruned_kept curve curve_std""".split())


def reports():
    return {"cases.json": case_file.text(PINS, cases.metric_cases())}


def models():
    values = json.dumps(model.model_cases(), separators=(",", ":"), allow_nan=False)
    return {"model.json": values.replace('{"penalty":', '\n{"penalty":') + "\n"}


FILES = [reports, models]
# Its sums of products are in double precision, in the order of the linear algebra library at hand.
NEARLY = {"model.json"}
RECORDED = set()
