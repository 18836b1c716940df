"""Oracle of the training family: slow, obvious, standard library only.

Every float is obtained as the family says: integer quotients are one IEEE division, means of floats are their exact sum
over their number, rounded once.
"""
import math
import struct
from fractions import Fraction as Fr

U = "Undefined"                      # marker inside the oracle: (U, reason)

DEFAULTS = dict(preset="strict", metric="m", threshold=0.9, scale=1.0, direction="max", inclusive=False,
                index="evaluation", first_epoch=0, duplicates="last", nan="missing", folds=None,
                sustain=3, par=10, horizon=None, sweep=[], bootstrap=0, seed=0, confidence=0.95, x="epoch",
                restarts="auto", precision="stored")
LEGACY = ("table-2024-04-24", "table-2024-04-25", "script-2025")


def undef(reason):
    return (U, reason)


def over(vals, count):
    """The exact sum of f64 values over a whole number, rounded once: the mean of equal values is that value."""
    return float(sum(map(Fr, vals), Fr(0)) / count)


def is_undef(v):
    return isinstance(v, tuple) and v[0] == U


# ---------------------------------------------------------------- one run -> points
def finite(v):
    return v is not None and math.isfinite(v)


def points_of(run, p):
    """[(x, value or None)] in order of x. None = a logged NaN/infinity kept by nan='fail'. Also the duplicate flag."""
    xs = run.get("x") or list(range(len(run["values"])))
    seen, order = {}, []
    for x, v in zip(xs, run["values"]):
        if v is None:                                   # not logged
            continue
        if not math.isfinite(v):
            if p["nan"] == "missing":
                continue
            if p["nan"] == "error":
                raise ValueError("NaN")
            v = None
        seen.setdefault(x, []).append(v)
    dup = False
    for x, vs in seen.items():
        if len(vs) > 1:
            dup = dup or any(v != vs[0] for v in vs)
            if p["duplicates"] == "last":
                v = vs[-1]
            elif p["duplicates"] == "first":
                v = vs[0]
            elif p["duplicates"] == "mean":
                good = [v for v in vs if v is not None]
                v = over(good, len(good)) if good else None
            else:
                raise ValueError("duplicate x")
        else:
            v = vs[0]
        order.append((x, v if v is None else v / p["scale"] if p["scale"] != 1.0 else v))
    order.sort(key=lambda q: q[0])
    return order, dup


def better(a, b, p):                                    # a strictly better than b
    return a > b if p["direction"] == "max" else a < b


def met(v, p):
    """A value as it meets the threshold. Curves are double, so only precision="single" rounds."""
    return f32(v) if p["precision"] == "single" and abs(v) < 3e38 else v


def saturated(v, t, p):
    return v is not None and (better(met(v, p), met(t, p), p) or (p["inclusive"] and met(v, p) == met(t, p)))


def first_saturation(vals, t, p):
    for i, v in enumerate(vals):
        if saturated(v, t, p):
            return i
    return None


def broken_after(vals, s, ref, p):
    """positions after s that are worse than ref (a kept NaN is worse than anything)"""
    return [j for j in range(s + 1, len(vals)) if vals[j] is None or better(met(ref, p), met(vals[j], p), p)]


def measure(run, p):
    """the row of one run: whole numbers and values as they were read"""
    pts, dup = points_of(run, p)
    if not pts:
        raise ValueError("no value")
    xs = [x for x, _ in pts]
    vals = [v for _, v in pts]
    t = p["threshold"]
    n_eval = len(vals)

    def index(i):                                       # 1-based
        return i + 1 if p["index"] == "evaluation" else int(xs[i]) - p["first_epoch"] + 1
    n = index(n_eval - 1)
    s = first_saturation(vals, t, p)
    row = dict(group=run["group"], fold=run["fold"], n=n, evals=n_eval, xs=xs, vals=vals, dup=dup,
               s=None if s is None else index(s), s_pos=s,
               x_s=None if s is None else xs[s], m_s=None if s is None else vals[s],
               m_first=vals[0], m_last=vals[-1])
    good = [v for v in vals if v is not None]
    row["best"] = (max(good) if p["direction"] == "max" else min(good)) if good else None
    # the document's own rule (also what every extra metric uses)
    if s is None:
        row.update(b=None, d=0, depth=None, longest=None)
    else:
        br = broken_after(vals, s, t, p)
        last = vals[-1]
        row["b"] = len(br)
        row["d"] = 1 if last is None or better(vals[s], last, p) else 0
        fall = [(t - vals[j]) if p["direction"] == "max" else (vals[j] - t) for j in br if vals[j] is not None]
        row["depth"] = max(fall) if fall else 0.0
        longest = cur = 0
        hit = set(br)
        for j in range(s + 1, n_eval):
            cur = cur + 1 if j in hit else 0
            longest = max(longest, cur)
        row["longest"] = longest
    # sustained saturation
    k = p["sustain"]
    row["sustained"] = next((index(i) for i in range(n_eval - k + 1)
                             if all(saturated(v, t, p) for v in vals[i:i + k])), None)
    # the preset's rule
    pre = p["preset"]
    if pre in ("strict", "document", "revised"):
        row["V"] = row["s"]
        row["D"] = row["d"]
        row["S"] = None if s is None else ((row["b"] / n) if pre != "revised" else (n - row["b"]) / n)
    else:
        keep = [(i, v) for i, v in enumerate(vals) if v != 0]          # an exact zero is skipped, n keeps it
        sp = next((i for i, v in keep if met(v, p) > met(t, p)), None)
        if sp is None:
            row["V"], row["D"] = None, 0
            row["S"] = None if pre == "table-2024-04-24" else 0.0
        else:
            if pre == "script-2025":
                b = sum(1 for i, v in keep if i > sp and met(v, p) < met(t, p))
            else:
                b = sum(1 for i, v in keep if i > sp and v < vals[sp])
            last = keep[-1][1]
            row["V"] = row_index0 = (sp if p["index"] == "evaluation" else index(sp) - 1)
            if pre == "script-2025":
                row["D"] = 1 if met(t, p) > met(last, p) else 0
            elif p["metric"] == "val_part_parsed":
                row["D"] = 1 if row_index0 > last else 0               # the index is compared, as published
            else:
                row["D"] = 1 if vals[sp] > last else 0
            if pre == "table-2024-04-24":
                row["S"] = (b / n) if b else None
            else:
                row["S"] = (n - b) / n
    return row


# ---------------------------------------------------------------- rows of one group -> numbers
def mean_of(vals, count):
    if all(isinstance(v, int) for v in vals):
        return sum(vals) / count
    return over(vals, count)


def names(rows):
    return ", ".join(r["fold"] for r in rows)


def three(rows, key, n_f, none_reason, all_reason):
    have = [r[key] for r in rows if r[key] is not None]
    lack = [r for r in rows if r[key] is None]
    if len(rows) < n_f:
        st = undef("%d of %d folds present" % (len(rows), n_f))
    elif lack:
        st = undef(all_reason + names(lack))
    else:
        st = mean_of(have, n_f)
    if not have:
        return st, undef(none_reason), undef(none_reason)
    return st, mean_of(have, len(have)), mean_of(have, n_f)


def km(rows):
    """[(time, survival as Fraction)] and the largest observed time"""
    obs = [(r["s"], 1) if r["s"] is not None else (r["n"], 0) for r in rows]
    surv, out = Fr(1), []
    for t in sorted({t for t, e in obs if e}):
        risk = sum(1 for u, _ in obs if u >= t)
        dead = sum(1 for u, e in obs if u == t and e)
        surv *= Fr(risk - dead, risk)
        out.append((t, surv))
    return out, max(t for t, _ in obs)


def rmst(rows, horizon):
    curve, last = km(rows)
    tau = last if horizon is None else horizon
    if tau > last and curve and curve[-1][1] == 0:
        pass
    elif tau > last:
        return undef("survival is not known beyond epoch %d" % last), tau
    area, prev, s = Fr(0), 0, Fr(1)
    for t, nxt in curve:
        if t >= tau:
            break
        area += s * (t - prev)
        prev, s = t, nxt
    area += s * (tau - prev)
    return float(area), tau


def splitmix(seed):
    mask = (1 << 64) - 1
    st = seed & mask
    while True:
        st = (st + 0x9E3779B97F4A7C15) & mask
        z = st
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def group_numbers(rows, p):
    """ordered {id: value} of one group; rows in key order"""
    pre = p["preset"]
    n_f = p["folds"] if p["folds"] is not None else (5 if pre.startswith("table-") else len(rows))
    sat = [r for r in rows if r["s"] is not None]
    out = {}
    out["fold_count"] = len(rows)
    out["saturation_count"] = sum(1 for r in rows if r["V"] is not None)
    out["epochs_mean"] = sum(r["n"] for r in rows) / len(rows)

    only = undef("script-2025 publishes the strict aggregation only")
    for r in rows:
        r["Vn"] = None if r["V"] is None else r["V"] / r["n"]
    for key, name in (("V", "velocity"), ("Vn", "velocity_normalised")):
        st, wi, na = three(rows, key, n_f, "no fold saturates", "never saturates: fold ")
        if pre == "script-2025":
            wi = na = only
        out[name + "_strict"], out[name + "_wise"], out[name + "_naive"] = st, wi, na
    if pre == "document":
        flat = [r for r in rows if r["V"] is not None and not r["b"]]
        st, _, _ = three(rows, "S", n_f, "no fold saturates", "never saturates: fold ")
        if not is_undef(st) and flat:
            st = undef("the document's condition asks for broken steps in every fold; none in fold " + names(flat))
        if any(r["V"] is not None and r["b"] for r in rows):
            vs = [r["V"] for r in rows if r["V"] is not None]
            wi, na = sum(vs) / len(vs), sum(vs) / n_f
        else:
            wi = na = undef("no fold has a broken step")
    else:
        why = "no broken step or never saturates: fold " if pre == "table-2024-04-24" else "never saturates: fold "
        none = "no fold has a broken step" if pre == "table-2024-04-24" else "no fold saturates"
        st, wi, na = three(rows, "S", n_f, none, why)
        if pre == "script-2025":
            wi = na = only
    out["stability_strict"], out["stability_wise"], out["stability_naive"] = st, wi, na
    d = sum(r["D"] for r in rows)
    out["divergence_strict"] = d if len(rows) == n_f else undef("%d of %d folds present" % (len(rows), n_f))
    out["divergence_wise"] = only if pre == "script-2025" else d
    out["divergence_naive"] = only if pre == "script-2025" else d

    # ---- beyond the document: always the strict rule, over the runs present
    none = undef("no fold saturates")
    out["divergence_rate"] = sum(r["d"] for r in sat) / len(sat) if sat else none
    kept = []
    for r in sat:
        after = r["evals"] - r["s_pos"] - 1                     # evaluations after the first saturation
        if after:
            kept.append((after - r["b"]) / after)
    out["retention"] = mean_of(kept, len(kept)) if kept else (
        none if not sat else undef("every saturating fold saturates at its last evaluation"))
    if len(sat) >= 2:
        m, a, b = len(sat), sum(r["s"] for r in sat), sum(r["s"] ** 2 for r in sat)
        out["velocity_std"] = math.sqrt((m * b - a * a) / (m * (m - 1)))
    else:
        out["velocity_std"] = undef("fewer than two folds saturate")
    order = sorted(r["s"] if r["s"] is not None else math.inf for r in rows)
    m = len(order)
    mid = [order[m // 2]] if m % 2 else [order[m // 2 - 1], order[m // 2]]
    out["velocity_median"] = undef("the median fold never saturates") if math.inf in mid else sum(mid) / len(mid)
    if m < 3:
        out["velocity_olympic"] = undef("fewer than three folds")
    elif m - len(sat) > 1:
        out["velocity_olympic"] = undef("more than one fold never saturates")
    else:
        out["velocity_olympic"] = sum(order[1:-1]) / (m - 2)
    curve, _ = km(rows)
    half = [t for t, s in curve if s <= Fr(1, 2)]
    out["velocity_km_median"] = half[0] if half else undef("survival stays above one half")
    out["velocity_rmst"], out["rmst_horizon"] = rmst(rows, p["horizon"])
    spent = sum(r["s"] if r["s"] is not None else r["n"] for r in rows)
    out["velocity_ert"] = spent / len(sat) if sat else none
    out["velocity_par"] = sum(r["s"] if r["s"] is not None else p["par"] * r["n"] for r in rows) / m
    su = [r["sustained"] for r in rows if r["sustained"] is not None]
    out["sustained_count"] = len(su)
    lack = [r for r in rows if r["sustained"] is None]
    out["velocity_sustained_strict"] = (undef("%d of %d folds present" % (m, n_f)) if m < n_f else
                                        undef("no sustained saturation: fold " + names(lack)) if lack else sum(su) / m)
    out["velocity_sustained_wise"] = sum(su) / len(su) if su else undef("no fold has a sustained saturation")
    out["drop_depth_mean"] = mean_of([r["depth"] for r in sat], len(sat)) if sat else none
    out["drop_depth_max"] = max(r["depth"] for r in sat) if sat else none
    out["longest_break_max"] = max(r["longest"] for r in sat) if sat else none
    best = [r["best"] for r in rows if r["best"] is not None]
    last = [r["m_last"] for r in rows if r["m_last"] is not None]
    gap = [(r["best"] - r["m_last"]) if p["direction"] == "max" else (r["m_last"] - r["best"])
           for r in rows if r["m_last"] is not None]
    nothing = undef("no finite value")
    out["best_mean"] = over(best, len(best)) if best else nothing
    out["last_mean"] = over(last, len(last)) if last else undef("no fold ends with a finite value")
    out["final_drop_mean"] = over(gap, len(gap)) if gap else undef("no fold ends with a finite value")

    if p["sweep"]:
        sv, ss, sc, sd = [], [], [], []
        for t in sorted(set(p["sweep"])):
            vs, bs, dd = [], [], 0
            for r in rows:
                s = first_saturation(r["vals"], t, p)
                if s is None:
                    continue
                ix = s + 1 if p["index"] == "evaluation" else int(r["xs"][s]) - p["first_epoch"] + 1
                vs.append(ix)
                bs.append(len(broken_after(r["vals"], s, t, p)) / r["n"])
                lastv = r["vals"][-1]
                dd += 1 if lastv is None or better(r["vals"][s], lastv, p) else 0
            sc.append([t, len(vs)])
            sv.append([t, sum(vs) / len(vs) if vs else None])
            ss.append([t, over(bs, len(bs)) if bs else None])
            sd.append([t, dd])
        out["sweep_saturation_count"], out["sweep_velocity_wise"] = sc, sv
        out["sweep_stability_wise"], out["sweep_divergence"] = ss, sd
    if p["bootstrap"] and not p.get("_inside"):
        q = dict(p, _inside=True, sweep=[], folds=None)
        ids = ("velocity_wise", "velocity_rmst", "stability_wise", "divergence_rate")
        draws = {i: [] for i in ids}
        g = splitmix(p["seed"])
        for _ in range(p["bootstrap"]):
            pick = [rows[(next(g) * m) >> 64] for _ in range(m)]
            one = group_numbers([dict(r) for r in pick], q)
            for i in ids:
                if not is_undef(one[i]):
                    draws[i].append(one[i])
        for i in ids:
            d = sorted(draws[i])
            if len(d) < 0.9 * p["bootstrap"]:
                out[i + "_ci"] = undef("defined in %d of %d resamples" % (len(d), p["bootstrap"]))
            else:
                k = math.floor((1 - p["confidence"]) / 2 * len(d) + 0.5)
                k = min(k, (len(d) - 1) // 2)
                out[i + "_ci"] = [d[k], d[len(d) - 1 - k]]
    return out


def f32(v):
    return struct.unpack("<f", struct.pack("<f", v))[0]


def warnings_of(groups, p):
    """codes that can be read off the rows"""
    w = set()
    rows = [r for g in groups.values() for r in g]
    every = [v for r in rows for v in r["vals"] if v is not None]
    t = p["threshold"]
    if p["direction"] == "max":
        if t <= 1 and any(v > 1 for v in every):
            w.add("percent-scale")
        if t > 1 and every and all(v <= 1 for v in every):
            w.add("fraction-scale")
    for r in rows:
        if r["dup"]:
            w.add("duplicate-x")
        if p["x"].lower().endswith("epoch") and len(r["xs"]) > 2 and all(float(x).is_integer() for x in r["xs"]):
            if len({b - a for a, b in zip(r["xs"], r["xs"][1:])}) > 1:
                w.add("missing-epochs")
        named = p["x"].lower().endswith(("epoch", "step"))
        if named and len(r["xs"]) > 2 and all(float(x).is_integer() for x in r["xs"]):
            steps = sorted(b - a for a, b in zip(r["xs"], r["xs"][1:]))
            if r["xs"][0] > steps[(len(steps) - 1) // 2]:
                w.add("late-start")
        if p["precision"] != "single" and any(v is not None and v != t and abs(v) < 3e38 and f32(v) == f32(t)
                                              for v in r["vals"]):
            w.add("float32-tie")
        if r["s_pos"] is not None:
            if p["direction"] == "max" and any(v == 0 for v in r["vals"][r["s_pos"] + 1:]):
                w.add("zero-collapse")
            if r["s_pos"] == len(r["vals"]) - 1:
                w.add("late-saturation")
    for g in groups.values():
        k = sum(1 for r in g if r["s"] is not None)
        if 0 < k < len(g):
            w.add("failed-folds")
        if p["folds"] is not None and len(g) < p["folds"]:
            w.add("missing-folds")
        if p["folds"] is None and p["preset"].startswith("table-") and len(g) < 5:
            w.add("missing-folds")
        if len(g) >= 5 and all(r["fold"].isdigit() for r in g) and len({int(r["fold"]) for r in g}) == len(g):
            o = sorted(g, key=lambda r: int(r["fold"]))
            if all(r["m_first"] is not None and r["m_last"] is not None for r in o):
                f, l, n = [r["m_first"] for r in o], [r["m_last"] for r in o], [r["n"] for r in o]
                up = all(better(b, a, p) for a, b in zip(f, f[1:]))
                worst = (all(better(v, f[0], p) for v in f[1:]) and all(better(v, l[0], p) for v in l[1:])
                         and all(n[0] > v for v in n[1:]))
                if up or worst:
                    w.add("fold-trend")
    if p["folds"] is None and len({len(g) for g in groups.values()}) > 1:
        w.add("uneven-folds")
    if p["preset"] == "document":
        w.add("document-literal")
    return sorted(w)


def report(runs, **params):
    p = dict(DEFAULTS, **params)
    groups = {}
    for run in runs:
        groups.setdefault(run["group"], []).append(measure(run, p))
    groups = {g: sorted(groups[g], key=lambda r: r["fold"].encode()) for g in sorted(groups, key=str.encode)}
    metrics, undefined = {}, {}
    for g, rows in groups.items():
        for k, v in group_numbers(rows, p).items():
            if is_undef(v):
                metrics.setdefault(k, {})[g] = None
                undefined[k + "." + g] = v[1]
            else:
                metrics.setdefault(k, {})[g] = v
    per = []
    for g, rows in groups.items():
        for r in rows:
            per.append(dict(unit=g + "/" + r["fold"], group=g, fold=r["fold"], n=r["n"], velocity=r["V"],
                            x_at_saturation=r["x_s"], broken=r["b"], stability=r["S"], divergence=r["D"],
                            value_at_saturation=r["m_s"], last=r["m_last"], best=r["best"],
                            sustained=r["sustained"], drop_depth=r["depth"]))
    return dict(units=len(per), metrics=metrics, undefined=undefined, warnings=warnings_of(groups, p), per_unit=per)
