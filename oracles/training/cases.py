"""The golden inputs of the training family: curves."""
import math
import random

from .oracle import DEFAULTS, LEGACY, f32, report


def R(group, fold, values, x=None):
    d = dict(group=group, fold=str(fold), values=values)
    if x is not None:
        d["x"] = x
    return d


A = [.5, .95, .93, .96, .91, .94]
B = [.92, .97, .98, .99, .99, .99]
C = [.3, .6, .91, .85, .0, .0]
D = [.1, .2, .3, .5, .7, .8]
E = [.95, .94, .89, .95, .95, .95]
FIVE = [R("cfg", i, v) for i, v in enumerate((A, B, C, D, E))]
NAN = float("nan")


def decoded(n, s, broken_ms, broken_t, last_one=(), unit=1.0, drop_last=()):
    """curves with the published counts: s = 0-based first saturation, broken_ms >= broken_t"""
    out = []
    for f, (nn, ss, bm, bt) in enumerate(zip(n, s, broken_ms, broken_t)):
        v = [0.5 * unit] * ss + [0.95 * unit]
        v += [0.85 * unit] * bt + [0.92 * unit] * (bm - bt)
        v += [0.97 * unit] * (nn - len(v))
        if f in drop_last:                               # a broken step placed at the end
            v = v[:ss + 1] + v[ss + 2:] + [v[ss + 1]]
        if f in last_one:
            v[-1] = 1.0 * unit
        assert len(v) == nn
        out.append(v)
    return out


def random_runs(seed, groups, folds, n_lo, n_hi, digits=4):
    rng = random.Random(seed)
    runs = []
    for g in range(groups):
        for f in range(folds):
            n = rng.randint(n_lo, n_hi)
            base, top, rate = rng.uniform(.2, .8), rng.uniform(.8, 1.0), rng.uniform(.1, .9)
            v = [round(min(1.0, max(0.0, top - (top - base) * math.exp(-rate * i) + rng.gauss(0, .03))), digits) for i in range(n)]
            runs.append(R("g%02d" % g, f, v))
    return runs


def cases():
    c = []

    def add(name, runs, note="", **params):
        c.append((name, note, params, runs))
    for pre in ("strict", "document", "revised") + LEGACY:
        add("five-folds-" + pre, FIVE, "one configuration, five folds, one never saturates, one collapses to exactly 0", preset=pre)
    doc = [R("ex", f, v) for f, v in zip("1234", ([.2, .5, .92, .95, .6], [.1, .2, .3, .4, .5, .97, .98], [.93, .91, .95, .92], [.1, .2, .3, .35]))]
    for pre in ("strict", "document", "revised"):
        add("document-example-" + pre, doc, "V = 3, 6, 1, never: naive 10/4, wise 10/3", preset=pre)
    add("all-saturate-all-broken", [R("c", 0, [.91, .5, .95]), R("c", 1, [.2, .99, .89, .3])], "the document's strict stability is defined here", preset="document")
    add("one-fold-steady-document", [R("c", 0, [.91, .5, .95]), R("c", 1, [.2, .99, .99])], "literal condition: a steady fold blanks strict stability", preset="document")
    add("threshold-equality", [R("c", 0, [.9, .9, .9]), R("c", 1, [.9, .91, .9, .9]), R("c", 2, [.95, .95])], "0.9 is neither saturated nor broken")
    add("threshold-equality-inclusive", [R("c", 0, [.9, .9, .9]), R("c", 1, [.9, .91, .9, .9]), R("c", 2, [.95, .95])], "0.9 saturates", inclusive=True)
    add("equal-last-is-not-diverged", [R("c", 0, [.95, .2, .95]), R("c", 1, [.95, .2, .9499999999999999])])
    add("saturates-at-last", [R("c", 0, [.1, .2, .95]), R("c", 1, [.95])], "no epoch after saturation: retention undefined")
    add("no-fold-saturates", [R("c", 0, [.1, .2]), R("c", 1, [.3])])
    add("no-fold-saturates-v3", [R("c", i, [.1, .2]) for i in range(5)], preset="table-2024-04-25")
    add("single-run", [R("c", 0, [.1, .95, .9, .8, .95, .97])])
    add("lower-is-better", [R("c", 0, [2.0, .09, .2, .05]), R("c", 1, [.5, .4, .3, .2]), R("c", 2, [.05, .04, .03])], direction="min", threshold=0.1)
    add("percent-by-threshold", [R("c", i, [round(v * 100, 6) for v in r["values"]]) for i, r in enumerate(FIVE)], threshold=90.0)
    add("percent-by-scale", [R("c", i, [round(v * 100, 6) for v in r["values"]]) for i, r in enumerate(FIVE)], scale=100.0)
    add("percent-forgotten", [R("c", i, [round(v * 100, 6) for v in r["values"]]) for i, r in enumerate(FIVE)], "everything above 1 saturates: must warn")
    add("fraction-with-90", FIVE, threshold=90.0)
    add("declared-folds-missing", FIVE[:3], folds=5)
    add("table-preset-four-folds", FIVE[:4], preset="table-2024-04-24")
    add("table-preset-four-folds-v3", FIVE[:4], preset="table-2024-04-25")
    add("two-groups", FIVE + [R("other", i, r["values"]) for i, r in enumerate(FIVE[:3])])
    add("nan-missing", [R("c", 0, [.5, NAN, .95, .8, NAN]), R("c", 1, [None, .95, None, .96])], "NaN is not logged")
    add("nan-fail", [R("c", 0, [.5, NAN, .95, .8, NAN]), R("c", 1, [None, .95, None, .96])], "NaN counts as the worst value", nan="fail")
    add("duplicates-last", [R("c", 0, [.5, .95, .6, .97], [0, 1, 1, 2])])
    add("duplicates-first", [R("c", 0, [.5, .95, .6, .97], [0, 1, 1, 2])], duplicates="first")
    add("duplicates-mean", [R("c", 0, [.5, .95, .6, .97], [0, 1, 1, 2])], duplicates="mean")
    add("rows-out-of-order", [R("c", 0, [.97, .5, .6, .95], [3, 0, 2, 1])])
    add("gaps-by-evaluation", [R("c", 0, [.5, .95, .8, .97], [0, 3, 4, 9]), R("c", 1, [.5, .6], [0, 9])])
    add("gaps-by-epoch", [R("c", 0, [.5, .95, .8, .97], [0, 3, 4, 9]), R("c", 1, [.5, .6], [0, 9])], index="epoch")
    add("gaps-by-epoch-first-1", [R("c", 0, [.5, .95, .8, .97], [1, 4, 5, 10])], index="epoch", first_epoch=1)
    add("float32-tie", [R("c", 0, [f32(.6), f32(.59)]), R("c", 1, [.5, f32(.61)])], "0.6 as single precision is above 0.6", threshold=0.6)
    tie = [R("c", 0, [f32(.6), f32(.59), f32(.7), f32(.6)]), R("c", 1, [.5, f32(.61), f32(.6)]), R("c", 2, [f32(.9), f32(.6), .4])]
    add("precision-single", tie, "0.6 as single precision is the threshold: neither above nor below", threshold=0.6, precision="single")
    add("precision-single-inclusive", tie, threshold=0.6, precision="single", inclusive=True)
    add("precision-single-sweep", [R("c", 0, [f32(.9), f32(.95), f32(.9), f32(.8)]), R("c", 1, [f32(.8), f32(.9), f32(.7)])], threshold=.8,
        precision="single", sweep=[.9, .7])
    add("precision-double", tie, "the same values, compared as they are", threshold=0.6, precision="double")
    late = [R("c", 0, [.95, .96, .8, .97], [6, 7, 8, 9]), R("c", 1, [.5, .95, .96, .97], [4, 9, 14, 19])]
    add("late-start", late, "fold 0 begins at epoch 6; fold 1 is evaluated every fifth epoch")
    add("late-start-by-epoch", late, index="epoch")
    add("late-start-steps", [R("c", 0, [.95, .96, .97], [500, 1000, 1345]), R("c", 1, [.95, .96, .97], [1500, 2000, 2500])], x="step")
    add("zero-collapse-v3", [R("c", i, [.95, 0.0, .95, 0.0]) for i in range(5)], preset="table-2024-04-25")
    add("zero-collapse-strict", [R("c", i, [.95, 0.0, .95, 0.0]) for i in range(5)])
    add("parsed-index-divergence", [R("c", i, v) for i, v in enumerate(([.5, .95, .99], [.5, .95, 1.0], [.95, .96, .91], [.2, .3, .99, .99], [.95, .2, .1]))],
        "published slip: the epoch index is compared with the last ratio", preset="table-2024-04-25", metric="val_part_parsed")
    add("parsed-script-2025", [R("c", i, v) for i, v in enumerate(([.5, .95, .99], [.5, .95, 1.0], [.95, .96, .91], [.2, .3, .99, .99], [.95, .2, .1]))],
        preset="script-2025", metric="val_part_parsed")
    add("sustained", [R("c", 0, [.95, .2, .95, .96, .3, .95, .95, .95]), R("c", 1, [.95, .95, .2])])
    add("sustained-2", [R("c", 0, [.95, .2, .95, .96, .3, .95, .95, .95]), R("c", 1, [.95, .95, .2])], sustain=2)
    add("km-median-exact-half", [R("c", 0, [.1, .95]), R("c", 1, [.1, .1, .1]), R("c", 2, [.1, .1, .1, .95]), R("c", 3, [.1, .1, .1, .1, .1])], "3/4 * 1/2")
    add("km-half-needs-exact-arithmetic", [R("c", i, [.1] * i + [.95]) for i in range(4)] , "3/4 * 2/3 is one half exactly")
    add("horizon", [R("c", 0, [.1, .95]), R("c", 1, [.1] * 6), R("c", 2, [.1, .1, .1, .95])], horizon=3)
    add("horizon-too-far", [R("c", 0, [.1, .95]), R("c", 1, [.1] * 6)], horizon=7)
    add("horizon-past-but-known", [R("c", 0, [.1, .95]), R("c", 1, [.95])], horizon=7)
    add("par-2", FIVE, par=2)
    add("olympic-two-failures", [R("c", i, v) for i, v in enumerate((A, B, D, D))])
    add("sweep", FIVE, sweep=[.95, .5, .9, .99])
    add("bootstrap", FIVE, bootstrap=200, seed=7)
    add("bootstrap-undefined", [R("c", 0, [.95, .2]), R("c", 1, [.1, .2])], bootstrap=100, seed=1)
    add("fold-trend-up", [R("c", i, [.5 + .05 * i, .95]) for i in range(5)])
    add("fold-trend-first", [R("c", 0, [.2, .3, .91, .92, .93])] + [R("c", i, [.8 + .01 * ((7 * i) % 5), .95, .99]) for i in range(1, 5)])
    add("uneven", [R("a", 0, A), R("a", 1, B), R("b", 0, A)])
    # published cells
    n = (33, 10, 7, 11, 6)
    j = decoded(n, (1, 0, 0, 0, 0), (8, 5, 1, 0, 0), (1, 1, 0, 0, 0), last_one=(0,))
    for pre in ("table-2024-04-24", "table-2024-04-25", "script-2025", "strict"):
        add("published-T5_b_v_j-RTP-" + pre, [R("T5_b_v_j", i, v) for i, v in enumerate(j)], "counts decoded from the published tables", preset=pre, metric="val_part_parsed")
    t = decoded((19, 10, 9, 9, 13), (0,) * 5, (2, 0, 0, 0, 0), (0,) * 5)
    for pre in ("table-2024-04-25", "script-2025"):
        add("published-B_b_v_t_1_f-RTP-" + pre, [R("B_b_v_t_1_f", i, v) for i, v in enumerate(t)], preset=pre, metric="val_part_parsed")
    q = decoded((25, 30, 23, 6, 37), (0, 1, 1, 0, 0), (0, 14, 9, 0, 2), (0, 3, 2, 0, 1), unit=100.0, drop_last=(4,))
    add("published-B_b_v_n-F1micro", [R("B_b_v_n", i, v) for i, v in enumerate(q)], preset="table-2024-04-25", metric="val_F1_micro", threshold=90.0)
    u = [[.5] * 9] * 4 + [[.5] * 23 + [.95] + [.85] * 4 + [.93]]
    u = [[round(100 * v, 6) for v in vals] for vals in u]
    add("published-T5_vu-F1macro", [R("T5_vu", i, v) for i, v in enumerate(u)], preset="table-2024-04-25", metric="val_F1_macro", threshold=90.0)
    for s in range(3):
        rr = random_runs(s, 3, 5, 6, 40)
        for pre in ("strict", "revised", "table-2024-04-25"):
            add("random-%d-%s" % (s, pre), rr, preset=pre)
    add("random-many-folds", random_runs(9, 2, 30, 3, 60), sweep=[.8, .85, .9, .95])
    return c


def jsonable(v):
    if isinstance(v, float) and not math.isfinite(v):
        return "NaN" if math.isnan(v) else "Infinity" if v > 0 else "-Infinity"
    if isinstance(v, list):
        return [jsonable(x) for x in v]
    if isinstance(v, dict):
        return {k: jsonable(x) for k, x in v.items()}
    return v


def golden_cases():
    return [dict(name=name, note=note, protocol=dict(DEFAULTS, **params), runs=jsonable(runs),
                 expect=jsonable(report(runs, **params))) for name, note, params, runs in cases()]
