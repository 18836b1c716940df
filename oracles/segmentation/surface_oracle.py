"""Surface distances, volumes and worst images: slow, obvious and exact.

Distances are found by trying every pair of surface elements. Squared distances are fractions.Fraction built from the
exact value of every spacing, square roots are decimal.Decimal with 60 digits, results are rounded to f64 once, at the
very end. `evaluate` gives a report, `per_unit` the columns of one unit.
"""
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import product
from pathlib import Path
import json
import math

getcontext().prec = 60  # as oracle.py has it: one process has one context
HERE = Path(__file__).resolve().parent
CONVENTIONS = ("strict", "medpy", "monai", "deepmind")
SLACK = Fraction(1, 10**6)             # within the tolerance: D2 <= T^2 (1 + SLACK)
WEIGHT_SLACK = Decimal(1) - Decimal("1e-9")
NO_SURFACE = "no surface in truth or prediction"
ONE_SIDED = "no unit has a surface in both truth and prediction"
NO_TOLERANCE = "no tolerance is given"
NO_CLASS_HERE = "class occurs in neither truth nor prediction"
NO_CLASS = "no class with a defined value"
NO_UNIT = "no unit with a defined value"
NOT_IN_TRUTH = "class does not occur in truth"


class Bad(Exception):
    """Bad input. The text names the unit or key and the value."""


def infinite(k):
    return f"infinite: {k} unit(s) have a surface in only one of truth and prediction"


# ------------------------------------------------------------------ numbers
def dec(q):
    return Decimal(q.numerator) / Decimal(q.denominator)


ROOTS = {}


def root(q):
    """Square root of a Fraction."""
    if q not in ROOTS:
        ROOTS[q] = dec(q).sqrt() if q else Decimal(0)
    return ROOTS[q]


def percent(p):
    """A percentage as the exact value of its shortest decimal text."""
    return Fraction(str(p))


def interpolated(values, p):
    """Sorted squared distances -> percentile p of the distances: linear between the two order statistics around (n - 1) p / 100."""
    h = (len(values) - 1) * percent(p) / 100
    j = h.numerator // h.denominator
    a = root(values[j])
    if h == j:
        return a
    return a + (root(values[j + 1]) - a) * dec(h - j)


def weighted(pairs, p):
    """Sorted (squared distance, weight): the first distance at which the weights so far reach p % of all."""
    need = sum(w for _, w in pairs) * dec(percent(p)) / 100 * WEIGHT_SLACK
    acc = Decimal(0)
    for q, w in pairs:
        acc += w
        if acc >= need:
            return root(q)
    return root(pairs[-1][0])


# ------------------------------------------------------------------ grids
def grid(a):
    """Nested lists -> (shape without axes of length 1 beyond two, flat list, kept axes)."""
    shape = []
    b = a
    while hasattr(b, "__len__"):
        shape.append(len(b))
        b = b[0] if len(b) else None
    flat = list(a)
    for _ in shape[1:]:
        flat = [x for row in flat for x in row]
    axes = list(range(len(shape)))
    while len(axes) > 2 and any(shape[k] == 1 for k in axes):
        axes.remove(next(k for k in axes if shape[k] == 1))
    if len(axes) not in (2, 3):
        raise Bad(f"label map of {len(shape)} axes")
    return tuple(shape[k] for k in axes), [int(x) for x in flat], axes


def index(shape, x):
    n = 0
    for s, v in zip(shape, x):
        n = n * s + v
    return n


def borders(shape, inside, scored):
    """Elements of `inside` with a face neighbour outside the image, or scored and not inside. inside, scored: flat lists of bool."""
    out = []
    for x in product(*map(range, shape)):
        if not inside[index(shape, x)]:
            continue
        for k, step in product(range(len(shape)), (-1, 1)):
            y = list(x)
            y[k] += step
            if not 0 <= y[k] < shape[k]:
                out.append(x)
                break
            n = index(shape, y)
            if scored[n] and not inside[n]:
                out.append(x)
                break
    return out


def surfels(shape, inside, spacing):
    """Corner points whose 2 x 2 (x 2) neighbourhood is mixed -> {corner: weight}. The corner x lies before the element x."""
    d = len(shape)
    out = {}
    for x in product(*(range(s + 1) for s in shape)):
        code = 0
        for offset in product((-1, 0), repeat=d):
            y = [a + b for a, b in zip(x, offset)]
            here = all(0 <= v < s for v, s in zip(y, shape)) and inside[index(shape, y)]
            code = code * 2 + int(here)
        if 0 < code < 2 ** (2 ** d) - 1:
            out[x] = length(code, spacing) if d == 2 else area(code, spacing)
    return out


def length(code, s):
    diag = root(s[0] * s[0] + s[1] * s[1]) / 2
    if code in (0b0011, 0b1100):
        return dec(s[1])
    if code in (0b0101, 0b1010):
        return dec(s[0])
    if code in (0b0110, 0b1001):
        return 2 * diag
    return diag


TABLE = None
AREAS = {}


def area(code, s):
    """Sum over the triangles of the code of |(a s1 s2, b s0 s2, c s0 s1)| / 8, (a, b, c) from surfels.json."""
    global TABLE
    if TABLE is None:
        TABLE = json.loads((HERE / "surfels.json").read_text())["triangles"]
    key = (code, tuple(s))
    if key not in AREAS:
        t = Decimal(0)
        for a, b, c in TABLE[code]:
            t += root((a * s[1] * s[2]) ** 2 + (b * s[0] * s[2]) ** 2 + (c * s[0] * s[1]) ** 2) / 8
        AREAS[key] = t
    return AREAS[key]


def nearest(points, others, spacing):
    """Squared distance of every point to the nearest of `others`, as Fractions."""
    sq = [s * s for s in spacing]
    den = math.lcm(*(q.denominator for q in sq))
    w = [q.numerator * (den // q.denominator) for q in sq]
    out = []
    for x in points:
        out.append(Fraction(min(sum(k * (a - b) ** 2 for k, a, b in zip(w, x, y)) for y in others), den))
    return out


# ------------------------------------------------------------------ one unit, one class
def measure(cfg, shape, spacing, truth, pred, scored):
    """truth, pred: flat lists of bool (already without ignored elements). -> dict of what the readings need."""
    deep = cfg["convention"] == "deepmind"
    if cfg["convention"] == "strict":
        t, p = borders(shape, truth, scored), borders(shape, pred, scored)
    elif deep:
        t, p = surfels(shape, truth, spacing), surfels(shape, pred, spacing)
    else:
        every = [True] * len(scored)
        t, p = borders(shape, truth, every), borders(shape, pred, every)
    r = {"state": ("absent", "missed", "invented", "both")[bool(t) + 2 * bool(p)], "nt": len(t), "np": len(p)}
    r["diagonal"] = root(sum((n * s) ** 2 for n, s in zip(shape, spacing)))
    tol = cfg["tolerance"]
    if not (t and p):
        r["nsd"] = None if r["state"] == "absent" else Fraction(0)
        return r
    dt, dp = nearest(t, p, spacing), nearest(p, t, spacing)      # from truth to prediction, from prediction to truth
    r["hd"] = root(max(max(dt), max(dp)))
    near = None if tol is None else Fraction(tol) ** 2 * (1 + SLACK)
    if deep:
        wt, wp = list(zip(dt, t.values())), list(zip(dp, p.values()))
        for key, q in cfg["percentiles"].items():
            r[key] = max(weighted(sorted(wt), q), weighted(sorted(wp), q))
        st, sp = sum(w for _, w in wt), sum(w for _, w in wp)
        at, ap = sum(root(q) * w for q, w in wt), sum(root(q) * w for q, w in wp)
        if tol is not None:
            r["nsd"] = sum(w for q, w in wt + wp if q <= near) / (st + sp)
    else:
        for key, q in cfg["percentiles"].items():
            if cfg["convention"] == "medpy":
                r[key] = interpolated(sorted(dt + dp), q)
            else:
                r[key] = max(interpolated(sorted(dt), q), interpolated(sorted(dp), q))
        st, sp = Decimal(len(dt)), Decimal(len(dp))
        at, ap = sum(root(q) for q in dt), sum(root(q) for q in dp)
        if tol is not None:
            r["nsd"] = Fraction(sum(q <= near for q in dt + dp), len(dt) + len(dp))
    r["asd_from_truth"], r["asd_from_pred"] = at / st, ap / sp
    r["assd"] = (at + ap) / (st + sp)
    r["masd"] = (at / st + ap / sp) / 2
    return r


DISTANCES = ("hd", "hd95", "hd_p", "assd", "masd", "asd_from_truth", "asd_from_pred")
INF = "infinite"


def value(cfg, r, key):
    """One unit's value of one class: a number, None (undefined) or INF."""
    if key == "dice":
        if r["T"] + r["P"] == 0:
            return Fraction(1) if cfg["absent"] == "perfect" else None
        return Fraction(2 * r["TP"], r["T"] + r["P"])
    if r["state"] == "absent":
        if cfg["absent"] != "perfect":
            return None
        return Fraction(1) if key == "nsd" else Decimal(0)
    if key == "nsd" or r["state"] == "both":
        return r.get(key)
    if cfg["missing"] == "undefined":
        if cfg["convention"] == "monai" and key in ("hd95", "hd_p"):
            return None                # its interpolation of infinities gives NaN, and NaN is left out of its means
        return INF if cfg["convention"] in ("monai", "deepmind") else None
    return r["diagonal"] if cfg["missing"] == "diagonal" else Decimal(cfg["missing"])


# ------------------------------------------------------------------ configuration
def settings(config):
    s = dict(config.get("surface", {}))
    cfg = {"convention": s.pop("convention", "strict"), "missing": s.pop("missing", "undefined"), "absent": s.pop("absent", "undefined")}
    if cfg["convention"] not in CONVENTIONS:
        raise Bad(f"surface.convention: '{cfg['convention']}'")
    m = cfg["missing"]
    if isinstance(m, str) and m not in ("undefined", "diagonal") or not isinstance(m, str) and not (math.isfinite(m) and m >= 0):
        raise Bad(f"surface.missing: {m!r}")
    if cfg["absent"] not in ("undefined", "perfect"):
        raise Bad(f"surface.absent: '{cfg['absent']}'")
    cfg["percentiles"] = {"hd95": 95}
    p = s.pop("percentile", None)
    if p is not None:
        if not 0 < p <= 100:
            raise Bad(f"surface.percentile: {p}")
        cfg["percentiles"]["hd_p"] = p
    cfg["tolerances"] = s.pop("tolerance", None)
    for t in cfg["tolerances"].values() if isinstance(cfg["tolerances"], dict) else [cfg["tolerances"]]:
        if t is not None and not (math.isfinite(t) and t >= 0):
            raise Bad(f"surface.tolerance: {t}")
    if s:
        raise Bad(f"surface.{next(iter(s))}: unknown key")
    w = config.get("images", {}).get("worst", 5)
    if not 0 < w <= 100:
        raise Bad(f"images.worst: {w}")
    cfg["worst"] = w
    return cfg


def rows(config, units):
    """-> settings, class names, foreground names, one dict a unit: {class: measured}."""
    cfg = settings(config)
    lab = config["labels"]
    names = lab["original"] if isinstance(lab["original"], list) else [str(i) for i in range(lab["original"])]
    bg = lab.get("background")
    bg = names.index(bg) if isinstance(bg, str) and bg != "none" else (None if bg == "none" else bg)
    ignore = set(lab.get("ignore", []))
    fore = [c for c in range(len(names)) if c != bg]
    if isinstance(cfg["tolerances"], dict):
        for n in cfg["tolerances"]:
            if n not in [names[c] for c in fore]:
                raise Bad(f"surface.tolerance: '{n}' is not a class with a surface")
    out = []
    for u in sorted(units, key=lambda u: u["id"]):
        shape, t, axes = grid(u["truth"])
        shape2, p, _ = grid(u["pred"])
        if shape != shape2:
            raise Bad(f"{u['id']}: sizes {shape} and {shape2}")
        given = u.get("spacing") or config.get("data", {}).get("spacing")
        if given is None:
            spacing = [Fraction(1)] * len(shape)
        else:
            if len(given) != max(axes) + 1 and len(given) != len(shape):
                raise Bad(f"{u['id']}: spacing {given} for {len(shape)} axes")
            if any(not math.isfinite(s) or s <= 0 for s in given):
                raise Bad(f"{u['id']}: spacing {given}")
            spacing = [Fraction(given[k]) for k in axes] if len(given) == max(axes) + 1 else [Fraction(s) for s in given]
        scored = [x not in ignore for x in t]
        for k, x in enumerate(t):
            if x not in ignore and not 0 <= x < len(names):
                raise Bad(f"{u['id']}: truth {x}")
            if scored[k] and not 0 <= p[k] < len(names) and not (p[k] in ignore and lab.get("unpredicted") == "wrong"):
                raise Bad(f"{u['id']}: prediction {p[k]}")
        row = {"scored": sum(scored), "classes": {}}
        for c in range(len(names)):
            a = [k and x == c for k, x in zip(scored, t)]
            b = [k and x == c for k, x in zip(scored, p)]
            r = {}
            if c in fore and "surface" in config["measure"]:
                tol = cfg["tolerances"]
                one = dict(cfg, tolerance=tol.get(names[c]) if isinstance(tol, dict) else tol)
                r = measure(one, shape, spacing, a, b, scored)
            r |= {"T": sum(a), "P": sum(b), "TP": sum(x and y for x, y in zip(a, b))}
            row["classes"][c] = r
        out.append(row)
    return cfg, names, fore, out


# ------------------------------------------------------------------ readings
def total(v):
    """Exact mean of Fractions, or mean of Decimals."""
    if all(isinstance(x, Fraction) for x in v):
        return sum(v, Fraction(0)) / len(v)
    return sum(dec(x) if isinstance(x, Fraction) else x for x in v) / len(v)


def out(x):
    return float(x) if x is not None else None


def keys_of(cfg):
    return ["dice", "hd", "hd95"] + (["hd_p"] if "hd_p" in cfg["percentiles"] else []) + ["assd", "masd", "nsd"]


def surface(cfg, names, fore, rows_, metrics, undefined):
    for key in keys_of(cfg) + ["asd_from_truth", "asd_from_pred"]:
        per, reasons = {}, {}
        values = {c: [value(cfg, r["classes"][c], key) for r in rows_] for c in fore}
        for c in fore:
            v = values[c]
            good = [x for x in v if x is not None and x is not INF]
            k = sum(x is INF for x in v)
            tol = cfg["tolerances"]
            states = {r["classes"][c]["state"] for r in rows_}
            if key == "nsd" and (tol is None or isinstance(tol, dict) and names[c] not in tol):
                per[c], reasons[c] = None, NO_TOLERANCE
            elif k:
                per[c], reasons[c] = INF, infinite(k)
            elif good:
                per[c] = total(good)
            elif key == "dice":
                per[c], reasons[c] = None, NO_CLASS_HERE
            else:
                per[c], reasons[c] = None, ONE_SIDED if states & {"missed", "invented"} else NO_SURFACE
        metrics[key] = {names[c]: out(None if per[c] is INF else per[c]) for c in fore}
        undefined.update({f"{key}.{names[c]}": t for c, t in reasons.items()})
        if key.startswith("asd_"):
            continue
        name = f"mean_{key}"
        metrics[name] = None
        live = [c for c in fore if reasons.get(c) != NO_TOLERANCE]
        far = sum(any(values[c][i] is INF for c in live) for i in range(len(rows_)))
        good = [per[c] for c in live if per[c] is not None and per[c] is not INF]
        if key == "nsd" and not live:
            undefined[name] = NO_TOLERANCE
        elif far:
            undefined[name] = infinite(far)
        elif not good:
            undefined[name] = NO_CLASS
        elif cfg["convention"] == "monai":
            inner = [[values[c][i] for c in live if values[c][i] is not None] for i in range(len(rows_))]
            metrics[name] = out(total([total(v) for v in inner if v]))
        else:
            metrics[name] = out(total(good))
    for state in ("both", "missed", "invented", "absent"):
        metrics[f"surface_{state}_units"] = {names[c]: sum(r["classes"][c]["state"] == state for r in rows_) for c in fore}


def images(cfg, names, means, rows_, metrics, undefined):
    iou = lambda r, c: Fraction(r["classes"][c]["TP"], r["classes"][c]["T"] + r["classes"][c]["P"] - r["classes"][c]["TP"])
    per_image = []                     # mIoU^I: classes of the truth
    both = []                          # miou_image of segmentation.md: classes of truth or prediction
    for r in rows_:
        v = [iou(r, c) for c in means if r["classes"][c]["T"]]
        if v:
            per_image.append(total(v))
        v = [iou(r, c) for c in means if r["classes"][c]["T"] + r["classes"][c]["P"]]
        if v:
            both.append(total(v))
    per_image.sort()
    both.sort()
    per_class = {c: sorted(iou(r, c) for r in rows_ if r["classes"][c]["T"]) for c in range(len(names))}

    def worst(v, q):
        n = max(1, (percent(q) * len(v) / 100).__floor__())
        return total(v[:n])

    def put(name, x, reason):
        metrics[name] = out(x)
        if x is None:
            undefined[name] = reason
    metrics["iou_c"] = {names[c]: out(total(v)) if v else None for c, v in per_class.items()}
    undefined.update({f"iou_c.{names[c]}": NOT_IN_TRUTH for c, v in per_class.items() if not v})
    live = [per_class[c] for c in means if per_class[c]]
    put("miou_i", total(per_image) if per_image else None, NO_UNIT)
    put("miou_c", total([total(v) for v in live]) if live else None, NO_CLASS)
    put("miou_i_q", worst(per_image, cfg["worst"]) if per_image else None, NO_UNIT)
    put("miou_c_q", total([worst(v, cfg["worst"]) for v in live]) if live else None, NO_CLASS)
    ten = range(10, 101, 10)
    put("miou_i_qbar", total([worst(per_image, q) for q in ten]) if per_image else None, NO_UNIT)
    put("miou_c_qbar", total([total([worst(v, q) for v in live]) for q in ten]) if live else None, NO_CLASS)
    for p in (5, 25, 50, 75, 95):
        x = None
        if both:
            h = Fraction((len(both) - 1) * p, 100)
            j = h.__floor__()
            x = both[j] + (both[min(j + 1, len(both) - 1)] - both[j]) * (h - j)
        put(f"miou_image_p{p}", x, NO_UNIT)


def evaluate(config, units):
    cfg, names, fore, rows_ = rows(config, units)
    metrics, undefined = {}, {}
    if "surface" in config["measure"]:
        surface(cfg, names, fore, rows_, metrics, undefined)
    if "images" in config["measure"]:
        means = fore if config["labels"].get("include_background") is False else list(range(len(names)))
        images(cfg, names, means, rows_, metrics, undefined)
    return {"metrics": {f"segmentation.{k}": v for k, v in metrics.items()}, "undefined": {f"segmentation.{k}": v for k, v in undefined.items()}}


def per_unit(config, unit):
    """The surface columns of --per-unit: mean_KEY, then KEY.CLASS."""
    e = evaluate(dict(config, measure=["surface"]), [unit])["metrics"]
    cfg = settings(config)
    line = {f"mean_{k}": e[f"segmentation.mean_{k}"] for k in keys_of(cfg)}
    for c in e["segmentation.hd"]:
        line |= {f"{k}.{c}": e[f"segmentation.{k}"][c] for k in keys_of(cfg)}
    return line
