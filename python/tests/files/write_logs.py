"""Writes logs with the libraries that people log with: `python write_logs.py PART FOLDER`.

Each part is a function; it runs in a process of its own, once, below `target/`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CURVE = [0.5, 0.8, 0.92, 0.95, 0.85, 0.96]
"""Saturates above 0.9 at its third point and breaks once."""


def wandb(out: Path) -> None:
    os.environ |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_DISABLE_GIT": "true"}
    os.environ |= {"WANDB_CONSOLE": "off", "WANDB_X_DISABLE_STATS": "true"}
    import wandb as library

    def run(folder: str, **settings: Any) -> Any:
        (out / folder).mkdir(parents=True, exist_ok=True)
        return library.init(dir=str(out / folder), project="study", **settings)

    with run(
        "resumed", id="abc12345", name="a", resume="allow", config={"lr": 0.1, "net": {"depth": 2}}
    ) as one:
        for step, value in enumerate([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]):
            one.log({"F1": value}, step=step)
    with run("resumed", id="abc12345", name="a", resume="allow", config={"lr": 0.1}) as one:
        for step, value in enumerate([0.92, 0.93, 0.94], start=3):
            one.log({"F1": value}, step=step)
    for values in ([0.1, 0.2, 0.3], [0.95, 0.96]):
        with run("shifted", id="def67890", name="b", resume="allow") as one:
            for value in values:
                one.log({"F1": value})
    for value, ident in ((0.91, "samename1"), (0.93, "samename2"), (0.95, "other0003")):
        with run("named", id=ident, name="sweep", group="g") as one:
            one.log({"F1": 0.5})
            one.log({"F1": value})
    with run("defined", id="defined1", name="defined") as one:
        one.define_metric("val/*", step_metric="val/epoch")
        for epoch, value in enumerate(CURVE):
            one.log({"loss": 1.0})
            one.log({"val/F1": value, "val/epoch": epoch})
    with run("apart", id="apart001", name="apart") as one:
        for epoch, value in enumerate(CURVE):
            one.log({"epoch": epoch})
            one.log({"F1": value})


def mlflow(out: Path) -> None:
    os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "GIT_PYTHON_REFRESH": "quiet"}
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param, RunTag

    client = MlflowClient(f"sqlite:///{out / 'mlflow.db'}")

    def run(experiment: str, name: str, values: list[float], lr: str, parent: str | None = None) -> str:
        tags = {"mlflow.parentRunId": parent} if parent else {}
        made = client.create_run(experiment, run_name=name, tags=tags).info.run_id
        points = [Metric("val/F1", value, 1000 + step, step) for step, value in enumerate(values)]
        points += [Metric("epoch", step, 1000 + step, step) for step in range(len(values))] if values else []
        client.log_batch(made, points, [Param("lr", lr)], [RunTag("team", "blue")])
        client.set_terminated(made)
        return made

    one, two, three = (client.create_experiment(name) for name in ("one", "two", "three"))
    run(one, "fold0", CURVE, "0.1")
    run(one, "fold1", [0.5, 0.95, float("nan"), float("inf")], "0.1")
    run(two, "fold0", [0.91, 0.2], "0.01")
    parent = run(three, "parent", [], "0.1")
    run(three, "child0", CURVE, "0.1", parent)
    run(three, "child1", CURVE[:3], "0.1", parent)
    client.delete_run(run(one, "deleted", [1.0], "9"))


def tensorboard(out: Path) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(out / "purged")) as writer:
        for step in range(8):
            writer.add_scalar("val/F1", 0.1 * step, step)
    with SummaryWriter(str(out / "purged"), purge_step=5, filename_suffix=".resumed") as writer:
        for step in range(5, 9):
            writer.add_scalar("val/F1", 0.95, step)
    with SummaryWriter(str(out / "searched/lr1")) as writer:
        for step, value in enumerate(CURVE):
            writer.add_scalar("val/F1", value, step)
        writer.add_hparams({"lr": 0.1}, {"hparam/F1": CURVE[-1]}, run_name="trial")
    with SummaryWriter(str(out / "several")) as writer:
        for step, value in enumerate(CURVE):
            writer.add_scalars("F1", {"train": 1.0, "val": value}, step)
    with SummaryWriter(str(out / "tie")) as writer:
        for step, value in enumerate([0.5, 0.95, 0.9, 0.96]):
            writer.add_scalar("val/F1", value, step)


def lightning(out: Path) -> None:
    import warnings

    warnings.simplefilter("ignore")
    import torch
    from lightning.pytorch import LightningModule, Trainer
    from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
    from torch.utils.data import DataLoader, TensorDataset

    class Model(LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.save_hyperparameters({"lr": 0.1, "net": {"depth": 2}})
            self.layer = torch.nn.Linear(2, 1)
            self.validated = 0

        def training_step(self, batch: Any, _: int) -> Any:
            loss = self.layer(batch[0]).square().mean()
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch: Any, _: int) -> None:
            pass

        def on_validation_epoch_end(self) -> None:
            # Logged in double precision, as a metric of its own would be.
            value = CURVE[min(self.validated, len(CURVE) - 1)]
            self.log("val_F1", torch.tensor(value, dtype=torch.float64))
            self.validated += 1

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    def loader() -> Any:
        return DataLoader(TensorDataset(torch.ones(8, 2)), batch_size=1)

    def fit(epochs: int, loggers: list[Any], checkpoint: Path | None = None, **settings: Any) -> Trainer:
        trainer = Trainer(
            max_epochs=epochs,
            logger=loggers,
            accelerator="cpu",
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            num_sanity_val_steps=0,
            log_every_n_steps=1,
            **settings,
        )
        trainer.fit(Model(), loader(), loader(), ckpt_path=str(checkpoint) if checkpoint else None)
        return trainer

    both = out / "both"
    fit(6, [CSVLogger(both, name="", version="run"), TensorBoardLogger(both, name="", version="run")])
    fit(3, [CSVLogger(out / "quarter", name="", version="run")], val_check_interval=0.25)
    resumed = out / "resumed"
    first = fit(3, [CSVLogger(resumed, name="", version="run")])
    first.save_checkpoint(out / "at3.ckpt")
    fit(6, [CSVLogger(resumed, name="", version="run")], out / "at3.ckpt")


def transformers(out: Path) -> None:
    os.environ |= {"HF_HUB_OFFLINE": "1", "WANDB_DISABLED": "true", "TOKENIZERS_PARALLELISM": "false"}
    import torch
    from transformers import Trainer, TrainingArguments

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x: Any, labels: Any = None) -> Any:
            y = self.layer(x)
            return {"loss": (y - labels).square().mean(), "logits": y}

    data = [{"x": torch.ones(2), "labels": torch.ones(1)} for _ in range(8)]
    values = iter(CURVE)
    arguments = TrainingArguments(
        output_dir=str(out / "lr1/fold0"),
        num_train_epochs=6,
        per_device_train_batch_size=4,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    Trainer(
        Model(),
        arguments,
        train_dataset=data,
        eval_dataset=data,
        compute_metrics=lambda _: {"F1": next(values)},
    ).train()


def keras(out: Path) -> None:
    os.environ["KERAS_BACKEND"] = "torch"
    import keras as library
    import numpy as np

    def fit(name: str, epochs: int, first: int, values: list[float]) -> None:
        model = library.Sequential([library.layers.Dense(1)])
        model.compile(loss="mse")
        given = iter(values)

        class Score(library.callbacks.Callback):
            def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
                if logs is not None:
                    logs["val_F1"] = next(given)

        log = library.callbacks.CSVLogger(str(out / name), append=True)
        ones = np.ones((4, 2), "float32")
        model.fit(ones, ones[:, :1], epochs=epochs, initial_epoch=first, verbose=0, callbacks=[Score(), log])

    fit("continued.csv", 3, 0, CURVE[:3])
    fit("continued.csv", 6, 3, CURVE[3:])
    fit("restarted.csv", 3, 0, CURVE[:3])
    fit("restarted.csv", 3, 0, CURVE[3:])


def dvclive(out: Path) -> None:
    os.environ["DVCLIVE_LOGLEVEL"] = "ERROR"
    from dvclive import Live

    # It makes a repository of the git checkout around it: one of its own spares ours.
    out, before = out.resolve(), Path.cwd()
    os.chdir(out)
    author = ("-c", "user.name=Calipers", "-c", "user.email=calipers@localhost")
    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run(["git", *author, "commit", "--quiet", "--allow-empty", "--message", "Begin"], check=True)
    for fold in range(2):
        with Live(str(out / f"cfg/fold{fold}"), save_dvc_exp=False, dvcyaml=None, report=None) as live:
            live.log_params({"lr": 0.1, "fold": fold, "net": {"depth": 2}})
            for value in CURVE:
                live.log_metric("val/F1", value)
                live.log_metric("train/loss", 1.0)
                live.next_step()
    os.chdir(before)


def pandas(out: Path) -> None:
    import pandas as library
    import pyarrow  # noqa: F401

    table = library.DataFrame({"epoch": range(len(CURVE)), "val_F1": CURVE})
    for orient in ("columns", "index", "records", "split", "table", "values"):
        table.to_json(out / f"{orient}.json", orient=orient)
    for codec in ("gzip", "brotli", "lz4", "snappy", "zstd"):
        table.to_parquet(out / f"{codec}.parquet", compression=codec)
    table.astype({"val_F1": "float16"}).to_parquet(out / "half.parquet")
    single = table.astype({"val_F1": "float32"})
    single.to_parquet(out / "single.parquet")
    for encoding, name in (("utf-16", "utf16"), ("cp1252", "cp1252")):
        named = table.rename(columns={"val_F1": "Qualität"})
        named.to_csv(out / f"{name}.csv", index=False, encoding=encoding)


PARTS = {
    part.__name__: part
    for part in (wandb, mlflow, tensorboard, lightning, transformers, keras, dvclive, pandas)
}

if __name__ == "__main__":
    sys.path.pop(0)
    PARTS[sys.argv[1]](Path(sys.argv[2]))
