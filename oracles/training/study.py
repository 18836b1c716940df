"""A small study: runs, their histories and the tables that are expected of them."""
import json
import math
import random

from .cases import NAN, R
from .oracle import finite, mean_of, report

STATIC = [("R_TP", "test_part_parsed"), ("R_CS", "test_part_subj_ok"), ("R_SVT", "test_part_valid"),
          ("F1-", "test_F1_micro"), ("F1+", "test_F1_macro"), ("P-", "test_prec_micro"), ("P+", "test_prec_macro"),
          ("R-", "test_recall_micro"), ("R+", "test_recall_macro"), ("B", "test_BLEU"), ("lev", "test_dist_edit")]
MODES = ("STRICT", "MEAN_WISE", "MEAN_NAIVE")


def table(groups, histories, metrics, preset="strict", folds=None):
    """groups: one project of the runs file. histories: {(group, fold): {"n":..., "last": {key: value},
    "runtime": seconds or None}}; metrics: [(label, {(group, fold): row-making run}, params)].
    Returns {mode: [row dict]} in the order of the file."""
    out = {m: [] for m in MODES}
    for pos, (gname, g) in enumerate(groups.items()):
        fold_ids = sorted(set(g.get("runs") or {}) | {k[4:] for k in (g.get("summary") or {})}, key=str.encode)
        n_f = folds if folds is not None else 5 if preset.startswith("table-") else len(fold_ids)
        reports = []
        for label, runs, params in metrics:
            mine = [r for r in runs if r["group"] == gname]
            reports.append((label, report(mine, preset=preset, folds=n_f, **params)["metrics"] if mine else None))
        per = {}
        best, path = 0, None
        for f in fold_ids:
            cell = per.setdefault(f, {})
            s = (g.get("summary") or {}).get("fold" + f)
            if s:
                cell.update((s.get("test_data_last_step") or [{}])[0])
                cell["carbon"] = (s.get("carbon_data") or {}).get("train_emissions")
                parts = [cell.get(k) for k in ("test_F1_macro", "test_part_parsed", "test_part_subj_ok", "test_part_valid")]
                if all(finite(v) for v in parts):
                    sc = parts[0] * parts[1] * parts[2] * parts[3]
                    if sc > best:
                        best, path = sc, s.get("best_model_path")
            h = histories.get((gname, f))
            if h:
                cell["nb_epoch"] = h["n"]
                cell["time"] = None if h.get("runtime") is None else h["runtime"] / 60
                for k, v in h["last"].items():
                    if cell.get(k) is None:
                        cell[k] = v
            if preset.startswith("table-") and cell.get("test_dist_edit") is not None and math.isnan(cell["test_dist_edit"]):
                cell["test_dist_edit"] = 0
        if g.get("summary") and path is None:
            for f in sorted(g.get("ckpt") or {}, key=str.encode):
                hit = [c["file_path"] for c in g["ckpt"][f] if c["epoch"] == "last"]
                if hit:
                    path = hit[0]
                    break
        for mode in MODES:
            row = {"": pos, "tag_name": g.get("tag_name") or gname}

            def agg(key):
                have = [c[key] for c in per.values() if finite(c.get(key))]
                if not have or (mode == "STRICT" and len(have) != n_f):
                    return None
                return mean_of(have, len(have) if mode == "MEAN_WISE" else n_f)
            for name, key in STATIC:
                row[name] = agg(key)
            tp = row["R_TP"]
            for name in ("R_CS", "R_SVT"):
                row[name] = row[name] / tp if tp and row[name] is not None else None
            row["nb_epoch"] = agg("nb_epoch")
            for label, rep in reports:
                def get(i):
                    return rep["" + i][gname] if rep else None
                suffix = {"STRICT": "_strict", "MEAN_WISE": "_wise", "MEAN_NAIVE": "_naive"}[mode]
                sat = get("saturation_count")
                if preset.startswith("table-"):
                    sat = None if not sat or (mode == "STRICT" and sat != n_f) else sat
                row["Sat_" + label] = sat
                row["V_" + label], row["S_" + label] = get("velocity" + suffix), get("stability" + suffix)
                row["D_" + label] = get("divergence" + suffix)
            row["Cc"], row["Tt"] = agg("carbon"), agg("time")
            four = [row["F1+"], tp, row["R_CS"], row["R_SVT"]]
            row["Gg"] = None if None in four else four[0] * four[1] * four[2] * four[3]
            row["val_loss"] = agg("val_loss")
            for k in ("tokenizer_path", "date", "syntax", "space", "add_vocab"):
                row[k] = g.get(k)
            row["path_best"] = path
            row["model_name_or_path"] = g.get("model_name_or_path")
            out[mode].append(row)
    for mode in MODES:
        out[mode].sort(key=lambda r: (r["Gg"] is None, -(r["Gg"] or 0), r[""]))
    return out


def csv_cell(v):
    if v is None:
        return ""
    if isinstance(v, bool):
        return "True" if v else "False"
    if isinstance(v, float):
        return repr(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v)
    s = str(v)
    return '"' + s.replace('"', '""') + '"' if any(c in s for c in ',"\n\r') else s


def csv_text(rows):
    cols = list(rows[0])
    return "\n".join([",".join(cols)] + [",".join(csv_cell(r[c]) for c in cols) for r in rows]) + "\n"


def files():
    """{path: content}: the runs, their histories and the tables expected of them."""
    files, rng = {}, random.Random(5)
    project, hist, runs_f1, runs_tp = {}, {}, [], []
    for gi, g in enumerate(("DS_xml_demo", "DS_tags_demo")):
        summary, rmap, ckpt = {}, {}, {}
        for f in range(3):
            test = {"test_F1_micro": round(rng.uniform(90, 99), 4), "test_F1_macro": round(rng.uniform(60, 99), 4), "test_prec_macro": 97.5,
                    "test_recall_macro": 91.25, "test_dist_edit": NAN if f == 1 else 11.0, "test_BLEU": .95,
                    "test_part_parsed": round(rng.uniform(.9, 1), 4), "test_part_subj_ok": .9, "test_part_valid": .85}
            summary["fold%d" % f] = {"train_data": None, "carbon_data": {"train_emissions": .01 * (f + 1), "train_energy_consumed": .1},
                                     "best_model_path": "runs/%s_%d-epoch=02.ckpt" % (g, f), "test_data_last_step": [test]}
            rid = "r%d%d" % (gi, f)
            rmap[str(f)] = {"id_run": rid, "name": "%s_%d" % (g, f), "space": "me", "project": "demo", "group": g}
            ckpt[str(f)] = [{"epoch": "last", "val_loss": "unk", "file_path": "last-v%d.ckpt" % f}]
            n = rng.randint(4, 8)
            f1 = [round(100 * min(1, .6 + .1 * i + rng.uniform(-.12, .12)), 3) for i in range(n)]
            tp = [round(min(1, .8 + .05 * i + rng.uniform(-.05, .05)), 4) for i in range(n)]
            lines = ["_step,_runtime,epoch,val_loss,val_F1_micro,val_part_parsed,test_recall_micro"]
            for e in range(n):
                lines.append("%d,%s,%d,%s,%s,%s," % (e, 30.0 * (e + 1), e, round(1 / (e + 2), 4), f1[e], tp[e]))
            lines.append("%d,%s,%d,,,,%s" % (n, 30.0 * n + 6, n, 88.5))
            if not (gi == 1 and f == 2):                          # one fold has no history
                files["histories/%s.csv" % rid] = "\n".join(lines) + "\n"
                hist[(g, str(f))] = {"n": n, "runtime": 30.0 * n + 6, "last": {"val_loss": round(1 / (n + 1), 4), "test_recall_micro": 88.5}}
                runs_f1.append(R(g, f, f1))
                runs_tp.append(R(g, f, tp))
        project[g] = {"date": "2024-02-0%d" % (gi + 1), "summary": summary if gi == 0 else dict(list(summary.items())[:2]), "tokenizer_path": "tok/%s" % g,
                      "ckpt": ckpt, "runs": rmap, "model_name_or_path": "t5-base", "add_vocab": True, "syntax": g.split("_")[1], "space": "me", "tag_name": "T5_%s" % g.split("_")[1]}
    files["runs.json"] = json.dumps({"demo": project, "unused": {}})
    for preset in ("strict", "table-2024-04-25"):
        t = table(project, hist, [("F1-", runs_f1, dict(threshold=90.0, metric="val_F1_micro")), ("RTP", runs_tp, dict(threshold=0.9, metric="val_part_parsed"))], preset=preset, folds=3 if preset.startswith("table-") else None)
        for mode in MODES:
            files["expected/%s_%s.csv" % (preset, mode)] = csv_text(t[mode])
    return files
