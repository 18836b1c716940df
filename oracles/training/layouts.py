"""The same four small runs as every library would leave them."""
import json

from .cases import NAN, R, jsonable
from .logs import mlflow_sqlite, tf_scalar, tf_version, wandb_file
from .oracle import f32, report

CURVES = {("cfgA", "0"): [.5, .91, .95, .89, .96], ("cfgA", "1"): [.2, .4, .6, .7, .8], ("cfgB", "0"): [.93, .85, .97], ("cfgB", "1"): [.1, .92, .93, .94]}


def formats():
    """{path: content} and [(name, argv, runs, params)]"""
    files, out = {}, []
    base = [R(g, f, v) for (g, f), v in CURVES.items()]
    k = ["--metric", "val_F1"]

    def single(v32=False):
        return [R(g, f, [f32(x) for x in v] if v32 else v) for (g, f), v in CURVES.items()]
    # 1 wide CSV, several runs in one file, sparse train rows, trailing test row, index column, CRLF, BOM
    t = [",run,epoch,train_loss,val_F1,test_F1"]
    i = 0
    for (g, f), v in CURVES.items():
        for e, x in enumerate(v):
            t.append("%d,%s_%s,%d,%s,," % (i, g, f, e, 1 / (e + 1)))
            t.append("%d,%s_%s,%d,,%s," % (i + 1, g, f, e, x))
            i += 2
        t.append("%d,%s_%s,%d,,,0.5" % (i, g, f, len(v)))
        i += 1
    files["wide.csv"] = "\ufeff" + "\r\n".join(t) + "\r\n"
    out.append(("csv-wide", ["wide.csv", *k, "--run-column", "run", "--group-by", "suffix"], base, {}))
    # 2 long CSV
    t = ["config\tfold\tepoch\tname\tvalue"]
    for (g, f), v in CURVES.items():
        for e, x in enumerate(v):
            t += ["%s\t%s\t%d\ttrain_loss\t%s" % (g, f, e, 1 / (e + 1)), "%s\t%s\t%d\tval_F1\t%s" % (g, f, e, x)]
    files["long.tsv"] = "\n".join(t) + "\n"
    out.append(("csv-long", ["long.tsv", *k, "--key-column", "name", "--value-column", "value", "--group-by", "column:config", "--fold-by", "column:fold"], base, {}))
    # 3 JSON rows with bare NaN for what was not logged; 4 JSONL with absent keys
    for (g, f), v in CURVES.items():
        rows, lines = [], []
        for e, x in enumerate(v):
            rows += [{"_step": 2 * e, "epoch": e, "train_loss": 1 / (e + 1), "val_F1": NAN}, {"_step": 2 * e + 1, "epoch": e, "train_loss": NAN, "val_F1": x}]
            lines += [json.dumps({"_step": 2 * e, "epoch": e, "train_loss": 1 / (e + 1)}), json.dumps({"_step": 2 * e + 1, "epoch": e, "val_F1": x, "note": None})]
        files["rows/%s_%s.json" % (g, f)] = json.dumps(rows)
        files["lines/%s/%s.jsonl" % (g, f)] = "\n".join(lines) + "\n\n"
        files["columns/%s/%s.json" % (g, f)] = json.dumps({"loss": [1 / (e + 1) for e in range(len(v))], "val_F1": v})
    out.append(("json-rows", ["rows", *k, "--group-by", "suffix"], base, {}))
    out.append(("jsonl", ["lines", *k, "--group-by", "folder"], base, {}))
    out.append(("json-columns", ["columns", *k, "--group-by", "folder"], base, {}))
    # 5 W&B panel CSV
    runs = list(CURVES.items())
    head = ['"Step"']
    for (g, f), _ in runs:
        head += ['"%s_%s - val_F1%s"' % (g, f, s) for s in ("", "__MIN", "__MAX")]
    t = [",".join(head)]
    for e in range(max(len(v) for _, v in runs)):
        t.append(",".join(['"%d"' % e] + ['"%s"' % (v[e] if e < len(v) else "") for _, v in runs for _ in range(3)]))
    files["panel.csv"] = "\n".join(t) + "\n"
    out.append(("wandb-panel", ["panel.csv", *k, "--group-by", "suffix"], base, {"x": "Step"}))
    # 6 trainer_state.json, one run as checkpoints
    for (g, f), v in CURVES.items():
        log = []
        for e, x in enumerate(v):
            log += [{"epoch": e + .5, "loss": 1 / (e + 1), "step": 10 * e + 5}, {"epoch": e + 1.0, "eval_F1": x, "eval_loss": NAN, "step": 10 * e + 10}]
        log.append({"epoch": float(len(v)), "step": 10 * len(v), "train_runtime": 1.5})
        def state(rows):
            return json.dumps({"best_metric": None, "epoch": rows[-1]["epoch"], "global_step": rows[-1]["step"], "log_history": rows}, indent=2)
        if g == "cfgB":
            files["hf/%s/%s/checkpoint-10/trainer_state.json" % (g, f)] = state(log[:2])
            files["hf/%s/%s/checkpoint-%d/trainer_state.json" % (g, f, 10 * len(v))] = state(log[:-1])
        else:
            files["hf/%s/%s/trainer_state.json" % (g, f)] = state(log)
    out.append(("trainer-state", ["hf", "--metric", "eval_F1", "--group-by", "folder"], base, {"x": "step"}))
    # 7 Lightning CSV
    for (g, f), v in CURVES.items():
        t = ["epoch,step,test_F1,train_loss,val_F1"]
        for e, x in enumerate(v):
            t += ["%d,%d,,%s," % (e, 100 * e + 49, 1 / (e + 1)), "%d,%d,,,%s" % (e, 100 * e + 99, x)]
        t.append("%d,%d,0.91,," % (len(v), 100 * len(v)))
        files["lightning/%s/version_%s/metrics.csv" % (g, f)] = "\n".join(t) + "\n"
    out.append(("lightning", ["lightning", *k, "--group-by", "folder", "--fold-by", "regex:version_(?P<fold>\\d+)$"], base, {}))
    # 8 Keras CSV with ';', NA and a restart that repeats an epoch
    for (g, f), v in CURVES.items():
        t = ["epoch;accuracy;val_accuracy"]
        for e, x in enumerate(v):
            if e == 1:
                t.append("1;0.4;0.123")
            t.append("%d;%s;%s" % (e, "NA" if e == 0 else x / 2, x))
        files["keras/%s_%s.csv" % (g, f)] = "\n".join(t) + "\n"
    kr = [R(g, f, v[:1] + [.123] + v[1:], [0, 1] + list(range(1, len(v)))) for (g, f), v in CURVES.items()]
    out.append(("keras", ["keras", "--metric", "val_accuracy", "--group-by", "suffix"], kr, {}))
    # 9 TensorBoard
    for (g, f), v in CURVES.items():
        wall, data, more = 1700000000.0, tf_version(1700000000.0), b""
        for e, x in enumerate(v):
            kind = None if g == "cfgA" else "float"
            rec = tf_scalar(wall + e, 100 * e, "epoch", float(e)) + tf_scalar(wall + e + .5, 100 * e, "val/F1", x, kind)
            if e < 2:
                data += rec
            else:
                more += rec
        files["tb/%s/%s/events.out.tfevents.1700000000.host.1.0" % (g, f)] = data
        files["tb/%s/%s/events.out.tfevents.1700000100.host.1.1" % (g, f)] = tf_version(1700000100.0) + more
    out.append(("tensorboard", ["tb", "--metric", "val/F1", "--group-by", "folder"], single(True), {"x": "step"}))
    # 10 .wandb offline files
    for i, ((g, f), v) in enumerate(CURVES.items()):
        rows = []
        for e, x in enumerate(v):
            rows += [{"epoch": e, "train_loss": 1 / (e + 1), "_runtime": 1.5 * e}, {"epoch": e, "val_F1": x, "val.acc": x / 2, "_runtime": 1.5 * e + 1}]
        rows.append({"epoch": len(v), "test_F1": .5, "_runtime": 99.0})
        files["wandb/offline-run-%d/run-id%02d.wandb" % (i, i)] = wandb_file("id%02d" % i, "demo", g, "%s_%s" % (g, f), rows, pad=9000 if i == 0 else 0, nested=i % 2 == 0)
    out.append(("wandb-offline", ["wandb", *k, "--group-by", "wandb", "--fold-by", "suffix"], base, {}))
    # 11 MLflow folder and SQLite
    lite = []
    for i, ((g, f), v) in enumerate(CURVES.items()):
        uuid = "%032x" % (i + 1)
        files["mlruns/1/%s/meta.yaml" % uuid] = "lifecycle_stage: active\nrun_id: %s\nrun_name: %s_%s\nstatus: 3\n" % (uuid, g, f)
        files["mlruns/1/%s/tags/mlflow.runName" % uuid] = "%s_%s" % (g, f)
        files["mlruns/1/%s/tags/config" % uuid] = g
        files["mlruns/1/%s/params/fold" % uuid] = f
        files["mlruns/1/%s/metrics/val/F1" % uuid] = "\n".join("%d %r %d" % (1700000000000 + e, x, e) for e, x in enumerate(v))
        lite.append((uuid, "%s_%s" % (g, f), {"val/F1": [(x, 1700000000000 + e, e) for e, x in enumerate(v)] + ([(NAN, 1700000009999, 99)] if i == 0 else [])}, {"config": g}, False))
    lite.append(("f" * 32, "gone_0", {"val/F1": [(.99, 1700000000000, 0)]}, {"config": "gone"}, True))
    files["mlruns/1/meta.yaml"] = "experiment_id: '1'\nlifecycle_stage: active\nname: exp\n"
    out.append(("mlflow-folder", ["mlruns", "--metric", "val/F1", "--group-by", "column:config", "--fold-by", "column:fold"], base, {"x": "step"}))
    files["mlflow.db"] = mlflow_sqlite(lite)
    out.append(("mlflow-sqlite", ["mlflow.db", "--metric", "val/F1", "--group-by", "suffix"], base, {"x": "step"}))
    return files, out


EXTRA_WARN = {"mlflow-sqlite": ["nan-values"]}


def format_cases(runs):
    out = []
    for name, argv, runs, params in runs:
        expect = jsonable(report(runs, **params))
        expect["warnings"] = sorted(set(expect["warnings"]) | set(EXTRA_WARN.get(name, [])))
        del expect["per_unit"]
        out.append(dict(name=name, argv=["training"] + argv, expect=expect))
    return out
