"""The golden inputs of the segmentation family."""
import json
import math
import random
import struct

import case_file

from . import oracle as O

ALL = list(O.PRESETS)


def f32(v):                          # short decimals: a multiple of 1/1024, exact in f32
    return round(v * 1024) / 1024


def any_f32(v):
    return struct.unpack("<f", struct.pack("<f", v))[0]


def f16(v):
    return struct.unpack("<e", struct.pack("<e", v))[0]


def blobs(rng, h, w, ids, cell=3, void=0.0, void_id=255):
    """Blocky random label map."""
    grid = [[rng.choice(ids) for _ in range(w // cell + 1)] for _ in range(h // cell + 1)]
    return [[void_id if rng.random() < void else grid[y // cell][x // cell] for x in range(w)] for y in range(h)]


def noisy(rng, m, ids, p, keep=()):
    return [[rng.choice(ids) if (v in keep or rng.random() < p) else v for v in r] for r in m]


def shift(m, dy, dx, fill):
    h, w = len(m), len(m[0])
    return [[m[y - dy][x - dx] if 0 <= y - dy < h and 0 <= x - dx < w else fill for x in range(w)] for y in range(h)]


def scores(rng, truth, idx, k, push, spread, rnd):
    """Channels x H x W numbers that lean towards the truth."""
    h, w = len(truth), len(truth[0])
    out = [[[rng.gauss(0, spread) for _ in range(w)] for _ in range(h)] for _ in range(k)]
    for y in range(h):
        for x in range(w):
            if truth[y][x] in idx and rng.random() < 0.75:
                out[idx[truth[y][x]]][y][x] += push
    return [[[rnd(v) for v in r] for r in p] for p in out]


def hwc(a):
    return [[[a[k][y][x] for k in range(len(a))] for x in range(len(a[0][0]))] for y in range(len(a[0]))]


def softmax64(a):
    k, h, w = len(a), len(a[0]), len(a[0][0])
    out = [[[0.0] * w for _ in range(h)] for _ in range(k)]
    for y in range(h):
        for x in range(w):
            m = max(a[c][y][x] for c in range(k))
            e = [math.exp(a[c][y][x] - m) for c in range(k)]
            for c in range(k):
                out[c][y][x] = e[c] / math.fsum(e)
    return out


GROUPS = {}


def case(group, name, about, config, units, dtype=None):
    GROUPS.setdefault(group, []).append(dict(name=name, note=about, config=config, units=units, **({"dtype": dtype} if dtype else {})))


def labels(uid, truth, pred, head="flat"):
    return {"id": uid, "truth": truth, "pred": {head: pred}}


# ------------------------------------------------------------------ overlap
def overlap():
    g = "overlap"
    rng = random.Random(1)
    ids = [0, 1, 2, 3]
    us = []
    for i in range(3):
        t = blobs(rng, 6, 7 + i, ids, 2, 0.1)
        us.append(labels(f"img{i}", t, noisy(rng, t, ids, 0.25, keep=(255,))))
    lab = {"original": ["bg", "sky", "car", "road"], "ignore": [255], "background": "bg"}
    for p in ALL:
        case(g, f"plain-{p}", "three images, every class present, void pixels", {"preset": p, "labels": lab}, us)
    case(g, "no-background", "TIDE-style errors need a background", {"labels": {k: v for k, v in lab.items() if k != "background"}}, us)
    case(g, "exclude-background", "means without the background class", {"labels": {**lab, "include_background": False}}, us)
    case(g, "background-last", "the background need not be id 0", {"labels": {**lab, "background": 3}}, us)
    lab6 = {"original": ["bg", "hit", "missed", "invented", "nowhere", "swapped"], "ignore": [255], "background": "bg"}
    t = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2], [5, 5, 1, 1, 0, 0]]
    q = [[0, 3, 1, 1, 0, 0], [0, 3, 1, 5, 0, 1], [0, 0, 1, 1, 5, 0]]
    for p in ALL:
        case(g, f"absent-{p}", "a class never predicted, one never in truth, one in neither, one with TP = 0",
             {"preset": p, "labels": lab6}, [labels("a", t, q)])
    void = [[255] * 4 for _ in range(3)]
    for p in ALL:
        case(g, f"all-void-{p}", "no scored pixel at all", {"preset": p, "labels": lab}, [labels("a", void, [[0] * 4 for _ in range(3)])])
        case(g, f"one-void-unit-{p}", "a unit without scored pixels takes no part in per-image means",
             {"preset": p, "labels": lab}, us[:2] + [labels("void", void, [[0] * 4 for _ in range(3)])])
    case(g, "one-class", "kappa is undefined", {"labels": {"original": ["only", "other"]}}, [labels("a", [[0, 0], [0, 0]], [[0, 0], [0, 0]])])
    case(g, "perfect", "prediction equals truth", {"labels": lab}, [labels("a", t[:2], t[:2])])
    q2 = [[255, 1, 1, 255], [0, 2, 2, 3]]
    t2 = [[0, 1, 2, 255], [0, 2, 3, 3]]
    case(g, "unpredicted-wrong", "a prediction of 255 at a scored pixel: in the total, false negative, nobody's false positive",
         {"labels": {**lab, "unpredicted": "wrong"}}, [labels("a", t2, q2)])
    for p in ("cityscapes", "mmseg", "torchmetrics-jaccard"):
        case(g, f"unpredicted-{p}", "the preset allows it", {"preset": p, "labels": lab}, [labels("a", t2, q2)])
    case(g, "mmseg-unknown-id", "mmseg: any id outside the classes counts as no prediction", {"preset": "mmseg", "labels": lab},
         [labels("a", t2, [[77, 1, 1, 99], [0, 2, 200, 3]])])
    case(g, "ignore-in-range", "class 0 ignored: its truth is not scored, predicting it is a miss",
         {"preset": "torchmetrics-jaccard", "labels": {"original": ["bg", "sky", "car", "road"], "ignore": ["bg"]}}, us[:1] and [labels("a", t2[1:], [[0, 0, 3, 3]])])
    sp = {"original": {"7": "road", "8": "sidewalk", "11": "building", "23": "sky", "-1": "plate"}, "ignore": ["plate", 0],
          "global": ["flat", "rest of it"], "groups": {"flat": ["road", 8]}, "rest": "rest of it"}
    t3 = [[7, 8, 11, 0], [23, 23, 7, -1]]
    q3 = [[8, 7, 23, 7], [23, 7, 11, 8]]
    case(g, "sparse-ids", "sparse original ids, two global classes, ignored by name and by value", {"labels": sp}, [labels("a", t3, q3)])
    case(g, "pred-in-global", "label maps that already hold global positions",
         {"labels": sp, "heads": [{"name": "m", "kind": "labels", "space": "global"}]},
         [labels("a", t3, [[0, 0, 1, 9], [1, 0, 1, 9]], "m")])
    case(g, "truth-in-global", "truth that already holds global positions", {"labels": {**sp, "ignore": ["plate", 255]}, "data": {"truth_space": "global"},
         "heads": [{"name": "m", "kind": "labels", "space": "original"}]}, [labels("a", [[0, 0, 1, 255], [1, 1, 0, 255]], q3, "m")])
    case(g, "pred-in-channels", "label maps of channel numbers",
         {"labels": sp, "heads": [{"name": "m", "kind": "labels", "space": "channel", "channels": ["sky", "building", "ground"], "groups": {"ground": [7, 8]}}]},
         [labels("a", t3, [[2, 2, 0, 9], [0, 2, 1, 9]], "m")])
    cms = [{"id": f"c{i}", "confusion": [[rng.randrange(50) if rng.random() < 0.7 else 0 for _ in ids] for _ in ids]} for i in range(3)]
    for p in ("strict", "document", "coral-mtl"):
        case(g, f"confusion-{p}", "confusion matrices instead of pixels", {"preset": p, "labels": lab}, cms)
    case(g, "confusion-ignore-merge", "a matrix over originals: class 0 ignored, two classes merged",
         {"labels": {"original": ["bg", "sky", "car", "road"], "ignore": ["bg"], "global": ["up", "down"], "groups": {"up": ["sky"], "down": ["car", "road"]},
                     "unpredicted": "wrong"}}, cms)
    case(g, "confusion-extra-column", "the last column counts pixels without a prediction",
         {"labels": {**lab, "unpredicted": "wrong"}}, [{"id": "c", "confusion": [[5, 1, 0, 0, 2], [0, 7, 0, 1, 0], [0, 0, 0, 0, 3], [1, 0, 0, 9, 0]]}])
    big = 2**53 + 1
    case(g, "confusion-big", "counts above 2^53 stay exact", {"labels": {"original": ["a", "b"]}}, [{"id": "c", "confusion": [[big, 1], [2, 3]]}])


# ------------------------------------------------------------------ boundary
def boundary():
    g = "boundary"
    rng = random.Random(2)
    lab = {"original": ["bg", "a", "b"], "ignore": [255], "background": "bg"}
    lab4 = {"original": ["bg", "a", "b", "c"], "ignore": [255], "background": "bg"}

    def disc(h, w, *boxes):
        m = [[0] * w for _ in range(h)]
        for y0, y1, x0, x1, c in boxes:
            for y in range(y0, y1):
                for x in range(x0, x1):
                    m[y][x] = c
        return m
    one = disc(7, 7, (3, 4, 3, 4, 1))
    for t in (1, 2, 4):
        case(g, f"pixel-t{t}", "one pixel, predicted one to the right", {"labels": lab, "boundary": {"thickness": t}, "measure": "all"},
             [labels("a", one, shift(one, 0, 1, 0))])
    case(g, "corner", "a class in the image corner: the image border is no boundary for the outer band, it is one for Cheng's",
         {"labels": lab, "measure": "all"}, [labels("a", disc(8, 9, (0, 4, 0, 4, 1)), disc(8, 9, (0, 4, 0, 5, 1)))])
    full = [[1] * 5 for _ in range(5)]
    for p in ("strict", "document", "coral-mtl"):
        case(g, f"full-image-{p}", "one class fills the image: no boundary", {"preset": p, "labels": lab, "measure": "all"}, [labels("a", full, full)])
        case(g, f"only-background-{p}", "nothing but background", {"preset": p, "labels": lab, "measure": "all"},
             [labels("a", [[0] * 5] * 4, [[0] * 5] * 4)])
        case(g, f"only-predicted-{p}", "an invented object", {"preset": p, "labels": lab, "measure": "all"},
             [labels("a", disc(9, 9), disc(9, 9, (3, 6, 3, 6, 1)))])
        case(g, f"only-truth-{p}", "a missed object", {"preset": p, "labels": lab, "measure": "all"},
             [labels("a", disc(9, 9, (3, 6, 3, 6, 1)), disc(9, 9))])
        two = [labels("hit", disc(12, 12, (3, 8, 3, 8, 1)), disc(12, 12, (3, 8, 3, 8, 1))), labels("invented", disc(12, 12), disc(12, 12, (3, 8, 3, 8, 1)))]
        case(g, f"two-images-{p}", "a hit and an invention of the same size: 0.5, or 1.0 where classes absent from an image's truth are skipped",
             {"preset": p, "labels": lab}, two)
        tv = disc(12, 12, (2, 7, 2, 7, 1))
        for y in range(6, 11):
            for x in range(6, 11):
                tv[y][x] = 255
        pa = disc(12, 12, (2, 7, 2, 7, 1))
        pb = disc(12, 12, (2, 7, 2, 7, 1), (7, 10, 7, 10, 1))
        case(g, f"void-clean-{p}", "void next to the object", {"preset": p, "labels": lab, "measure": "all"}, [labels("a", tv, pa)])
        case(g, f"void-predicted-{p}", "the same with an object predicted inside the void: no number may move (except in coral-mtl)",
             {"preset": p, "labels": lab, "measure": "all"}, [labels("a", tv, pb)])
    case(g, "thicker-than-image", "the band covers everything", {"labels": lab, "boundary": {"thickness": 50}}, [labels("a", disc(5, 6, (1, 3, 1, 3, 1)), disc(5, 6, (1, 3, 2, 4, 1)))])
    sq = disc(14, 16, (3, 10, 3, 9, 1), (5, 12, 10, 15, 2))
    for t in (1, 2, 4):
        case(g, f"shifted-t{t}", "two objects shifted by one pixel", {"labels": lab, "boundary": {"thickness": t}, "measure": "all"}, [labels("a", sq, shift(sq, 1, 1, 0))])
    case(g, "no-background", "without a background every class has a boundary", {"labels": {**lab, "background": "none"}, "measure": "all"}, [labels("a", sq, shift(sq, 1, 0, 0))])
    for px in (0, 1, 1.5, 3):
        case(g, f"contour-px{px}", "matching radius in pixels", {"labels": lab, "boundary": {"tolerance_px": px}, "measure": ["contour"]}, [labels("a", sq, shift(sq, 1, 1, 0))])
    case(g, "contour-diag", "matching radius as a fraction of the diagonal", {"labels": lab, "boundary": {"tolerance": 0.05}, "measure": ["contour"]}, [labels("a", sq, shift(sq, 1, 0, 0))])
    for r in (0.02, 0.06, 0.12):
        case(g, f"cheng-{r}", "inner band as a fraction of the diagonal", {"labels": lab, "boundary": {"cheng": r}, "measure": ["cheng"]}, [labels("a", sq, shift(sq, 1, 1, 0))])
    case(g, "half-to-even", "0.1 of a diagonal of 25 is 2.5: d = 2", {"labels": lab, "boundary": {"cheng": 0.1}, "measure": ["cheng"]},
         [labels("a", disc(15, 20, (3, 11, 4, 16, 1)), disc(15, 20, (4, 12, 4, 16, 1)))])
    case(g, "unpredicted", "pixels without a prediction belong to no class but may lie in a band",
         {"labels": {**lab, "unpredicted": "wrong"}, "measure": "all"}, [labels("a", disc(8, 8, (2, 6, 2, 6, 1)), disc(8, 8, (2, 6, 2, 4, 1), (2, 6, 4, 6, 255)))])
    us = []
    for i in range(3):
        t = blobs(rng, 12, 13 + i, [0, 1, 2, 3], 4, 0.0)
        q = noisy(rng, shift(t, 1, i - 1, 0), [0, 1, 2, 3], 0.06)
        for y in range(4, 7):
            for x in range(5, 9):
                t[y][x] = 255
        us.append(labels(f"img{i}", t, q))
    for p in ALL:
        case(g, f"maps-{p}", "blocky maps, shifted and noisy, with void", {"preset": p, "labels": lab4, "measure": "all"}, us)


# ------------------------------------------------------------------ calibration
def calibration():
    g = "calibration"
    rng = random.Random(3)
    lab = {"original": ["bg", "a", "b"], "ignore": [255], "background": "bg"}
    for dt, rnd in (("f64", float), ("f32", f32), ("f16", f16)):
        us = []
        for i in range(2):
            t = blobs(rng, 6, 7, [0, 1, 2], 2, 0.1)
            z = scores(rng, t, {0: 0, 1: 1, 2: 2}, 3, 3, 1.5, rnd)
            us.append({"id": f"u{i}", "truth": t, "pred": {"flat": z}})
        for p in ALL if dt == "f64" else ("strict",):
            case(g, f"logits-{dt}-{p}", "two images of logits", {"preset": p, "labels": lab, "kind": "logits", "measure": "all"}, us, dt)
    us64 = [u for u in us]
    case(g, "layout-hwc", "channels last", {"labels": lab, "kind": "logits", "layout": "HWC"},
         [{"id": u["id"], "truth": u["truth"], "pred": {"flat": hwc(u["pred"]["flat"])}} for u in us64], "f16")
    case(g, "bins-15", "15 bins", {"labels": lab, "kind": "logits", "bins": {"count": 15}, "measure": "all"}, us64, "f16")
    case(g, "bins-1", "one bin: |accuracy - mean confidence|", {"labels": lab, "kind": "logits", "bins": {"count": 1}}, us64, "f16")
    case(g, "bins-left", "left-closed bins", {"labels": lab, "kind": "logits", "bins": {"closed": "left"}}, us64, "f16")
    t = [[0, 1, 2, 0, 1, 2, 0]]
    conf = [0.5, 0.5 + 5e-7, 0.5 + 2e-6, 0.9, 1.0, 0.4, 0.7]
    pr = [[[0.0] * 7], [[0.0] * 7], [[0.0] * 7]]
    for x, c in enumerate(conf):
        pr[0][0][x], pr[1][0][x], pr[2][0][x] = c, (1 - c) * 0.75, (1 - c) * 0.25
    for closed in ("right", "left"):
        case(g, f"edges-{closed}", "confidences on an edge, 5e-7 and 2e-6 above it, and 1.0",
             {"labels": {**lab, "ignore": []}, "kind": "probs", "bins": {"count": 10, "closed": closed}},
             [{"id": "a", "truth": [[0, 0, 0, 0, 0, 0, 1]], "pred": {"flat": pr}}], "f64")
    case(g, "uniform-5", "five equal logits: confidence 0.2 lies on an edge, argmax is the lowest id",
         {"labels": {"original": list("abcde")}, "kind": "logits", "measure": "all"},
         [{"id": "a", "truth": [[0, 1, 4]], "pred": {"flat": [[[0.25, -7.0, 3e4]]] * 5}}], "f32")
    case(g, "zero-probability", "p = 0 for the true class at one pixel: NLL is infinite",
         {"labels": {**lab, "ignore": []}, "kind": "probs", "measure": "all"}, [{"id": "a", "truth": [[0, 1]], "pred": {"flat": [[[0.5, 1.0]], [[0.5, 0.0]], [[0.0, 0.0]]]}}], "f64")
    case(g, "zero-probability-coral", "the published code's floor keeps it finite",
         {"preset": "coral-mtl", "labels": {**lab, "ignore": []}, "kind": "probs"}, [{"id": "a", "truth": [[0, 1]], "pred": {"flat": [[[0.5, 1.0]], [[0.5, 0.0]], [[0.0, 0.0]]]}}], "f64")
    case(g, "minus-infinity", "a logit of -inf is probability 0",
         {"labels": {**lab, "ignore": []}, "kind": "logits"}, [{"id": "a", "truth": [[0, 2]], "pred": {"flat": [[[1.0, 1.0]], [[0.0, "-inf"]], [["-inf", 2.0]]]}}], "f32")
    case(g, "void-nan", "numbers at void pixels are never read", {"labels": lab, "kind": "logits"},
         [{"id": "a", "truth": [[0, 255, 2]], "pred": {"flat": [[[1.0, "nan", 1.0]], [[0.0, "inf", -1.0]], [[0.5, "nan", 2.0]]]}}], "f32")
    case(g, "huge-logits", "no overflow", {"labels": {**lab, "ignore": []}, "kind": "logits", "measure": "all"},
         [{"id": "a", "truth": [[0, 1, 2]], "pred": {"flat": [[[1e4, -1e4, 0.0]], [[-1e4, 1e30, 0.0]], [[0.0, 0.0, 88.5]]]}}], "f64")
    case(g, "tiny-nll", "probability next to 1", {"labels": {**lab, "ignore": []}, "kind": "logits"},
         [{"id": "a", "truth": [[0]], "pred": {"flat": [[[40.0]], [[0.0]], [[1.0]]]}}], "f64")
    z = us64[0]["pred"]["flat"]
    pp = softmax64(z)
    case(g, "probs-f64", "the same image as probabilities", {"labels": lab, "kind": "probs", "measure": "all"}, [{"id": "a", "truth": us64[0]["truth"], "pred": {"flat": pp}}], "f64")
    case(g, "log-probs-f64", "and as log-probabilities", {"labels": lab, "kind": "log-probs", "measure": "all"},
         [{"id": "a", "truth": us64[0]["truth"], "pred": {"flat": [[[math.log(v) for v in r] for r in c] for c in pp]}}], "f64")
    case(g, "probs-off-by-a-little", "probabilities that sum to 0.9995 are normalised", {"labels": {**lab, "ignore": []}, "kind": "probs"},
         [{"id": "a", "truth": [[0, 1]], "pred": {"flat": [[[0.6995, 0.25]], [[0.2, 0.5]], [[0.1, 0.25]]]}}], "f64")
    case(g, "ties", "equal scores: the lowest global position wins, not the lowest channel",
         {"labels": {"original": ["x", "y", "z"]}, "heads": [{"name": "flat", "kind": "logits", "channels": ["z", "x", "y"]}]},
         [{"id": "a", "truth": [[0, 1, 2]], "pred": {"flat": [[[2.0, 1.0, 3.0]], [[2.0, 0.0, 1.0]], [[1.0, 1.0, 3.0]]]}}], "f32")
    void = [[255, 255]]
    for p in ("strict", "coral-mtl"):
        case(g, f"all-void-{p}", "nothing to score", {"preset": p, "labels": lab, "kind": "logits", "measure": "all"},
             [{"id": "a", "truth": void, "pred": {"flat": [[[1.0, 0.0]], [[0.0, 0.0]], [[0.0, 1.0]]]}}], "f32")


# ------------------------------------------------------------------ fusion
CORAL = ["unlabeled", "seagrass", "trash", "other coral dead", "other coral bleached", "sand", "other coral alive", "human",
         "transect tools", "fish", "algae covered substrate", "other animal", "unknown hard substrate", "background", "dark",
         "transect line", "massive/meandering bleached", "massive/meandering alive", "rubble", "branching bleached", "branching dead",
         "millepora", "branching alive", "massive/meandering dead", "clam", "acropora alive", "sea cucumber", "turbinaria",
         "table acropora alive", "sponge", "anemone", "pocillopora alive", "table acropora dead", "meandering bleached",
         "stylophora alive", "sea urchin", "meandering alive", "meandering dead", "crown of thorn", "dead clam"]
CORAL_HEADS = [
    {"name": "genus", "channels": ["unlabeled", "other coral", "massive/meandering", "branching", "acropora", "table acropora", "pocillopora", "meandering", "stylophora"],
     "groups": {"other coral": [3, 4, 6], "massive/meandering": [16, 17, 23], "branching": [19, 20, 22], "acropora": [25], "table acropora": [28, 32],
                "pocillopora": [31], "meandering": [33, 36, 37], "stylophora": [34]}, "rest": "unlabeled"},
    {"name": "health", "channels": ["unlabeled", "alive coral", "bleached coral", "dead coral"],
     "groups": {"alive coral": [6, 17, 22, 25, 28, 31, 34, 36], "bleached coral": [4, 16, 19, 33], "dead coral": [3, 20, 23, 32, 37]}, "rest": "unlabeled"},
    {"name": "fish", "channels": [0, 9], "rest": "unlabeled"},
    {"name": "human_artifacts", "channels": [0, 7, 8, 15], "rest": "unlabeled"},
    {"name": "substrate", "channels": [0, 1, 5, 10, 12, 18], "rest": "unlabeled"},
    {"name": "background", "channels": [0, 13, 14], "rest": "unlabeled"},
    {"name": "biota", "channels": [0, 2, 11, 21, 24, 26, 27, 29, 30, 35, 38, 39], "rest": "unlabeled"},
]


def fusion():
    g = "fusion"
    rng = random.Random(4)
    lab = {"original": ["a", "b1", "b2"], "global": ["a", "b"], "groups": {"b": ["b1", "b2"]}}
    pix = [{"id": "u", "truth": [[0, 1, 2]], "pred": {"flat": [[[0.4, 0.4, 0.5]], [[0.3, 0.35, 0.25]], [[0.3, 0.25, 0.25]]]}}]
    for p in ("strict", "document"):
        case(g, f"sum-then-argmax-{p}", "0.4 against 0.3 + 0.3: the sum decides in strict, the head's own argmax in document; 0.5 against 0.25 + 0.25 is a tie",
             {"preset": p, "labels": lab, "kind": "probs"}, pix, "f64")
    coarse = {"labels": {"original": ["a", "b1", "b2", "b3"], "global": ["a", "b"], "groups": {"b": ["b1", "b2", "b3"]}},
              "heads": [{"name": "flat", "kind": "probs", "channels": ["a", "any b"], "groups": {"any b": ["b1", "b2", "b3"]}}]}
    pc = [{"id": "u", "truth": [[0, 3]], "pred": {"flat": [[[0.6, 0.3]], [[0.4, 0.7]]]}}]
    for p in ("strict", "document"):
        case(g, f"coarse-head-{p}", "one channel stands for three originals: strict gives back the head's own 0.6, the document's formula 0.6 / (0.6 + 3 * 0.4)",
             {**coarse, "preset": p}, pc, "f64")
    two = {"labels": {"original": ["bg", "dog alive", "dog dead", "cat alive", "cat dead"], "background": "bg", "ignore": [255],
                      "global": ["bg", "dog", "cat"], "groups": {"dog": [1, 2], "cat": [3, 4]}},
           "heads": [{"name": "kind", "channels": ["bg", "dog", "cat"], "groups": {"dog": [1, 2], "cat": [3, 4]}, "rest": "bg"},
                     {"name": "state", "channels": ["bg", "alive", "dead"], "groups": {"alive": [1, 3], "dead": [2, 4]}, "rest": "bg"}]}
    us = []
    for i in range(2):
        t = blobs(rng, 5, 6, [0, 1, 2, 3, 4], 2, 0.08)
        us.append({"id": f"u{i}", "truth": t, "pred": {"kind": scores(rng, t, {0: 0, 1: 1, 2: 1, 3: 2, 4: 2}, 3, 3, 1.5, f32),
                                                       "state": scores(rng, t, {0: 0, 1: 1, 3: 1, 2: 2, 4: 2}, 3, 3, 1.5, f32)}})
    for p in ("strict", "document", "coral-mtl"):
        case(g, f"two-heads-{p}", "two grouped heads, every original has its own pair of channels", {**two, "preset": p, "measure": "all"}, us, "f32")
    tuned = json.loads(json.dumps(two))
    tuned["heads"][0].update(alpha=0.7, tau=1.5)
    tuned["heads"][1].update(alpha=1.3, tau=0.5)
    case(g, "alpha-tau", "weights and temperatures", tuned, us, "f32")
    zero = json.loads(json.dumps(two))
    zero["heads"][1].update(alpha=0.0)
    case(g, "alpha-zero", "a head of weight 0 takes no part in the fusion but keeps its own metrics", zero, us, "f32")
    mix = json.loads(json.dumps(two))
    mix["heads"][1].update(kind="probs", layout="HWC")
    case(g, "mixed-kinds", "one head as logits CHW, the other as probabilities HWC", mix,
         [{"id": u["id"], "truth": u["truth"], "pred": {"kind": u["pred"]["kind"], "state": hwc(softmax64(u["pred"]["state"]))}} for u in us], "f64")
    alone = [{"id": u["id"], "truth": u["truth"], "pred": {"kind": u["pred"]["kind"]}} for u in us]
    miss = json.loads(json.dumps(two))
    miss["labels"]["missing_heads"] = "marginalise"
    case(g, "missing-head-error", "default: refuse", two, alone, "f32")
    case(g, "missing-head-marginalise", "the mass of a pair is split over the originals it no longer separates", miss, [us[0], alone[1]], "f32")
    case(g, "missing-head-document", "the document drops the head and repeats the mass", {**two, "preset": "document"}, [us[0], alone[1]], "f32")
    case(g, "no-head", "no head at all: always an error", miss, [{"id": "u0", "truth": us[0]["truth"], "pred": {}}], "f32")
    same = {"labels": {"original": ["bg", "x", "y"]}, "heads": [{"name": "h1", "channels": ["bg", "thing"], "groups": {"thing": ["x", "y"]}},
                                                                 {"name": "h2", "channels": ["bg", "thing"], "groups": {"thing": ["x", "y"]}}]}
    ps = [{"id": "u", "truth": [[0, 1, 2]], "pred": {"h1": [[[0.0, 1.0, 1.0]], [[1.0, 2.0, 3.0]]], "h2": [[[2.0, 0.0, 0.5]], [[0.0, 1.0, 1.0]]]}}]
    for p in ("strict", "document"):
        case(g, f"indistinguishable-{p}", "two global classes no head separates: they tie for ever, the lower id wins", {**same, "preset": p}, ps, "f32")
    case(g, "absent-and-dropped", "a channel that is not used and an original the head cannot predict",
         {"labels": {"original": ["bg", "x", "rare"]}, "heads": [{"name": "flat", "kind": "logits", "channels": ["-", "x", "bg"], "absent": ["rare"]}]},
         [{"id": "u", "truth": [[0, 1, 1]], "pred": {"flat": [[[9.0, 9.0, 0.0]], [[1.0, 2.0, 0.0]], [[2.0, 1.0, 0.0]]]}}], "f32")
    case(g, "absent-in-truth", "its truth pixels have probability 0", {"labels": {"original": ["bg", "x", "rare"]}, "heads": [{"name": "flat", "kind": "logits", "channels": ["bg", "x"], "absent": ["rare"]}]},
         [{"id": "u", "truth": [[0, 2]], "pred": {"flat": [[[9.0, 9.0]], [[1.0, 2.0]]]}}], "f32")
    for p in ("strict", "document"):
        case(g, f"ignored-channel-{p}", "class 0 is ignored: its channel is not used, neither in the softmax nor in the argmax",
             {"preset": p, "labels": {"original": ["bg", "a", "b"], "ignore": ["bg"]}, "kind": "logits", "measure": "all"},
             [{"id": "u", "truth": [[0, 1, 2, 1]], "pred": {"flat": [[[9.0, 9.0, 0.0, -1.0]], [[1.0, 2.0, 0.5, 0.0]], [[2.0, 1.0, 0.0, 1.0]]]}}], "f32")
    case(g, "ignored-in-groups", "ignored originals are skipped wherever they are named",
         {"labels": {"original": ["bg", "a", "b", "c"], "ignore": ["b", 255], "global": ["bg", "abc"], "groups": {"abc": ["a", "b", "c"]}, "background": "bg"},
          "heads": [{"name": "h1", "channels": ["bg", "ab", "c"], "groups": {"ab": ["a", "b"]}}, {"name": "h2", "channels": ["b", "a", "other"], "rest": "other"}]},
         [{"id": "u", "truth": [[0, 1, 2, 3]], "pred": {"h1": [[[1.0, 0.0, 0.0, 2.0]], [[0.5, 3.0, 0.0, 1.0]], [[0.0, 1.0, 0.0, 3.0]]],
                                                        "h2": [[[4.0, 4.0, 0.0, 4.0]], [[0.0, 2.0, 0.0, 0.0]], [[1.0, 0.0, 0.0, 1.5]]]}}], "f32")
    veto = {"labels": {"original": ["bg", "x"]}, "heads": [{"name": "h1", "kind": "probs", "channels": ["bg", "x"]}, {"name": "h2", "kind": "probs", "channels": ["bg", "x"]}]}
    case(g, "veto", "two heads exclude each other's only class: no distribution is left", veto,
         [{"id": "u", "truth": [[0, 1]], "pred": {"h1": [[[0.5, 1.0]], [[0.5, 0.0]]], "h2": [[[0.25, 0.0]], [[0.75, 1.0]]]}}], "f64")
    coral = {"labels": {"original": CORAL, "background": "unlabeled", "ignore": [255]}, "heads": CORAL_HEADS}
    sizes = {h["name"]: len(h["channels"]) for h in CORAL_HEADS}

    def spike(pick, s):
        return {n: [[[s if k == pick.get(n, 0) else 0.0]] for k in range(c)] for n, c in sizes.items()}
    for p in ("strict", "document", "coral-mtl"):
        case(g, f"contradiction-30-{p}", "genus says branching, health says no coral, by 30 logits each: 0.25 on four classes; the published clamp gives 1/40 everywhere",
             {**coral, "preset": p}, [{"id": "u", "truth": [[22]], "pred": spike({"genus": 3}, 30.0)}], "f32")
        case(g, f"fish-{p}", "every head agrees on a fish pixel", {**coral, "preset": p}, [{"id": "u", "truth": [[9]], "pred": spike({"fish": 1}, 5.0)}], "f32")
    nofish = spike({}, 5.0)
    del nofish["fish"]
    c2 = json.loads(json.dumps(coral))
    c2["labels"]["missing_heads"] = "marginalise"
    case(g, "fish-missing", "without the fish head, fish and unlabeled tie: the lower id wins", c2, [{"id": "u", "truth": [[9]], "pred": nofish}], "f32")
    us = []
    proto = O.Protocol(coral)
    for i in range(2):
        t = blobs(rng, 4, 5, list(range(40)), 2, 0.1)
        us.append({"id": f"reef{i}", "truth": t, "pred": {h.name: scores(rng, t, h.idx, h.K, 6, 2, f32) for h in proto.heads}})
    for p in ("strict", "document", "coral-mtl"):
        case(g, f"reef-{p}", "the published seven heads", {**coral, "preset": p, "measure": "all"}, us, "f32")


# ------------------------------------------------------------------ bad input
def errors():
    g = "errors"
    lab = {"original": ["bg", "a", "b"], "ignore": [255], "background": "bg"}
    t, q = [[0, 1], [2, 255]], [[0, 1], [2, 0]]
    ok = [labels("img", t, q)]

    def bad(name, about, config, units, *words):
        case(g, name, about, config, units)
        GROUPS[g][-1]["error"] = list(words)
    bad("truth-unknown-id", "id outside classes and ignore", {"labels": lab}, [labels("img", [[0, 1], [9, 255]], q)], "img", "9")
    bad("pred-unknown-id", "id outside the classes at a scored pixel", {"labels": lab}, [labels("img", t, [[0, 7], [2, 0]])], "img", "7")
    bad("pred-void", "no prediction at a scored pixel", {"labels": lab}, [labels("img", t, [[0, 255], [2, 0]])], "img", "255")
    bad("sizes", "truth and prediction differ in size", {"labels": lab}, [labels("img", t, [[0, 1, 2], [2, 0, 0]])], "img")
    bad("twice", "one unit name twice", {"labels": lab}, ok + ok, "img")
    bad("group-unknown", "group names an unknown class", {"labels": {**lab, "global": ["bg", "ab"], "groups": {"ab": ["a", "zzz"]}}}, ok, "zzz")
    bad("group-not-listed", "a group that is no class", {"labels": {**lab, "global": ["bg", "ab"], "groups": {"xy": ["a", "b"]}}}, ok, "xy")
    bad("global-empty", "a global class all of whose originals are ignored", {"labels": {"original": ["bg", "a", "b"], "ignore": ["b"], "global": ["bg", "a", "only b"], "groups": {"only b": ["b"]}}}, ok, "only b")
    bad("unclaimed", "an original in no global class", {"labels": {**lab, "global": ["bg", "a"]}}, ok, "b")
    bad("claimed-twice", "an original in two classes", {"labels": {**lab, "global": ["bg", "ab", "ba"], "groups": {"ab": ["a", "b"], "ba": ["b"]}}}, ok, "b")
    bad("head-unclaimed", "a head without a channel for an original", {"labels": lab, "heads": [{"name": "h", "kind": "logits", "channels": ["bg", "a"]}]}, ok, "h", "b")
    bad("channel-unknown", "a channel that is neither group nor original", {"labels": lab, "heads": [{"name": "h", "kind": "logits", "channels": ["bg", "a", "b", "extra"]}]}, ok, "extra")
    one = {"labels": {"original": ["a", "b"]}}
    bad("nan", "NaN at a scored pixel", {**one, "kind": "logits"}, [{"id": "img", "truth": [[0]], "pred": {"flat": [[["nan"]], [[1.0]]]}}], "img")
    bad("inf", "+inf at a scored pixel", {**one, "kind": "logits"}, [{"id": "img", "truth": [[0]], "pred": {"flat": [[["inf"]], [[1.0]]]}}], "img")
    bad("negative-probability", "", {**one, "kind": "probs"}, [{"id": "img", "truth": [[0]], "pred": {"flat": [[[-0.25]], [[1.25]]]}}], "img", "-0.25")
    bad("percent", "probabilities on a 0-100 scale", {**one, "kind": "probs"}, [{"id": "img", "truth": [[0]], "pred": {"flat": [[[60.0]], [[40.0]]]}}], "img", "60")
    bad("sum", "probabilities that sum to 0.9", {**one, "kind": "probs"}, [{"id": "img", "truth": [[0]], "pred": {"flat": [[[0.5]], [[0.4]]]}}], "img", "0.9")
    bad("logits-as-log-probs", "positive log-probability", {**one, "kind": "log-probs"}, [{"id": "img", "truth": [[0]], "pred": {"flat": [[[2.0]], [[-3.0]]]}}], "img", "2")
    bad("channels", "wrong number of channels", {**one, "kind": "logits"}, [{"id": "img", "truth": [[0]], "pred": {"flat": [[[2.0]], [[-3.0]], [[0.0]]]}}], "img", "3", "2")
    bad("labels-of-two-heads", "label maps cannot be fused", {**one, "heads": [{"name": "p", "kind": "labels"}, {"name": "q", "kind": "labels"}]},
        [{"id": "img", "truth": [[0]], "pred": {"p": [[0]], "q": [[0]]}}], "fuse")
    bad("confusion-shape", "matrix of the wrong size", {"labels": lab}, [{"id": "img", "confusion": [[1, 2], [3, 4]]}], "img")
    bad("confusion-negative", "negative count", {**one}, [{"id": "img", "confusion": [[1, -2], [3, 4]]}], "img", "-2")
    bad("coarse-argmax", "document: argmax of a channel that covers two global classes",
        {"preset": "document", "labels": {"original": ["a", "b", "c"]}, "heads": [{"name": "h", "kind": "logits", "channels": ["a", "bc"], "groups": {"bc": ["b", "c"]}}]},
        [{"id": "img", "truth": [[0]], "pred": {"h": [[[0.0]], [[1.0]]]}}], "h", "bc")


def numbers(o):
    """'nan', 'inf', '-inf' in prediction arrays are written as text in JSON."""
    if isinstance(o, list):
        return [numbers(v) for v in o]
    return float(o) if isinstance(o, str) else o


def numbered(unit):
    """A unit as the oracle takes it."""
    return {key: {head: numbers(array) for head, array in value.items()} if key == "pred" else value
            for key, value in unit.items()}


def group(make):
    """The cases that one function adds, each with its report or the words of its refusal."""
    make()
    written = []
    for c in GROUPS[make.__name__]:
        units = [numbered(unit) for unit in c["units"]]
        words = c.pop("error", None)
        try:
            report = O.evaluate(c["config"], units)
        except O.Bad:
            if words is None and c["name"] not in ("missing-head-error", "no-head", "veto"):
                raise
            # The oracle words a refusal in its own way: only that it refuses is compared.
            c["refused"] = words or [units[0]["id"]]
        else:
            if words is not None:
                raise AssertionError(f"{c['name']} is not refused")
            c["expect"] = case_file.without_prefix("segmentation", report)
        written.append(c)
    names = [c["name"] for c in written]
    assert len(set(names)) == len(names), make.__name__
    return written
