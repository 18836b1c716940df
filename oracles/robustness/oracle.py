"""Oracle of the robustness family: slow, obvious, exact.

Every number is its formula evaluated on exact rationals and rounded once to f64. Only the edge difference y is a
float by definition; its four operations are pinned.
"""
import math
from decimal import Decimal
from fractions import Fraction as Q

import numpy as np

QUANTILES = ["0.5", "0.9", "0.99", "1"]
DOCUMENT_IDS = ["bias_total", "bias_mean", "bias_per_node", "bias_curve", "hist_values", "bin_edges", "mean_diff",
                "robust_accuracy", "clean_accuracy", "attacked_accuracy"]
UNIT_SCALARS = ["bias_total", "bias_mean", "bias_relative", "bias_touched_share", "mean_diff", "added_mean_diff",
                "kept_mean_diff", "removed_mean_diff", "diff_ratio", "pruned_added", "pruned_kept", "robust_accuracy",
                "clean_accuracy", "attacked_accuracy", "accuracy_drop", "attack_success_rate", "flips_added",
                "flips_removed", "budget_used"]
CURVE_IDS = ["bias_total", "bias_mean", "bias_relative", "mean_diff", "added_mean_diff", "kept_mean_diff", "diff_ratio",
             "clean_accuracy", "robust_accuracy", "accuracy_drop", "attack_success_rate", "flips_added", "flips_removed",
             "budget_used"]
CONDITION_IDS = ["bias_total", "bias_mean", "mean_diff", "robust_accuracy", "clean_accuracy", "attacked_accuracy",
                 "bias_relative", "bias_touched_share", "accuracy_drop", "attack_success_rate", "added_mean_diff",
                 "kept_mean_diff", "removed_mean_diff", "diff_ratio", "pruned_added", "pruned_kept", "flips_added",
                 "flips_removed", "budget_used"]


class Undefined(str):
    """A reason in place of a number."""


def label(budget):
    """The decimal text of a budget without trailing zeros: the label, and the exact value used in sums."""
    d = Decimal(str(budget))
    text = format(d.normalize(), "f")
    return "0" if Q(d) == 0 else text


def exact(a):
    return [[Q(float(v)) for v in row] for row in np.asarray(a, dtype=np.float64)]


def f32(x):
    return float(np.float32(x))


def round_f32(q):
    """Fraction to the nearest f32, ties to even, through exact integer arithmetic."""
    if q == 0:
        return 0.0
    lo = np.float32(float(q))
    best = min((np.nextafter(lo, np.float32(-np.inf)), lo, np.nextafter(lo, np.float32(np.inf))),
               key=lambda v: (abs(Q(float(v)) - q), int(np.array(v).view(np.uint32)) & 1))
    return float(best)


# ---------------------------------------------------------------------------------------------- graphs

def undirected(pairs):
    """Set of i<j from a list of undirected pairs, each once."""
    out = set()
    for i, j in pairs:
        i, j = int(i), int(j)
        assert i != j, "self loop"
        p = (min(i, j), max(i, j))
        assert p not in out, "edge given twice"
        out.add(p)
    return out


def from_edge_index(edge_index):
    """Both directions must be present, each once."""
    pairs = [(int(a), int(b)) for a, b in zip(*edge_index)]
    seen = set(pairs)
    assert len(seen) == len(pairs), "edge given twice"
    assert all((b, a) in seen for a, b in pairs), "not symmetric"
    assert all(a != b for a, b in pairs), "self loop"
    return {p for p in seen if p[0] < p[1]}


def edge_diffs(features, edges, n):
    """y_ij for sorted undirected edges; d counts the self loop. Operations and their order are the definition."""
    d = np.ones(n)
    for i, j in edges:
        d[i] += 1
        d[j] += 1
    g = np.asarray(features, dtype=np.float64) / np.sqrt(d)[:, None]
    out = []
    for i, j in sorted(edges):
        u = 0.0
        for a, b in zip(g[i].tolist(), g[j].tolist()):
            t = a - b
            u = u + t * t
        out.append(math.sqrt(u))
    return out


def directed_diffs_f32(features, pairs, n):
    """rung-fork: every nonzero entry of A is an edge, loops too; row sums of A + I; rounded to f32 at the end."""
    d = np.ones(n)
    for i, _ in pairs:
        d[i] += 1
    g = np.asarray(features, dtype=np.float32).astype(np.float64) / np.sqrt(d)[:, None]
    out = []
    for i, j in sorted(pairs):
        u = 0.0
        for a, b in zip(g[i].tolist(), g[j].tolist()):
            t = a - b
            u = u + t * t
        out.append(f32(math.sqrt(u)))
    return out


def histogram(values, bins, lo, hi):
    """Counts over [lo, hi]: bin k holds e_k <= y < e_k+1 with exact edges, the last one also y = hi."""
    lo, hi = Q(lo), Q(hi)
    counts, below, above = [0] * bins, 0, 0
    for v in values:
        v = Q(v)
        if v < lo:
            below += 1
        elif v > hi:
            above += 1
        else:
            counts[min(int((v - lo) * bins / (hi - lo)), bins - 1)] += 1
    return counts, below, above


# ---------------------------------------------------------------------------------------------- one unit -> one row

def measure(unit, p):
    """unit: dict of arrays. Returns the row: integers, exact sums (Fractions here), per-node values, counts."""
    fork = p["preset"] == "rung-fork"
    cast = (lambda a: np.asarray(a, dtype=np.float32).astype(np.float64)) if fork else (lambda a: np.asarray(a, dtype=np.float64))
    clean, attacked = cast(unit["clean"]), cast(unit["attacked"])
    n = len(clean)
    c, a = exact(clean), exact(attacked)
    b = [sum(((x - y) ** 2 for x, y in zip(r, s)), Q(0)) for r, s in zip(a, c)]
    chosen = list(range(n))
    if p["nodes"] == "test":
        chosen = sorted(int(i) for i in unit["test_idx"])
    elif p["nodes"] == "not-train":
        train = set(int(i) for i in unit["train_idx"])
        chosen = [i for i in range(n) if i not in train]
    row = {"run": unit["run"], "budget": label(unit["budget"]), "attack": unit.get("attack", ""), "n": len(chosen), "nodes": n,
           "columns": clean.shape[1], "bias": sum((b[i] for i in chosen), Q(0)), "per_node": [b[i] for i in chosen],
           "energy": sum((sum((x * x for x in c[i]), Q(0)) for i in chosen), Q(0))}
    row["simplex"] = clean.shape[1] > 1 and all(min(r) >= 0 and abs(sum(r) - 1) <= Q(1, 100000) for r in c + a)
    logits = [cast(unit.get("clean_logits", clean)), cast(unit.get("attacked_logits", attacked))]
    row["scores"] = logits[0].shape[1] > 1 and p["features"] == "logits" or "clean_logits" in unit
    if unit.get("labels") is not None:
        row["labels"] = True
    if unit.get("test_idx") is not None:
        row["tested"] = len(unit["test_idx"])
    if row.get("labels") and row.get("tested") and row["scores"]:
        t = [int(i) for i in unit["test_idx"]]
        y = [int(unit["labels"][i]) for i in t]
        pc, pa = ([int(np.argmax(l[i])) for i in t] for l in logits)         # first of equal maxima
        row["correct_clean"] = sum(u == v for u, v in zip(pc, y))
        row["correct_attacked"] = sum(u == v for u, v in zip(pa, y))
        row["broken"] = sum(u == v and w != v for u, v, w in zip(pc, y, pa))
        row["ties"] = sum(int((l[i] == l[i].max()).sum() > 1) for l in logits for i in t)
        row["constant"] = [len(t) > 1 and len(set(s)) == 1 for s in (pc, pa)]
        row["majority"] = max(y.count(v) for v in set(y))
        if unit.get("train_idx") is not None:
            row["leak"] = len(set(t) & set(int(i) for i in unit["train_idx"]))
    if fork:
        if unit.get("pairs_attacked") is not None:
            row["sets"] = {"all": spread(directed_diffs_f32(unit["attacked"], unit["pairs_attacked"], n), p, True)}
        return row
    old, new = unit.get("edges"), unit.get("edges_attacked")
    if old is not None and new is not None:
        added, kept, removed = new - old, new & old, old - new
        ys = dict(zip(sorted(new), edge_diffs(attacked, new, n)))
        y_old = dict(zip(sorted(old), edge_diffs(clean, old, n)))
        whole = spread([ys[e] for e in sorted(new)], p, False)
        rng = (whole["lo"], whole["hi"])
        row["sets"] = {"all": whole, "added": spread([ys[e] for e in sorted(added)], p, False, rng),
                       "kept": spread([ys[e] for e in sorted(kept)], p, False, rng),
                       "removed": spread([y_old[e] for e in sorted(removed)], p, False)}
        row["m"], row["added"], row["removed"] = len(old), len(added), len(removed)
        touched = {v for e in added | removed for v in e}
        row["touched"] = sum((b[i] for i in chosen if i in touched), Q(0))
        row["isolated"] = len({v for e in old for v in e} - {v for e in new for v in e})
        row["graph"], row["features"] = (frozenset(new) if added or removed else None), clean.tobytes()
    elif new is not None:
        row["sets"] = {"all": spread(edge_diffs(attacked, new, n), p, False)}
    return row


def spread(ys, p, fork, rng=None):
    s = {"count": len(ys), "sum": sum((Q(y) for y in ys), Q(0)), "lo": None, "hi": None, "counts": None, "outside": 0}
    if p["cutoff"] is not None:
        s["pruned"] = sum(y >= p["cutoff"] for y in ys)
    if not ys and rng is None:
        return s
    lo, hi = p["hist_range"] or rng or (min(ys), max(ys))
    if lo is None:
        return s
    if lo == hi and fork:                                   # numpy widens a range of zero width
        lo, hi = f32(lo - 0.5), f32(hi + 0.5)
    s["lo"], s["hi"] = lo, hi
    if lo != hi:
        if fork:
            edges = [round_f32(Q(lo) + k * (Q(hi) - Q(lo)) / p["bins"]) for k in range(p["bins"] + 1)]
            counts = [0] * p["bins"]
            for y in ys:
                k = max(k for k in range(p["bins"]) if k == 0 or edges[k] <= y)
                counts[k] += 1
            s["counts"], s["edges"] = counts, edges
        else:
            s["counts"], below, above = histogram(ys, p["bins"], lo, hi)
            s["outside"] = below + above
    return s


# ---------------------------------------------------------------------------------------------- readings

NO_NEW, NO_BOTH = "no attacked edges given", "clean and attacked edges are both needed"


def unit_value(row, name, p):
    """Exact value (Fraction) of one scalar on one row, or Undefined; f32 values under rung-fork."""
    v = unit_value_exact(row, name, p)
    return Q(round_f32(v)) if p["preset"] == "rung-fork" and isinstance(v, Q) else v


def unit_value_exact(row, name, p):
    sets = row.get("sets", {})
    if name == "bias_total":
        return row["bias"]
    if name == "bias_mean":
        return row["bias"] / row["n"] if row["n"] else Undefined("node subset is empty")
    if name == "bias_relative":
        return row["bias"] / row["energy"] if row["energy"] else Undefined("clean features are all zero")
    if name == "bias_touched_share":
        if "touched" not in row:
            return Undefined(NO_BOTH)
        return row["touched"] / row["bias"] if row["bias"] else Undefined("bias is zero")
    if name in ("mean_diff", "added_mean_diff", "kept_mean_diff", "removed_mean_diff"):
        key = {"mean_diff": "all"}.get(name, name.split("_")[0])
        if key not in sets:
            return Undefined(NO_NEW if key == "all" else NO_BOTH)
        empty = {"all": "attacked graph has no edges", "added": "attack added no edge", "kept": "no clean edge was kept",
                 "removed": "attack removed no edge"}[key]
        return sets[key]["sum"] / sets[key]["count"] if sets[key]["count"] else Undefined(empty)
    if name == "diff_ratio":
        a, k = unit_value(row, "added_mean_diff", p), unit_value(row, "kept_mean_diff", p)
        for v in (a, k):
            if isinstance(v, Undefined):
                return v
        return a / k if k else Undefined("kept edges have no difference")
    if name in ("pruned_added", "pruned_kept"):
        key = name.split("_")[1]
        if key not in sets:
            return Undefined(NO_BOTH)
        if p["cutoff"] is None:
            return Undefined("no cut-off given")
        if not sets[key]["count"]:
            return Undefined({"added": "attack added no edge", "kept": "no clean edge was kept"}[key])
        return Q(sets[key]["pruned"], sets[key]["count"])
    if name in ("robust_accuracy", "attacked_accuracy", "clean_accuracy", "accuracy_drop", "attack_success_rate"):
        if not row.get("labels"):
            return Undefined("no labels given")
        if "tested" not in row:
            return Undefined("no test nodes given")
        if row["tested"] == 0:
            return Undefined("test set is empty")
        if not row["scores"]:
            return Undefined("features are not class scores")
        if name == "clean_accuracy":
            return Q(row["correct_clean"], row["tested"])
        if name == "accuracy_drop":
            return Q(row["correct_clean"] - row["correct_attacked"], row["tested"])
        if name == "attack_success_rate":
            if not row["correct_clean"]:
                return Undefined("no test node was correct on the clean graph")
            return Q(row["broken"], row["correct_clean"])
        return Q(row["correct_attacked"], row["tested"])
    if name in ("flips_added", "flips_removed", "budget_used"):
        if "added" not in row:
            return Undefined(NO_BOTH)
        if name == "budget_used":
            return Q(row["added"] + row["removed"], row["m"]) if row["m"] else Undefined("clean graph has no edges")
        return Q(row[name.split("_")[1]])
    if name.startswith("quantile:"):
        q = Q(Decimal(name.split(":")[1]))
        if not row["per_node"]:
            return Undefined("node subset is empty")
        ordered = sorted(row["per_node"])
        return ordered[max(math.ceil(q * len(ordered)), 1) - 1]
    raise KeyError(name)


def mean_over(rows, name, p):
    values = [unit_value(r, name, p) for r in rows]
    for v in values:
        if isinstance(v, Undefined):
            return v
    return sum(values, Q(0)) / len(values)


def std_over(rows, name, p):
    if len(rows) <= p["ddof"]:
        return Undefined("one repetition" if len(rows) == 1 else "too few repetitions")
    values = [unit_value(r, name, p) for r in rows]
    for v in values:
        if isinstance(v, Undefined):
            return v
    m = sum(values, Q(0)) / len(values)
    return sqrt_q(sum(((v - m) ** 2 for v in values), Q(0)) / (len(values) - p["ddof"]))


def sqrt_q(q):
    """Nearest f64 to the square root of a rational."""
    if q == 0:
        return 0.0
    shift = 2 * max(0, 160 - (q.numerator.bit_length() - q.denominator.bit_length()) // 2)
    root = math.isqrt((q.numerator << shift) // q.denominator)
    return float(Q(2 * root + 1, 2) / (1 << (shift // 2)))           # half a unit of the 160th bit off at the most


def out(v, p):
    """Fraction -> nearest f64; reasons and floats pass."""
    return float(v) if isinstance(v, Q) else v


def density(s, key, p):
    empty = {"all": "attacked graph has no edges", "added": "attack added no edge", "kept": "no clean edge was kept",
             "removed": "attack removed no edge"}[key]
    if s["count"] == 0:
        return Undefined(empty), Undefined(empty)
    if s["counts"] is None:
        return (Undefined("all edge differences are equal"),) * 2
    inside = sum(s["counts"])
    if not inside:
        return (Undefined("no edge difference inside the range"),) * 2
    if p["preset"] == "rung-fork":
        e = [Q(x) for x in s["edges"]]
        return [float(Q(c) / (inside * (e[k + 1] - e[k]))) for k, c in enumerate(s["counts"])], s["edges"]
    lo, hi, n = Q(s["lo"]), Q(s["hi"]), p["bins"]
    return ([float(Q(c) * n / (inside * (hi - lo))) for c in s["counts"]],
            [float(lo + k * (hi - lo) / n) for k in range(n + 1)])


def add_spread(sets):
    """Histograms over one common range add; anything else does not."""
    total = dict(sets[0])
    for s in sets[1:]:
        total["count"] += s["count"]
        total["outside"] += s["outside"]
        if s["counts"] is not None:
            total["counts"] = s["counts"] if total["counts"] is None else [x + y for x, y in zip(total["counts"], s["counts"])]
    return total


def report(units, **params):
    """All metrics of a list of units; the shape of report.json's metrics and undefined."""
    p = {"preset": "strict", "bins": 50, "hist_range": None, "nodes": "all", "ddof": None, "cutoff": None, "features": "logits"}
    p.update(params)
    if p["ddof"] is None:
        p["ddof"] = 0 if p["preset"] == "rung-fork" else 1
    rows = sorted((measure(u, p) for u in units), key=lambda r: (r["attack"], Q(Decimal(r["budget"])), r["run"]))
    conditions = {}
    for r in rows:
        key = r["budget"] if not r["attack"] else f'{r["attack"]}:{r["budget"]}'
        conditions.setdefault(key, []).append(r)
    one = len(conditions) == 1
    several = Undefined(f"report holds {len(conditions)} conditions; see robustness.curve")
    m = {}
    for name in CONDITION_IDS:
        m[name] = out(mean_over(rows, name, p), p) if one else several
    m["bias_per_node"] = ([round_f32(v) if p["preset"] == "rung-fork" else float(v) for v in rows[0]["per_node"]] if len(rows) == 1 else
                          Undefined(f"report holds {len(rows)} units; use --per-node"))
    m["bias_curve"] = {k: {s: out(mean_over(rs, s, p), p) for s in ("bias_total", "bias_mean")} for k, rs in conditions.items()}
    m["bias_node_quantiles"] = {q: out(mean_over(rows, "quantile:" + q, p), p) for q in QUANTILES} if one else several
    for key, h, e in (("all", "hist_values", "bin_edges"), ("added", "added_hist_values", None), ("kept", "kept_hist_values", None),
                      ("removed", "removed_hist_values", "removed_bin_edges")):
        if not one:
            pair = (several, several)
        elif any(key not in r.get("sets", {}) for r in rows):
            pair = (Undefined(NO_NEW if key == "all" else NO_BOTH),) * 2
        elif len(rows) > 1 and p["hist_range"] is None:
            pair = (Undefined("bin edges differ between units; give --hist-range"),) * 2
        else:
            pair = density(add_spread([r["sets"][key] for r in rows]), key, p)
        m[h] = pair[0]
        if e:
            m[e] = pair[1]
    m["hist_outside"] = sum(r["sets"]["all"]["outside"] for r in rows) if one and all("sets" in r for r in rows) else (
        several if not one else Undefined(NO_NEW))
    m["curve"] = {k: {"n": len(rs), **{s: out(mean_over(rs, s, p), p) for s in CURVE_IDS}} for k, rs in conditions.items()}
    if all(len(rs) <= p["ddof"] for rs in conditions.values()):
        m["curve_std"] = Undefined("one repetition per condition")
    else:
        m["curve_std"] = {k: {s: std_over(rs, s, p) for s in CURVE_IDS} for k, rs in conditions.items()}
    m.update(shape(conditions, p))
    ids = DOCUMENT_IDS if p["preset"] != "strict" else ORDER
    metrics, undefined = {}, {}
    for k in ids:
        metrics["robustness." + k] = strip(m[k], "robustness." + k, undefined)
    return {"metrics": metrics, "undefined": undefined, "warnings": warnings(conditions, rows, p)}


def strip(v, path, undefined):
    if isinstance(v, Undefined):
        undefined[path] = str(v)
        return None
    if isinstance(v, dict):
        return {k: strip(x, f"{path}.{k}", undefined) for k, x in v.items()}
    return v


def shape(conditions, p):
    """Numbers that look along the budget axis or across conditions."""
    m = {}
    acc = {k: mean_over(rs, "robust_accuracy", p) for k, rs in conditions.items()}
    bad = next((v for v in acc.values() if isinstance(v, Undefined)), None)
    scores = sorted(acc.values()) if bad is None else None
    if scores:
        m["accuracy_average"] = float(sum(scores, Q(0)) / len(scores))
        m["accuracy_3_min"] = float(sum(scores[:3], Q(0)) / 3) if len(scores) >= 3 else Undefined("fewer than three conditions")
        w = [Q(1, (i + 1) ** 2) for i in range(len(scores))]
        m["accuracy_weighted"] = float(sum((a * b for a, b in zip(w, scores)), Q(0)) / sum(w))
    else:
        m["accuracy_average"] = m["accuracy_3_min"] = m["accuracy_weighted"] = bad
    attacks = {rs[0]["attack"] for rs in conditions.values()}
    if len(attacks) > 1:
        r = Undefined(f"report holds {len(attacks)} attacks")
        m["accuracy_auc"] = m["bias_slope"] = m["bias_linearity"] = r
        return m
    x = {k: Q(Decimal(rs[0]["budget"])) for k, rs in conditions.items()}
    positive = [k for k in conditions if x[k] > 0]
    if not positive:
        r = Undefined("no budget above 0")
        m["accuracy_auc"] = m["bias_slope"] = m["bias_linearity"] = r
        return m
    if bad is not None:
        m["accuracy_auc"] = bad
    else:
        everyone = [r for rs in conditions.values() for r in rs]
        start = acc[next(k for k in conditions if x[k] == 0)] if len(positive) < len(conditions) else mean_over(everyone, "clean_accuracy", p)
        points = [(Q(0), start)] + [(x[k], acc[k]) for k in positive]
        area = sum(((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:])), Q(0))
        m["accuracy_auc"] = float(area / points[-1][0])
    bias = {k: mean_over(conditions[k], "bias_total", p) for k in positive}
    slope = sum((x[k] * bias[k] for k in positive), Q(0)) / sum((x[k] ** 2 for k in positive), Q(0))
    m["bias_slope"] = float(slope)
    if len(positive) < 3:
        m["bias_linearity"] = Undefined("fewer than three budgets above 0")
    else:
        centre = sum(bias.values(), Q(0)) / len(bias)
        total = sum(((bias[k] - centre) ** 2 for k in positive), Q(0))
        rest = sum(((bias[k] - slope * x[k]) ** 2 for k in positive), Q(0))
        m["bias_linearity"] = float(1 - rest / total) if total else Undefined("bias is the same at every budget")
    return m


ORDER = DOCUMENT_IDS + ["bias_relative", "bias_node_quantiles", "bias_touched_share", "bias_slope", "bias_linearity", "accuracy_drop",
                        "attack_success_rate", "accuracy_auc", "accuracy_average", "accuracy_3_min", "accuracy_weighted",
                        "flips_added", "flips_removed", "budget_used", "added_mean_diff", "kept_mean_diff", "removed_mean_diff",
                        "diff_ratio", "added_hist_values", "kept_hist_values", "removed_hist_values", "removed_bin_edges",
                        "hist_outside", "pruned_added", "pruned_kept", "curve", "curve_std"]


def warnings(conditions, rows, p):
    w = {}

    def add(code, r):
        w.setdefault(code, []).append(f'{r["run"]}/' + (r["budget"] if not r["attack"] else f'{r["attack"]}:{r["budget"]}'))
    for r in rows:
        budget = Q(Decimal(r["budget"]))
        if "added" in r:
            allowed, used = math.floor(budget * r["m"]), r["added"] + r["removed"]
            if used > allowed:
                add("over_budget", r)
            elif 10 * used < 9 * allowed:
                add("under_budget", r)
            if r["isolated"]:
                add("isolated_nodes", r)
        if budget > 0 and r["bias"] == 0:
            add("no_effect", r)
        if budget == 0 and r["bias"] != 0:
            add("budget_zero_differs", r)
        if budget > 1:
            add("budget_looks_percent", r)
        if r.get("leak"):
            add("split_leak", r)
        if r["simplex"]:
            add("looks_like_probabilities", r)
        if r.get("ties"):
            add("argmax_ties", r)
        if any(r.get("constant", [])):
            add("constant_prediction", r)
        if "correct_clean" in r and r["correct_clean"] < r["majority"]:
            add("below_majority", r)
    for rs in conditions.values():
        for r in rs:
            if r.get("graph") and any(o is not r and o.get("graph") == r["graph"] and o["features"] != r["features"] for o in rs):
                add("same_attacked_graph", r)
        if len({(r["nodes"], r.get("m")) for r in rs}) > 1:
            for r in rs:
                add("mixed_graphs", r)
    if len({len(rs) for rs in conditions.values()}) > 1:
        for r in rows:
            add("repetitions_differ", r)
    return {k: sorted(v) for k, v in sorted(w.items())}
