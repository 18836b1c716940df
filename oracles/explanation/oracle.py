"""Oracle of the explanation family: slow, obvious, exact. Plain Python, numpy and mpmath.

Numbers are exact rationals (fractions) or 60-digit reals (mpmath) until the very last step, which rounds once to f64.
`evaluate(units, protocol)` is the whole of it: units is {name: {key: array}}, the answer is the report's
`metrics`, `undefined` and `warnings` (code -> sorted unit names). Refused input raises BadInput.
"""
import math
from fractions import Fraction as Fr

import numpy as np
from mpmath import mp, mpf

mp.dps = 60
INF = mp.inf

DEFAULTS = dict(preset="strict", task="multiclass", scores=None, threshold=0.5, target_threshold=None,
                mask_scores="probs", pos_weight=0.5, neg_weight=0.5)

# every id in report order; D = the document's own ids, P = ids the preset `pyg` prints
REGISTRY = """
num_instances num_mask_elements
fid_plus_model:DP fid_minus_model:DP fid_plus_phenomenon:DP fid_minus_phenomenon:DP
characterization_score_model:D characterization_score_phenomenon:D
fid_plus_signed_phenomenon fid_minus_signed_phenomenon
fid_plus_prob_model fid_minus_prob_model fid_plus_prob_phenomenon fid_minus_prob_phenomenon
fid_plus_prob_signed_model fid_minus_prob_signed_model fid_plus_prob_signed_phenomenon fid_minus_prob_signed_phenomenon
fid_plus_mae fid_minus_mae fid_plus_mse fid_minus_mse
unfaithfulness:DP unfaithfulness_reversed kl kl_reversed
accuracy:DP recall:DP precision:DP f1_score:DP auroc:DP
jaccard average_precision relevance_mass relevance_rank
accuracy_pooled recall_pooled precision_pooled f1_score_pooled jaccard_pooled
accuracy_by_type recall_by_type precision_by_type f1_score_by_type auroc_by_type jaccard_by_type sparsity_by_type
sparsity zero_fraction entropy gini
characterization_score:DP fidelity_curve_auc:DP fidelity_curve_auc_normalized
curve_x fid_plus_model_curve fid_minus_model_curve fid_plus_phenomenon_curve fid_minus_phenomenon_curve
fidelity_curve_auc_model fidelity_curve_auc_phenomenon
robust_fid_plus_model robust_fid_minus_model
robust_fid_plus_prob_signed_model robust_fid_minus_prob_signed_model robust_fid_delta_model
robust_fid_plus_prob_signed_phenomenon robust_fid_minus_prob_signed_phenomenon robust_fid_delta_phenomenon
instability_cosine instability_cosine_mean sensitivity_max
""".split()
IDS = [w.split(":")[0] for w in REGISTRY]
DOCUMENT = {w.split(":")[0] for w in REGISTRY if ":D" in w}
PYG = {w.split(":")[0] for w in REGISTRY if w.endswith("P")}

PRED = ["y_hat", "y_sub", "y_comp"]
LEAD2 = ["y_sub_sweep", "y_comp_sweep", "y_sub_samples", "y_comp_samples"]
KNOWN = set(["y", "index", "pred_mask", "target_mask", "target_masks", "pred_mask_samples",
             "pos_fidelity", "neg_fidelity", "x"] + PRED + LEAD2)


class BadInput(Exception):
    pass


class Undef:
    def __init__(self, reason):
        self.reason = reason


def real(v):
    """exact Fraction of a float or integer"""
    return Fr(v) if isinstance(v, int) else Fr(float(v))


def big(v):
    return mpf(v.numerator) / v.denominator if isinstance(v, Fr) else mpf(v)


# ------------------------------------------------------------------------------------------------ reading one unit
def keys_of(unit):
    """{base key: {type or '': array}}"""
    out = {}
    for k, a in unit.items():
        base, _, typ = k.partition(".")
        out.setdefault(base, {})[typ] = np.asarray(a)
    return out


def one(parts, key):
    d = parts.get(key)
    if d is None:
        return None
    if set(d) != {""}:
        raise BadInput(f"`{key}` cannot be split by type")
    return d[""]


def predictions(key, a, P, lead):
    """-> ('labels', int array) | ('scores', float array with class axis); `lead` axes come before the class axis"""
    if a.dtype.kind not in "iufb":
        raise BadInput(f"`{key}` has dtype {a.dtype}; numbers are needed")
    axes = {1: "[N]", 2: "[K, N]"}[lead]
    if a.ndim not in (lead, lead + 1) or 0 in a.shape[lead:]:
        raise BadInput(f"`{key}` has shape {list(a.shape)}; {axes} labels or {axes[:-1]}, C] scores are needed")
    if P["task"] == "regression":
        return "scores", (a if a.ndim == lead + 1 else a[..., None]).astype(float)
    if a.ndim == lead + 1 and a.shape[-1] >= 2:
        if P["task"] == "binary":
            raise BadInput(f"`{key}` has {a.shape[-1]} columns, --task binary takes one; use --task multiclass")
        return "scores", a.astype(float)
    if a.dtype.kind == "f":
        if P["task"] == "multiclass":
            raise BadInput(f"`{key}` has shape {list(a.shape)}; multiclass scores are {axes[:-1]}, C] with C >= 2")
        return "scores", (a if a.ndim == lead + 1 else a[..., None]).astype(float)
    a = a[..., 0] if a.ndim == lead + 1 else a
    return "labels", a.astype(np.int64)


def check_scores(key, a, P, warn, unit):
    s = P["scores"]
    if P["task"] == "regression":
        for i in np.ndindex(a.shape):
            if not math.isfinite(a[i]):
                raise BadInput(f"`{key}` at {list(i)} is {a[i]}; finite values are needed")
        return
    if s is None:
        raise BadInput(f"`{key}` holds scores; declare --scores probs, log_probs or logits")
    if s == "log_probs" and P["task"] == "binary":
        raise BadInput("--scores log_probs is not defined for --task binary")
    raw = P["preset"] == "pyg"
    plain = True
    for i in np.ndindex(a.shape[:-1]):
        row = [float(v) for v in a[i]]
        for c, v in enumerate(row):
            place = f"`{key}` at instance {i[-1]}, class {c}"
            if math.isnan(v) or v == math.inf:
                raise BadInput(f"{place} is {v}")
            if s == "probs" and not raw and not 0 <= v <= 1 + 1e-6:
                raise BadInput(f"{place} is {v}; a probability is in [0, 1]")
            if s == "log_probs" and not raw and v > 1e-6:
                raise BadInput(f"{place} is {v}; a log-probability is at most 0")
        if all(v == -math.inf for v in row):
            raise BadInput(f"`{key}` at instance {i[-1]}: every class is -inf")
        if len(row) >= 2:
            total = math.fsum(row) if s != "log_probs" else math.fsum(math.exp(v) for v in row)
            plain = plain and min(row) >= 0 and abs(total - 1) <= 1e-3
            if s != "logits" and not raw:
                if abs(total - 1) > 1e-2:
                    raise BadInput(f"`{key}` at instance {i[-1]} sums to {total}; probabilities sum to 1")
                if abs(total - 1) > 1e-4:
                    warn("not_normalised", unit)
            if row.count(max(row)) > 1:
                warn("argmax_tie", unit)
        else:
            plain = False
            if row[0] == (0 if s == "logits" else 0.5):
                warn("argmax_tie", unit)
    if s == "logits" and plain and a.size:
        warn("looks_like_probs", unit)


def to_labels(kind, a, P):
    if kind == "labels":
        return a
    if P["task"] == "binary":
        return (a[..., 0] > (0 if P["scores"] == "logits" else 0.5)).astype(np.int64)
    return np.argmax(a, axis=-1)                      # first maximum


def log_probs(row, P):
    """row of declared scores -> 60-digit natural log-probabilities, normalised"""
    s = P["scores"]
    if P["task"] == "binary":
        v = mpf(float(row[0]))
        if s == "logits":
            return [-mp.log1p(mp.exp(v)), -mp.log1p(mp.exp(-v))] if v != -INF else [mpf(0), -INF]
        return [mp.log(1 - v) if v < 1 else -INF, mp.log(v) if v > 0 else -INF]
    v = [mpf(float(x)) for x in row]
    if s == "probs":
        v = [mp.log(x) if x > 0 else -INF for x in v]
    top = max(v)
    lse = top + mp.log(mp.fsum(mp.exp(x - top) for x in v))
    return [x - lse for x in v]


def kl(lp, lq):
    total = mpf(0)
    for a, b in zip(lp, lq):
        if a == -INF:
            continue
        if b == -INF:
            return INF
        total += mp.exp(a) * (a - b)
    return total


def mask_value(v, P):
    """the value that masses, entropies and norms use"""
    if P["mask_scores"] == "logits":
        return 1 / (1 + mp.exp(-mpf(float(v))))
    return mpf(float(v))


def as_float(a):
    return a.astype(np.float32) if a.dtype.kind in "iub" else a


def hard(a, P):
    """selected elements: value > threshold, compared in the array's own float type"""
    a = as_float(a)
    t = P["threshold"]
    if P["mask_scores"] == "logits":
        t = math.inf if t >= 1 else -math.inf if t <= 0 else float(mp.log(mpf(t) / (1 - mpf(t))))
        a = a.astype(np.float64)
    return a > np.asarray(t, a.dtype), a == np.asarray(t, a.dtype)


def truth_of(a, P):
    a = as_float(a)
    return a >= np.asarray(P["target_threshold"], a.dtype)


def sigmoid_like_torch(a):
    with np.errstate(over="ignore"):
        return (1 / (1 + np.exp(-a.astype(np.float64)))).astype(a.dtype)


# ------------------------------------------------------------------------------------------------ mask agreement
def counts(sel, tru):
    tp = int(np.sum(sel & tru))
    fp = int(np.sum(sel & ~tru))
    fn = int(np.sum(~sel & tru))
    return tp, fp, sel.size - tp - fp - fn, fn


EMPTY = "mask has no elements"
NO_POS = "target mask has no positive element"
NO_NEG = "target mask has no negative element"
NO_SEL = "no element is selected (pred_mask > threshold)"
NEITHER = "neither mask has a positive element"
ZERO = "mask is zero everywhere"


def ratio(a, b, reason):
    return Fr(a, b) if b else Undef(reason)


def table_metrics(tp, fp, tn, fn, P):
    n = tp + fp + tn + fn
    if n == 0:
        return {k: Undef(EMPTY) for k in ["accuracy", "recall", "precision", "f1_score", "jaccard"]}
    j = ratio(tp, tp + fp + fn, NEITHER)
    if P["preset"] == "graphxai":
        j = Fr(tp) / (tp + fp + fn + Fr(1e-9))
    return dict(accuracy=Fr(tp + tn, n), recall=ratio(tp, tp + fn, NO_POS), precision=ratio(tp, tp + fp, NO_SEL),
                f1_score=ratio(2 * tp, 2 * tp + fp + fn, NEITHER), jaccard=j)


def auroc(values, tru):
    pos = [v for v, t in zip(values, tru) if t]
    neg = [v for v, t in zip(values, tru) if not t]
    if not values:
        return Undef(EMPTY)
    if not pos:
        return Undef(NO_POS)
    if not neg:
        return Undef(NO_NEG)
    twice = sum(2 * (p > q) + (p == q) for p in pos for q in neg)
    return Fr(twice, 2 * len(pos) * len(neg))


def average_precision(values, tru):
    npos = sum(map(bool, tru))
    if not values or not npos:
        return Undef(EMPTY if not values else NO_POS)
    total, before = Fr(0), 0
    for level in sorted(set(values), reverse=True):
        n = sum(v >= level for v in values)
        tp = sum(bool(t) for v, t in zip(values, tru) if v >= level)
        total += Fr(tp - before, npos) * Fr(tp, n)
        before = tp
    return total


def relevance_rank(values, tru):
    npos = sum(map(bool, tru))
    if not values or not npos:
        return Undef(EMPTY if not values else NO_POS)
    level = sorted(values, reverse=True)[npos - 1]
    above = sum(v > level for v in values)
    hit = sum(bool(t) for v, t in zip(values, tru) if v > level)
    ties = sum(v == level for v in values)
    tie_hit = sum(bool(t) for v, t in zip(values, tru) if v == level)
    return (hit + Fr((npos - above) * tie_hit, ties)) / npos


def relevance_mass(m, tru):
    if not m:
        return Undef(EMPTY)
    if not any(tru):
        return Undef(NO_POS)
    total = mp.fsum(abs(v) for v in m)
    if total == 0:
        return Undef(ZERO)
    return mp.fsum(abs(v) for v, t in zip(m, tru) if t) / total


def agreement(pred, sel, tru, P):
    """pred: flat values, sel: flat selection, tru: flat truth -> every per-unit agreement value"""
    out = table_metrics(*counts(sel, tru), P)
    values, t = [real(v) for v in pred], list(tru)
    out.update(auroc=auroc(values, t), average_precision=average_precision(values, t),
               relevance_rank=relevance_rank(values, t),
               relevance_mass=relevance_mass([mask_value(v, P) for v in pred], t))
    return out


def best_truth(sel, truths):
    """index of the truth with the largest Jaccard; 0/0 ranks last, ties go to the lowest index"""
    best, best_j = 0, None
    for k, t in enumerate(truths):
        tp, fp, _, fn = counts(sel, t)
        j = Fr(tp, tp + fp + fn) if tp + fp + fn else Fr(-1)
        if best_j is None or j > best_j:
            best, best_j = k, j
    return best


# ------------------------------------------------------------------------------------------------ characterization, curve
def characterization(p, n, wp, wn):
    """(w+ + w-) / (w+/p + w-/(1-n)) over the extended reals; 0/0 is undefined"""
    p, q, wp, wn = Fr(p), 1 - Fr(n), Fr(wp), Fr(wn)
    if (wp == 0 and p == 0) or (wn == 0 and q == 0):
        return Undef("0/0: weight 0 on a fidelity term of 0")
    if p == 0 or q == 0:
        return Fr(0)
    return (wp + wn) / (wp / p + wn / q)


def area(p, n, x):
    for k, v in enumerate(n):
        if v == 1:
            return Undef(f"fid_minus is 1 at point {k}: division by zero")
    y = [a / (1 - b) for a, b in zip(p, n)]
    return sum(((x[i + 1] - x[i]) * (y[i + 1] + y[i]) / 2 for i in range(len(x) - 1)), Fr(0))


# ------------------------------------------------------------------------------------------------ one unit -> evidence
def measure(name, unit, P, warn):
    parts = keys_of(unit)
    row = dict(bad=None)
    unknown = sorted(k for k in parts if k not in KNOWN)
    if unknown:
        warn("unknown_key", name)
    pyg = P["preset"] == "pyg"
    # -- predictions
    arrays = {}
    for k in PRED + LEAD2:
        a = one(parts, k)
        if a is None or (k in LEAD2 and pyg):        # sweeps and samples are not used by preset pyg
            continue
        arrays[k] = predictions(k, a, P, 1 if k in PRED else 2)
    if "y_hat" not in arrays and arrays:
        raise BadInput(f"`{next(iter(arrays))}` needs `y_hat`")
    y = one(parts, "y")
    sizes = {k: v[1].shape[0 if k in PRED else 1] for k, v in arrays.items()}
    if y is not None:
        if y.dtype.kind not in "iub":
            if P["task"] != "regression":
                raise BadInput(f"`y` has dtype {y.dtype}; integer labels are needed")
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        if y.ndim != 1:
            raise BadInput(f"`y` has shape {list(y.shape)}; [N] labels are needed")
        sizes["y"] = len(y)
    ref = "y_hat" if "y_hat" in sizes else next(iter(sizes), None)
    for k, n in sizes.items():
        if n != sizes[ref]:
            raise BadInput(f"`{k}` has {n} instances, `{ref}` has {sizes[ref]}")
    classes = {k: v[1].shape[-1] for k, v in arrays.items() if v[0] == "scores"}
    if len(set(classes.values())) > 1:
        a, b = sorted(classes)[:2]
        raise BadInput(f"`{b}` has {classes[b]} classes, `{a}` has {classes[a]}")
    limit = 2 if P["task"] == "binary" else (next(iter(classes.values())) if classes else None)
    if P["task"] != "regression":
        for k, a in [("y", y)] + [(k, v[1]) for k, v in arrays.items() if v[0] == "labels"]:
            for i in ([] if a is None else np.ndindex(a.shape)):
                if a[i] < 0 or (limit is not None and a[i] >= limit):
                    raise BadInput(f"`{k}` label {int(a[i])} at instance {i[-1]} is outside 0..{(limit or 2**63) - 1}")
    for k, (kind, a) in arrays.items():
        if kind == "scores":
            check_scores(k, a, P, warn, name)
    index = one(parts, "index")
    if index is not None and ref is not None:
        n = sizes[ref]
        if index.dtype.kind == "b":
            if index.shape != (n,):
                raise BadInput(f"`index` has shape {list(index.shape)}; a mask of {n} instances is needed")
            index = np.nonzero(index)[0]
        elif index.dtype.kind not in "iu" or index.ndim > 1:
            raise BadInput("`index` holds whole numbers or is a mask")
        index = np.atleast_1d(index)
        for i, v in enumerate(index):
            if not (-n if pyg else 0) <= v < n:
                raise BadInput(f"`index` entry {i} is {v}; 0..{n - 1} are allowed")
        if not pyg and len(set(index.tolist())) < len(index):
            raise BadInput("`index` names an instance twice")
        arrays = {k: (kind, a[index] if k in PRED else a[:, index]) for k, (kind, a) in arrays.items()}
        y = None if y is None else y[index]
    have = lambda *ks: all(k in arrays for k in ks)
    used = False
    if "y_hat" in arrays and any(k in arrays for k in PRED[1:] + LEAD2):
        used = True
        n = len(arrays["y_hat"][1])
        row["n"] = n
    if P["task"] == "regression" and used:
        if pyg:
            raise BadInput("Fidelity not defined for 'regression' models")
        base = arrays["y_hat"][1]
        for k, tag in [("y_comp", "plus"), ("y_sub", "minus")]:
            if have("y_hat", k):
                d = [abs(real(a) - real(b)) for a, b in zip(base.ravel(), arrays[k][1].ravel())]
                row[f"reg_{tag}"] = (sum(d, Fr(0)), sum((v * v for v in d), Fr(0)), len(d))
    elif used:
        lab = {k: to_labels(*v, P) for k, v in arrays.items()}
        prob = {}
        for k, (kind, a) in arrays.items():
            if kind == "scores":
                prob[k] = a
        L = lab["y_hat"]
        row["labels"], row["y"], row["arrays"] = lab, y, arrays
        lp = {}
        if not pyg:
            lp = {k: np.array([log_probs(r, P) for r in a.reshape(-1, a.shape[-1])], dtype=object)
                  .reshape(a.shape[:-1] + (-1,)) for k, a in prob.items()}
        for k, tag in [("y_comp", "plus"), ("y_sub", "minus")]:
            if k in lab:
                row[f"model_{tag}"] = (int(np.sum(lab[k] != L)), n)
                if y is not None:
                    lost = int(np.sum((L == y) & (lab[k] != y)))
                    gained = int(np.sum((L != y) & (lab[k] == y)))
                    row[f"phen_{tag}"] = (lost, gained, n)
            if k in lp and "y_hat" in lp:
                for who, cls in [("model", L)] + ([("phenomenon", y)] if y is not None else []):
                    d = [mp.exp(lp["y_hat"][i][cls[i]]) - mp.exp(lp[k][i][cls[i]]) for i in range(n)]
                    row[f"prob_{who}_{tag}"] = (mp.fsum(map(abs, d)), mp.fsum(d), n)
            s = k + "_samples"
            if s in lab:
                r = len(lab[s])
                if r == 0:
                    raise BadInput(f"`{s}` has no samples")
                row[f"robust_{tag}"] = (Fr(int(np.sum(lab[s] != L[None])), r), n)
                if s in lp and "y_hat" in lp:
                    for who, cls in [("model", L)] + ([("phenomenon", y)] if y is not None else []):
                        d = [mp.exp(lp["y_hat"][i][cls[i]])
                             - mp.fsum(mp.exp(lp[s][q][i][cls[i]]) for q in range(r)) / r for i in range(n)]
                        row[f"robust_{who}_{tag}"] = (mp.fsum(d), n)
            s = k + "_sweep"
            if s in lab:
                row[f"sweep_model_{tag}"] = [(int(np.sum(v != L)), n) for v in lab[s]]
                if y is not None:
                    row[f"sweep_phenomenon_{tag}"] = [(int(np.sum((L == y) != (v == y))), n) for v in lab[s]]
        if have("y_hat", "y_sub") and "y_hat" in lp and "y_sub" in lp:
            f = [kl(a, b) for a, b in zip(lp["y_hat"], lp["y_sub"])]
            r = [kl(b, a) for a, b in zip(lp["y_hat"], lp["y_sub"])]
            row["gef"], row["gef_rev"] = f, r
            if any(v == INF for v in f + r):
                warn("infinite_kl", name)
        if all(k in prob for k in PRED) and n and all(np.array_equal(prob["y_hat"], prob[k]) for k in PRED[1:]):
            warn("mask_without_effect", name)
    # -- masks
    pm, tm, tms, sm = (parts.get(k) for k in ["pred_mask", "target_mask", "target_masks", "pred_mask_samples"])
    if pm is not None:
        used = True
        types = sorted(pm)
        if "" in pm and len(pm) > 1:
            raise BadInput("`pred_mask` is given both with and without a type")
        sm = None if pyg else sm
        if pyg and (types != [""] or tms is not None):
            raise BadInput("--preset pyg takes one pred_mask and one target_mask")
        if tm is not None and tms is not None:
            raise BadInput("`target_mask` and `target_masks` exclude each other")
        for key, d in [("pred_mask", pm), ("target_mask", tm), ("target_masks", tms), ("pred_mask_samples", sm)]:
            if d is None:
                continue
            if set(d) != set(types):
                raise BadInput(f"`{key}` has the types {sorted(d)}, `pred_mask` has {types}")
            for t in types:
                k = key + ("." + t if t else "")
                a = d[t]
                if a.dtype.kind not in "iufb":
                    raise BadInput(f"`{k}` has dtype {a.dtype}; numbers are needed")
                want = pm[t].shape
                got = a.shape[1:] if key in ("target_masks", "pred_mask_samples") else a.shape
                if got != want and not (pyg and a.size == pm[t].size):
                    raise BadInput(f"`{k}` has shape {list(a.shape)}, `pred_mask` has {list(want)}")
                if key in ("target_masks", "pred_mask_samples") and len(a) == 0:
                    raise BadInput(f"`{k}` is empty")
                for i, v in enumerate(a.reshape(-1)):
                    v = float(v)
                    if not math.isfinite(v):
                        raise BadInput(f"`{k}` element {i} is {v}; finite values are needed")
                    if key.startswith("pred") and P["mask_scores"] == "probs" and not pyg and not 0 <= v <= 1:
                        raise BadInput(f"`{k}` element {i} is {v}, outside [0, 1]; declare --mask-scores logits or raw")
        if pyg:
            v = as_float(pm[""])
            if np.any(v < 0) or np.any(v > 1):
                warn("sigmoid_applied", name)
                v = sigmoid_like_torch(v)
            pm = {"": v}
        # each type is compared in its own float type; all the rest works on the values, types in sorted order
        sels = {t: hard(pm[t].reshape(-1), P) for t in types}
        sel, at = (np.concatenate([sels[t][q] for t in types]) for q in (0, 1))
        flat = np.concatenate([as_float(pm[t]).reshape(-1).astype(float) for t in types])
        row["mask"], row["sel"] = flat, sel
        if np.any(at):
            warn("value_at_threshold", name)
        if flat.size >= 2 and np.all(flat == flat[0]):
            warn("constant_mask", name)
        elif flat.size and set(flat.tolist()) == {0.0, 1.0}:
            warn("binary_mask_ranking", name)
        if flat.size and not sel.any():
            warn("empty_explanation", name)
        if flat.size >= 2 and sel.all():
            warn("full_explanation", name)
        if P["mask_scores"] != "raw" and not 0 < P["threshold"] < 1 or P["target_threshold"] <= 0:
            warn("threshold_extreme", name)
        target = tm if tm is not None else tms
        if target is not None:
            if any(not np.all((target[t] == 0) | (target[t] == 1)) for t in types):
                warn("soft_truth", name)
            if tms is None:
                truths = [np.concatenate([truth_of(tm[t], P).reshape(-1) for t in types])]
            else:
                nt = {len(tms[t]) for t in types}
                if len(nt) != 1:
                    raise BadInput("`target_masks` has different numbers of truths by type")
                truths = [np.concatenate([truth_of(tms[t][k], P).reshape(-1) for t in types]) for k in range(nt.pop())]
            best = best_truth(sel, truths)
            row["truth"] = truths[best]
            row["counts"] = counts(sel, truths[best])
            if not pyg:
                row["agree"] = agreement(flat, sel, truths[best], P)
            if types != [""]:
                row["by_type"], start = {}, 0
                for t in types:
                    cut = slice(start, start + pm[t].size)
                    row["by_type"][t] = agreement(flat[cut], sel[cut], truths[best][cut], P)
                    start += pm[t].size
        if types != [""]:
            row["sparsity_type"] = {}
            for t in types:
                s = sels[t][0]
                row["sparsity_type"][t] = Fr(int((~s).sum()), s.size) if s.size else Undef(EMPTY)
        m = [mask_value(v, P) for v in flat]
        a = sorted(abs(v) for v in m)
        S, k = mp.fsum(a), len(a)
        if k == 0:
            row["shape"] = {q: Undef(EMPTY) for q in ["sparsity", "zero_fraction", "entropy", "gini"]}
        else:
            row["shape"] = dict(sparsity=Fr(int((~sel).sum()), k), zero_fraction=Fr(sum(v == 0 for v in m), k))
            row["shape"]["entropy"] = Undef(ZERO) if S == 0 else -mp.fsum(v / S * mp.log(v / S) for v in a if v > 0)
            row["shape"]["gini"] = Undef(ZERO) if S == 0 else \
                mp.fsum((2 * (i + 1) - k - 1) * v for i, v in enumerate(a)) / (k * S)
        if sm is not None:
            r = {len(sm[t]) for t in types}
            if len(r) != 1:
                raise BadInput("`pred_mask_samples` has different numbers of samples by type")
            copies = [[mask_value(v, P) for v in np.concatenate([sm[t][q].reshape(-1) for t in types])]
                      for q in range(r.pop())]
            norm = lambda v: mp.sqrt(mp.fsum(x * x for x in v))
            if not m:
                row["stability"] = dict.fromkeys(["cos", "cos_mean", "sens"], Undef(EMPTY))
            else:
                zero = norm(m) == 0
                anyzero = zero or any(norm(c) == 0 for c in copies)
                d = [] if anyzero else [1 - mp.fsum(a * b for a, b in zip(m, c)) / (norm(m) * norm(c)) for c in copies]
                row["stability"] = dict(
                    cos=Undef(ZERO) if anyzero else max(d),
                    cos_mean=Undef(ZERO) if anyzero else mp.fsum(d) / len(d),
                    sens=Undef(ZERO) if zero else max(norm([a - b for a, b in zip(m, c)]) for c in copies) / norm(m))
    elif any(v is not None for v in (tm, tms, sm)):
        raise BadInput("a target or sample mask is given without `pred_mask`")
    # -- curve and sweep
    pos, neg, x = (one(parts, k) for k in ["pos_fidelity", "neg_fidelity", "x"])
    sweep = any(k in arrays for k in LEAD2[:2])
    if (pos is None) != (neg is None):
        raise BadInput("`pos_fidelity` and `neg_fidelity` come together")
    if sweep and x is None:
        raise BadInput("a sweep needs `x`")
    if pos is not None or sweep:
        used = True
        for k, a in [("pos_fidelity", pos), ("neg_fidelity", neg), ("x", x)]:
            if a is None:
                continue
            if a.ndim != 1 or len(a) == 0 or a.dtype.kind not in "iuf":
                raise BadInput(f"`{k}` has shape {list(a.shape)}; one curve of at least one point is needed")
            for i, v in enumerate(a):
                if not math.isfinite(float(v)):
                    raise BadInput(f"`{k}` at point {i} is {v}; finite values are needed")
                if k != "x" and not pyg and not 0 <= v <= 1:
                    raise BadInput(f"`{k}` at point {i} is {v}, outside [0, 1]")
                if k == "x" and i and v < a[i - 1]:
                    raise BadInput(f"'x' must be given in ascending order (point {i}: {v} after {a[i - 1]})")
        size = len(x) if x is not None else len(pos)
        for k, a in [("pos_fidelity", pos), ("neg_fidelity", neg)] + [(k, arrays[k][1]) for k in LEAD2[:2] if k in arrays]:
            if a is not None and len(a) != size:
                raise BadInput(f"`{k}` has {len(a)} points, {size} are needed")
        if size == 1:
            warn("single_point_curve", name)
        row["x"] = None if x is None else [real(float(v)) for v in x]
        if pos is not None:
            row["curve"] = (pos, neg, x)
    if not used:
        raise BadInput(f"no metric can be computed from the keys {sorted(parts)}")
    row["has"] = {k for k in ["y"] + PRED if k in parts} if "y_hat" in parts else set()
    row["has_target"] = tm is not None or tms is not None
    return row


# ------------------------------------------------------------------------------------------------ preset pyg
def pyg_unit(name, row, P, warn):
    """what one call of the published code returns for this unit; None stands for NaN"""
    out, f32 = {}, np.float32
    if "labels" in row:
        lab, y, n = row["labels"], row["y"], row["n"]
        for k, tag in [("y_comp", "plus"), ("y_sub", "minus")]:
            if k in lab:
                eq = int(np.sum(lab[k] == lab["y_hat"]))
                out[f"fid_{tag}_model"] = float(f32(1) - f32(eq) / f32(n)) if n else None
                if y is not None:
                    d = int(np.sum((lab["y_hat"] == y) != (lab[k] == y)))
                    out[f"fid_{tag}_phenomenon"] = float(f32(d) / f32(n)) if n else None
        a, b = (row["arrays"].get(k) for k in ["y_hat", "y_sub"])
        if a and b and a[0] == b[0] == "scores":
            p, q = a[1], b[1]
            src = row["src"]
            dt = np.result_type(src["y_hat"].dtype, src["y_sub"].dtype)
            if P["task"] == "binary" and src["y_hat"].ndim == 1:
                p, q = p.T, q.T                           # softmax over the instances, as the code does
            def prob(v, d):
                if P["scores"] == "logits":
                    e = np.exp(v - v.max(-1, keepdims=True))
                    v = e / e.sum(-1, keepdims=True)
                elif P["scores"] == "log_probs":
                    v = np.exp(v)
                return v.astype(d).astype(np.float64)
            if n == 0:
                out["unfaithfulness"] = None
            else:
                p, q = prob(p, src["y_hat"].dtype), prob(q, src["y_sub"].dtype)
                if np.any((p == 0) & (q == 0)):
                    out["unfaithfulness"] = None          # 0 * -inf
                elif np.any((p == 0) & (q > 0)):
                    out["unfaithfulness"] = 1.0
                else:
                    terms = [float(b_) * (math.log(b_) - math.log(a_)) if b_ > 0 else 0.0
                             for a_, b_ in zip(p.ravel(), q.ravel())]
                    out["unfaithfulness"] = 1 - float(np.asarray(math.exp(-math.fsum(terms) / n), dt))
    if "truth" in row:
        v, t = row["mask"], row["truth"]                 # after the published sigmoid heuristic
        tp, fp, tn, fn = row["counts"]
        div = lambda a, b: float(f32(a) / f32(b)) if b else 0.0
        if v.size == 0:
            out.update(dict.fromkeys(["accuracy", "recall", "precision", "f1_score", "auroc"]))
        else:
            au = auroc([real(x) for x in v], list(t))
            if isinstance(au, Undef):
                warn("one_class_truth", name)
            out.update(accuracy=div(tp + tn, v.size), recall=div(tp, tp + fn), precision=div(tp, tp + fp),
                       f1_score=div(2 * tp, 2 * tp + fp + fn),
                       auroc=0.0 if isinstance(au, Undef) else float(f32(float(au))))
    if "curve" in row:
        pos, neg, x = (None if a is None else as_float(a) for a in row["curve"])
        dt = np.result_type(pos.dtype, neg.dtype)
        if P["pos_weight"] + P["neg_weight"] != 1.0:
            raise BadInput(f"The weights need to sum up to 1 (got {P['pos_weight']} and {P['neg_weight']})")
        c1, wp, wn = np.asarray(1, dt), np.asarray(P["pos_weight"], dt), np.asarray(P["neg_weight"], dt)
        with np.errstate(all="ignore"):
            r = c1 / ((c1 / pos) * wp + (c1 / (c1 - neg)) * wn)
        out["characterization_score"] = [None if math.isnan(v) else float(v) for v in r]
        if x is not None:
            if np.any(neg == 1):
                raise BadInput("There exists negative fidelity values containing 1, leading to a division by zero")
            y = (pos / (c1 - neg)).astype(float)
            xx = x.astype(float)
            out["fidelity_curve_auc"] = math.fsum((xx[i + 1] - xx[i]) * (y[i + 1] + y[i]) / 2 for i in range(len(xx) - 1))
    for k, v in out.items():
        if v is None or (isinstance(v, list) and None in v):
            warn("published_nan", name)
    return out


# ------------------------------------------------------------------------------------------------ readings
def evaluate(units, protocol=None):
    P = dict(DEFAULTS, **(protocol or {}))
    if P["target_threshold"] is None:                 # the document has one threshold for both masks
        P["target_threshold"] = 0.5 if P["mask_scores"] == "raw" else P["threshold"]
    warnings = {}
    def warn(code, unit):
        warnings.setdefault(code, set()).add(unit)
    if not units:
        raise BadInput("no unit was found")
    for k in ("pos_weight", "neg_weight"):
        if P["preset"] != "pyg" and not (math.isfinite(P[k]) and P[k] >= 0):
            raise BadInput(f"--{k.replace('_', '-')} is {P[k]}; a finite weight >= 0 is needed")
    if P["preset"] != "pyg" and P["pos_weight"] + P["neg_weight"] == 0:
        raise BadInput("one of the weights must be positive")
    t = P["threshold"]
    if not math.isfinite(t) or (P["mask_scores"] != "raw" and not 0 <= t <= 1):
        raise BadInput(f"--threshold is {t}; a number in [0, 1] is needed (any finite number with --mask-scores raw)")
    rows = {}
    for name in sorted(units):
        try:
            rows[name] = measure(name, units[name], P, warn)
        except BadInput as e:
            raise BadInput(f"unit {name}: {e}") from None
        rows[name]["src"] = {k: np.asarray(v) for k, v in units[name].items()}
    R = {}

    printed = {"pyg": PYG, "document": DOCUMENT}.get(P["preset"], set(IDS))

    def unit_mean(i, pairs):
        """pairs: (unit, value or Undef) -> mean over the defined ones"""
        pairs = list(pairs)
        if not pairs:
            return None
        good = [big(v) for _, v in pairs if not isinstance(v, Undef)]
        if not good:
            return pairs[0][1]
        for u, v in pairs:
            if isinstance(v, Undef) and i in printed:
                warn("undefined_in_units", u)
        return mp.fsum(good) / len(good)

    def pooled(key, pick):
        got = [rows[u][key] for u in rows if key in rows[u]]
        if not got:
            return None
        num, den = sum((big(pick(g)) for g in got), mpf(0)), sum(g[-1] for g in got)
        return num / den if den else Undef("no explained instances")

    if P["preset"] == "pyg":
        calls = {}
        for u in rows:
            try:
                calls[u] = pyg_unit(u, rows[u], P, warn)
            except BadInput as e:
                raise BadInput(f"unit {u}: {e}") from None
        for i in IDS:
            got = [(u, c[i]) for u, c in calls.items() if i in c]
            if not got:
                continue
            if i == "characterization_score":
                R[i] = series_mean([(u, [Undef("published code returns NaN") if v is None else real(v) for v in s])
                                    for u, s in got], lambda u: rows[u]["x"], warn)
            else:
                R[i] = unit_mean(i, [(u, Undef("published code returns NaN") if v is None else real(v)) for u, v in got])
    else:
        with_n = [r["n"] for r in rows.values() if "n" in r]
        if with_n:
            R["num_instances"] = sum(with_n)
        with_m = [r["mask"].size for r in rows.values() if "mask" in r]
        if with_m:
            R["num_mask_elements"] = int(sum(with_m))
        for tag in ("plus", "minus"):
            R[f"fid_{tag}_model"] = pooled(f"model_{tag}", lambda g: g[0])
            R[f"fid_{tag}_phenomenon"] = pooled(f"phen_{tag}", lambda g: g[0] + g[1])
            R[f"fid_{tag}_signed_phenomenon"] = pooled(f"phen_{tag}", lambda g: g[0] - g[1])
            for who in ("model", "phenomenon"):
                R[f"fid_{tag}_prob_{who}"] = pooled(f"prob_{who}_{tag}", lambda g: g[0])
                R[f"fid_{tag}_prob_signed_{who}"] = pooled(f"prob_{who}_{tag}", lambda g: g[1])
                R[f"robust_fid_{tag}_prob_signed_{who}"] = pooled(f"robust_{who}_{tag}", lambda g: g[0])
            R[f"robust_fid_{tag}_model"] = pooled(f"robust_{tag}", lambda g: g[0])
            R[f"fid_{tag}_mae"] = pooled(f"reg_{tag}", lambda g: g[0])
            R[f"fid_{tag}_mse"] = pooled(f"reg_{tag}", lambda g: g[1])
        for who, key in [("model", "model"), ("phenomenon", "phen")]:
            a, b = ([rows[u][f"{key}_{t}"] for u in rows if f"{key}_{t}" in rows[u]] for t in ("plus", "minus"))
            if a and b:
                na, nb = sum(g[-1] for g in a), sum(g[-1] for g in b)
                if na and nb:
                    R[f"characterization_score_{who}"] = characterization(
                        Fr(sum(sum(g[:-1]) for g in a), na), Fr(sum(sum(g[:-1]) for g in b), nb),
                        P["pos_weight"], P["neg_weight"])
                else:
                    R[f"characterization_score_{who}"] = Undef("no explained instances")
            a, b = (R.get(f"robust_fid_{t}_prob_signed_{who}") for t in ("plus", "minus"))
            if a is not None and b is not None:
                R[f"robust_fid_delta_{who}"] = a if isinstance(a, Undef) else b if isinstance(b, Undef) else a - b
        # faithfulness
        for key, gid, kid, where in [("gef", "unfaithfulness", "kl", "y_sub is 0 where y_hat is not"),
                                     ("gef_rev", "unfaithfulness_reversed", "kl_reversed", "y_hat is 0 where y_sub is not")]:
            got = [rows[u][key] for u in rows if key in rows[u]]
            if got:
                flat = [v for g in got for v in g]
                infinite = sum(v == INF for v in flat)
                if not flat:
                    R[gid] = R[kid] = Undef("no explained instances")
                else:
                    R[gid] = mp.fsum(1 - mp.exp(-v) for v in flat) / len(flat)
                    R[kid] = Undef(f"infinite: {where} in {infinite} instances") if infinite else mp.fsum(flat) / len(flat)
        if P["preset"] == "graphxai" and "unfaithfulness_reversed" in R:
            R["unfaithfulness"] = R["unfaithfulness_reversed"]
        # agreement
        ag = [u for u in rows if "agree" in rows[u]]
        for i in ["accuracy", "recall", "precision", "f1_score", "auroc", "jaccard", "average_precision",
                  "relevance_mass", "relevance_rank"]:
            R[i] = unit_mean(i, [(u, rows[u]["agree"][i]) for u in ag])
        if ag:
            tot = [sum(rows[u]["counts"][k] for u in ag) for k in range(4)]
            for k, v in table_metrics(*tot, dict(P, preset="strict")).items():
                R[k + "_pooled"] = v
        for i in ["accuracy", "recall", "precision", "f1_score", "auroc", "jaccard", "sparsity"]:
            per = {}
            for u in rows:
                src = rows[u].get("sparsity_type" if i == "sparsity" else "by_type", {})
                for t, v in src.items():
                    per.setdefault(t, []).append((u, v if i == "sparsity" else v[i]))
            if per:
                R[i + "_by_type"] = {t: unit_mean(i + "_by_type", per[t]) for t in sorted(per)}
        for i in ["sparsity", "zero_fraction", "entropy", "gini"]:
            R[i] = unit_mean(i, [(u, rows[u]["shape"][i]) for u in rows if "shape" in rows[u]])
        for i, k in [("instability_cosine", "cos"), ("instability_cosine_mean", "cos_mean"), ("sensitivity_max", "sens")]:
            R[i] = unit_mean(i, [(u, rows[u]["stability"][k]) for u in rows if "stability" in rows[u]])
        # curves
        cs = []
        for u in rows:
            if "curve" in rows[u]:
                p, n, x = rows[u]["curve"]
                cs.append((u, [real(float(v)) for v in p], [real(float(v)) for v in n], rows[u]["x"]))
        if cs:
            R["characterization_score"] = series_mean(
                [(u, [characterization(a, b, P["pos_weight"], P["neg_weight"]) for a, b in zip(p, n)]) for u, p, n, _ in cs],
                lambda u: rows[u]["x"], warn)
            areas = [(u, area(p, n, x), x) for u, p, n, x in cs if x is not None]
            R["fidelity_curve_auc"] = unit_mean("fidelity_curve_auc", [(u, a) for u, a, _ in areas])
            R["fidelity_curve_auc_normalized"] = unit_mean(
                "fidelity_curve_auc_normalized", [(u, a if isinstance(a, Undef) else Undef("x range is 0") if x[-1] == x[0] else a / (x[-1] - x[0]))
                 for u, a, x in areas])
        for who in ("model", "phenomenon"):
            curves = {}
            for tag in ("plus", "minus"):
                key = f"sweep_{who}_{tag}"
                us = [u for u in rows if key in rows[u]]
                if not us:
                    continue
                if any(rows[u]["x"] != rows[us[0]]["x"] for u in us):
                    curves[tag] = Undef("units have different x")
                else:
                    curves[tag] = []
                    for k in range(len(rows[us[0]]["x"])):
                        num, den = (sum(rows[u][key][k][q] for u in us) for q in (0, 1))
                        curves[tag].append(Fr(num, den) if den else Undef("no explained instances"))
                R[f"fid_{tag}_{who}_curve"] = curves[tag]
                x = rows[us[0]]["x"]
            if len(curves) == 2:
                p, n = curves["plus"], curves["minus"]
                if isinstance(p, Undef) or isinstance(n, Undef):
                    R[f"fidelity_curve_auc_{who}"] = p if isinstance(p, Undef) else n
                elif any(isinstance(v, Undef) for v in p + n):
                    R[f"fidelity_curve_auc_{who}"] = Undef("no explained instances")
                else:
                    R[f"fidelity_curve_auc_{who}"] = area(p, n, x)
        sw = [u for u in rows if any(k.startswith("sweep_") for k in rows[u])]
        if sw:
            same = all(rows[u]["x"] == rows[sw[0]]["x"] for u in sw)
            R["curve_x"] = rows[sw[0]]["x"] if same else Undef("units have different x")
        if P["preset"] == "document":
            R = {k: v for k, v in R.items() if k in DOCUMENT}
    # partial evidence
    hs = {u: rows[u]["has"] for u in rows if rows[u]["has"]}
    union = set().union(*hs.values()) if hs else set()
    for u, h in hs.items():
        if h != union:
            warn("partial_evidence", u)
    ms = {u: rows[u]["has_target"] for u in rows if "mask" in rows[u]}
    if len(set(ms.values())) == 2:
        for u, t in ms.items():
            if not t:
                warn("partial_evidence", u)

    metrics, undefined = {}, {}
    def put(name, v):
        if isinstance(v, Undef):
            undefined[name] = v.reason
            return None
        if isinstance(v, int):
            return v
        return float(v)
    for i in IDS:
        v = R.get(i)
        if v is None:
            continue
        name = "explanation." + i
        if isinstance(v, list):
            metrics[name] = [put(f"{name}.{k}", w) for k, w in enumerate(v)]
        elif isinstance(v, dict):
            metrics[name] = {k: put(f"{name}.{k}", w) for k, w in v.items()}
        else:
            metrics[name] = put(name, v)
    return dict(metrics=metrics, undefined=undefined, warnings={k: sorted(v) for k, v in sorted(warnings.items())})


def series_mean(got, x_of, warn):
    """componentwise mean over units; all units must be on one grid"""
    if len({len(s) for _, s in got}) > 1:
        return Undef("curves have different lengths")
    if any(x_of(u) != x_of(got[0][0]) for u, _ in got):
        return Undef("units have different x")
    out = []
    for k in range(len(got[0][1])):
        good = [big(s[k]) for _, s in got if not isinstance(s[k], Undef)]
        if not good:
            out.append(got[0][1][k])
            continue
        for u, s in got:
            if isinstance(s[k], Undef):
                warn("undefined_in_units", u)
        out.append(mp.fsum(good) / len(good))
    return out


# ------------------------------------------------------------------------------------------------ golden file format
def pack(a):
    a = np.asarray(a)
    kind = str(a.dtype)
    if a.dtype.kind == "f":
        data = [("-inf" if v == -np.inf else "inf" if v == np.inf else "nan" if v != v else
                 float(np.format_float_positional(v, unique=True)) if a.dtype == np.float32 else float(v)) for v in a.ravel()]
    else:
        data = [int(v) for v in a.ravel()]
    return dict(dtype=kind, shape=list(a.shape), data=data)


def unpack(d):
    return np.array([float(v) if isinstance(v, str) else v for v in d["data"]]).astype(d["dtype"]).reshape(d["shape"])
