"""Oracle of the independent_set family: slow, obvious, standard library only.

Every number of the family, computed straight from its formula: whole numbers where the formula holds whole numbers,
60-digit decimals rounded once to f64 where it holds exp or ln. A mean of numbers is their exact sum over their number,
rounded once.
"""
import math
import struct
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60

DOCUMENT_IDS = """loss_bce loss_feasibility loss_total feasibility num_violations accuracy precision recall f1
num_pred_1s num_true_1s set_size_ratio approx_ratio_raw postprocessed_size gap gap_ratio
approx_ratio_postprocessed q_hat steps_to_solve solved""".split()

# per-unit ids whose reported value is the mean over the units where it is defined
MEAN_IDS = DOCUMENT_IDS + """loss_bce_unweighted optimal_size is_independent is_maximal conflict_rate
solved_any_optimum optimal_rate label_is_independent label_is_maximal label_beaten label_certified_optimal
upper_bound certified_gap certified_ratio certified_optimal baseline_size baseline_approx_ratio model_lift
score_degree_size swap_size ils_size best_of_size best_of_approx_ratio solved_rate""".split()
TOTAL_IDS = {  # reported id -> row field
    "num_violations_total": "violations", "num_pred_1s_total": "pred", "num_true_1s_total": "true",
    "postprocessed_size_total": "decode", "tp_total": "tp", "fp_total": "fp", "fn_total": "fn", "tn_total": "tn",
    "nodes_total": "n", "edges_total": "m", "isolated_nodes_total": "isolated", "self_loops_total": "self_loops",
    "duplicate_edges_total": "duplicates", "one_directional_edges_total": "one_directional"}
SERIES_IDS = ["best_of_curve", "accuracy_by_step", "num_violations_by_step", "postprocessed_size_by_step",
              "solved_by_step"]
MICRO_IDS = ["loss_bce_micro", "loss_feasibility_micro", "loss_total_micro", "feasibility_micro", "accuracy_micro",
             "precision_micro", "recall_micro", "f1_micro", "set_size_ratio_micro", "approx_ratio_raw_micro",
             "gap_total", "gap_ratio_micro", "approx_ratio_postprocessed_micro", "q_hat_micro",
             "steps_to_solve_median", "drop_mean_of_ratios", "drop_ratio_of_means"]

# ids that are a quotient of whole numbers or a mean of such: expected bits are exact
INEXACT_IDS = {"loss_bce", "loss_bce_unweighted", "loss_feasibility", "loss_total", "q_hat",
               "loss_bce_micro", "loss_feasibility_micro", "loss_total_micro", "q_hat_micro"}


class Undefined:
    def __init__(self, reason):
        self.reason = reason

    def __repr__(self):
        return "Undefined(%r)" % self.reason


NO_SCORES, NO_LABELS = "no scores given", "no labels given"
A_SET, NO_NODES, NO_EDGES = "a set was given, not scores", "graph has no nodes", "graph has no edges"
NO_PRED, NO_TRUE, NO_BOTH = "no node is predicted", "no node is labelled 1", "no node is predicted or labelled 1"
NO_REF, ZERO_REF = "no labels or optimum given", "reference size is 0"
INFINITE = "infinite: a probability of 0 or 1 contradicts a label"
NO_STEPS, NEVER, NO_SAMPLES = "no steps given", "never solved", "no samples given"
STEPS_DIFFER = "units have different numbers of steps"


# ---------------------------------------------------------------------------------------------- numbers
def f32(x):
    """Nearest single-precision value (ties to even)."""
    return struct.unpack("<f", struct.pack("<f", float(x)))[0]


def sigmoid(z):
    """The real number 1 / (1 + e^-z) as a Decimal."""
    z = Decimal(z)
    if z >= 0:
        return 1 / (1 + (-z).exp())
    e = z.exp()
    return e / (1 + e)


def softplus(z):
    """The real number ln(1 + e^z) as a Decimal, good for any z."""
    z = Decimal(z)
    x = (-abs(z)).exp()
    small = x - x * x / 2 if x < Decimal("1e-31") else (1 + x).ln()
    return (z if z > 0 else Decimal(0)) + small


def minus_log(p):
    """-ln p for a probability; None when p is 0."""
    return None if p == 0 else -Decimal(p).ln()


def splitmix64(seed, count):
    """The first `count` outputs of SplitMix64."""
    out, x, mask = [], seed, (1 << 64) - 1
    for _ in range(count):
        x = (x + 0x9E3779B97F4A7C15) & mask
        z = x
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        out.append(z ^ (z >> 31))
    return out


# ------------------------------------------------------------------------------------------------ graphs
class Graph:
    """A simple undirected graph made from stored entries (u, v), and what had to be done to make it."""

    def __init__(self, n, entries, storage="directed"):
        self.n, self.entries, self.storage = n, [tuple(e) for e in entries], storage
        for u, v in self.entries:
            assert 0 <= u < n and 0 <= v < n
        proper = [(u, v) for u, v in self.entries if u != v]
        self.self_loops = len(self.entries) - len(proper)
        ordered = set(proper)
        self.edges = sorted({(min(e), max(e)) for e in proper})
        if storage == "directed":
            self.duplicates = len(proper) - len(ordered)
            self.one_directional = sum(((u, v) in ordered) != ((v, u) in ordered) for u, v in self.edges)
        else:
            self.duplicates = len(proper) - len(self.edges)
            self.one_directional = 0
        self.adj = [set() for _ in range(n)]
        for u, v in self.edges:
            self.adj[u].add(v)
            self.adj[v].add(u)
        self.m = len(self.edges)
        self.isolated = sum(not a for a in self.adj)

    def violations(self, chosen):
        return sum(1 for u, v in self.edges if chosen[u] and chosen[v])

    def is_maximal(self, chosen):
        return self.violations(chosen) == 0 and all(
            chosen[v] or any(chosen[w] for w in self.adj[v]) for v in range(self.n))

    def complement(self):
        return Graph(self.n, [(u, v) for v in range(self.n) for u in range(v) if v not in self.adj[u]], "undirected")


# ---------------------------------------------------------------------------------------------- decoders
def greedy(graph, key, allowed=None):
    """Highest key first, lower node number first among equals; take a node unless a neighbour is taken."""
    chosen = [False] * graph.n
    for v in sorted(range(graph.n), key=lambda i: (-key[i], i)):
        if (allowed is None or allowed[v]) and not any(chosen[w] for w in graph.adj[v]):
            chosen[v] = True
    return chosen


def adaptive(graph, better):
    """Repeat: take the remaining node with the greatest better(v, residual degree), lower number first; drop its
    neighbours."""
    alive, chosen = set(range(graph.n)), [False] * graph.n
    degree = [len(a) for a in graph.adj]
    while alive:
        v = min(alive, key=lambda i: (-better(i, degree[i]), i))
        chosen[v] = True
        gone = ({v} | graph.adj[v]) & alive
        alive -= gone
        for w in gone:
            for x in graph.adj[w]:
                degree[x] -= 1
    return chosen


def min_degree(graph):
    return adaptive(graph, lambda v, d: -d)


def score_degree(graph, p):
    return adaptive(graph, lambda v, d: p[v] / (1 + d))


def swap_search(graph, chosen):
    """(1,2)-swaps until none is left: smallest x in the set, then the smallest pair v < w that can replace it."""
    chosen = list(chosen)

    def owner(v):  # the one chosen neighbour of v, or None
        near = [w for w in graph.adj[v] if chosen[w]]
        return near[0] if len(near) == 1 else None

    while True:
        owned = {}
        for v in range(graph.n):
            if not chosen[v]:
                x = owner(v)
                if x is not None:
                    owned.setdefault(x, []).append(v)
        move = None
        for x in sorted(owned):
            pairs = [(v, w) for i, v in enumerate(owned[x]) for w in owned[x][i + 1:] if w not in graph.adj[v]]
            if pairs:
                move = (x, *min(pairs))
                break
        if move is None:
            return chosen
        x, v, w = move
        chosen[x], chosen[v], chosen[w] = False, True, True
        for u in range(graph.n):
            if not chosen[u] and not any(chosen[t] for t in graph.adj[u]):
                chosen[u] = True


def baseline(graph, name, seed=0):
    degree = [len(a) for a in graph.adj]
    if name == "min-degree":
        return min_degree(graph)
    if name == "low-degree":
        return greedy(graph, [-d for d in degree])
    if name == "high-degree":
        return greedy(graph, degree)
    if name == "high-degree-cut":  # the published decoder-only baseline: degree / max degree > 0.5
        top = max(degree, default=0)
        return greedy(graph, degree, [2 * d > top for d in degree])
    if name == "index":
        return greedy(graph, [0] * graph.n)
    if name == "random":
        return greedy(graph, splitmix64(seed, graph.n))
    raise ValueError(name)


def elimination_order(graph):
    alive, degree, order = set(range(graph.n)), [len(a) for a in graph.adj], []
    while alive:
        v = min(alive, key=lambda i: (degree[i], i))
        alive.discard(v)
        order.append(v)
        for w in graph.adj[v]:
            degree[w] -= 1
    return order


def clique_cover(graph, order):
    """Put each node into the largest clique that is wholly adjacent to it (first made among equals), else a new one."""
    cliques = []
    for v in order:
        best = None
        for c in cliques:
            if all(w in graph.adj[v] for w in c) and (best is None or len(c) > len(best)):
                best = c
        if best is None:
            cliques.append([v])
        else:
            best.append(v)
    return len(cliques)


def upper_bound(graph):
    by_degree = sorted(range(graph.n), key=lambda v: (len(graph.adj[v]), v))
    return min(clique_cover(graph, o) for o in (range(graph.n), by_degree, elimination_order(graph)))


# --------------------------------------------------------------------------------------------- protocol
DEFAULTS = {"preset": "strict", "pos_weight": None, "feasibility_weight": 0.0, "reference": "auto",
            "reference_mean": None, "baseline": "min-degree", "certificate": "on", "decoders": [], "seed": 0}


def protocol(**changes):
    p = dict(DEFAULTS, **changes)
    if p["pos_weight"] is None:
        p["pos_weight"] = "graph" if p["preset"] == "strict" else "pooled"
    if p["preset"] != "strict":
        p["reference"] = "labels"
    return p


def unit(name, n, entries, kind=None, scores=None, labels=None, optimum=None, axis=None, storage="directed"):
    """scores: a list of n values, or with axis 'samples' / 'steps' a list of such lists."""
    rows = [] if scores is None else (scores if axis else [scores])
    return {"name": name, "graph": Graph(n, entries, storage), "kind": kind, "axis": axis, "rows": rows,
            "labels": labels, "optimum": optimum}


# ------------------------------------------------------------------------------------------ unit -> row
def predicted(kind, scores, preset):
    """The document's preds_binary: p > 0.5, strictly."""
    if kind == "set":
        return [s == 1 for s in scores]
    if preset == "strict":
        return [s > 0 for s in scores] if kind == "logits" else [s > 0.5 for s in scores]
    return [f32(sigmoid(s)) > 0.5 for s in scores] if kind == "logits" else [f32(s) > 0.5 for s in scores]


def ranking(kind, scores, preset):
    if preset == "strict" or kind == "set":
        return scores
    return [f32(sigmoid(s)) for s in scores] if kind == "logits" else [f32(s) for s in scores]


def decode(graph, kind, scores, preset):
    allowed = predicted(kind, scores, preset) if preset == "trm-mis-head" else None
    return greedy(graph, ranking(kind, scores, preset), allowed)


def node_terms(kind, scores):
    """Per node: probability, -ln p, -ln(1-p), |2p-1|; None for an infinite term."""
    out = []
    for s in scores:
        p = sigmoid(s) if kind == "logits" else Decimal(s)
        a = softplus(-Decimal(s)) if kind == "logits" else minus_log(p)
        b = softplus(s) if kind == "logits" else minus_log(1 - p)
        out.append((p, a, b, abs(2 * p - 1)))
    return out


def total(values):
    return float(sum(values, Decimal(0)))


def measure(u, P):
    g, kind, preset, labels = u["graph"], u["kind"], P["preset"], u["labels"]
    row = {"n": g.n, "m": g.m, "entries": len(g.entries), "self_loops": g.self_loops, "duplicates": g.duplicates,
           "one_directional": g.one_directional, "isolated": g.isolated, "storage": g.storage, "kind": kind,
           "axis": u["axis"], "labelled": labels is not None, "optimum": u["optimum"], "true": 0}
    if labels is not None:
        labels = [int(y) for y in labels]
        row["true"] = sum(labels)
        row["label_violations"] = g.violations(labels)
        row["label_maximal"] = g.is_maximal(labels)
    if P["certificate"] == "on":
        row["upper_bound"] = upper_bound(g)
    if P["baseline"] != "none":
        row["baseline"] = sum(baseline(g, P["baseline"], P["seed"]))
    row["tied"] = 0
    if kind is not None:
        steps = u["axis"] == "steps"
        main = u["rows"][-1] if steps else u["rows"][0]
        pred = predicted(kind, main, preset)
        row["pred"] = sum(pred)
        row["violations"] = g.violations(pred)
        row["raw_violations"] = sum(1 for a, b in g.entries if pred[a] and pred[b])
        row["conflicted"] = sum(1 for v in range(g.n) if pred[v] and any(pred[w] for w in g.adj[v]))
        row["maximal"] = g.is_maximal(pred)
        chosen = decode(g, kind, main, preset)
        row["decode"] = sum(chosen)
        row["decoded"] = [v for v in range(g.n) if chosen[v]]
        key = ranking(kind, main, preset)
        seen = {}
        for k in key:
            seen[k] = seen.get(k, 0) + 1
        row["tied"] = sum(1 for k in key if seen[k] > 1)
        row["lowest"], row["highest"] = min(main, default=0), max(main, default=0)
        if labels is not None:
            row["tp"] = sum(1 for a, y in zip(pred, labels) if a and y)
            row["fp"] = sum(1 for a, y in zip(pred, labels) if a and not y)
            row["fn"] = sum(1 for a, y in zip(pred, labels) if not a and y)
            row["tn"] = sum(1 for a, y in zip(pred, labels) if not a and not y)
        if kind != "set":
            t = node_terms(kind, main)
            row["s_edge"] = total([t[a][0] * t[b][0] for a, b in g.edges])
            row["s_edge_stored"] = total([t[a][0] * t[b][0] for a, b in g.entries])
            if labels is not None:
                pos = [x[1] for x, y in zip(t, labels) if y]
                neg = [x[2] for x, y in zip(t, labels) if not y]
                if preset != "strict" and kind == "probs":  # -100 is the floor of torch's log in BCE on probabilities
                    pos = [100 if x is None or x > 100 else x for x in pos]
                    neg = [100 if x is None or x > 100 else x for x in neg]
                row["infinite"] = None in pos or None in neg
                if not row["infinite"]:
                    row["s_pos"], row["s_neg"] = total(pos), total(neg)
                row["s_conf"] = total([x[3] for x, a, y in zip(t, pred, labels) if a == bool(y)])
        prob = [float(x[0]) for x in node_terms(kind, main)] if kind != "set" else [float(s) for s in main]
        if "score-degree" in P["decoders"]:
            row["score_degree"] = sum(score_degree(g, prob))
        if "swap" in P["decoders"]:
            row["swap"] = sum(swap_search(g, decode(g, kind, main, "strict")))
        if u["axis"] == "samples":
            row["sample_sizes"] = [sum(decode(g, kind, s, preset)) for s in u["rows"]]
        if steps:
            row["steps"] = []
            for s in u["rows"]:
                a = predicted(kind, s, preset)
                row["steps"].append({
                    "correct": None if labels is None else sum(1 for x, y in zip(a, labels) if x == bool(y)),
                    "violations": g.violations(a), "decode": sum(decode(g, kind, s, preset))})
    return row


def best_known(row):
    """The largest independent set seen in this run."""
    sizes = [row[k] for k in ("baseline", "decode", "score_degree", "swap", "ils") if k in row]
    sizes += row.get("sample_sizes", [])
    if row.get("violations") == 0:
        sizes.append(row["pred"])
    if row["labelled"] and row["label_violations"] == 0:
        sizes.append(row["true"])
    return max(sizes, default=0)


# --------------------------------------------------------------------------------- row -> per-unit values
def reference(row, P):
    if P["reference"] in ("auto", "optimum") and row["optimum"] is not None:
        return row["optimum"]
    if P["reference"] in ("auto", "labels") and row["labelled"]:
        return row["true"]
    return Undefined(NO_REF)


def first_step(row):
    for t, s in enumerate(row["steps"], 1):
        if s["correct"] == row["n"] and s["violations"] == 0:
            return t
    return None


def needs(row, scores=False, labels=False, real=False, nodes=False):
    """The reason why a number cannot exist, or None."""
    if (scores or real) and row["kind"] is None:
        return NO_SCORES
    if real and row["kind"] == "set":
        return A_SET
    if labels and not row["labelled"]:
        return NO_LABELS
    if nodes and row["n"] == 0:
        return NO_NODES
    return None


def quotient(a, b, reason):
    return Undefined(reason) if b == 0 else a / b


def per_unit(row, P, pooled_weight=None):
    """Every per-unit number of the strict preset."""
    v = {}

    def put(name, missing, value):
        v[name] = Undefined(missing) if missing else (value() if callable(value) else value)

    def bce(weighted):
        if row["infinite"]:
            return Undefined(INFINITE)
        if not weighted:
            return (row["s_pos"] + row["s_neg"]) / row["n"]
        w = weight(row["n"], row["true"], P["pos_weight"], pooled_weight)
        return (row["s_neg"] if w is None else w * row["s_pos"] + row["s_neg"]) / row["n"]

    def loss_total():
        b = v["loss_bce"]
        if isinstance(b, Undefined) or P["feasibility_weight"] == 0:
            return b
        f = v["loss_feasibility"]
        return f if isinstance(f, Undefined) else b + P["feasibility_weight"] * f

    need = lambda **k: needs(row, **k)
    put("loss_bce", need(real=True, labels=True, nodes=True), lambda: bce(True))
    put("loss_bce_unweighted", need(real=True, labels=True, nodes=True), lambda: bce(False))
    put("loss_feasibility", need(real=True), lambda: quotient(row["s_edge"], row["m"], NO_EDGES))
    put("loss_total", None, loss_total)
    put("feasibility", need(scores=True), lambda: quotient(row["m"] - row["violations"], row["m"], NO_EDGES))
    put("num_violations", need(scores=True), lambda: row["violations"])
    put("accuracy", need(scores=True, labels=True, nodes=True), lambda: (row["tp"] + row["tn"]) / row["n"])
    put("precision", need(scores=True, labels=True), lambda: quotient(row["tp"], row["tp"] + row["fp"], NO_PRED))
    put("recall", need(scores=True, labels=True), lambda: quotient(row["tp"], row["tp"] + row["fn"], NO_TRUE))
    put("f1", need(scores=True, labels=True),
        lambda: quotient(2 * row["tp"], 2 * row["tp"] + row["fp"] + row["fn"], NO_BOTH))
    put("num_pred_1s", need(scores=True), lambda: row["pred"])
    put("num_true_1s", need(labels=True), lambda: row["true"])
    put("set_size_ratio", need(scores=True, labels=True), lambda: quotient(row["pred"], row["true"], NO_TRUE))
    ref = reference(row, P)
    no_ref = ref.reason if isinstance(ref, Undefined) else None
    put("optimal_size", no_ref, ref)
    put("approx_ratio_raw", need(scores=True) or no_ref, lambda: quotient(row["pred"], ref, ZERO_REF))
    put("postprocessed_size", need(scores=True), lambda: row["decode"])
    put("gap", need(scores=True) or no_ref, lambda: ref - row["decode"])
    put("gap_ratio", need(scores=True) or no_ref, lambda: quotient(ref - row["decode"], ref, ZERO_REF))
    put("approx_ratio_postprocessed", need(scores=True) or no_ref, lambda: quotient(row["decode"], ref, ZERO_REF))
    put("q_hat", need(real=True, labels=True, nodes=True), lambda: row["s_conf"] / row["n"])
    put("solved", need(scores=True, labels=True, nodes=True),
        lambda: int(row["tp"] + row["tn"] == row["n"] and row["violations"] == 0))
    step_need = (need(scores=True) or (None if row["axis"] == "steps" else NO_STEPS)
                 or need(labels=True, nodes=True))
    put("steps_to_solve", step_need, lambda: Undefined(NEVER) if first_step(row) is None else first_step(row))
    put("solved_rate", step_need, lambda: int(first_step(row) is not None))
    put("is_independent", need(scores=True), lambda: int(row["violations"] == 0))
    put("is_maximal", need(scores=True), lambda: int(row["maximal"]))
    put("conflict_rate", need(scores=True), lambda: quotient(row["conflicted"], row["pred"], NO_PRED))
    put("solved_any_optimum", need(scores=True) or no_ref,
        lambda: int(row["violations"] == 0 and row["pred"] >= ref))
    put("optimal_rate", need(scores=True) or no_ref, lambda: int(row["decode"] >= ref))
    put("label_is_independent", need(labels=True), lambda: int(row["label_violations"] == 0))
    put("label_is_maximal", need(labels=True), lambda: int(row["label_maximal"]))
    put("label_beaten", need(labels=True), lambda: int(best_known(row) > row["true"]))
    off = None if P["certificate"] == "on" else "not requested: --certificate on"
    put("label_certified_optimal", off or need(labels=True),
        lambda: int(row["label_violations"] == 0 and row["true"] == row["upper_bound"]))
    put("upper_bound", off, lambda: row["upper_bound"])
    put("certified_gap", need(scores=True) or off, lambda: row["upper_bound"] - row["decode"])
    put("certified_ratio", need(scores=True) or off, lambda: quotient(row["decode"], row["upper_bound"], NO_NODES))
    put("certified_optimal", need(scores=True) or off, lambda: int(row["decode"] == row["upper_bound"]))
    off = None if P["baseline"] != "none" else "not requested: --baseline NAME"
    put("baseline_size", off, lambda: row["baseline"])
    put("baseline_approx_ratio", off or no_ref, lambda: quotient(row["baseline"], ref, ZERO_REF))
    put("model_lift", need(scores=True) or off or no_ref,
        lambda: quotient(row["decode"] - row["baseline"], ref, ZERO_REF))
    for name, field, flag in (("score_degree_size", "score_degree", "score-degree"), ("swap_size", "swap", "swap"),
                              ("ils_size", "ils", "ils")):
        asked = None if flag in P["decoders"] else "not requested: --decoders " + flag
        put(name, need(scores=True) or asked, lambda f=field: row[f])
    sample_need = need(scores=True) or (None if row["axis"] == "samples" else NO_SAMPLES)
    put("best_of_size", sample_need, lambda: max(row["sample_sizes"]))
    put("best_of_approx_ratio", sample_need or no_ref,
        lambda: quotient(max(row["sample_sizes"]), ref, ZERO_REF))
    return v


def weight(n, true, pos_weight, pooled):
    """None when no node is labelled 1: the weight then multiplies nothing."""
    if pos_weight == "pooled":
        return pooled
    if pos_weight == "graph":
        return None if true == 0 else (n - true) / true
    return float(pos_weight)


# ---------------------------------------------------------------------------------------- rows -> report
def over(values, count):
    """The exact sum of f64 values over a whole number, rounded once: the mean of equal values is that value."""
    return float(sum(map(Fraction, values), Fraction(0)) / count)


def mean(values):
    """Mean over the defined values: their exact sum over their number, rounded once."""
    good = [x for x in values if not isinstance(x, Undefined)]
    if not good:
        return values[0]
    return over(good, len(good))


def read_strict(rows, P):
    names = sorted(rows)
    R = [rows[k] for k in names]
    labelled = [r for r in R if r["labelled"]]
    pos, neg = sum(r["true"] for r in labelled), sum(r["n"] - r["true"] for r in labelled)
    pooled = None if pos == 0 else neg / pos
    U = {k: per_unit(rows[k], P, pooled) for k in names}
    out = {i: mean([U[k][i] for k in names]) for i in MEAN_IDS}

    def add_up(bce, feasibility):  # loss_total is the sum of the two reported numbers
        if isinstance(bce, Undefined) or P["feasibility_weight"] == 0:
            return bce
        return feasibility if isinstance(feasibility, Undefined) else bce + P["feasibility_weight"] * feasibility

    out["loss_total"] = add_up(out["loss_bce"], out["loss_feasibility"])
    scored = [r for r in R if r["kind"] is not None]
    both = [r for r in scored if r["labelled"]]
    for name, field in TOTAL_IDS.items():
        if field in ("n", "m", "isolated", "self_loops", "duplicates", "one_directional"):
            out[name] = sum(r[field] for r in R)
        elif field == "true":
            out[name] = sum(r["true"] for r in labelled) if labelled else Undefined(NO_LABELS)
        elif field in ("tp", "fp", "fn", "tn"):
            out[name] = sum(r[field] for r in both) if both else Undefined(needs(R[0], scores=True) or NO_LABELS)
        else:
            out[name] = sum(r[field] for r in scored) if scored else Undefined(NO_SCORES)
    # pooled over the units where the per-unit value exists
    def pick(i):
        return [rows[k] for k in names if not isinstance(U[k][i], Undefined)]

    def first_reason(i):
        return Undefined(U[names[0]][i].reason)

    g = pick("loss_bce")
    if g:
        # the weights multiply as they do per unit; the exact sum of w * s_pos and s_neg is rounded once
        parts = []
        for r in g:
            w = weight(r["n"], r["true"], P["pos_weight"], pooled)
            parts += [r["s_neg"]] + ([] if w is None else [w * r["s_pos"]])
        out["loss_bce_micro"] = over(parts, sum(r["n"] for r in g))
    else:
        out["loss_bce_micro"] = first_reason("loss_bce")
    g = pick("loss_feasibility")
    out["loss_feasibility_micro"] = (over((r["s_edge"] for r in g), sum(r["m"] for r in g)) if g
                                     else first_reason("loss_feasibility"))
    out["loss_total_micro"] = add_up(out["loss_bce_micro"], out["loss_feasibility_micro"])
    g = pick("feasibility")
    out["feasibility_micro"] = (sum(r["m"] - r["violations"] for r in g) / sum(r["m"] for r in g) if g
                                else first_reason("feasibility"))
    g = pick("accuracy")
    out["accuracy_micro"] = (sum(r["tp"] + r["tn"] for r in g) / sum(r["n"] for r in g) if g
                             else first_reason("accuracy"))
    if both:
        tp, fp, fn = (sum(r[k] for r in both) for k in ("tp", "fp", "fn"))
        out["precision_micro"] = quotient(tp, tp + fp, NO_PRED)
        out["recall_micro"] = quotient(tp, tp + fn, NO_TRUE)
        out["f1_micro"] = quotient(2 * tp, 2 * tp + fp + fn, NO_BOTH)
        out["set_size_ratio_micro"] = quotient(sum(r["pred"] for r in both), sum(r["true"] for r in both), NO_TRUE)
    else:
        for i in ("precision", "recall", "f1", "set_size_ratio"):
            out[i + "_micro"] = first_reason(i)
    g = pick("gap")
    if g:
        ref = sum(reference(r, P) for r in g)
        out["gap_total"] = ref - sum(r["decode"] for r in g)
        out["approx_ratio_raw_micro"] = quotient(sum(r["pred"] for r in g), ref, ZERO_REF)
        out["gap_ratio_micro"] = quotient(out["gap_total"], ref, ZERO_REF)
        out["approx_ratio_postprocessed_micro"] = quotient(sum(r["decode"] for r in g), ref, ZERO_REF)
    else:
        for i in ("gap_total", "approx_ratio_raw_micro", "gap_ratio_micro", "approx_ratio_postprocessed_micro"):
            out[i] = first_reason("gap")
    g = pick("q_hat")
    out["q_hat_micro"] = over((r["s_conf"] for r in g), sum(r["n"] for r in g)) if g else first_reason("q_hat")
    # steps
    g = pick("solved_rate")
    if not g:
        out["steps_to_solve_median"] = first_reason("solved_rate")
    else:
        t = sorted(math.inf if first_step(r) is None else first_step(r) for r in g)
        k = len(t)
        low, high = t[(k - 1) // 2], t[k // 2]
        out["steps_to_solve_median"] = Undefined(NEVER) if high == math.inf else (low + high) / 2
    stepped = [r for r in R if r["axis"] == "steps"]
    for name, what in (("accuracy_by_step", "correct"), ("num_violations_by_step", "violations"),
                       ("postprocessed_size_by_step", "decode"), ("solved_by_step", "solved")):
        if what in ("correct", "solved"):
            use = [r for r in stepped if r["labelled"] and r["n"] > 0]
            fail = needs(R[0], scores=True) or (NO_LABELS if stepped else NO_STEPS)
        else:
            use, fail = stepped, needs(R[0], scores=True) or NO_STEPS
        if not use:
            out[name] = Undefined(fail)
            continue
        T = min(len(r["steps"]) for r in use)
        if what == "solved":
            out[name] = [sum(1 for r in use if first_step(r) is not None and first_step(r) <= t) / len(use)
                         for t in range(1, T + 1)]
        elif what == "correct":
            out[name] = [over((r["steps"][t]["correct"] / r["n"] for r in use), len(use)) for t in range(T)]
        else:
            out[name] = [sum(r["steps"][t][what] for r in use) / len(use) for t in range(T)]
    sampled = [r for r in R if r["axis"] == "samples"]
    if sampled:
        S = min(len(r["sample_sizes"]) for r in sampled)
        out["best_of_curve"] = [sum(max(r["sample_sizes"][:k]) for r in sampled) / len(sampled)
                                for k in range(1, S + 1)]
    else:
        out["best_of_curve"] = Undefined(needs(R[0], scores=True) or NO_SAMPLES)
    # drop
    gr = out["gap_ratio"]
    out["drop_mean_of_ratios"] = gr if isinstance(gr, Undefined) else 100 * gr
    if P["reference_mean"] is not None:
        s = out["postprocessed_size"]
        out["drop_ratio_of_means"] = s if isinstance(s, Undefined) else (
            100 * ((P["reference_mean"] - s) / P["reference_mean"]))
    else:
        gm = out["gap_ratio_micro"]
        out["drop_ratio_of_means"] = gm if isinstance(gm, Undefined) else 100 * gm
    return out, U


def read_published(rows, P):
    """Presets document and trm-mis-head: all units are one batch of the published code."""
    eps, head = 1e-8, P["preset"] == "trm-mis-head"
    R = [rows[k] for k in sorted(rows)]
    out = {}
    scores = all(r["kind"] is not None for r in R)
    real = scores and all(r["kind"] != "set" for r in R)
    labels = all(r["labelled"] for r in R)
    no_scores = None if scores else NO_SCORES
    no_real = None if real else (A_SET if scores else NO_SCORES)
    no_labels = None if labels else NO_LABELS
    S = lambda k: sum(r[k] for r in R)
    F = lambda k: math.fsum(r[k] for r in R)
    N, T, M, G = S("n"), S("true"), S("entries"), len(R)

    def put(name, missing, value):
        out[name] = Undefined(missing) if missing else value()

    def bce():
        if P["pos_weight"] == "pooled":
            p = max(T, 1)
            w = max(N - p, 1) / p
        else:
            w = weight(N, T, P["pos_weight"], None)
        return (F("s_neg") + (0 if w is None else w * F("s_pos"))) / N

    put("loss_bce", no_real or no_labels or (NO_NODES if N == 0 else None), bce)
    put("loss_feasibility", no_real, lambda: 0.0 if M == 0 else F("s_edge_stored") / M)
    put("loss_total", no_real or no_labels or (NO_NODES if N == 0 else None),
        lambda: out["loss_bce"] + P["feasibility_weight"] * out["loss_feasibility"])
    put("feasibility", no_scores,
        lambda: 1.0 if M == 0 or S("pred") == 0 else 1.0 - min(S("raw_violations") / M, 1.0))
    put("num_violations", no_scores, lambda: (S("raw_violations") + 1) // 2)
    put("accuracy", no_scores or no_labels or (NO_NODES if N == 0 else None), lambda: (S("tp") + S("tn")) / N)
    if head:
        put("precision", no_scores or no_labels, lambda: S("tp") / max(S("tp") + S("fp"), eps))
        put("recall", no_scores or no_labels, lambda: S("tp") / max(S("tp") + S("fn"), eps))
        put("f1", no_scores or no_labels, lambda: 2 * S("tp") / max(2 * S("tp") + S("fp") + S("fn"), eps))
    else:
        put("precision", no_scores or no_labels, lambda: S("tp") / (S("tp") + S("fp") + eps))
        put("recall", no_scores or no_labels, lambda: S("tp") / (S("tp") + S("fn") + eps))
        put("f1", no_scores or no_labels, lambda: 2 * (out["precision"] * out["recall"])
            / (out["precision"] + out["recall"] + eps))
    put("num_pred_1s", no_scores, lambda: S("pred"))
    put("num_true_1s", no_labels, lambda: T)
    put("set_size_ratio", no_scores or no_labels, lambda: S("pred") / (T + eps))
    use = [r for r in R if r["true"] > 0]
    e = 0.0 if head else eps

    def over_graphs(value):
        return lambda: math.fsum(value(r) for r in use) / G

    put("approx_ratio_raw", no_scores or no_labels,
        over_graphs(lambda r: r["pred"] / r["true"]) if head else (lambda: out["set_size_ratio"]))
    put("postprocessed_size", no_scores or no_labels, over_graphs(lambda r: r["decode"]))
    put("gap", no_scores or no_labels, over_graphs(lambda r: r["true"] - r["decode"]))
    put("gap_ratio", no_scores or no_labels, over_graphs(lambda r: (r["true"] - r["decode"]) / (r["true"] + e)))
    put("approx_ratio_postprocessed", no_scores or no_labels,
        over_graphs(lambda r: r["decode"] / (r["true"] + e)))
    put("q_hat", no_real or no_labels or (NO_NODES if N == 0 else None), lambda: F("s_conf") / N)
    put("solved", no_scores or no_labels or (NO_NODES if N == 0 else None),
        lambda: int(S("tp") + S("tn") == N and out["num_violations"] == 0))
    steps = all(r["axis"] == "steps" for r in R)

    def steps_to_solve():
        if len({len(r["steps"]) for r in R}) != 1:
            return Undefined(STEPS_DIFFER)
        n_steps = len(R[0]["steps"])
        for t in range(n_steps):
            if all(r["steps"][t]["correct"] == r["n"] and r["steps"][t]["violations"] == 0 for r in R):
                return t + 1
        return n_steps

    put("steps_to_solve", no_scores or (None if steps else NO_STEPS) or no_labels, steps_to_solve)
    return {i: out[i] for i in DOCUMENT_IDS}


def report_rows(rows, P):
    """(metrics, undefined reasons, per-unit values) of one run."""
    if P["preset"] == "strict":
        out, U = read_strict(rows, P)
    else:
        out = read_published(rows, P)
        U = {k: read_published({k: rows[k]}, P) for k in rows}
    metrics = {k: None if isinstance(x, Undefined) else x for k, x in out.items()}
    undefined = {k: x.reason for k, x in out.items() if isinstance(x, Undefined)}
    per = {k: {i: None if isinstance(x, Undefined) else x for i, x in U[k].items()} for k in sorted(U)}
    return metrics, undefined, per


# ----------------------------------------------------------------------------------------------- warnings
def warnings(rows, P):
    """{code: [unit names]}; the audits of the spec."""
    W = {}

    def add(code, name):
        W.setdefault(code, []).append(name)

    for k in sorted(rows):
        r = rows[k]
        if r["self_loops"]:
            add("self-loops", k)
        if r["duplicates"]:
            add("duplicate-edges", k)
        if r["one_directional"]:
            add("one-directional-edges", k)
        if r["labelled"]:
            if r["label_violations"]:
                add("label-not-independent", k)
            elif not r["label_maximal"]:
                add("label-not-maximal", k)
            if best_known(r) > r["true"]:
                add("label-beaten", k)
            if r["label_violations"] == 0 and r["optimum"] is not None and r["optimum"] != r["true"]:
                add("optimum-differs-from-label", k)
        if r["optimum"] is not None:
            if best_known(r) > r["optimum"]:
                add("optimum-beaten", k)
            if r["optimum"] > r.get("upper_bound", r["optimum"]):
                add("optimum-above-bound", k)
        if r["kind"] is None:
            continue
        if r["violations"] and 20 * r["violations"] <= r["m"]:
            add("feasibility-hides-conflicts", k)
        if r["n"] and r["pred"] == 0:
            add("nothing-predicted", k)
        if r["n"] >= 16:
            if r["kind"] == "probs" and r["lowest"] >= 0.5 and r["highest"] <= 0.7310586:
                add("double-sigmoid", k)
            if r["kind"] == "logits" and r["lowest"] >= 0 and r["highest"] <= 1:
                add("logits-look-like-probabilities", k)
            if r["kind"] != "set" and 2 * r["tied"] > r["n"]:
                add("tied-scores", k)
    R = [rows[k] for k in sorted(rows)]
    scored = [r for r in R if r["kind"] is not None]
    if scored and sum(r.get("baseline", 0) for r in scored) > sum(r["decode"] for r in scored):
        W["below-baseline"] = []
    missing = [k for k in sorted(rows) if not rows[k]["labelled"]]
    if missing and len(missing) < len(R):
        W["labels-missing"] = missing
    if P["reference"] == "auto":
        kinds = {"optimum" if r["optimum"] is not None else "labels" for r in R if r["optimum"] is not None or r["labelled"]}
        if len(kinds) == 2:
            W["mixed-reference"] = []
    if P["preset"] == "strict":
        _, U = read_strict(rows, P)
        partial = [i for i in MEAN_IDS if i not in ("steps_to_solve", "loss_total")
                   and 0 < sum(isinstance(U[k][i], Undefined) for k in U) < len(U)]
        if partial:
            W["mean-over-subset"] = []
    return W


# ---------------------------------------------------------------------------------------------- gradients
def loss_and_grad(graphs, pos_weight="graph", feasibility_weight=0.0, preset="strict"):
    """Loss and its derivative by each logit. graphs: list of (n, entries, logits, labels).
    strict: mean of BCE_g over graphs with nodes + lambda * mean of F_g over graphs with edges.
    document: BCE over all nodes + lambda * F over all stored entries. No edges at all: F is 0."""
    lam, strict = Decimal(feasibility_weight), preset == "strict"
    G = sum(1 for n, *_ in graphs if n)
    with_edges = sum(1 for n, e, *_ in graphs if Graph(n, e).m)
    N = sum(n for n, *_ in graphs)
    T = sum(sum(int(v) for v in y) for *_, y in graphs)
    M = sum(len(e) for _, e, *_ in graphs)
    bce_sum, feas_sum, grads = Decimal(0), Decimal(0), []
    for n, entries, z, y in graphs:
        p = [sigmoid(x) for x in z]
        t = sum(int(v) for v in y)
        if pos_weight == "graph":
            w = Decimal(n - t) / t if t else Decimal(1)
        elif pos_weight == "pooled":
            q = max(T, 1)
            w = Decimal(N - T if strict else max(N - q, 1)) / q
        else:
            w = Decimal(pos_weight)
        nodes = Decimal(n * G if strict else N)
        bce = sum(((w * softplus(-Decimal(a)) if v else softplus(a)) for a, v in zip(z, y)), Decimal(0))
        grad = [(-w * (1 - q) if v else q) / nodes for q, v in zip(p, y)]
        pairs = Graph(n, entries).edges if strict else [tuple(e) for e in entries]
        scale = Decimal(len(pairs) * with_edges if strict else M)
        feas = sum((p[a] * p[b] for a, b in pairs), Decimal(0))
        for a, b in pairs:
            grad[a] += lam * p[a] * (1 - p[a]) * p[b] / scale
            grad[b] += lam * p[b] * (1 - p[b]) * p[a] / scale
        bce_sum += bce / nodes if n else 0
        if pairs:
            feas_sum += feas / scale
        grads.append([float(x) for x in grad])
    return {"loss_bce": float(bce_sum), "loss_feasibility": float(feas_sum),
            "loss_total": float(bce_sum + lam * feas_sum), "grad": grads}
