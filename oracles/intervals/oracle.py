#!/usr/bin/env python3
"""Slow, obvious intervals and comparisons. Plain Python, no packages.

A case holds units (name, stratum, cluster, row). `READERS` turn rows into numbers exactly as the specs of the families say:
integer quotients are one IEEE division, means of floats are their exact sum over their number, rounded once.
"""
import json
import math
import random
from fractions import Fraction as Fr

MASK = (1 << 64) - 1


# ---------------------------------------------------------------- draws
class SplitMix64:
    def __init__(self, seed):
        self.s = seed & MASK

    def next(self):
        self.s = (self.s + 0x9E3779B97F4A7C15) & MASK
        z = self.s
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return (self.next() * n) >> 64


def draw(sizes, resamples, seed, separate):
    """For each resample one list of indices a stratum. separate: every stratum is drawn as if it were alone."""
    if separate:
        parts = []
        for n in sizes:
            g = SplitMix64(seed)
            parts.append([[g.below(n) for _ in range(n)] for _ in range(resamples)])
        return [[part[r] for part in parts] for r in range(resamples)]
    g = SplitMix64(seed)
    return [[[g.below(n) for _ in range(n)] for n in sizes] for _ in range(resamples)]


# ---------------------------------------------------------------- distributions
def phi(z):
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def bisect(f, p, lo, hi):
    for _ in range(200):
        mid = (lo + hi) / 2
        if f(mid) < p:
            lo = mid
        else:
            hi = mid
    return (lo + hi) / 2


def phi_inverse(p):
    """Accurate in both tails: the upper half is the mirrored lower half."""
    return -bisect(phi, 1 - p, -40.0, 0.0) if p > 0.5 else bisect(phi, p, -40.0, 0.0)


def student(t, v):
    """P(T <= t), t >= 0, v a whole number: the finite trigonometric sum."""
    theta = math.atan2(t, math.sqrt(v))
    c, s = math.cos(theta), math.sin(theta)
    if v % 2:
        term, total = c, 0.0
        for k in range(1, (v - 1) // 2 + 1):
            total += term
            term *= c * c * (2 * k) / (2 * k + 1)
        a = 2 / math.pi * (theta + s * total)
    else:
        term, total = 1.0, 0.0
        for k in range(1, v // 2 + 1):
            total += term
            term *= c * c * (2 * k - 1) / (2 * k)
        a = s * total
    return 0.5 + a / 2


def student_inverse(p, v):
    hi = 1.0
    while student(hi, v) < p and hi < 1e12:
        hi *= 2
    return bisect(lambda t: student(t, v), p, 0.0, hi)


# ---------------------------------------------------------------- intervals
NEAR = []                       # how near a rank came to jumping; the cases keep away from that


def place(share, r):
    x = share * r + 0.5
    NEAR.append(abs(x - round(x)) if share > 1e-12 else 1.0)
    return math.floor(x)


def interval(theta, values, jack, sizes, half, method, resamples, order_statistic=False):
    """half = the share left out on each side. (bounds or None, reason or None, method really used). jack: one list of leave-one-out numbers a stratum."""
    if any(n < 2 for n in sizes):
        return None, "fewer than 2", None
    v = sorted(x for x in values if x is not None)
    r = len(v)
    if r < 0.9 * resamples:
        return None, "defined in %d of %d resamples" % (r, resamples), None

    def percentile(share):
        k = min(math.floor(share * r + 0.5), (r - 1) // 2)
        return [v[k], v[r - 1 - k]]

    if method == "percentile":
        return percentile(half), None, method
    if method == "expanded":
        n, s = sum(sizes), len(sizes)
        place(phi(-math.sqrt(n / (n - s)) * student_inverse(1 - half, n - s)), r)
        return percentile(phi(-math.sqrt(n / (n - s)) * student_inverse(1 - half, n - s))), None, method
    if v[0] == v[-1]:
        return [v[0], v[0]], None, "bca"
    if order_statistic:
        return percentile(half), "an order statistic", "percentile"
    p0 = (Fr(sum(x < theta for x in v)) + Fr(sum(x == theta for x in v), 2)) / r
    if p0 in (0, 1):
        return percentile(half), "every resample is on one side", "percentile"
    z0 = phi_inverse(float(p0))
    lost = sum(x is None for part in jack for x in part)
    if lost > 0.1 * sum(sizes):
        return percentile(half), "jackknife undefined", "percentile"
    cube = square = Fr(0)
    for part, n in zip(jack, sizes):
        known = [Fr(x) for x in part if x is not None]
        mean = sum(known, Fr(0)) / len(known) if known else Fr(0)
        f = Fr(n - 1, n)
        cube += f ** 3 * sum(((mean - x) ** 3 for x in known), Fr(0))
        square += f ** 2 * sum(((mean - x) ** 2 for x in known), Fr(0))
    a = float(cube) / (6 * float(square) ** 1.5) if square else 0.0
    shares = []
    for z in (phi_inverse(half), -phi_inverse(half)):
        w = 1 - a * (z0 + z)
        if w <= 0:
            return percentile(half), "acceleration too large", "percentile"
        shares.append(z0 + (z0 + z) / w)
    low = min(place(phi(shares[0]), r), r - 1)
    high = r - 1 - min(place(phi(-shares[1]), r), r - 1)
    return [v[low], v[max(low, high)]], None, "bca"


# ---------------------------------------------------------------- rows to numbers
def mean(values):
    values = [v for v in values if v is not None]
    return float(sum(map(Fr, values), Fr(0)) / len(values)) if values else None


def quotient(a, b):
    return a / b if b else None


def read_columns(rows, _):
    """x: a number or null; num, den: whole numbers"""
    x = sorted(r["x"] for r in rows if r["x"] is not None)
    m = len(x)
    return {"mean": mean(x), "ratio": quotient(sum(r["num"] for r in rows), sum(r["den"] for r in rows)),
            "median": None if not m else x[m // 2] if m % 2 else mean(x[m // 2 - 1:m // 2 + 1])}


def read_confusion(rows, _):
    k = len(rows[0]) if rows else 0
    total = [[sum(r[i][j] for r in rows) for j in range(k)] for i in range(k)]
    out, ious = {}, []
    for c in range(k):
        tp, row, col = total[c][c], sum(total[c]), sum(total[i][c] for i in range(k))
        iou = quotient(tp, row + col - tp)
        out["segmentation.iou." + str(c)] = iou
        ious.append(iou)
    out["segmentation.miou"] = mean(ious)
    out["segmentation.pixel_accuracy"] = quotient(sum(total[c][c] for c in range(k)), sum(map(sum, total)))
    return out


def read_training(rows, _):
    """rows: curves of one group, threshold 0.9, preset strict"""
    first, broken = [], []
    for m in rows:
        s = next((i for i, x in enumerate(m, 1) if x > 0.9), None)
        if s is not None:
            first.append(s)
            broken.append(sum(x < 0.9 for x in m[s:]) / len(m))
    return {"training.saturation_count": len(first), "training.velocity_wise": quotient(sum(first), len(first)),
            "training.stability_wise": mean(broken), "training.best_mean": mean([max(m) for m in rows]),
            "training.last_mean": mean([m[-1] for m in rows])}


def read_robustness(rows, conditions):
    """row: condition, tested, clean, attacked (counts of correct test nodes)"""
    out, means = {}, []
    for c in conditions:
        here = [r for r in rows if r["condition"] == c]
        acc = mean([r["attacked"] / r["tested"] for r in here])
        out["robustness.curve.%s.robust_accuracy" % c] = acc
        means.append(acc)
    out["robustness.accuracy_average"] = mean(means)        # over the conditions that these rows have
    return out


READERS = {"columns": read_columns, "confusion": read_confusion, "training": read_training, "robustness": read_robustness}
SEPARATE = {"training"}


def plan(case):
    """[(stratum, [(cluster, [unit index])])]: both in byte order; a unit without a cluster is its own."""
    table = {}
    for i, u in sorted(enumerate(case["units"]), key=lambda p: p[1]["name"].encode()):
        table.setdefault(u.get("stratum", "all"), {}).setdefault(u.get("cluster", u["name"]), []).append(i)
    key = lambda s: s.encode()
    return [(s, [(c, table[s][c]) for c in sorted(table[s], key=key)]) for s in sorted(table, key=key)]


def numbers(case, rows_of, strata, chosen):
    """chosen: for each stratum the sampling units, with repeats. Paths of training end in .<group>."""
    kind = case["kind"]
    cond = case.get("conditions")
    if kind in SEPARATE:
        out = {}
        for (s, units), pick in zip(strata, chosen):
            got = READERS[kind]([rows_of[i] for c in pick for i in units[c][1]], cond)
            out.update({p + "." + s: v for p, v in got.items()})
        return out
    rows = [rows_of[i] for (s, units), pick in zip(strata, chosen) for c in pick for i in units[c][1]]
    return READERS[kind](rows, cond)


def resample(case, rows_of):
    """theta, values in every resample, and jackknife numbers by stratum, path by path"""
    strata = plan(case)
    sizes = [len(u) for _, u in strata]
    separate = case["kind"] in SEPARATE
    everything = [list(range(n)) for n in sizes]
    theta = numbers(case, rows_of, strata, everything)
    reps = [numbers(case, rows_of, strata, d) for d in draw(sizes, case["resamples"], case["seed"], separate)]
    jack = []
    for s, n in enumerate(sizes):
        part = []
        for i in range(n):
            chosen = [[k for k in range(n) if k != i] if t == s else e for t, e in enumerate(everything)]
            part.append(numbers(case, rows_of, strata, chosen))
        jack.append(part)
    return strata, sizes, theta, reps, jack


def own(case, strata, path):
    """which strata a number reads"""
    if case["kind"] in SEPARATE:
        return [s for s, (name, _) in enumerate(strata) if path.endswith("." + name)]
    return list(range(len(strata)))


def report(case):
    rows = [u["row"] for u in case["units"]]
    strata, sizes, theta, reps, jack = resample(case, rows)
    out = {"metrics": theta, "strata": {s: {"units": sum(len(i) for _, i in u), "sampling_units": len(u)} for s, u in strata}}
    for method in case["methods"]:
        got, none, fell = {}, {}, {}
        for path, t in theta.items():
            if t is None:
                continue
            mine = own(case, strata, path)
            b, why, used = interval(t, [r.get(path) for r in reps], [[j.get(path) for j in jack[s]] for s in mine],
                                    [sizes[s] for s in mine], (1.0 - case["confidence"]) / 2.0, method, case["resamples"], path == "median")
            if b is None:
                none[path] = why
            else:
                got[path] = b
                if used != method:
                    fell[path] = why
        out[method] = {"intervals": got, "no_interval": none, "percentile_used": fell}
    return out


# ---------------------------------------------------------------- comparisons
def permutation(differences, seed, throws):
    """Two-sided p of the mean of the differences under sign flips; None = left out, counts as 0."""
    d = [Fr(x) if x is not None else Fr(0) for x in differences]
    total = abs(sum(d))
    live = [x for x in d if x]
    if len(live) <= 20:
        hits = 0
        sums = [Fr(0)]
        for x in live:
            sums = [s + y for s in sums for y in (x, -x)]
        hits = sum(abs(s) >= total for s in sums)
        return float(Fr(hits, 2 ** len(live))), True
    g, words, hits = SplitMix64(seed + 1), -(-len(d) // 64), 0
    for _ in range(throws):
        bits = [g.next() for _ in range(words)]
        s = sum(x if bits[i // 64] >> (i % 64) & 1 else -x for i, x in enumerate(d))
        hits += abs(s) >= total
    return (hits + 1) / (throws + 1.0), False


def holm(ps):
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    out, top = [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        top = min(1.0, max(top, ps[i] * (len(ps) - rank)))
        out[i] = top
    return out


def compare(case):
    """case: like a report's, but units have `rows` {model: row}; `better` {path: higher|lower}; `method`"""
    models = case["models"]
    seen = {m: resample(case, [u["rows"][m] for u in case["units"]]) for m in models}
    strata, sizes = seen[models[0]][:2]
    lines, tests = {}, []
    for path, better in case["better"].items():
        mine = own(case, strata, path)
        n = [sizes[s] for s in mine]

        def apart(a, b, half):
            ta, tb = seen[a][2][path], seen[b][2][path]
            if ta is None or tb is None:
                return None
            pair = lambda x, y: None if x is None or y is None else y - x
            vals = [pair(x[path], y[path]) for x, y in zip(seen[a][3], seen[b][3])]
            jack = [[pair(x[path], y[path]) for x, y in zip(seen[a][4][s], seen[b][4][s])] for s in mine]
            return tb - ta, interval(tb - ta, vals, jack, n, half, case["method"], case["resamples"])[0]

        line = {"better": better, "values": {m: seen[m][2][path] for m in models}, "against_first": {}}
        for m in models[1:]:
            found = apart(models[0], m, (1.0 - case["confidence"]) / 2.0)
            if found is None:
                line["against_first"][m] = None
                continue
            alone = {}
            for w in (models[0], m):
                rows = [u["rows"][w] for u in case["units"]]
                pick = lambda s, c: [[c] if t == s else [] for t in range(len(strata))]
                alone[w] = [numbers(case, rows, strata, pick(s, c)).get(path) for s in mine for c in range(sizes[s])]
            d = [None if x is None or y is None else y - x for x, y in zip(*alone.values())]
            entry = {"difference": found[0], "interval": found[1], "paired": None}
            if any(x is not None for x in d):
                sign = 1 if better == "higher" else -1
                p, exact = permutation(d, case["seed"], case["resamples"])
                entry["paired"] = {"wins": sum(x is not None and sign * x > 0 for x in d), "ties": sum(x == 0 for x in d if x is not None),
                                   "losses": sum(x is not None and sign * x < 0 for x in d), "left_out": sum(x is None for x in d),
                                   "permutation_p": p, "permutation_exact": exact, "adjusted_p": None}
                tests.append(entry["paired"])
            line["against_first"][m] = entry
        if len(models) >= 3:
            line["ranks"] = ranks(case, seen, path, better, apart)
        lines[path] = line
    for t, q in zip(tests, holm([t["permutation_p"] for t in tests])):
        t["adjusted_p"] = q
    return {"tests": len(tests), "correction": "holm" if tests else None, "metrics": lines}


def shares(values, better):
    """{model: {rank: share}}: t models with one value share the t ranks that they fill"""
    out = {}
    for m, v in values.items():
        ahead = sum((w > v) if better == "higher" else (w < v) for w in values.values())
        tied = sum(w == v for w in values.values())
        out[m] = {ahead + 1 + i: Fr(1, tied) for i in range(tied)}
    return out


def ranks(case, seen, path, better, apart):
    ranked = [m for m in case["models"] if seen[m][2][path] is not None]
    k = len(ranked)
    if k < 3:
        return None
    now = {m: seen[m][2][path] for m in ranked}
    best = max(ranked, key=lambda m: (now[m] if better == "higher" else -now[m], -ranked.index(m)))
    table = {m: [Fr(0)] * k for m in ranked}
    used = 0
    for r in range(case["resamples"]):
        values = {m: seen[m][3][r][path] for m in ranked}
        if any(v is None for v in values.values()):
            continue
        used += 1
        for m, share in shares(values, better).items():
            for rank, s in share.items():
                table[m][rank - 1] += s
    half = (1.0 - case["confidence"]) / (k - 1)
    level = 1 - 2 * half
    mid = {m: float(sum(rank * s for rank, s in share.items())) for m, share in shares(now, better).items()}
    out = {"best": best, "resamples": used, "level": level, "models": {}}
    for m in ranked:
        found = None if m == best else apart(best, m, half)
        worse = found is not None and found[1] is not None and (found[1][1] < 0 if better == "higher" else found[1][0] > 0)
        out["models"][m] = {"rank": mid[m], "expected": float(sum(i * s for i, s in enumerate(table[m], 1)) / used),
                            "probability": [float(s / used) for s in table[m]],
                            "to_best": None if found is None else {"difference": found[0], "interval": found[1]},
                            "undistinguished": not worse}
    order = sorted(ranked, key=lambda m: (mid[m], ranked.index(m)))
    out["set"] = [m for m in order if out["models"][m]["undistinguished"]]
    return out


# ---------------------------------------------------------------- cases
def confusion(rng, k, quality, size):
    m = [[0] * k for _ in range(k)]
    for i in range(k):
        for _ in range(rng.randrange(size)):
            m[i][i if rng.random() < quality else rng.randrange(k)] += 1
    return m


def curve(rng, speed, n=12):
    dip = lambda: 0.3 * (rng.random() < 0.15)
    return [round(min(0.999, 1 - math.exp(-speed * (i + 1)) - 0.08 * rng.random() - dip()), 4) for i in range(n)]


def cases():
    rng = random.Random(20261)
    out = []
    base = dict(resamples=400, confidence=0.95, seed=0, methods=["percentile", "expanded", "bca"])

    def add(name, note, **kw):
        out.append(dict(base, name=name, note=note, type="report") | kw)

    def row(x, num, den):
        return {"x": x, "num": num, "den": den}

    some = [row(round(rng.gauss(0.6, 0.2), 3), rng.randrange(1, 40), rng.randrange(40, 90)) for _ in range(30)]
    add("columns", "30 units, one stratum: mean, ratio of sums, median", kind="columns",
        units=[{"name": "u%02d" % i, "row": r} for i, r in enumerate(some)])
    add("columns-80", "another seed and confidence, few resamples", kind="columns", resamples=99, confidence=0.8, seed=12345678901234567,
        units=[{"name": "u%02d" % i, "row": r} for i, r in enumerate(some[:9])])
    add("clusters", "the same units in 8 clusters of 1 to 7", kind="columns",
        units=[{"name": "u%02d" % i, "cluster": "p%d" % int(math.sqrt(2 * i)), "row": r} for i, r in enumerate(some)])
    add("skewed", "a heavy tail: bca is not symmetric", kind="columns", resamples=600,
        units=[{"name": "u%02d" % i, "row": row(round(math.exp(rng.gauss(0, 1.2)), 4), int(rng.random() ** 4 * 60), 60)} for i in range(25)])
    add("strata", "two strata drawn from one stream, in byte order", kind="columns",
        units=[{"name": "u%02d" % i, "stratum": "b" if i < 10 else "a", "row": r} for i, r in enumerate(some[:26])])
    add("strata-clusters", "clusters inside strata; a cluster's name may occur in both", kind="columns",
        units=[{"name": "u%02d" % i, "stratum": "b" if i < 14 else "a", "cluster": "c%d" % (i % 5), "row": r} for i, r in enumerate(some)])
    add("one-unit", "one sampling unit: no interval", kind="columns", units=[{"name": "u", "row": some[0]}])
    add("one-cluster", "five units of one patient: no interval", kind="columns",
        units=[{"name": "u%d" % i, "cluster": "p", "row": some[i]} for i in range(5)])
    add("lonely-stratum", "a stratum with one sampling unit: no interval for numbers that read it", kind="columns",
        units=[{"name": "u%d" % i, "stratum": "a" if i else "b", "row": some[i]} for i in range(6)])
    add("equal", "no spread: the interval has no width, whatever the method", kind="columns",
        units=[{"name": "u%d" % i, "row": row(0.25, 3, 9)} for i in range(7)])
    add("undefined", "x exists in one of 12 units: too often undefined", kind="columns",
        units=[{"name": "u%02d" % i, "row": row(0.5 if i == 4 else None, i, 20)} for i in range(12)])
    add("one-sided", "one unit of 20 differs: ties with the number itself count half", kind="columns",
        units=[{"name": "u%02d" % i, "row": row(1.0 if i == 7 else 0.0, int(i == 7), 1)} for i in range(20)])
    add("two-units", "the fewest that have an interval", kind="columns", units=[{"name": "u%d" % i, "row": some[i]} for i in range(2)])
    seg = [confusion(rng, 3, 0.55 + 0.4 * rng.random(), 60) for _ in range(24)]
    files = lambda rows: "".join(json.dumps({"id": n, "confusion": r}) + "\n" for n, r in rows)
    names = ["seq%d/%03d" % (i % 6, i) for i in range(24)]
    argv = ["segmentation", "--confusion", "cms.jsonl", "--classes", "3", "--measure", "overlap", "--bootstrap", "400", "--json", "-", "--interval"]
    add("segmentation", "24 confusion matrices", kind="confusion", cli={"argv": argv, "files": {"cms.jsonl": files(zip(names, seg))}},
        units=[{"name": n, "row": r} for n, r in zip(names, seg)])
    add("segmentation-folders", "the same, clusters = folders", kind="confusion",
        cli={"argv": argv[:-1] + ["--cluster-by", "folder", "--interval"], "files": {"cms.jsonl": files(zip(names, seg))}},
        units=[{"name": n, "cluster": n.split("/")[0], "row": r} for n, r in zip(names, seg)])
    runs = {"a": [curve(rng, 0.5 + 0.3 * rng.random()) for _ in range(6)], "b-1": [curve(rng, 0.15 + 0.25 * rng.random()) for _ in range(5)]}
    units, tfiles = [], {}
    for g, cs in runs.items():
        for f, c in enumerate(cs):
            units.append({"name": "%s/%d" % (g, f), "stratum": g, "row": c})
            tfiles["runs/%s/%d.csv" % (g, f)] = "epoch,m\n" + "".join("%d,%r\n" % p for p in enumerate(c))
    add("training", "two groups of 6 and 5 runs: each group is drawn as if it were alone", kind="training", units=units,
        cli={"argv": ["training", "runs", "--metric", "m", "--group-by", "folder", "--bootstrap", "400", "--json", "-", "--interval"], "files": tfiles})
    rob = []
    for r in range(4):
        for c in ("0.05", "0.1", "0.3"):
            rob.append({"name": "split%d/%s" % (r, c), "cluster": "split%d" % r,
                        "row": {"condition": c, "tested": 50, "clean": 44, "attacked": 40 - int(60 * float(c)) + rng.randrange(8) - 2 * r}})
    add("robustness", "4 runs of 3 budgets: 4 sampling units", kind="robustness", conditions=["0.05", "0.1", "0.3"], units=rob)
    add("robustness-one-run", "one run: no interval, however many budgets", kind="robustness", conditions=["0.05", "0.1", "0.3"], units=rob[:3])
    two = [dict(u, name=u["name"].replace("/", "/pgd:"), stratum="pgd", row=dict(u["row"], condition="pgd:" + u["row"]["condition"])) for u in rob]
    two += [dict(u, name="m" + u["name"].replace("/", "/meta:"), cluster="m" + u["cluster"], stratum="meta",
                 row=dict(u["row"], condition="meta:" + u["row"]["condition"], attacked=u["row"]["attacked"] - 3)) for u in rob[:9]]
    add("robustness-attacks", "runs of two attacks: two strata, one stream", kind="robustness",
        conditions=[a + c for a in ("meta:", "pgd:") for c in ("0.05", "0.1", "0.3")], units=two)

    def versus(name, note, **kw):
        out.append(dict(resamples=400, confidence=0.95, seed=0, method="expanded", name=name, note=note, type="compare") | kw)

    def multi(models, rows):
        return [dict(u, rows={m: r for m, r in zip(models, rs)}) for u, rs in rows]

    both = {"mean": "higher", "ratio": "lower"}
    pairs = [({"name": "u%02d" % i}, (r, row(round(r["x"] + rng.gauss(0.05, 0.1), 3), min(r["den"], r["num"] + rng.randrange(-3, 6)), r["den"])))
             for i, r in enumerate(some)]
    versus("two-models", "30 units, random sign patterns", kind="columns", models=["a", "b"], better=both, units=multi(["a", "b"], pairs))
    versus("two-models-exact", "12 units, every sign pattern", kind="columns", models=["a", "b"], better=both, units=multi(["a", "b"], pairs[:12]))
    versus("two-models-clusters", "the same 30 in 8 clusters: clusters are drawn and flipped", kind="columns", models=["a", "b"], better=both,
           units=multi(["a", "b"], [(dict(u, cluster="p%d" % int(math.sqrt(2 * i))), r) for i, (u, r) in enumerate(pairs)]))
    versus("two-models-bca", "bca of a paired difference", kind="columns", models=["a", "b"], better=both, method="bca", units=multi(["a", "b"], pairs))
    versus("one-pair", "one unit: a difference, no interval, p = 1", kind="columns", models=["a", "b"], better=both, units=multi(["a", "b"], pairs[:1]))
    four = ["a", "b", "c", "d"]
    quad = []
    for i, r in enumerate(some):
        more = tuple(row(round(r["x"] + d + rng.gauss(0, 0.08), 3), r["num"], r["den"]) for d in (0.06, 0.05, -0.2))
        quad.append(({"name": "u%02d" % i}, (r,) + more))
    versus("four-models", "ranks; a ratio that is the same for all models shares every rank", kind="columns", models=four, better=both, units=multi(four, quad))
    versus("four-models-clusters", "the same in 10 clusters", kind="columns", models=four, better={"mean": "higher"},
           units=multi(four, [(dict(u, cluster="p%d" % (i // 3)), r) for i, (u, r) in enumerate(quad)]))
    t4 = []
    for f in range(8):
        t4.append(({"name": "all/%d" % f, "stratum": "all"}, tuple(curve(rng, s + 0.1 * rng.random()) for s in (0.5, 0.55, 0.3))))
    versus("training-three", "three training states, group by group", kind="training", models=["x", "y", "z"],
           better={"training.best_mean.all": "higher", "training.velocity_wise.all": "lower"}, units=multi(["x", "y", "z"], t4))
    rc = [({k: u[k] for k in ("name", "cluster")}, (u["row"], dict(u["row"], attacked=u["row"]["attacked"] + rng.randrange(0, 4)))) for u in rob]
    versus("robustness-two", "4 runs of 3 budgets, flipped run by run", kind="robustness", conditions=["0.05", "0.1", "0.3"], models=["l1", "mcp"],
           better={"robustness.accuracy_average": "higher", "robustness.curve.0.1.robust_accuracy": "higher"}, units=multi(["l1", "mcp"], rc))
    for c in out:
        NEAR.clear()
        c["expected"] = report(c) if c["type"] == "report" else compare(c)
        c["margin"] = min(NEAR, default=1.0)            # the nearest that an interval's rank came to a jump
    return out


def laws():
    assert [SplitMix64(0).next()] == [0xE220A8397B1DCDAF]
    assert draw([5], 3, 7, False) == draw([5], 3, 7, True), "one stratum: both rules agree"
    assert abs(phi_inverse(0.975) - 1.959963984540054) < 1e-13 and abs(student_inverse(0.975, 4) - 2.7764451051977987) < 1e-11
    assert abs(student_inverse(0.975, 1) - 12.706204736174698) < 1e-9 and abs(student_inverse(0.975, 29) - 2.045229642132703) < 1e-11
    assert holm([0.01, 0.04, 0.03, 0.005]) == [0.03, 0.06, 0.06, 0.02]
    s = shares({"a": 2, "b": 2, "c": 1}, "higher")
    assert s == {"a": {1: Fr(1, 2), 2: Fr(1, 2)}, "b": {1: Fr(1, 2), 2: Fr(1, 2)}, "c": {3: Fr(1)}}
    for c in cases():
        if c["type"] == "report":
            for path, (lo, hi) in c["expected"]["percentile"]["intervals"].items():
                wide = c["expected"]["expanded"]["intervals"][path]
                assert wide[0] <= lo <= hi <= wide[1], (c["name"], path, "expanded is never narrower")
        for line in (c["expected"]["metrics"].values() if c["type"] == "compare" else ()):
            if line.get("ranks"):
                r = line["ranks"]["models"]
                assert all(abs(sum(m["probability"]) - 1) < 1e-12 for m in r.values())
                assert abs(sum(m["expected"] for m in r.values()) - len(r) * (len(r) + 1) / 2) < 1e-9
        assert c["margin"] > 1e-7, (c["name"], "a rank is too near to a jump; change the case", c["margin"])


def text():
    """The golden file; the laws hold for it."""
    laws()
    return '{"format":1,"cases":[\n' + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases()) + "\n]}\n"
