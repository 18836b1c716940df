"""The golden inputs of the independent_set family."""
import random

from . import oracle as O


def both(pairs):
    """Each undirected edge stored in both directions, as PyTorch Geometric does."""
    return [e for a, b in pairs for e in ((a, b), (b, a))]


def f32s(values):
    return [O.f32(v) for v in values]


def random_graph(seed, n, p):
    r = random.Random(seed)
    return [(a, b) for b in range(n) for a in range(b) if r.random() < p]


def noisy(seed, n, labels=None, sd=1.5, push=1.0):
    r = random.Random(seed)
    return f32s(r.gauss(0, sd) + (0 if labels is None else push * (2 * labels[i] - 1)) for i in range(n))


def case(name, units, note="", **params):
    return {"name": name, "note": note, "params": params, "units": units}


def u(name, n, entries, labels=None, optimum=None, axis=None, dtype="f32", **scores):
    kind, values = next(iter(scores.items()), (None, None))
    return {"unit": name, "n": n, "edge_index": [[a for a, _ in entries], [b for _, b in entries]], "kind": kind,
            "scores": values, "axis": axis, "dtype": dtype if kind else None, "labels": labels, "optimum": optimum}


PATH3 = both([(0, 1), (1, 2)])


def small_cases():
    out = []
    path = lambda **k: u("path3", 3, PATH3, labels=[1, 0, 1], logits=f32s([1.3863, 2.1972, 0.8473]), **k)
    for preset in ("strict", "document", "trm-mis-head"):
        out.append(case("path3/" + preset, [path()], "a path of three nodes, all predicted: both edges violated",
                        preset=preset))
    out.append(case("path3/weights", [path()], "a fixed weight and a feasibility term", pos_weight=3.0,
                    feasibility_weight=0.5))
    out.append(case("path3/document-weights", [path()], "", preset="document", pos_weight=1.0, feasibility_weight=0.5))
    out.append(case("path3/optimum", [path(optimum=2)], "the declared optimum is the reference", reference="auto"))
    edgeless = lambda **k: u("edgeless", 4, [], labels=[1, 1, 1, 1], logits=[2.0, -1.0, 0.0, 0.5], **k)
    out.append(case("no_edges/strict", [edgeless()], "0/0 edges: feasibility undefined; logit 0 is not predicted",
                    feasibility_weight=0.5))
    out.append(case("no_edges/document", [edgeless()], "feasibility 1, loss_feasibility 0 by convention",
                    preset="document", feasibility_weight=0.5))
    unl = lambda: u("zero", 3, both([(0, 1)]), labels=[0, 0, 0], logits=[1.0, 2.0, -1.0])
    for preset in ("strict", "document", "trm-mis-head"):
        out.append(case("empty_labels/" + preset, [unl()], "no node labelled 1: ratios undefined, or 2e8 in `document`",
                        preset=preset))
    out.append(case("all_labels/strict", [u("all", 3, [], labels=[1, 1, 1], logits=[1.0, 2.0, -1.0])],
                    "weight 0: the weighted loss is 0 whatever the scores"))
    out.append(case("nothing_predicted/strict", [u("none", 3, PATH3, labels=[1, 0, 1], logits=[-1.0, -2.0, -3.0])],
                    "precision undefined, F1 0"))
    out.append(case("nothing_at_all/strict", [u("none", 2, both([(0, 1)]), labels=[0, 0], logits=[-1.0, -2.0])],
                    "F1 undefined"))
    loops = [
        ("self_loop", u("loop", 3, both([(0, 1)]) + [(2, 2)], labels=[1, 0, 1], logits=[1.0, -2.0, 3.0])),
        ("all_self_loops", u("loops", 3, PATH3 + [(0, 0), (1, 1), (2, 2)], labels=[1, 0, 1], logits=[2.0, -2.0, 1.0])),
        ("duplicate_edges", u("dup", 3, both([(0, 1), (0, 1), (1, 2)]), labels=[1, 0, 1], logits=[2.0, 1.0, -1.0])),
        ("one_direction", u("one", 4, [(0, 1), (1, 2), (2, 3)], labels=[1, 0, 1, 0], logits=[2.0, 1.0, 1.5, -1.0])),
        ("one_direction_odd", u("one", 4, [(0, 1), (1, 2), (2, 3)], labels=[1, 0, 1, 0],
                                logits=f32s([2.0, 1.0, 1.5, 0.1]))),
        ("mixed_storage", u("mix", 5, [(0, 1), (1, 0), (1, 0), (2, 1), (3, 3), (0, 4), (4, 0)], labels=[1, 0, 1, 1, 0],
                            logits=[1.0, 1.0, 1.0, 1.0, 1.0]))]
    for name, x in loops:
        out.append(case(name + "/strict", [x], "strict makes the graph simple and counts what it did",
                        feasibility_weight=0.5))
        out.append(case(name + "/document", [x], "entries are used as stored", preset="document",
                        feasibility_weight=0.5))
    batch = [u("a", 3, PATH3, labels=[1, 0, 1], logits=[1.0, -1.0, 2.0]),
             u("b", 2, both([(0, 1)]), labels=[0, 0], logits=[1.0, 2.0]),
             u("c", 1, [], labels=[1], logits=[3.0])]
    for preset in ("strict", "document", "trm-mis-head"):
        for w in (None, "pooled", 2.0):
            out.append(case("batch/%s/%s" % (preset, w), batch, "graph b has no node labelled 1", preset=preset,
                            pos_weight=w, feasibility_weight=0.25))
    star = u("star", 4, both([(0, 1), (0, 2), (0, 3)]), labels=[1, 0, 0, 0], logits=[-2.0, 1.0, 2.0, 3.0])
    for preset in ("strict", "document", "trm-mis-head"):
        out.append(case("suboptimal_label/" + preset, [star], "the decode beats the label: gap -2, ratio 3",
                        preset=preset))
    out.append(case("wrong_optimum/strict", [dict(star, optimum=2)], "a declared optimum smaller than a set found"))
    out.append(case("impossible_optimum/strict", [u("k3", 3, both([(0, 1), (1, 2), (0, 2)]), labels=[1, 0, 0], optimum=2,
                                                    logits=[1.0, -1.0, -1.0])], "optimum above the clique cover bound"))
    sat = u("sat", 3, PATH3, labels=[1, 0, 1], logits=[30.0, 40.0, -200.0])
    for preset in ("strict", "document", "trm-mis-head"):
        out.append(case("saturated/" + preset, [sat],
                        "strict ranks by logits (node 1 first); single precision ties nodes 0 and 1 at p = 1",
                        preset=preset))
    out.append(case("huge_logits/strict", [u("huge", 4, both([(0, 1), (2, 3)]), labels=[1, 0, 1, 0], dtype="f64",
                                             logits=[800.0, -800.0, -1e300, 1e300])], "no overflow, no infinity"))
    tiny = u("tiny", 4, both([(0, 1), (2, 3)]), labels=[1, 0, 1, 0], logits=f32s([1e-8, -1e-8, 1e-30, 0.0]))
    for preset in ("strict", "document"):
        out.append(case("tiny_logits/" + preset, [tiny], "z > 0 is predicted; in single precision sigmoid(1e-8) is 0.5",
                        preset=preset))
    ties = u("ties", 6, both([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]), labels=[1, 0, 1, 0, 1, 0], dtype="f64",
             logits=[0.0, -0.0, 0.0, 1.0, 1.0, -0.0])
    out.append(case("ties/strict", [ties], "equal scores (0 and -0 too): lower node first"))
    pr = u("probs", 5, both([(0, 1), (1, 2), (3, 4)]), labels=[1, 0, 1, 1, 0], probs=f32s([0.9, 0.2, 0.5, 0.75, 0.25]))
    for preset in ("strict", "document", "trm-mis-head"):
        out.append(case("probs/" + preset, [pr], "p = 0.5 is not predicted", preset=preset, feasibility_weight=1.0))
    hard = u("hard", 3, PATH3, labels=[1, 0, 1], probs=[0.0, 0.0, 1.0])
    out.append(case("hard_probs/strict", [hard], "-ln 0: infinite, so undefined"))
    out.append(case("hard_probs/document", [hard], "the logarithm stops at -100", preset="document"))
    half = u("half", 4, both([(0, 1), (2, 3)]), labels=[1, 0, 0, 1], dtype="f16", logits=[0.5, -1.25, 2.0, 2.0])
    out.append(case("half_precision/strict", [half], "a tie in f16"))
    sets = [u("ok", 4, both([(0, 1), (1, 2), (2, 3)]), labels=[1, 0, 1, 0], set=[0, 1, 0, 1], dtype="u8"),
            u("clash", 4, both([(0, 1), (1, 2), (2, 3)]), labels=[1, 0, 1, 0], set=[1, 1, 0, 0], dtype="u8"),
            u("small", 4, both([(0, 1), (1, 2), (2, 3)]), labels=[1, 0, 1, 0], set=[1, 0, 0, 0], dtype="u8")]
    out.append(case("sets/strict", sets, "solver output: losses and q_hat undefined, the rest as usual"))
    out.append(case("sets/document", sets, "", preset="document"))
    out.append(case("no_scores/strict", [u("g", 5, both([(0, 1), (1, 2), (2, 3), (3, 4)]), labels=[1, 0, 1, 0, 1])],
                    "label audit and baseline only"))
    out.append(case("no_labels/strict", [u("g", 5, both([(0, 1), (1, 2), (2, 3), (3, 4)]),
                                           logits=[1.0, 2.0, -1.0, 0.5, 0.25])], "certificate without labels"))
    some = [u("a", 3, PATH3, labels=[1, 0, 1], logits=[1.0, -1.0, 2.0]),
            u("b", 3, PATH3, optimum=2, logits=[-1.0, 1.0, -2.0]), u("c", 3, PATH3, logits=[1.0, 1.0, 1.0])]
    for ref in ("auto", "labels", "optimum"):
        out.append(case("references/" + ref, some, "labels, optimum, neither", reference=ref))
    out.append(case("reference_mean/strict", some[:1] + [dict(some[1], labels=[1, 0, 1])],
                    "drop against a published mean", reference_mean=2.5))
    out.append(case("empty_graph/strict", [u("empty", 0, [], labels=[], logits=[]),
                                           u("one", 1, [], labels=[1], logits=[1.0])], "no nodes"))
    out.append(case("empty_graph_alone/strict", [u("empty", 0, [], labels=[], logits=[])], "no nodes"))
    lab = [1, 0, 1, 0, 1]
    p5 = both([(0, 1), (1, 2), (2, 3), (3, 4)])
    good, bad = [2.0, -1.0, 1.0, -1.0, 0.5], [1.0, 1.0, -1.0, -1.0, 0.5]
    steps = [u("fast", 5, p5, labels=lab, axis="steps", logits=[bad, good, bad, good]),
             u("late", 5, p5, labels=lab, axis="steps", logits=[bad, bad, bad, good]),
             u("never", 5, p5, labels=lab, axis="steps", logits=[bad, bad, bad, bad])]
    for preset in ("strict", "document"):
        out.append(case("steps/" + preset, steps, "solved at step 2, at step 4, never", preset=preset))
    out.append(case("steps_all_solved/document", steps[:2], "batch solved when all are: step 4", preset="document"))
    out.append(case("steps_lengths/strict", [steps[0], dict(steps[1], scores=[bad, good])], "4 and 2 steps"))
    out.append(case("steps_lengths/document", [steps[0], dict(steps[1], scores=[bad, good])], "undefined",
                    preset="document"))
    out.append(case("steps_unlabelled/strict", [dict(steps[0], labels=None)], "violations and sizes by step only"))
    g = both(random_graph(5, 14, 0.3))
    out.append(case("samples/strict", [u("s", 14, g, axis="samples", optimum=6,
                                         logits=[noisy(k, 14) for k in range(5)]),
                                       u("t", 5, p5, axis="samples", labels=lab, logits=[bad, good, bad])],
                    "best of 5 and of 3 samples; the first sample is the prediction"))
    return out


def decoder_cases():
    out = []
    graphs = []
    for i, (n, p) in enumerate([(12, 0.2), (20, 0.3), (28, 0.12), (24, 0.5), (40, 0.1)]):
        graphs.append(u("g%d" % i, n, both(random_graph(100 + i, n, p)), logits=noisy(200 + i, n)))
    for b in ("min-degree", "low-degree", "high-degree", "high-degree-cut", "index", "random"):
        out.append(case("decoders/" + b, graphs, "", baseline=b, decoders=["score-degree", "swap"], seed=3))
    out.append(case("decoders/none", graphs, "core numbers only", baseline="none", certificate="off"))
    # a graph where one swap opens a second one
    chain = both([(0, 1), (0, 2), (3, 1), (3, 4), (3, 5), (6, 5), (6, 7), (6, 8)])
    out.append(case("decoders/swap-chain", [u("chain", 9, chain, logits=[3.0, 0.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0])],
                    "greedy takes the hubs, swaps replace them", decoders=["swap", "score-degree"]))
    return out


def warning_cases():
    n, out = 20, []
    ring = both([(i, (i + 1) % n) for i in range(n)])
    y = [1 - i % 2 for i in range(n)]
    q = [O.f32(O.sigmoid(O.f32(i / 20))) for i in range(n)]
    out.append(case("warn/double-sigmoid", [u("g", n, ring, labels=y, probs=q)], "sigmoid applied twice"))
    out.append(case("warn/logits-look-like-probs", [u("g", n, ring, labels=y, logits=f32s([i / 20 for i in range(n)]))]))
    out.append(case("warn/tied", [u("g", n, ring, labels=y, probs=f32s([0.9 if v else 0.1 for v in y]))]))
    full = both([(a, b) for b in range(40) for a in range(b) if (a + b) % 2])
    out.append(case("warn/feasibility", [u("g", 40, full, labels=[1 - i % 2 for i in range(40)],
                                           logits=[1.0 if i in (0, 1, 2) else -1.0 - i / 64 for i in range(40)])],
                    "2 violated edges of 400: feasibility 0.995, not an independent set"))
    out.append(case("warn/label-not-maximal", [u("g", 3, PATH3, labels=[1, 0, 0], logits=[1.0, -1.0, -2.0])]))
    out.append(case("warn/label-not-independent", [u("g", 3, PATH3, labels=[1, 1, 0], logits=[1.0, -1.0, -2.0])]))
    return out


def medium_cases():
    out = []
    gs = []
    for i in range(6):
        n = 30 + 7 * i
        e = random_graph(40 + i, n, 0.08 + 0.02 * i)
        g = O.Graph(n, both(e))
        y = [int(v) for v in O.min_degree(g)]
        gs.append(u("er%02d" % i, n, both(e), labels=y, logits=noisy(60 + i, n, y)))
    for preset in ("strict", "document", "trm-mis-head"):
        out.append(case("medium/" + preset, gs, "six random graphs", preset=preset, feasibility_weight=0.5))
    out.append(case("medium/pooled", gs, "", pos_weight="pooled", feasibility_weight=2.0, decoders=["swap", "score-degree"]))
    ps = [dict(x, kind="probs", scores=[O.f32(O.sigmoid(z)) for z in x["scores"]]) for x in gs]
    out.append(case("medium/probs", ps, "the same scores as single-precision probabilities"))
    return out


def build(c):
    P = O.protocol(**c["params"])
    units = [O.unit(x["unit"], x["n"], list(zip(*x["edge_index"])), x["kind"], x["scores"], x["labels"], x["optimum"],
                    x["axis"]) for x in c["units"]]
    rows = {x["name"]: O.measure(x, P) for x in units}
    m, und, per = O.report_rows(rows, P)
    expect = dict(metrics=m, undefined=und, warnings=O.warnings(rows, P), per_unit=per,
                  decoded={k: r["decoded"] for k, r in sorted(rows.items()) if "decoded" in r})
    return dict(c, params=P, expect=expect)


def cases():
    return [build(c) for c in small_cases() + decoder_cases() + warning_cases() + medium_cases()]


def gradient_cases():
    r = random.Random(11)
    e = random_graph(12, 9, 0.35)
    y = [int(v) for v in O.min_degree(O.Graph(9, both(e)))]
    big = (9, both(e), f32s(r.gauss(0, 2) for _ in range(9)), y)
    p3 = (3, PATH3, f32s([1.3863, 2.1972, 0.8473]), [1, 0, 1])
    lone = (4, [], [2.0, -1.0, 0.0, 0.5], [1, 1, 0, 1])
    zero = (2, both([(0, 1)]), [1.0, 2.0], [0, 0])
    loop = (3, both([(0, 1), (0, 1)]) + [(2, 2)], [1.0, -2.0, 3.0], [1, 0, 1])
    sat = (3, PATH3, [40.0, -800.0, 12.0], [0, 1, 1])
    out = []
    for name, graphs in (("path3", [p3]), ("edgeless", [lone]), ("no_positive", [zero]), ("loop_and_duplicate", [loop]),
                         ("saturated", [sat]), ("random9", [big]), ("batch", [p3, zero, lone, big])):
        for preset in ("strict", "document"):
            for w in (("graph", "pooled", 2.5) if preset == "strict" else ("pooled", 1.0)):
                for lam in (0.0, 0.5):
                    c = {"name": "%s/%s/%s/%s" % (name, preset, w, lam), "preset": preset, "pos_weight": w,
                         "feasibility_weight": lam,
                         "graphs": [{"n": n, "edge_index": [[a for a, _ in e], [b for _, b in e]], "logits": z, "labels": v}
                                    for n, e, z, v in graphs]}
                    c["expect"] = O.loss_and_grad(graphs, w, lam, preset)
                    out.append(c)
    return out
