"""How training runs behave over epochs and folds: velocity, stability, divergence.

>>> import calipers as cp
>>> acc = cp.training.Evaluator(metric="val_F1", threshold=0.9)
>>> acc.update("cfg/0", [0.5, 0.95, 0.93, 0.85])
>>> acc.update("cfg/1", [0.2, 0.4, 0.92, 0.96])
>>> acc.report()["velocity_wise"]
{'cfg': 2.5}
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, overload

from calipers import _calipers
from calipers._errors import UsageError
from calipers._evaluator import EvaluatorBase
from calipers._inputs import files
from calipers._inputs.arguments import arguments, flag, names_of, number, numbers, parts, text, whole, word
from calipers._inputs.arrays import ArrayLike
from calipers._inputs.paths import Path
from calipers._training.runs import Run, Runs, warned
from calipers._training.study import Table, Tables

__all__ = [
    "Evaluator",
    "Run",
    "Runs",
    "Table",
    "Tables",
    "evaluate",
    "extract",
    "keys",
    "measure",
    "read",
    "tables",
]

Direction = Literal["max", "min"]
Duplicates = Literal["last", "first", "mean", "error"]
Index = Literal["evaluation", "epoch"]
Nan = Literal["missing", "fail", "error"]
Precision = Literal["stored", "single", "double"]
Preset = Literal["strict", "document", "revised", "table-2024-04-24", "table-2024-04-25", "script-2025"]
Restarts = Literal["auto", "overlay", "rewind", "append", "runs"]


_MOST = 2**32 - 1


class Evaluator(EvaluatorBase):
    """Measures runs, one curve each, sorted into configurations and folds.

    >>> acc = Evaluator(threshold=0.9, folds=2)
    >>> acc.update("run", [0.1, 0.95], group="big", fold="0")
    >>> acc.report().undefined["training.velocity_strict.big"]
    '1 of 2 folds present'
    """

    family = "training"
    _remembers = False

    def __init__(
        self,
        metric: str = "value",
        *,
        threshold: float = 0.9,
        preset: Preset = "strict",
        label: str | None = None,
        scale: float = 1.0,
        direction: Direction = "max",
        inclusive: bool = False,
        x: str = "auto",
        index: Index = "evaluation",
        first_epoch: int = 0,
        duplicates: Duplicates = "last",
        nan: Nan = "missing",
        restarts: Restarts = "auto",
        precision: Precision = "stored",
        folds: int | None = None,
        sustain: int = 3,
        par: int = 10,
        horizon: int | None = None,
        sweep: Sequence[float] = (),
        bootstrap: int = 0,
        seed: int = 0,
        confidence: float = 0.95,
    ) -> None:
        """Name the metric, say from which value on a run is saturated, and which conventions count.

        The parameters are those of the command line. `x` names the x of a run. Without a name it is taken for
        epochs, and missing epochs are a warning. With `precision="stored"` a value meets the threshold in the
        type of its array: single precision for float32. `bootstrap` adds intervals per configuration.
        """
        options = {
            "metric": text("metric", metric), "label": text("label", metric if label is None else label),
            "threshold": number("threshold", threshold), "preset": word("preset", preset, get_args(Preset)),
            "scale": number("scale", scale), "direction": word("direction", direction, get_args(Direction)),
            "inclusive": flag("inclusive", inclusive), "x": text("x", x),
            "index": word("index", index, get_args(Index)),
            "first_epoch": whole("first_epoch", first_epoch, -(2**63), 2**63 - 1),
            "duplicates": word("duplicates", duplicates, get_args(Duplicates)),
            "nan": word("nan", nan, get_args(Nan)),
            "restarts": word("restarts", restarts, get_args(Restarts)),
            "precision": word("precision", precision, get_args(Precision)),
            "folds": None if folds is None else whole("folds", folds, 1, _MOST),
            "sustain": whole("sustain", sustain, 1, _MOST), "par": whole("par", par, 1, _MOST),
            "horizon": None if horizon is None else whole("horizon", horizon, 0),
            "sweep": numbers("sweep", sweep), "bootstrap": whole("bootstrap", bootstrap, 0, _MOST),
            "seed": whole("seed", seed, 0), "confidence": number("confidence", confidence, 0, 1),
        }  # fmt: skip
        self._state = _calipers.training_new(json.dumps(options))

    def update(
        self,
        name: str,
        values: ArrayLike,
        x: ArrayLike | None = None,
        *,
        group: str | None = None,
        fold: str | None = None,
    ) -> None:
        """Measure one run: its values in the order of logging, and their x.

        Without `group` and `fold` the name says both: `cfg/0` is fold 0 of the configuration cfg, a name
        without a slash is a fold of `all`. The unit is called `<group>/<fold>`; one that was measured
        before raises `DuplicateError`.
        """
        _calipers.training_update(self._state, *_run(name, group, fold), values, x)

    def update_batch(
        self,
        names: Sequence[str],
        *,
        values: ArrayLike,
        x: ArrayLike | None = None,
        group: Sequence[str] | None = None,
        fold: Sequence[str] | None = None,
    ) -> None:
        """Measure a run for each name; all of them or, on an error, none.

        >>> acc = Evaluator(threshold=0.9)
        >>> acc.update_batch(["cfg/0", "cfg/1"], values=[[0.5, 0.95], [0.2, 0.4, 0.92]])
        >>> acc.report()["velocity_wise"]
        {'cfg': 2.5}
        """
        given = names_of(names)
        shares = [parts(key, of, len(given)) for key, of in
                  (("values", values), ("x", x), ("group", group), ("fold", fold))]  # fmt: skip
        runs = [
            (*_run(name, of_group, of_fold), of_values, of_x)
            for name, of_values, of_x, of_group, of_fold in zip(given, *shares, strict=True)
        ]
        _calipers.training_update_batch(self._state, runs)


def _run(name: str, group: str | None, fold: str | None) -> tuple[str, str]:
    before, slash, after = text("name", name).rpartition("/")
    group = (before if slash else "all") if group is None else text("group", group)
    return group, after if fold is None else text("fold", fold)


@overload
def evaluate(*inputs: Path, metric: str | None = None, **options: Any) -> Evaluator: ...
@overload
def evaluate(*inputs: Path, metric: Sequence[str], **options: Any) -> list[Evaluator]: ...
def evaluate(
    *inputs: Path, metric: str | Sequence[str] | None = None, **options: Any
) -> Evaluator | list[Evaluator]:
    r"""Measure the histories that files and folders hold, as `calipers training` does with the same words.

    A list of metrics gives a list of evaluators, in order; `threshold`, `scale`, `direction` and `label` are
    given once, or once for each. The options:

    * metrics: `threshold`, `scale`, `direction`, `label`, `inclusive`, `preset`, `sustain`, `par`, `horizon`,
      `sweep`
    * points: `x`, `index`, `first_epoch`, `duplicates`, `restarts`, `precision`, `nan`
    * runs: `group_by` and `fold_by` (words, or functions of a run's name), `where`, `run_column`, `folds`,
      `skip_missing`, `runs`, `project`
    * files: `format`, `key_column`, `value_column`, `delimiter`, `decimal`, `encoding`, `timeout`
    * work: `threads`, `memory`, `shard`, `units` (names), `keep_going`, `resume` (a folder), `strict`,
      `progress`
    * for the report: `bootstrap`, `confidence`, `seed`, `interval`, `cluster_by`, `partial`

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.csv"
    >>> _ = path.write_text("epoch,val_F1\n0,0.5\n1,0.95\n")
    >>> evaluate(path, metric="val_F1").report()["velocity_wise"]
    {'all': 2.0}
    """
    made = files.evaluate(Evaluator, inputs, {"metric": metric, **options})
    return made[0] if metric is None or isinstance(metric, str) else made


def measure(
    values: ArrayLike, x: ArrayLike | None = None, threshold: float = 0.9, **options: Any
) -> dict[str, Any]:
    """Measure one run and return its line of the per-unit table; `options` are those of `Evaluator`.

    `broken` counts points after the first saturation that are worse than the threshold, as the document's
    formula says. Its text says worse than the value at the first saturation, which the presets
    `table-2024-04-24` and `table-2024-04-25` take for `stability`.

    >>> measure([0.5, 0.95, 0.93, 0.85])["velocity"]
    2
    """
    known = [name for name in inspect.signature(Evaluator).parameters if name != "threshold"]
    acc = Evaluator(threshold=threshold, **arguments(options, known))
    acc.update("all/0", values, x)
    left_out = ("unit", "group", "fold")
    return {column: cells[0] for column, cells in acc.per_unit().items() if column not in left_out}


def read(*inputs: Path, metric: str, **options: Any) -> Runs:
    r"""Read the runs of one metric from files and folders: what `evaluate` measures, and nothing else.

    `options` are those of `evaluate`.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.csv"
    >>> _ = path.write_text("epoch,val_F1\n0,0.5\n1,0.95\n")
    >>> runs = read(path, metric="val_F1")
    >>> runs["all/run"].values
    array([0.5 , 0.95])
    >>> runs.to_pandas()["number"].tolist()
    [1, 2]
    """
    options, progress, strict = _apart(options)
    found, said = _calipers.training_read(list(inputs), {"metric": metric, **options}, progress)
    runs = [Run(*names, x, values, config) for names, _, x, values, config in found]
    made = Runs(runs, [numbers for _, numbers, *_ in found], warned(said))
    _refuse(made.warnings, strict)
    return made


def keys(*inputs: Path, **options: Any) -> dict[str, Any]:
    r"""List what files and folders hold: `metrics`, `x`, `config` and `runs`, as `--keys` does as JSON.

    `options` are those of `evaluate` that say what is read.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.csv"
    >>> _ = path.write_text("epoch,val_F1\n0,0.5\n1,0.95\n")
    >>> found = keys(path)
    >>> found["metrics"]
    [{'key': 'val_F1', 'runs': 1, 'points': 2, 'min': 0.5, 'max': 0.95}]
    >>> found["x"]
    [{'key': 'epoch', 'runs': 1}]
    """
    options, progress, _ = _apart(options)
    found: dict[str, Any] = json.loads(_calipers.training_keys(list(inputs), options, progress))
    return found


def extract(*inputs: Path, output: Path | None = None, **options: Any) -> dict[str, Any]:
    r"""Gather checkpoints, tokenizers and carbon of every fold into the JSON of a study.

    `output` also writes it, as `calipers training extract` does. What is not found is a warning of Python.
    The options: `group_by`, `fold_by`, `where`, `project`, `skip_missing`, `strict`, `progress`.

    >>> import pathlib, tempfile, warnings
    >>> runs = pathlib.Path(tempfile.mkdtemp()) / "study"
    >>> (runs / "lr1").mkdir(parents=True)
    >>> _ = (runs / "lr1/0.csv").write_text("epoch,val_F1\n0,0.5\n")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     made = extract(runs, group_by="folder")
    >>> made["study"]["lr1"]["runs"]["0"]["name"]
    'lr1/0'
    """
    options, progress, strict = _apart(options)
    text, said = _calipers.training_extract(list(inputs), {"output": output, **options}, progress)
    _refuse(warned(said), strict)
    for code, message, units in said:
        warnings.warn(f"{code}: {message}: {', '.join(units[:5])}", stacklevel=2)
    made: dict[str, Any] = json.loads(text)
    return made


def tables(
    *inputs: Path,
    runs: Path | Mapping[str, Any] | None = None,
    project: str | None = None,
    metric: str | Sequence[str] | None = None,
    **options: Any,
) -> Tables:
    r"""Make the three tables of a study from its histories and the per-run JSON.

    `runs` is that JSON, as a path or parsed; left out, it is extracted first. Without inputs and metrics the
    tables hold what the JSON says by itself. `options` are those of `evaluate`.

    >>> study = {"demo": {"T5": {"runs": {"0": {"name": "T5_0"}},
    ...          "summary": {"fold0": {"test_data_last_step": [{"test_F1_micro": 99.5}]}}}}}
    >>> tables(runs=study).strict.to_pandas()[["tag_name", "F1-"]].values.tolist()
    [['T5', 99.5]]
    """
    options, progress, strict = _apart(options)
    text = json.dumps(runs) if isinstance(runs, Mapping) else None
    path = None if text is not None else runs
    given = {"runs": path, "project": project, "metric": metric, **options}
    found, said = _calipers.training_tables(list(inputs), given, text, progress)
    strictly, wisely, naively = (Table(*table) for table in found)
    made = Tables(strictly, wisely, naively, warned(said))
    _refuse(made.warnings, strict)
    return made


def _apart(options: dict[str, Any]) -> tuple[dict[str, Any], Any, bool]:
    """Return the options of the command, who is told of progress, and whether warnings are refused."""
    rest = {key: value for key, value in options.items() if key not in ("progress", "strict")}
    return rest, options.get("progress", False), flag("strict", options.get("strict", False))


def _refuse(found: list[dict[str, Any]], strict: bool) -> None:
    if strict and found:
        said = "; ".join(f"{warning['code']}: {warning['message']}" for warning in found)
        raise UsageError(f"there are warnings, and strict=True\n    found: {said}")
