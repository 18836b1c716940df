"""Callbacks in the trainers of the real libraries."""

import os
from pathlib import Path
from typing import Any

import pytest

import calipers as cp
from calipers.callbacks._curve import Curve

torch: Any = pytest.importorskip("torch")
pytestmark = [pytest.mark.compat, pytest.mark.filterwarnings("ignore")]
VALUES = [0.2, 0.5, 0.95, 0.93, 0.91]


class Recorded(Curve):
    """The curve alone."""

    def __init__(self, metric: str = "val_F1", **options: Any) -> None:
        given = {"group": "cfg", "fold": "1", "threshold": 0.9, "state": None, "log": True, "prefix": "c/"}
        rest = {name: options.pop(name) for name in list(options) if name in given}
        self._begin(metric, **{**given, **rest}, options=options)


def test_a_curve_is_measured_after_every_value(tmp_path: Path) -> None:
    curve = Recorded(state=tmp_path / "run.state", sustain=2)
    assert curve.now == {}
    for epoch, value in enumerate(VALUES):
        logged = curve._take(value, epoch)
        assert curve.now == cp.training.measure(VALUES[: epoch + 1], sustain=2)
    assert list(logged) == ["c/velocity", "c/stability", "c/divergence"]
    assert logged["c/velocity"] == curve.now["velocity"]
    curve._finish(set())
    state = cp.training.Evaluator.from_bytes((tmp_path / "run.state").read_bytes())
    assert state == curve.evaluator()
    assert state.per_unit()["unit"] == ["cfg/1"]
    other = Recorded(fold="2", sustain=2)
    other._take(0.3, 0)
    state.merge(other.evaluator())
    assert len(state) == 2


def test_options_are_checked_when_the_callback_is_made() -> None:
    with pytest.raises(TypeError, match=r"found: sustian\n +help: did you mean sustain\?"):
        Recorded(sustian=2)
    with pytest.raises(cp.CalipersError):
        Recorded(threshold=float("nan"))
    with pytest.raises(AttributeError, match="it has HuggingFace, Keras, Lightning"):
        cp.callbacks.Ignite  # noqa: B018
    with pytest.warns(UserWarning, match="did you mean 'val_f1'"):
        Recorded()._finish({"val_f1", "loss"})


def lightning_parts() -> tuple[Any, Any]:
    pytest.importorskip("lightning")
    import lightning.pytorch as pl

    class Model(pl.LightningModule):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

        def training_step(self, batch: Any, index: int) -> Any:
            return self.layer(batch[0]).sum()

        def validation_step(self, batch: Any, index: int) -> None:
            self.log("val_F1", torch.tensor(VALUES[self.current_epoch]))

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.0)

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(2, 1)))
    return pl, (Model, data)


def fit(tmp_path: Path, epochs: int, callback: Any, **options: Any) -> Any:
    pl, (model, data) = lightning_parts()
    logger = pl.loggers.CSVLogger(tmp_path, name="logs", version=epochs)
    checkpoint = pl.callbacks.ModelCheckpoint(tmp_path / "checkpoints", save_last=True)
    trainer = pl.Trainer(
        max_epochs=epochs, accelerator="cpu", devices=1, logger=logger, callbacks=[callback, checkpoint],
        enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(model(), data, data, **options)
    return logger


def test_lightning_measures_each_validation_and_continues_from_a_checkpoint(tmp_path: Path) -> None:
    pl, _ = lightning_parts()
    from calipers.callbacks import Lightning

    first = Lightning("val_F1", group="cfg", fold="0", state=tmp_path / "first.state")
    assert isinstance(first, pl.Callback)
    logger = fit(tmp_path, 3, first)
    assert first.values == pytest.approx(VALUES[:3])
    assert first.now["velocity"] == 3
    with open(Path(logger.log_dir) / "metrics.csv") as file:
        assert "calipers/velocity" in file.readline()
    again = Lightning("val_F1", group="cfg", fold="0", state=tmp_path / "again.state")
    fit(tmp_path, 5, again, ckpt_path=tmp_path / "checkpoints" / "last.ckpt")
    assert again.values == pytest.approx(VALUES)
    whole = cp.training.Evaluator("val_F1")
    whole.update("cfg/0", again.values)
    assert cp.training.Evaluator.from_bytes((tmp_path / "again.state").read_bytes()) == whole


def test_lightning_warns_at_the_end_about_a_metric_that_never_came(tmp_path: Path) -> None:
    lightning_parts()
    from calipers.callbacks import Lightning

    with pytest.warns(UserWarning, match="did you mean 'val_F1'"):
        fit(tmp_path, 1, Lightning("val_f1"))


def test_hugging_face_measures_each_evaluation_and_continues_from_a_checkpoint(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    from calipers.callbacks import HuggingFace

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 2)

        def forward(self, x: Any, labels: Any = None) -> Any:
            logits = self.layer(x)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    class Reporter(transformers.TrainerCallback):  # type: ignore[misc, name-defined, unused-ignore]
        logged: list[str] = []  # noqa: RUF012

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
            self.logged += logs

    data = [{"x": torch.ones(1), "labels": 0}] * 2

    def train(epochs: int, callback: Any, **options: Any) -> Any:
        taken: list[int] = []

        def metrics(prediction: Any) -> dict[str, float]:
            epoch = round(trainer.state.epoch)
            taken.append(epoch)
            return {"f1": VALUES[epoch - 1]}

        arguments = transformers.TrainingArguments(
            str(tmp_path / "out"), num_train_epochs=epochs, eval_strategy="epoch", save_strategy="epoch",
            logging_strategy="epoch", report_to=[], use_cpu=True, disable_tqdm=True,
        )  # fmt: skip
        trainer = transformers.Trainer(
            Model(), arguments, train_dataset=data, eval_dataset=data, compute_metrics=metrics,
            callbacks=[Reporter(), callback],
        )  # fmt: skip
        trainer.train(**options)
        return trainer

    first = HuggingFace("f1", group="cfg", fold="0", state=tmp_path / "first.state")
    trainer = train(3, first)
    assert first.values == VALUES[:3]
    assert any("calipers/velocity" in entry for entry in trainer.state.log_history)
    assert "calipers/velocity" in Reporter.logged
    again = HuggingFace("eval_f1", group="cfg", fold="0", state=tmp_path / "again.state")
    train(5, again, resume_from_checkpoint=True)
    assert again.values == VALUES
    whole = cp.training.Evaluator("eval_f1")
    whole.update("cfg/0", VALUES)
    assert cp.training.Evaluator.from_bytes((tmp_path / "again.state").read_bytes()) == whole
    with pytest.warns(UserWarning, match="never logged"):
        train(1, HuggingFace("f2"))


def test_keras_measures_each_epoch_and_continues_where_it_was_stopped(tmp_path: Path) -> None:
    os.environ.setdefault("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    import numpy as np

    from calipers.callbacks import Keras

    class Feed(keras.callbacks.Callback):  # type: ignore[misc, name-defined, unused-ignore]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            if epoch == self.stop:
                raise InterruptedError
            logs["val_f1"] = VALUES[epoch]

    def fit(callback: Any, epochs: int, begin: int = 0, stop: int = -1) -> Any:
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(loss="mse")
        feed = Feed()
        feed.stop = stop
        x = np.ones((2, 1), dtype=np.float32)
        return model.fit(x, x, epochs=epochs, initial_epoch=begin, callbacks=[feed, callback], verbose=0)

    first = Keras("val_f1", group="cfg", fold="0", state=tmp_path / "run.state")
    assert isinstance(first, keras.callbacks.Callback)
    with pytest.raises(InterruptedError):
        fit(first, 5, stop=3)
    assert first.values == VALUES[:3]
    assert not (tmp_path / "run.state").exists()
    again = Keras("val_f1", group="cfg", fold="0", state=tmp_path / "run.state")
    history = fit(again, 5, begin=2)
    assert again.values == VALUES
    assert len(history.history["calipers/velocity"]) == 3
    whole = cp.training.Evaluator("val_f1")
    whole.update("cfg/0", VALUES)
    assert cp.training.Evaluator.from_bytes((tmp_path / "run.state").read_bytes()) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["run.state"]
    with pytest.warns(UserWarning, match="did you mean 'val_f1'"):
        fit(Keras("val_f2"), 1)
