"""What the oracle of training runs writes."""
import case_file

from . import cases, layouts, study

# What every case decides over. An id that came later is pinned by the cases that name it in `pins`.
PINS = """fold_count saturation_count epochs_mean velocity_strict velocity_wise velocity_naive velocity_normalised_strict
velocity_normalised_wise velocity_normalised_naive stability_strict stability_wise stability_naive divergence_strict
divergence_wise divergence_naive divergence_rate retention velocity_std velocity_median velocity_olympic
velocity_km_median velocity_rmst rmst_horizon velocity_ert velocity_par sustained_count velocity_sustained_strict
velocity_sustained_wise drop_depth_mean drop_depth_max longest_break_max best_mean last_mean final_drop_mean
sweep_saturation_count sweep_velocity_wise sweep_stability_wise sweep_divergence velocity_wise_ci velocity_rmst_ci
stability_wise_ci divergence_rate_ci""".split()


def reports():
    return {"cases.json": case_file.text(PINS, cases.golden_cases())}


def formats():
    files, runs = layouts.formats()
    files = {f"formats/{path}": content for path, content in files.items()}
    return {**files, "formats.json": case_file.text(PINS, layouts.format_cases(runs))}


def tables():
    return {f"table/{path}": content for path, content in study.files().items()}


FILES = [reports, formats, tables]
NEARLY = set()
RECORDED = set()
