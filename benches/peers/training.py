"""Reading histories the usual way: pandas, `json.load`, TensorBoard's own reader, the W&B SDK's.

The files are made here first, with the libraries that make them in real life.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter
from wandb.proto import wandb_internal_pb2
from wandb.sdk.internal.datastore import DataStore
from worker import serve

KEY = "val_F1"
TAGS = [KEY, "val_loss", "train_loss", "lr"]


def curves(rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {tag: np.round(rng.random(rows), 6) for tag in TAGS}


def write_csv(path: Path) -> None:
    rows, columns = 40_000, 50
    rng = np.random.default_rng(0)
    table = pd.DataFrame(np.round(rng.random((rows, columns)), 6), columns=[f"m{i}" for i in range(columns)])
    table.insert(0, "epoch", np.arange(rows))
    table[KEY] = np.round(rng.random(rows), 6)
    table.to_csv(path, index=False)


def write_json(path: Path) -> None:
    rows = 85_000
    values = curves(rows)
    records = [{"epoch": i, **{tag: float(values[tag][i]) for tag in TAGS}} for i in range(rows)]
    path.write_text(json.dumps(records))


def write_events(folder: Path) -> None:
    folder.mkdir()
    rows = 10_000
    values = curves(rows)
    with open(folder / "events.out.tfevents.0.bench", "wb") as file:
        writer = RecordWriter(file)
        for step in range(rows):
            for tag in TAGS:
                summary = Summary(value=[Summary.Value(tag=tag, simple_value=float(values[tag][step]))])
                event = Event(wall_time=float(step), step=step, summary=summary)
                writer.write(event.SerializeToString())
        writer.flush()


def write_wandb(path: Path) -> None:
    rows = 30_000
    values = curves(rows)
    store = DataStore()
    store.open_for_write(str(path))
    run = wandb_internal_pb2.Record()
    run.run.run_id = "bench"
    store.write(run)
    for step in range(rows):
        record = wandb_internal_pb2.Record()
        record.history.step.num = step
        for key, text in [("epoch", str(step)), *((tag, repr(float(values[tag][step]))) for tag in TAGS)]:
            item = record.history.item.add()
            item.nested_key.append(key)
            item.value_json = text
        store.write(record)
    store.close()


def read_events(folder: Path) -> list[float]:
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return [event.value for event in events.Scalars(KEY)]


def read_wandb(path: Path) -> list[float]:
    store = DataStore()
    store.open_for_scan(str(path))
    values = []
    while (data := store.scan_data()) is not None:
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        for item in record.history.item:
            if list(item.nested_key) == [KEY]:
                values.append(json.loads(item.value_json))
    return values


def main() -> None:
    folder = Path(sys.argv[1])
    csv, rows, events, wandb = folder / "wide.csv", folder / "rows.json", folder / "events", folder / "run.wandb"
    write_csv(csv)
    write_json(rows)
    write_events(events)
    write_wandb(wandb)
    serve(
        {
            "csv": lambda: pd.read_csv(csv, usecols=["epoch", KEY]),
            "json": lambda: json.load(open(rows, encoding="utf-8")),
            "tensorboard": lambda: read_events(events),
            "wandb": lambda: read_wandb(wandb),
        }
    )


if __name__ == "__main__":
    main()
