"""What the oracle of explanations writes."""
import case_file

from . import cases, oracle

# What every case decides over. An id that came later is pinned by the cases that name it in `pins`.
PINS = """num_instances num_mask_elements fid_plus_model fid_minus_model fid_plus_phenomenon fid_minus_phenomenon
characterization_score_model characterization_score_phenomenon fid_plus_signed_phenomenon fid_minus_signed_phenomenon
fid_plus_prob_model fid_minus_prob_model fid_plus_prob_phenomenon fid_minus_prob_phenomenon fid_plus_prob_signed_model
fid_minus_prob_signed_model fid_plus_prob_signed_phenomenon fid_minus_prob_signed_phenomenon fid_plus_mae fid_minus_mae
fid_plus_mse fid_minus_mse unfaithfulness unfaithfulness_reversed kl kl_reversed accuracy recall precision f1_score
auroc jaccard average_precision relevance_mass relevance_rank accuracy_pooled recall_pooled precision_pooled
f1_score_pooled jaccard_pooled accuracy_by_type recall_by_type precision_by_type f1_score_by_type auroc_by_type
jaccard_by_type sparsity_by_type sparsity zero_fraction entropy gini characterization_score fidelity_curve_auc
fidelity_curve_auc_normalized curve_x fid_plus_model_curve fid_minus_model_curve fid_plus_phenomenon_curve
fid_minus_phenomenon_curve fidelity_curve_auc_model fidelity_curve_auc_phenomenon robust_fid_plus_model
robust_fid_minus_model robust_fid_plus_prob_signed_model robust_fid_minus_prob_signed_model robust_fid_delta_model
robust_fid_plus_prob_signed_phenomenon robust_fid_minus_prob_signed_phenomenon robust_fid_delta_phenomenon
instability_cosine instability_cosine_mean sensitivity_max""".split()


def reports():
    written = []
    for name, protocol, units in cases.cases():
        packed = {unit: {key: oracle.pack(array) for key, array in arrays.items()} for unit, arrays in units.items()}
        units = {unit: {key: oracle.unpack(array) for key, array in arrays.items()} for unit, arrays in packed.items()}
        case = dict(name=name, protocol=protocol, units=packed)
        try:
            case["expect"] = case_file.without_prefix("explanation", oracle.evaluate(units, protocol))
        except oracle.BadInput as error:
            # The place and what is allowed are worded by whoever reads the file.
            case["refused"] = [str(error).removeprefix("unit u: ").split(" (any finite")[0]]
        written.append(case)
    return {"cases.json": case_file.text(PINS, written)}


FILES = [reports]
NEARLY = set()
# Calls of torch_geometric with their results, which no oracle can write.
RECORDED = {"pyg_measured.json", "pyg_dropin.json"}
