"""The inputs of cases.json: runs with a clean and an attacked output."""
import json

import numpy as np

import case_file

from . import oracle as O


def values(rng, shape, dtype="f64", scale=1.0):
    a = rng.standard_normal(shape) * scale
    if dtype == "f32":
        a = a.astype(np.float32).astype(np.float64)
    return a.tolist()


def both(edges):
    e = sorted(edges)
    return [[a for a, b in e] + [b for a, b in e], [b for a, b in e] + [a for a, b in e]]


def random_graph(rng, n, m):
    e = set()
    while len(e) < m:
        a, b = (int(v) for v in rng.integers(0, n, 2))
        if a != b:
            e.add((min(a, b), max(a, b)))
    return e


def unit(case_file, budget):
    """Oracle unit from one file of a case."""
    f = case_file["arrays"]
    u = {"run": case_file["name"], "budget": budget, "clean": f["clean"], "attack": case_file.get("attack", "")}
    u["attacked"] = f.get(f"attacked_{budget}", f.get("attacked"))
    for k in ("labels", "test_idx", "train_idx", "clean_logits"):
        if k in f:
            u[k] = f[k]
    if "clean_logits" in f:
        u["attacked_logits"] = f[f"attacked_logits_{budget}"]
    if "test_mask" in f:
        u["test_idx"] = [i for i, v in enumerate(f["test_mask"]) if v]
    if "edge_index" in f:
        u["edges"] = O.from_edge_index(f["edge_index"])
    if "edges" in f:
        u["edges"] = O.undirected(f["edges"])
    key = f"edge_index_attacked_{budget}"
    if key in f:
        if case_file.get("read") == "rung-fork":
            u["pairs_attacked"] = sorted(zip(*f[key]))
        else:
            u["edges_attacked"] = O.from_edge_index(f[key])
    if f"edges_attacked_{budget}" in f:
        u["edges_attacked"] = O.undirected(f[f"edges_attacked_{budget}"])
    if f"flips_{budget}" in f:
        u["edges_attacked"] = u["edges"] ^ O.undirected(f[f"flips_{budget}"])
        if case_file.get("read") == "rung-fork":
            u["pairs_attacked"] = sorted(zip(*both(u["edges_attacked"])))
    return u


def case(name, files, why, budgets, **params):
    for f in files:
        if params.get("preset") == "rung-fork":
            f["read"] = "rung-fork"
    got = O.report([unit(f, b) for f in files for b in (f.get("budgets") or budgets)], **params)
    for f in files:
        f.pop("read", None)
    return {"name": name, "note": why, "params": params, "files": files, "expect": case_file.without_prefix("robustness", got)}


def run_file(rng, name, n, c, m, budgets, dtype="f64", tests=None, noise=0.3, k=2):
    """One run: features, labels near the clean argmax, a graph, growing flips."""
    clean = np.array(values(rng, (n, c), dtype, 2.0))
    edges = random_graph(rng, n, m)
    labels = [int(v) if rng.random() < 0.8 else int(rng.integers(0, c)) for v in clean.argmax(1)]
    arrays = {"clean": clean.tolist(), "labels": labels, "test_idx": tests or sorted(int(v) for v in rng.permutation(n)[: n // 2]),
              "edge_index": both(edges)}
    for s, b in enumerate(budgets):
        a = clean + np.array(values(rng, (n, c), dtype, noise * (s + 1)))
        if dtype == "f32":
            a = a.astype(np.float32).astype(np.float64)
        arrays[f"attacked_{b}"] = a.tolist()
        flips = sorted(random_graph(rng, n, k * (s + 1)))
        arrays[f"flips_{b}"] = [list(f) for f in flips]
    return {"name": name, "dtype": dtype, "arrays": arrays}


def metric_cases():
    rng = np.random.default_rng(20260227)
    cases = []
    hand = {"clean": [[3.0, 0.0], [0.0, 4.0], [1.0, 1.0], [2.0, 0.0]], "attacked_0.5": [[3.0, 0.0], [0.0, 2.0], [1.0, 3.0], [0.0, 2.0]],
            "labels": [0, 1, 0, 0], "test_idx": [0, 1, 2, 3], "edges": [[0, 1], [1, 2], [2, 3], [0, 2]], "flips_0.5": [[0, 3], [1, 2]]}
    cases.append(case("by_hand", [{"name": "a", "dtype": "f64", "arrays": hand}],
                      "four nodes, small whole numbers: bias 4 + 4 + (4 + 4) = 16; node 2 has equal clean scores (first class wins)", ["0.5"], bins=4))
    one = run_file(rng, "run", 12, 3, 15, ["0.1"], k=1)
    cases.append(case("one_pair", [one], "ordinary single pair, f64", ["0.1"], bins=5))
    cases.append(case("one_pair_document", [json.loads(json.dumps(one))], "same under preset document", ["0.1"], bins=5, preset="document"))
    f = run_file(rng, "run", 12, 3, 15, ["0.1"], "f32", k=1)
    cases.append(case("one_pair_f32", [f], "ordinary single pair, f32 file", ["0.1"], bins=5))
    cases.append(case("one_pair_rung_fork", [json.loads(json.dumps(f))], "same under rung-fork: f32 values, each edge in both directions", ["0.1"], bins=5,
                      preset="rung-fork"))
    b5 = ["0.05", "0.1", "0.2", "0.3", "0.4"]
    curve = run_file(rng, "run", 20, 4, 40, b5, k=2)
    cases.append(case("curve", [curve], "five budgets of one run: scalars undefined, curves defined", b5, bins=6))
    reps = [run_file(rng, f"split{k}", 15, 3, 25, ["0", "0.04", "0.12"][1:], k=1) for k in range(3)]
    cases.append(case("repetitions", reps, "two budgets, three runs: mean and sample std", ["0.04", "0.12"], bins=4))
    cases.append(case("repetitions_ddof0", json.loads(json.dumps(reps)), "population std", ["0.04", "0.12"], bins=4, ddof=0))
    same = json.loads(json.dumps(reps))
    for s in same:
        s["arrays"] = {k: v for k, v in s["arrays"].items() if not k.endswith("0.12")}
    cases.append(case("one_condition_three_runs", same, "scalars are means over runs; histograms have different ranges, so undefined", ["0.04"], bins=4))
    cases.append(case("common_range", json.loads(json.dumps(same)), "a given range: histograms add over runs, values outside are counted", ["0.04"],
                      bins=4, hist_range=[0.5, 3.0]))
    pruned = json.loads(json.dumps(one))
    cases.append(case("cutoff", [pruned], "pruned shares at y >= 1.5", ["0.1"], bins=5, cutoff=1.5))
    sub = run_file(rng, "run", 12, 3, 15, ["0.1"], k=1)
    sub["arrays"]["train_idx"] = [i for i in range(12) if i not in sub["arrays"]["test_idx"]][:3]
    cases.append(case("nodes_test", [sub], "bias over the test nodes only", ["0.1"], bins=5, nodes="test"))
    cases.append(case("nodes_not_train", [json.loads(json.dumps(sub))], "bias over all but the training nodes", ["0.1"], bins=5, nodes="not-train"))
    zero = {"clean": [[0.0, 0.0]] * 3, "attacked_0.1": [[0.0, 0.0]] * 3, "labels": [0, 1, 0], "test_idx": [], "edges": [], "edges_attacked_0.1": []}
    cases.append(case("all_zero", [{"name": "z", "dtype": "f64", "arrays": zero}], "nothing to divide by: every ratio is undefined with its reason", ["0.1"]))
    bare = {"clean": values(rng, (4, 2)), "attacked_0.1": values(rng, (4, 2))}
    cases.append(case("arrays_only", [{"name": "b", "dtype": "f64", "arrays": bare}], "no labels, no graph", ["0.1"]))
    nolab = {"clean": values(rng, (4, 2)), "attacked_0.1": values(rng, (4, 2)), "labels": [0, 1, 1, 0]}
    cases.append(case("labels_without_test", [{"name": "b", "dtype": "f64", "arrays": nolab}], "test nodes are never guessed", ["0.1"]))
    col = {"clean": values(rng, (4, 1)), "attacked_0.1": values(rng, (4, 1)), "labels": [0, 0, 0, 0], "test_mask": [1, 1, 0, 1]}
    cases.append(case("one_column", [{"name": "b", "dtype": "f64", "arrays": col}], "one column carries no class scores", ["0.1"]))
    feat = {"clean": values(rng, (5, 4)), "attacked_0.1": values(rng, (5, 4)), "clean_logits": values(rng, (5, 2)),
            "attacked_logits_0.1": values(rng, (5, 2)), "labels": [0, 1, 0, 1, 1], "test_idx": [4, 0, 2]}
    cases.append(case("separate_logits", [{"name": "b", "dtype": "f64", "arrays": feat}], "features and logits are different arrays", ["0.1"]))
    tie = {"clean": [[1.0, 1.0, 0.0], [0.0, 2.0, 2.0], [-0.0, 0.0, -1.0]], "attacked_0.2": [[0.0, 1.0, 1.0], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]],
           "labels": [0, 1, 1], "test_idx": [0, 1, 2]}
    cases.append(case("ties", [{"name": "t", "dtype": "f64", "arrays": tie}], "equal scores: the first class wins, -0.0 equals 0.0, counted in a warning", ["0.2"]))
    equal = {"clean": [[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [6.0, 0.0]], "attacked_0.5": [[0.0, 0.0], [4.0, 0.0], [0.0, 0.0], [4.0, 0.0]],
             "edges": [[0, 1], [1, 2], [2, 3], [0, 3]], "edges_attacked_0.5": [[0, 1], [2, 3]]}
    cases.append(case("zero_width", [{"name": "e", "dtype": "f64", "arrays": equal}], "all differences equal: no histogram", ["0.5"], bins=3))
    eq32 = {"clean": equal["clean"], "attacked_0.5": equal["attacked_0.5"], "edge_index_attacked_0.5": [[0, 1, 2, 3], [1, 0, 3, 2]]}
    cases.append(case("zero_width_rung_fork", [{"name": "e", "dtype": "f32", "arrays": eq32}], "the published module widens the range by 0.5 each way", ["0.5"], bins=3,
                      preset="rung-fork"))
    star = {"clean": [[0.0], [2.0], [4.0], [6.0], [8.0]], "attacked_0.5": [[0.0], [2.0], [4.0], [6.0], [8.0]],
            "edges": [[0, 1], [1, 2], [0, 2], [3, 4]], "edges_attacked_0.5": [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]}
    cases.append(case("values_on_bin_edges", [{"name": "s", "dtype": "f64", "arrays": star}],
                      "nodes 0-3 have degree 4 with the loop, so differences are 1, 2, 3: inner edge values go right, the maximum stays in the last bin", ["0.5"], bins=2))
    asym = {"clean": values(rng, (4, 2), "f32"), "attacked_0.1": values(rng, (4, 2), "f32"), "edge_index_attacked_0.1": [[0, 1, 2, 2, 3], [1, 2, 0, 2, 1]]}
    cases.append(case("asymmetric_rung_fork", [{"name": "s", "dtype": "f32", "arrays": asym}],
                      "the published module takes any matrix: row sums, every entry one edge, the loop at node 2 counts as a difference of 0", ["0.1"], bins=3, preset="rung-fork"))
    tiny = {"clean": [[1e-160, 1.0], [5e-324, 0.0]], "attacked_0.1": [[2e-160, 1.0 + 2 ** -52], [0.0, 1e-300]]}
    cases.append(case("tiny_values", [{"name": "t", "dtype": "f64", "arrays": tiny}], "squares below the smallest f64: exact sums, one rounding", ["0.1"]))
    hard = {"clean": [[1e16, 1.0, -1e16], [0.1, 0.2, 0.3]], "attacked_0.1": [[1e16 + 2, 1.0 + 2 ** -52, -1e16], [0.3, 0.1, 0.2]],
            "labels": [0, 2], "test_idx": [1, 0]}
    cases.append(case("hard_sums", [{"name": "t", "dtype": "f64", "arrays": hard}], "terms of very different size", ["0.1"]))
    zerob = run_file(rng, "run", 8, 2, 9, ["0", "0.2", "0.4", "0.6"], k=1)
    zerob["arrays"]["attacked_0"], zerob["arrays"]["flips_0"] = zerob["arrays"]["clean"], []
    cases.append(case("budget_zero", [zerob], "budget 0 is a point of the curve with bias exactly 0; the area starts there", ["0", "0.2", "0.4", "0.6"]))
    two = [run_file(rng, "a", 8, 2, 9, ["0.2", "0.4"], k=1), run_file(rng, "b", 8, 2, 9, ["0.2", "0.4"], k=1)]
    two[0]["attack"], two[1]["attack"] = "pgd", "meta"
    cases.append(case("two_attacks", two, "conditions of two attacks: scores over four conditions, no slope or area", ["0.2", "0.4"]))
    pct = run_file(rng, "run", 8, 2, 9, ["5", "10"], k=1)
    cases.append(case("percent_budgets", [pct], "budgets 5 and 10: taken as 500 % and 1000 %, with a warning", ["5", "10"]))
    same_ = {"clean": [[1.0, 2.0], [3.0, 1.0]], "attacked_0.3": [[1.0, 2.0], [3.0, 1.0]], "labels": [0, 0], "test_idx": [0, 1], "train_idx": [1],
             "edges": [[0, 1]], "flips_0.3": []}
    cases.append(case("no_effect", [{"name": "n", "dtype": "f64", "arrays": same_}], "attack without effect, leaking split", ["0.3"]))
    uneven = [run_file(rng, "a", 8, 2, 9, ["0.2", "0.4"], k=1), run_file(rng, "b", 10, 2, 9, ["0.2"], k=1)]
    uneven[0]["budgets"], uneven[1]["budgets"] = ["0.2", "0.4"], ["0.2"]
    cases.append(case("uneven", uneven, "different graphs and different numbers of repetitions", ["0.2"]))
    soft = {"clean": [[0.25, 0.75], [0.5, 0.5]], "attacked_0.1": [[1.0, 0.0], [0.125, 0.875]], "labels": [1, 0], "test_idx": [0, 1]}
    transfer = [run_file(rng, "a", 8, 2, 9, ["0.2"], k=1), run_file(rng, "b", 8, 2, 9, ["0.2"], k=1)]
    for key in ("edge_index", "flips_0.2"):
        transfer[1]["arrays"][key] = transfer[0]["arrays"][key]
    cases.append(case("transfer", transfer, "two models, one attacked graph", ["0.2"]))
    cases.append(case("probabilities", [{"name": "p", "dtype": "f64", "arrays": soft}], "rows sum to 1: said, not changed", ["0.1"]))
    return cases
