"""Oracle of the segmentation family: slow, obvious, standard library only.

Counts are Python integers, ratios are fractions.Fraction, probabilities are decimal.Decimal with 60 digits
computed from the exact value of every input float. The results are rounded to f64 once, at the very end.
`evaluate(config, units)` is the whole of it: the answer is the report's `metrics` and `undefined`.
"""
import math
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import lru_cache

getcontext().prec = 60
getcontext().Emin, getcontext().Emax = -10**12, 10**12
# The same scores recur in the units of a case: one evaluation of each is enough.
exp, ln = lru_cache(None)(Decimal.exp), lru_cache(None)(Decimal.ln)
NEG_INF = None                      # log of a probability that is exactly 0
TIE = Decimal("1e-12")              # computed scores closer than this (relative) are tied
EDGE = Fraction(1, 10**6)           # a confidence this close to a bin edge lies on the edge

PRESETS = {
    "strict": {},
    "document": dict(epsilon=True, f1="harmonic", pixel_accuracy="macro", multiplicity="repeat", decision="head",
                     missing_heads="marginalise"),
    "coral-mtl": dict(epsilon=True, overlap_epsilon=True, f1="harmonic", multiplicity="repeat", decision="head",
                      missing_heads="marginalise", fusion_floor=Decimal("1e-12"), nll_floor=Decimal("1e-8"),
                      boundary_void="kept", boundary_absent="skip", empty="zero", background=0),
    "cityscapes": dict(unpredicted="wrong"),
    "mmseg": dict(unpredicted="wrong", unknown="wrong", f1="harmonic"),
    "torchmetrics-jaccard": dict(unpredicted="wrong", absent_iou="zero"),
}
DEFAULTS = dict(epsilon=False, overlap_epsilon=False, f1="counts", pixel_accuracy="micro", multiplicity="split",
                decision="global", missing_heads="error", fusion_floor=None, nll_floor=None, boundary_void="masked",
                boundary_absent="count", empty="undefined", absent_iou="undefined", unpredicted="error",
                unknown="error", background=None)
EPS = Fraction(1, 10**6)
ALL_MEASURES = ["overlap", "boundary", "cheng", "contour", "calibration", "classwise", "temperature"]
GRID = [2.0 ** (k / 8) for k in range(-16, 17)]
DEFAULT_MEASURES = ["overlap", "boundary", "calibration"]


class Bad(Exception):
    """Bad input. The text names the unit, the place and the value."""


# ------------------------------------------------------------------ label spaces
def resolve(entries, groups, rest, absent, originals, gone, what):
    """entries: ordered class list (names, or original ids). originals, gone: {id: name} of scored and of ignored classes.
    -> {original id: position}, unused positions, names."""
    by_name = {n: i for i, n in (originals | gone).items()}

    def orig(ref):
        if isinstance(ref, int) and not isinstance(ref, bool):
            if ref not in originals and ref not in gone:
                raise Bad(f"{what}: {ref} is not an original id")
            return ref
        if ref not in by_name:
            raise Bad(f"{what}: '{ref}' is not an original class")
        return by_name[ref]

    names = [e if isinstance(e, str) else (originals | gone)[orig(e)] for e in entries]
    for g in groups:
        if g not in names:
            raise Bad(f"{what}: group '{g}' is not in the list")
    if rest is not None and rest not in names:
        raise Bad(f"{what}: rest '{rest}' is not in the list")
    owner, unused = {}, set()
    absent = {orig(a) for a in absent}
    for pos, name in enumerate(names):
        if name == "-":
            unused.add(pos)
            continue
        if name in groups:
            mine = [orig(r) for r in groups[name]]
        elif name in by_name:
            mine = [by_name[name]]
        elif name == rest:
            mine = []
        else:
            raise Bad(f"{what}: '{name}' is neither a group nor an original class")
        mine = [o for o in mine if o not in gone]          # ignored originals are skipped wherever they are named
        if not mine and name != rest:
            unused.add(pos)
        for o in mine:
            if o in owner or o in absent:
                raise Bad(f"{what}: original '{originals[o]}' is claimed twice")
            owner[o] = pos
    for o in originals:
        if o not in owner and o not in absent:
            if rest is None:
                raise Bad(f"{what}: original '{originals[o]}' belongs to no class; name it in a group or set rest")
            owner[o] = names.index(rest)
    return owner, unused, names


class Protocol:
    def __init__(self, cfg):
        self.preset = cfg.get("preset", "strict")
        p = dict(DEFAULTS)
        p.update(PRESETS[self.preset])
        lab = cfg["labels"]
        raw = lab["original"]
        orig = {i: n for i, n in enumerate(raw)} if isinstance(raw, list) else {int(k): v for k, v in raw.items()}
        names = {n: i for i, n in orig.items()}
        self.ignore = set()
        for v in lab.get("ignore", []):
            self.ignore.add(names[v] if isinstance(v, str) else v)
        self.listed = sorted(orig)
        self.orig = {i: orig[i] for i in self.listed if i not in self.ignore}
        self.gone = {i: orig[i] for i in self.listed if i in self.ignore}
        glob = lab.get("global")
        if glob is None:
            self.names = list(self.orig.values())
            self.to_global = {o: k for k, o in enumerate(self.orig)}
        else:
            self.to_global, unused, self.names = resolve(glob, lab.get("groups", {}), lab.get("rest"), [], self.orig, self.gone, "labels")
            if unused:
                raise Bad(f"labels: global class '{self.names[min(unused)]}' has no original")
        bg = lab.get("background", p["background"])
        if bg is None or bg == "none":
            self.background = None
        else:
            self.background = self.names.index(bg) if isinstance(bg, str) else bg
        self.include_background = lab.get("include_background", True)
        for k in ("unpredicted", "missing_heads"):
            if k in lab:
                p[k] = lab[k]
        self.p = p
        self.C = len(self.names)
        b = cfg.get("boundary", {})
        self.thickness = b.get("thickness", 2)
        self.cheng = b.get("cheng", 0.02)
        self.tol = b.get("tolerance", 0.0075)
        self.tol_px = b.get("tolerance_px")
        n = cfg.get("bins", {})
        self.bins, self.closed = n.get("count", 10), n.get("closed", "right")
        self.measures = cfg.get("measure", DEFAULT_MEASURES)
        if self.measures == "all":
            self.measures = ALL_MEASURES
        self.truth_space = cfg.get("data", {}).get("truth_space", "original")
        heads = cfg.get("heads") or [dict(name="flat", kind=cfg.get("kind", "labels"), layout=cfg.get("layout", "CHW"),
                                          space=cfg.get("space", "original"))]
        self.heads = [Head(h, self) for h in heads]
        self.labels_only = self.heads[0].kind == "labels"
        if self.labels_only and len(self.heads) > 1:
            raise Bad("heads: label maps of several heads cannot be fused")


class Head:
    def __init__(self, h, proto):
        self.name, self.kind, self.layout = h["name"], h.get("kind", "logits"), h.get("layout", "CHW")
        self.space = h.get("space", "original")
        self.alpha, self.tau = h.get("alpha", 1.0), h.get("tau", 1.0)
        entries = h.get("channels", proto.listed)
        self.idx, self.dropped, self.names = resolve(entries, h.get("groups", {}), h.get("rest"), h.get("absent", []),
                                                     proto.orig, proto.gone, f"head '{self.name}'")
        self.K = len(entries)
        self.background = self.names.index(h["rest"]) if h.get("rest") is not None else None


# ------------------------------------------------------------------ one pixel's probabilities
def dec(v):
    """Exact Decimal of a float or int."""
    return Decimal(v) if isinstance(v, int) else Decimal(float(v))


def check_value(v, kind, where):
    v = float(v)
    if math.isnan(v) or v == math.inf:
        raise Bad(f"{where}: value {v}")
    if kind == "probs" and not 0 <= v <= 1.001:
        raise Bad(f"{where}: probability {v}")
    if kind == "log-probs" and v > 1e-3:
        raise Bad(f"{where}: log-probability {v}")
    return v


def head_logp(values, head, where, stretch=1.0):
    """log-probabilities of one pixel's channels; NEG_INF for exact 0. Dropped channels take no part."""
    vals = [check_value(v, head.kind, where) for v in values]
    if head.kind == "probs":
        total = sum(map(Fraction, vals))
        if abs(total - 1) > Fraction(1, 1000):
            raise Bad(f"{where}: probabilities sum to {float(total)}")
        z = [NEG_INF if v == 0 else ln(dec(v)) for v in vals]
    else:
        if head.kind == "log-probs":
            total = sum((exp(dec(v)) for v in vals if v != -math.inf), Decimal(0))
            if abs(total - 1) > Decimal("1e-3"):
                raise Bad(f"{where}: probabilities sum to {float(total)}")
        z = [NEG_INF if v == -math.inf else dec(v) for v in vals]
    z = [NEG_INF if (v is NEG_INF or k in head.dropped) else v / (dec(head.tau) * dec(stretch)) for k, v in enumerate(z)]
    live = [v for v in z if v is not NEG_INF]
    if not live:
        raise Bad(f"{where}: every channel has probability 0")
    m = max(live)
    lse = m + ln(sum((exp(v - m) for v in live), Decimal(0)))
    return [NEG_INF if v is NEG_INF else v - lse for v in z]


def plain_single(proto, heads):
    """One head, one channel per global class, nothing shared or absent: argmax reads the given numbers."""
    if len(heads) != 1 or len(proto.heads) != 1:
        return None
    h = heads[0]
    chan = {}
    for o, g in proto.to_global.items():
        if o not in h.idx:
            return None
        chan.setdefault(g, set()).add(h.idx[o])
    cover = [c for s in chan.values() for c in s]
    if any(len(s) != 1 for s in chan.values()) or len(set(cover)) != len(cover):
        return None
    return {g: next(iter(s)) for g, s in chan.items()}


def fuse(proto, heads, values, where, stretch=1.0):
    """-> (p_g as Decimal, argmax of p_g, decided class). values: one list of channel values per head."""
    p = proto.p
    used = [(h, v) for h, v in zip(heads, values) if h.alpha != 0]
    logs = [head_logp(v, h, f"{where}: head '{h.name}'", stretch) for h, v in used]
    tuples = {}
    for o in proto.orig:
        t = tuple(h.idx.get(o) for h, _ in used)
        if None not in t:
            tuples.setdefault(t, []).append(o)
    score = {}
    for t, members in tuples.items():
        parts = [lp[k] for lp, k in zip(logs, t)]
        if any(x is NEG_INF for x in parts):
            continue
        s = sum((dec(h.alpha) * x for (h, _), x in zip(used, parts)), Decimal(0))
        if p["multiplicity"] == "split":
            s -= ln(Decimal(len(members)))
        for o in members:
            score[o] = s
    floor = p["fusion_floor"] if len(proto.heads) > 1 else None
    if not score and floor is None:
        raise Bad(f"{where}: every class has probability 0 after fusion")
    shift = Decimal(0) if floor is not None else max(score.values())
    mass = [Decimal(0)] * proto.C
    for o, s in score.items():
        mass[proto.to_global[o]] += exp(s - shift)
    if floor is not None:
        mass = [max(x, floor) for x in mass]
    z = sum(mass, Decimal(0))
    prob = [x / z for x in mass]
    raw = plain_single(proto, heads)
    if raw is not None:
        best = max(float(values[0][c]) for c in raw.values())
        top = min(g for g, c in raw.items() if float(values[0][c]) == best)
    else:
        best = max(prob)
        top = min(g for g, x in enumerate(prob) if x >= best * (1 - TIE))
    label = head_choice(proto, heads[0], values[0]) if p["decision"] == "head" and len(proto.heads) == 1 else top
    return prob, top, label


def head_argmax(head, vals):
    live = [float(vals[k]) for k in range(head.K) if k not in head.dropped]
    best = max(live)
    return min(k for k in range(head.K) if k not in head.dropped and float(vals[k]) == best)


def head_choice(proto, head, vals):
    c = head_argmax(head, vals)
    gs = {proto.to_global[o] for o, k in head.idx.items() if k == c}
    if len(gs) != 1:
        raise Bad(f"head '{head.name}': channel '{head.names[c]}' covers several global classes: argmax cannot be mapped")
    return gs.pop()


# ------------------------------------------------------------------ bands and contours (maps of ints, masks of bools)
def squares(m, mask, c, t):
    """All pixels within Chebyshev distance t of a pixel with m == c and mask."""
    H, W = len(m), len(m[0])
    out = [[False] * W for _ in range(H)]
    for y in range(H):
        for x in range(W):
            if mask[y][x] and m[y][x] == c:
                for v in range(max(0, y - t), min(H, y + t + 1)):
                    row = out[v]
                    for u in range(max(0, x - t), min(W, x + t + 1)):
                        row[u] = True
    return out


def outer_band(m, mask, c, t):
    near = squares(m, mask, c, t)
    H, W = len(m), len(m[0])
    return {(y, x) for y in range(H) for x in range(W) if near[y][x] and mask[y][x] and m[y][x] != c}


def inner_band(m, mask, c, d):
    """Pixels of c with a scored pixel of another label, or the outside of the image, within Chebyshev distance d."""
    H, W = len(m), len(m[0])
    out = set()
    for y in range(H):
        for x in range(W):
            if not (mask[y][x] and m[y][x] == c):
                continue
            if y < d or x < d or y >= H - d or x >= W - d:
                out.add((y, x))
                continue
            if any(mask[v][u] and m[v][u] != c for v in range(y - d, y + d + 1) for u in range(x - d, x + d + 1)):
                out.add((y, x))
    return out


def contour(m, mask, c):
    H, W = len(m), len(m[0])
    out = set()
    for y in range(H):
        for x in range(W):
            if mask[y][x] and m[y][x] == c:
                for v, u in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                    if 0 <= v < H and 0 <= u < W and mask[v][u] and m[v][u] != c:
                        out.add((y, x))
    return out


def matched(a, b, r2):
    """How many points of a have a point of b within squared distance r2."""
    return sum(any((y - v) ** 2 + (x - u) ** 2 <= r2 for v, u in b) for y, x in a)


def overlap(a, b):
    return (len(a & b), len(a), len(b))


# ------------------------------------------------------------------ unit -> row
def bin_of(conf, n, closed):
    c = Fraction(conf)
    edges = [Fraction(k / n) for k in range(1, n)]
    if closed == "right":
        return sum(c - e > EDGE for e in edges)
    return sum(c - e >= -EDGE for e in edges)


def minus_log(q, floor):
    if floor is not None:
        return -ln(q + floor)
    return None if q == 0 else -ln(q)


def measure(proto, unit):
    uid = unit["id"]
    C, p = proto.C, proto.p
    if "confusion" in unit:                 # rows and columns: the listed original classes in id order
        ids, K = proto.listed, len(proto.listed)
        m = unit["confusion"]
        if len(m) != K or any(len(r) not in (K, K + 1) for r in m):
            raise Bad(f"{uid}: confusion matrix is not {K} x {K} or {K} x {K + 1}")
        cm, ignored = [[0] * (C + 1) for _ in range(C)], 0
        for i, r in zip(ids, m):
            for j, v in zip(ids + [None], r):
                if not isinstance(v, int) or v < 0:
                    raise Bad(f"{uid}: confusion matrix entry {v}")
                if i in proto.ignore:
                    ignored += v
                    continue
                col = C if j is None or j in proto.ignore else proto.to_global[j]
                if col == C and v and p["unpredicted"] == "error":
                    raise Bad(f"{uid}: confusion matrix: {v} pixels without a predicted class")
                cm[proto.to_global[i]][col] += v
        return dict(cm=cm, ignored=ignored, maps=False, calib=None, heads={})
    truth = [list(map(int, r)) for r in unit["truth"]]
    H, W = len(truth), len(truth[0])
    mask = [[v not in proto.ignore for v in r] for r in truth]
    gt, og = [], []
    for y in range(H):
        gt.append([]), og.append([])
        for x in range(W):
            v = truth[y][x]
            if not mask[y][x]:
                gt[-1].append(-1), og[-1].append(None)
            elif proto.truth_space == "global":
                if not 0 <= v < C:
                    raise Bad(f"{uid}: truth x={x} y={y}: id {v}")
                gt[-1].append(v), og[-1].append(None)
            else:
                if v not in proto.orig:
                    raise Bad(f"{uid}: truth x={x} y={y}: id {v}")
                gt[-1].append(proto.to_global[v]), og[-1].append(v)
    scored = [(y, x) for y in range(H) for x in range(W) if mask[y][x]]
    everywhere = p["boundary_void"] == "kept"
    pr = [[-3] * W for _ in range(H)]
    given = {h.name: unit["pred"][h.name] for h in proto.heads if h.name in unit["pred"]}
    heads = [h for h in proto.heads if h.name in given]
    if not heads or (len(heads) < len(proto.heads) and p["missing_heads"] == "error"):
        gone = [h.name for h in proto.heads if h.name not in given]
        raise Bad(f"{uid}: no prediction of head {gone}")
    calib = None
    headrow = {}
    where_todo = [(y, x) for y in range(H) for x in range(W)] if everywhere else scored
    if proto.labels_only:
        h = heads[0]
        lab = given[h.name]
        if len(lab) != H or len(lab[0]) != W:
            raise Bad(f"{uid}: sizes differ")
        for y, x in where_todo:
            v = int(lab[y][x])
            g = -2
            if h.space == "global" and 0 <= v < C:
                g = v
            elif h.space == "original" and v in proto.orig:
                g = proto.to_global[v]
            elif h.space == "channel" and 0 <= v < h.K and v not in h.dropped:
                gs = {proto.to_global[o] for o, k in h.idx.items() if k == v}
                if len(gs) != 1:
                    raise Bad(f"{uid}: head '{h.name}': channel {v} covers several global classes")
                g = gs.pop()
            else:
                known = v in proto.ignore
                if mask[y][x] and (p["unpredicted"] == "error" or (not known and p["unknown"] == "error")):
                    raise Bad(f"{uid}: prediction x={x} y={y}: id {v}")
                if not mask[y][x] and not known and p["unknown"] == "error":
                    raise Bad(f"{uid}: prediction x={x} y={y}: id {v}")
            pr[y][x] = g
    else:
        def at(h, y, x):
            a = given[h.name]
            return [a[k][y][x] for k in range(h.K)] if h.layout == "CHW" else [a[y][x][k] for k in range(h.K)]
        for h in heads:
            a = given[h.name]
            shape = (len(a), len(a[0]), len(a[0][0]))
            if shape != ((h.K, H, W) if h.layout == "CHW" else (H, W, h.K)):
                raise Bad(f"{uid}: head '{h.name}': shape {shape}, expected {h.K} channels, {H} x {W}")
        n = proto.bins
        cw = "classwise" in proto.measures
        calib = dict(n=0, zero=0, nll=Decimal(0), brier=Decimal(0), bins=[[0, 0, Decimal(0)] for _ in range(n)],
                     classwise=[[[0, 0, Decimal(0)] for _ in range(n)] for _ in range(C)] if cw else None,
                     grid=[Decimal(0) for _ in GRID] if "temperature" in proto.measures else None)
        for y, x in where_todo:
            vals = [at(h, y, x) for h in heads]
            prob, top, label = fuse(proto, heads, vals, f"{uid}: x={x} y={y}")
            pr[y][x] = label
            if not mask[y][x]:
                continue
            t = gt[y][x]
            calib["n"] += 1
            nll = minus_log(prob[t], p["nll_floor"])
            if nll is None:
                calib["zero"] += 1
            else:
                calib["nll"] += nll
                for k, tau in enumerate(GRID if calib["grid"] is not None else []):
                    q = fuse(proto, heads, vals, f"{uid}: x={x} y={y}", tau)[0][t]
                    calib["grid"][k] += minus_log(q, p["nll_floor"])
            calib["brier"] += sum(((q - (1 if g == t else 0)) ** 2 for g, q in enumerate(prob)), Decimal(0))
            conf = max(prob)
            b = calib["bins"][bin_of(conf, n, proto.closed)]
            b[0] += 1
            b[1] += top == t
            b[2] += conf
            if cw:
                for g, q in enumerate(prob):
                    b = calib["classwise"][g][bin_of(q, n, proto.closed)]
                    b[0] += 1
                    b[1] += g == t
                    b[2] += q
        if len(proto.heads) > 1 and proto.truth_space == "original":
            for h in heads:
                tm = [[h.idx.get(o, -1) if o is not None else -1 for o in r] for r in og]
                pm = [[head_argmax(h, at(h, y, x)) if (mask[y][x] or everywhere) else -3 for x in range(W)] for y in range(H)]
                hc = [[0] * (h.K + 1) for _ in range(h.K)]
                for y, x in scored:
                    if tm[y][x] >= 0:
                        hc[tm[y][x]][pm[y][x]] += 1
                hb = band_counts(proto, tm, pm, mask, h.K, h.background, H, W)
                headrow[h.name] = dict(cm=hc, band=hb)
    cm = [[0] * (C + 1) for _ in range(C)]
    for y, x in scored:
        cm[gt[y][x]][pr[y][x] if pr[y][x] >= 0 else C] += 1
    row = dict(cm=cm, ignored=H * W - len(scored), maps=True, calib=calib, heads=headrow)
    fg = [c for c in range(C) if c != proto.background]
    if "boundary" in proto.measures:
        row["band"] = band_counts(proto, gt, pr, mask, C, proto.background, H, W)
    if "cheng" in proto.measures:
        d = max(1, round(proto.cheng * math.sqrt(H * H + W * W)))
        row["cheng"] = {c: overlap(inner_band(gt, mask, c, d), inner_band(pr, mask, c, d)) for c in fg}
    if "contour" in proto.measures:
        r2 = float(proto.tol_px) ** 2 if proto.tol_px is not None else (proto.tol * proto.tol) * float(H * H + W * W)
        row["contour"] = {}
        for c in fg:
            a, b = contour(gt, mask, c), contour(pr, mask, c)
            row["contour"][c] = (matched(b, a, r2), len(b), matched(a, b, r2), len(a))
    return row


def band_counts(proto, tm, pm, mask, K, background, H, W):
    if "boundary" not in proto.measures:
        return {}
    m = [[True] * W for _ in range(H)] if proto.p["boundary_void"] == "kept" else mask
    out = {}
    for c in range(K):
        if c == background:
            continue
        if proto.p["boundary_absent"] == "skip" and not any(c in r for r in tm):
            out[c] = (0, 0, 0)
            continue
        out[c] = overlap(outer_band(tm, m, c, proto.thickness), outer_band(pm, m, c, proto.thickness))
    return out


# ------------------------------------------------------------------ rows -> numbers
class U(Exception):
    """Undefined, with its reason."""


def ratio(a, b, why):
    if b == 0:
        raise U(why)
    return Fraction(a, b) if isinstance(a, (int, Fraction)) and isinstance(b, (int, Fraction)) else a / b


def total_cm(rows, C):
    return [[sum(r["cm"][i][j] for r in rows) for j in range(C + 1)] for i in range(C)]


def mean(values, why):
    vals = [v for v in values if v is not None]
    if not vals:
        raise U(why)
    return sum(vals, Fraction(0)) / len(vals)


def attempt(f):
    try:
        return f()
    except U:
        return None


class Overlap:
    NONE = "no scored pixel"

    def __init__(self, proto, cm):
        self.pr, self.p, self.C = proto, proto.p, len(cm)
        C = self.C
        self.tp = [cm[c][c] for c in range(C)]
        self.t = [sum(cm[c]) for c in range(C)]
        self.q = [sum(cm[r][c] for r in range(C)) for c in range(C)]
        self.cm, self.n = cm, sum(self.t)
        self.e = EPS if self.p["overlap_epsilon"] else 0

    def iou(self, c):
        return ratio(self.tp[c], self.t[c] + self.q[c] - self.tp[c], "class occurs in neither truth nor prediction")

    def precision(self, c):
        return ratio(self.tp[c], self.q[c], "class is never predicted")

    def recall(self, c):
        return ratio(self.tp[c], self.t[c], "class does not occur in truth")

    def f1(self, c):
        if self.p["f1"] == "harmonic":
            a, b = self.precision(c), self.recall(c)
            return ratio(2 * a * b, a + b, "precision and recall are both 0")
        return ratio(2 * self.tp[c], self.t[c] + self.q[c], "class occurs in neither truth nor prediction")

    def means(self):
        return [c for c in range(self.C) if self.pr.include_background or c != self.pr.background]

    def macro(self, f, why="no class with a defined value"):
        vals = [attempt(lambda c=c: f(c)) for c in self.means()]
        if self.p["empty"] == "zero" and all(v is None for v in vals):
            return Fraction(0)
        return mean(vals, why)

    def miou(self):
        return self.macro(self.iou)

    def pixel_accuracy(self):
        if self.p["pixel_accuracy"] == "macro":
            return self.macro(self.recall)
        return ratio(sum(self.tp), self.n + self.e, self.NONE)

    def tide(self, kind):
        b = self.pr.background
        if b is None:
            raise U("no background class is declared")
        C = self.C
        fg = [c for c in range(C) if c != b]
        if kind == "classification":
            k = sum(self.cm[r][c] for r in fg for c in fg if r != c)
        elif kind == "background":
            k = sum(self.cm[b][c] for c in fg)
        else:
            k = sum(self.cm[r][b] for r in fg)
        return ratio(k, self.n + self.e, self.NONE)

    def fwiou(self):
        cs = [c for c in self.means() if self.t[c] > 0]
        return ratio(sum((self.t[c] * self.iou(c) for c in cs), Fraction(0)), sum(self.t[c] for c in cs), self.NONE)

    def kappa(self):
        if self.n == 0:
            raise U(self.NONE)
        e = sum(a * b for a, b in zip(self.t, self.q))
        return ratio(self.n * sum(self.tp) - e, self.n * self.n - e, "truth and prediction are one and the same class")


class Band:
    WHY = "no boundary in truth or prediction"

    def __init__(self, proto, rows, keys):
        self.p = proto.p
        self.c = {k: tuple(sum(r[k][j] for r in rows) for j in range(3)) for k in keys}
        self.i, self.g, self.q = (sum(v[j] for v in self.c.values()) for j in range(3))

    def biou(self):
        u = self.g + self.q - self.i
        if self.p["epsilon"]:
            return self.i / (u + EPS)
        return ratio(self.i, u, self.WHY)

    def one(self, k):
        i, g, q = self.c[k]
        return ratio(i, g + q - i, self.WHY)

    def precision(self):
        return self.i / (self.q + EPS) if self.p["epsilon"] else ratio(self.i, self.q, "no boundary in prediction")

    def recall(self):
        return self.i / (self.g + EPS) if self.p["epsilon"] else ratio(self.i, self.g, "no boundary in truth")

    def f1(self):
        if self.p["epsilon"]:
            a, b = self.precision(), self.recall()
            return 2 * a * b / (a + b + EPS)
        return ratio(2 * self.i, self.g + self.q, self.WHY)


def contour_f1(pm, pn, tm, tn):
    if pn == 0 and tn == 0:
        raise U("no contour in truth or prediction")
    if pn == 0 or tn == 0:
        return Fraction(0)
    a, b = Fraction(pm, pn), Fraction(tm, tn)
    return 2 * a * b / (a + b) if a + b else Fraction(0)


class Calib:
    NONE = "no scored pixel"

    def __init__(self, proto, rows):
        self.proto, self.rows = proto, rows
        n = proto.bins
        self.n = sum(r["n"] for r in rows)
        self.zero = sum(r["zero"] for r in rows)
        self.bins = [[sum((r["bins"][k][j] for r in rows), Decimal(0) if j == 2 else 0) for j in range(3)] for k in range(n)]
        self.zero_if_empty = proto.p["empty"] == "zero"

    def per_pixel(self, key):
        if self.n == 0:
            if self.zero_if_empty:
                return Decimal(0)
            raise U(self.NONE)
        if key == "nll" and self.zero:
            raise U(f"infinite: the true class has probability 0 at {self.zero} pixel(s)")
        return sum((r[key] for r in self.rows), Decimal(0)) / self.n

    def ece(self, bins=None):
        if self.n == 0:
            if self.zero_if_empty:
                return Decimal(0)
            raise U(self.NONE)
        return sum((abs(b[1] - b[2]) for b in (bins or self.bins)), Decimal(0)) / self.n

    def mce(self):
        if self.n == 0:
            raise U(self.NONE)
        return max(abs(b[1] - b[2]) / b[0] for b in self.bins if b[0])

    def mean_confidence(self):
        if self.n == 0:
            raise U(self.NONE)
        return sum((b[2] for b in self.bins), Decimal(0)) / self.n

    def classwise(self, g):
        n = self.proto.bins
        return self.ece([[sum((r["classwise"][g][k][j] for r in self.rows), Decimal(0) if j == 2 else 0) for j in range(3)] for k in range(n)])


def report(proto, rows):
    """rows: {unit id: row}. -> metrics and undefined, as the report has them."""
    M, UND = {}, {}
    rs = [rows[k] for k in sorted(rows)]
    C, names = proto.C, proto.names
    maps = all(r["maps"] for r in rs)

    def out(v):
        return v if isinstance(v, int) and not isinstance(v, bool) else float(v)

    def put(mid, f, want=True, why=None):
        mid = "segmentation." + mid
        if not want:
            M[mid], UND[mid] = None, why
            return
        try:
            M[mid] = out(f())
        except U as e:
            M[mid], UND[mid] = None, str(e)

    def put_labels(mid, keys, f, label=lambda k: names[k], want=True, why=None):
        full = "segmentation." + mid
        if not want:
            M[full], UND[full] = None, why
            return
        M[full] = {}
        for k in keys:
            try:
                M[full][label(k)] = out(f(k))
            except U as e:
                M[full][label(k)], UND[f"{full}.{label(k)}"] = None, str(e)

    every = list(range(C))
    fg = [c for c in every if c != proto.background]
    o = Overlap(proto, total_cm(rs, C))
    units = [Overlap(proto, r["cm"]) for r in rs]

    def iou(c):
        try:
            return o.iou(c)
        except U:
            if proto.p["absent_iou"] == "zero":
                return Fraction(0)
            raise
    ov, why = "overlap" in proto.measures, "not requested"
    put("miou", o.miou, ov, why)
    put_labels("iou", every, iou, want=ov, why=why)
    put("pixel_accuracy", o.pixel_accuracy, ov, why)
    put("mean_class_accuracy", lambda: o.macro(o.recall), ov, why)
    for mid, f in (("precision", o.precision), ("recall", o.recall), ("f1", o.f1)):
        put_labels(mid, every, f, want=ov, why=why)
        put("mean_" + mid, lambda f=f: o.macro(f), ov, why)
    for k in ("classification", "background", "missed"):
        put(k + "_error", lambda k=k: o.tide(k), ov, why)
    put("fwiou", o.fwiou, ov, why)
    put("kappa", o.kappa, ov, why)
    put_labels("truth_pixels", every, lambda c: o.t[c], want=ov, why=why)
    put_labels("pred_pixels", every, lambda c: o.q[c], want=ov, why=why)
    put("scored_pixels", lambda: o.n, ov, why)
    put("ignored_pixels", lambda: sum(r["ignored"] for r in rs), ov, why)
    put("unpredicted_pixels", lambda: sum(o.cm[c][C] for c in every), ov, why)
    if ov:
        M["segmentation.confusion"] = [v for r in o.cm for v in r]
    else:
        put("confusion", None, False, why)
    nothing = "no unit with a defined value"
    put("miou_image", lambda: mean([attempt(u.miou) for u in units if u.n], nothing), ov, why)
    put_labels("iou_image", every, lambda c: mean([attempt(lambda: u.iou(c)) for u in units], nothing), want=ov, why=why)
    put("pixel_accuracy_image", lambda: mean([attempt(u.pixel_accuracy) for u in units if u.n], nothing), ov, why)

    def gate(name):
        if name not in proto.measures:
            return False, "not requested"
        if not maps:
            return False, "confusion matrices carry no pixels"
        return True, None
    ok, why = gate("boundary")
    b = Band(proto, [r["band"] for r in rs], fg) if ok else None
    put("biou", lambda: b.biou(), ok, why)
    put_labels("biou_class", fg, lambda c: b.one(c), want=ok, why=why)
    put("biou_macro", lambda: mean([attempt(lambda c=c: b.one(c)) for c in fg], Band.WHY), ok, why)
    put("boundary_precision", lambda: b.precision(), ok, why)
    put("boundary_recall", lambda: b.recall(), ok, why)
    put("boundary_f1", lambda: b.f1(), ok, why)
    put("biou_image", lambda: mean([attempt(Band(proto, [r["band"]], fg).biou) for r in rs], nothing), ok, why)
    ok, why = gate("cheng")
    ch = Band(proto, [r["cheng"] for r in rs], fg) if ok else None
    put("boundary_iou_cheng", lambda: mean([attempt(lambda c=c: ch.one(c)) for c in fg], Band.WHY), ok, why)
    put_labels("boundary_iou_cheng_class", fg, lambda c: ch.one(c), want=ok, why=why)
    ok, why = gate("contour")
    k = {c: [sum(r["contour"][c][j] for r in rs) for j in range(4)] for c in fg} if ok else {}
    s = [sum(v[j] for v in k.values()) for j in range(4)]
    put("contour_precision", lambda: ratio(s[0], s[1], "no contour in prediction"), ok, why)
    put("contour_recall", lambda: ratio(s[2], s[3], "no contour in truth"), ok, why)
    put("contour_f1", lambda: contour_f1(*s), ok, why)
    put_labels("contour_f1_class", fg, lambda c: contour_f1(*k[c]), want=ok, why=why)
    put("contour_f1_macro", lambda: mean([attempt(lambda c=c: contour_f1(*k[c])) for c in fg], "no contour in truth or prediction"), ok, why)

    ok, why = gate("calibration")
    cw, why_cw = gate("classwise")
    if maps and proto.labels_only:
        if ok:
            ok, why = False, "predictions are label maps, not probabilities"
        if cw:
            cw, why_cw = False, "predictions are label maps, not probabilities"
    have = maps and not proto.labels_only
    cal = Calib(proto, [r["calib"] for r in rs]) if have else None
    one = [Calib(proto, [r["calib"]]) for r in rs] if have else []
    put("nll", lambda: cal.per_pixel("nll"), ok, why)
    put("brier", lambda: cal.per_pixel("brier"), ok, why)
    put("ece", lambda: cal.ece(), ok, why)
    put("mce", lambda: cal.mce(), ok, why)
    put("mean_confidence", lambda: cal.mean_confidence(), ok, why)
    put("nll_infinite_pixels", lambda: cal.zero, ok, why)
    if ok:
        M["segmentation.reliability_count"] = [b[0] for b in cal.bins]
        M["segmentation.reliability_confidence"] = [float(b[2] / b[0]) if b[0] else None for b in cal.bins]
        M["segmentation.reliability_accuracy"] = [b[1] / b[0] if b[0] else None for b in cal.bins]
    else:
        for k in ("count", "confidence", "accuracy"):
            put("reliability_" + k, None, False, why)

    def image(f):
        vals = []
        for u in one:
            if u.n:
                vals.append(f(u))           # an infinite NLL of one unit makes the mean undefined as well
        if not vals:
            raise U(nothing)
        return sum(vals, Decimal(0)) / len(vals)
    put("nll_image", lambda: image(lambda u: u.per_pixel("nll")), ok, why)
    put("brier_image", lambda: image(lambda u: u.per_pixel("brier")), ok, why)
    put("ece_image", lambda: image(lambda u: u.ece()), ok, why)
    tp, why_tp = gate("temperature")
    if tp and proto.labels_only:
        tp, why_tp = False, "predictions are label maps, not probabilities"
    if tp:
        def grid():
            cal.per_pixel("nll")            # undefined for the same reasons
            return [sum((r["calib"]["grid"][k] for r in rs), Decimal(0)) / max(cal.n, 1) for k in range(len(GRID))]

        def best():
            g = grid()
            low = min(g)
            return min((k for k in range(len(GRID)) if g[k] <= low + Decimal("1e-6")), key=lambda k: (abs(k - 16), k))
        try:
            M["segmentation.temperature_nll"] = [float(v) for v in grid()]
        except U as e:
            M["segmentation.temperature_nll"], UND["segmentation.temperature_nll"] = None, str(e)
        put("best_temperature", lambda: GRID[best()], tp, why_tp)
    else:
        put("temperature_nll", None, False, why_tp)
        put("best_temperature", None, False, why_tp)
    put_labels("ece_per_class", every, lambda g: cal.classwise(g), want=cw, why=why_cw)
    put("ece_classwise", lambda: sum((cal.classwise(g) for g in every), Decimal(0)) / C, cw, why_cw)

    hs = [h for h in proto.heads]
    okh, whyh = True, None
    if not maps:
        okh, whyh = False, "confusion matrices carry no pixels"
    elif len(hs) < 2:
        okh, whyh = False, "needs two or more heads"
    elif proto.truth_space != "original":
        okh, whyh = False, "truth is given in the global space"

    def hrows(h):
        got = [r["heads"][h.name] for r in rs if h.name in r["heads"]]
        if not got:
            raise U("head is missing in every unit")
        return got

    def hov(h):
        got = hrows(h)
        view = Overlap(proto, [[sum(r["cm"][i][j] for r in got) for j in range(h.K + 1)] for i in range(h.K)])
        view.means = lambda: list(range(h.K))
        return view
    wants = {"head_miou": "overlap", "head_pixel_accuracy": "overlap", "head_biou": "boundary"}
    fs = {"head_miou": lambda h: hov(h).miou(), "head_pixel_accuracy": lambda h: hov(h).pixel_accuracy(),
          "head_biou": lambda h: Band(proto, [r["band"] for r in hrows(h)], [k for k in range(h.K) if k != h.background]).biou()}
    for mid, f in fs.items():
        w, y = (okh, whyh) if wants[mid] in proto.measures else (False, "not requested")
        put_labels(mid, hs, f, label=lambda h: h.name, want=w, why=y)
    return {"metrics": M, "undefined": UND}


def evaluate(cfg, units):
    proto = Protocol(cfg)
    rows = {}
    for u in units:
        if u["id"] in rows:
            raise Bad(f"{u['id']}: unit seen twice")
        rows[u["id"]] = measure(proto, u)
    return report(proto, rows)
