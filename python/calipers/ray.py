"""Evaluators over Ray tasks: shards are measured anywhere, and their states are merged in a tree.

    import calipers as cp
    from calipers.ray import evaluate

    def measure(acc, shard):
        for name, truth, pred in shard:
            acc.update(name, truth=truth, pred=pred)

    acc = evaluate(cp.segmentation.Evaluator(labels={"original": 19}, kind="labels"), shards, measure)
    acc.report()

Merging is associative, commutative and idempotent. A task that Ray retries, a shard that arrives twice and
any shape of the tree give the numbers of one process, bit for bit. Importing this module does not import Ray.
Calling `evaluate` and `merged_by_tasks` does.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from calipers import _calipers
from calipers._errors import CalipersError, UsageError
from calipers._evaluator import EvaluatorBase
from calipers._extras import library
from calipers._inputs.arguments import whole, wrong_type

if TYPE_CHECKING:
    from ray import ObjectRef

__all__ = ["ShardsFailed", "evaluate", "merged", "merged_by_tasks"]

E = TypeVar("E", bound=EvaluatorBase)
S = TypeVar("S")
Progress = bool | Callable[[int, int], None]


class ShardsFailed(CalipersError):  # noqa: N818
    """Some shards could not be measured; the others are not lost."""

    failed: dict[int, Exception]
    """What went wrong, by the number of the shard."""
    evaluator: EvaluatorBase
    """The finished shards, merged."""

    def __init__(self, failed: dict[int, Exception], evaluator: EvaluatorBase, shards: int) -> None:
        causes = "\n".join(
            f"  shard {number}: {type(error).__name__}: {error}" for number, error in failed.items()
        )
        super().__init__(
            f"{len(failed)} of {shards} shards failed\n{causes}\n"
            "     help: .evaluator holds the others; resume=FOLDER measures only what is missing"
        )
        self.failed, self.evaluator, self._shards = failed, evaluator, shards

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardsFailed, (self.failed, self.evaluator, self._shards)


def evaluate(
    evaluator: E,
    shards: Iterable[S | ObjectRef[S]],
    measure: Callable[[E, S], None],
    *,
    fan_in: int = 8,
    progress: Progress = False,
    resume: str | os.PathLike[str] | None = None,
    **task_options: Any,
) -> E:
    """Measure every shard in a task of its own and return an evaluator of all units.

    `measure` is called in a task with a copy of the evaluator, all its settings included, and the shard, and
    updates the copy. A shard that is an object reference is resolved there. `task_options` are those of
    `ray.remote`, such as `num_cpus`, `resources` and `max_retries`. Units of equal names coincide where their
    rows are equal, and raise `ConflictError` where they are not.

    `progress` is True for a line on stderr, or a function of the shards done and of all. With `resume`, each
    finished shard is kept in that folder: the same call again measures only what is missing. Shards that
    fail raise `ShardsFailed`, which holds the others.
    """
    _at_least_two(fan_in)
    if not isinstance(evaluator, EvaluatorBase):
        raise wrong_type("evaluator", evaluator, "an evaluator")
    if not isinstance(shards, Iterable):
        raise wrong_type("shards", shards, "a list of whatever `measure` takes")
    if not callable(measure):
        raise wrong_type("measure", measure, "a function of an evaluator and a shard")
    if not isinstance(progress, bool) and not callable(progress):
        raise wrong_type("progress", progress, "False, True, or a callable f(done, total)")
    ray = _ray()
    todo = list(shards)
    kept = None if resume is None else _Kept(Path(resume), evaluator, len(todo))
    parts: dict[int, Any] = {} if kept is None else {n: ray.put(part) for n, part in kept.parts().items()}
    tell = _teller(progress)
    task = ray.remote(_measured)
    task = task.options(**task_options) if task_options else task
    start = ray.put(copy.copy(evaluator))
    running = {task.remote(start, measure, shard): n for n, shard in enumerate(todo) if n not in parts}
    failed: dict[int, Exception] = {}
    try:
        tell(len(parts), len(todo))
        while running:
            done, _ = ray.wait(list(running), num_returns=1)
            for ref in done:
                number = running.pop(ref)
                try:
                    # Fetched only to be kept; else a part stays where it was measured.
                    part = None if kept is None else ray.get(ref)
                    if kept is None:
                        _raise_its_error(ray, ref)
                except Exception as error:
                    failed[number] = getattr(error, "cause", None) or error
                    continue
                if kept is not None and part is not None:
                    kept.keep(number, part)
                parts[number] = ref
                tell(len(parts), len(todo))
    except BaseException:
        for ref in running:
            ray.cancel(ref, force=True)
        raise
    whole: E = _tree(ray, [parts[n] for n in sorted(parts)], fan_in) if parts else copy.copy(evaluator)
    if failed:
        raise ShardsFailed(dict(sorted(failed.items())), whole, len(todo))
    return whole


class _Kept:
    """Finished shards in a folder, each a state, beside the state that they began with."""

    def __init__(self, folder: Path, evaluator: EvaluatorBase, shards: int) -> None:
        self._folder, self._evaluator, self._shards = folder, evaluator, shards
        folder.mkdir(parents=True, exist_ok=True)
        start = folder / "start.state"
        if start.exists() and start.read_bytes() != evaluator.to_bytes():
            copy.copy(evaluator).merge(type(evaluator).from_bytes(start.read_bytes()))
            raise UsageError(
                "the folder holds shards of an evaluator with other units\n       at: resume\n"
                f"    found: {folder}"
            )
        others = [path for path in folder.glob("shard-*.state") if not path.stem.endswith(f"-of-{shards}")]
        if others:
            raise UsageError(
                f"the folder holds shards of another split\n       at: resume\n    found: {others[0].name}\n"
                f"  allowed: {shards} shards, as it was begun, or another folder"
            )
        self._write(start, evaluator.to_bytes())

    def _path(self, number: int) -> Path:
        return self._folder / f"shard-{number}-of-{self._shards}.state"

    def parts(self) -> dict[int, EvaluatorBase]:
        """Return the shards that are finished."""
        found = {}
        for number in range(self._shards):
            if self._path(number).exists():
                part = type(self._evaluator).from_bytes(self._path(number).read_bytes())
                # Without units, its settings may not have been said yet.
                found[number] = part if len(part) else copy.copy(self._evaluator)
        return found

    def keep(self, number: int, part: EvaluatorBase) -> None:
        """Write a finished shard: whole, or not at all."""
        self._write(self._path(number), part.to_bytes())

    def _write(self, path: Path, state: bytes) -> None:
        written = path.with_name(f"{path.name}.part")
        written.write_bytes(state)
        written.replace(path)


def _raise_its_error(ray: Any, ref: Any) -> None:
    """Raise what a finished task raised, without fetching its part."""
    ray.get(ray.remote(_nothing).options(num_cpus=0, max_retries=0).remote(ref))


def _nothing(part: Any) -> None:
    """Depend on a part."""


def _teller(progress: Progress) -> Callable[[int, int], None]:
    if callable(progress):
        return progress

    def line(done: int, total: int) -> None:
        if progress and sys.stderr.isatty():
            print(f"\rshards {done}/{total}", end="\n" if done == total else "", file=sys.stderr, flush=True)

    return line


def _tree(ray: Any, parts: list[Any], fan_in: int) -> Any:
    task = ray.remote(_joined)
    while len(parts) > 1:
        parts = [task.remote(*parts[i : i + fan_in]) for i in range(0, len(parts), fan_in)]
    return ray.get(parts[0])


def _joined(first: E, *others: E) -> E:
    whole = copy.copy(first)
    for part in others:
        whole.merge(part)
    return whole


def merged_by_tasks(states: Sequence[ObjectRef[bytes] | bytes], *, fan_in: int = 8) -> ObjectRef[bytes]:
    """Merge the bytes of states in a tree of tasks, each of which takes up to `fan_in` of them."""
    _at_least_two(fan_in)
    if not states:
        raise UsageError("there is no state to merge")
    ray = _ray()
    task = ray.remote(_merged_together)
    level = list(states)
    while True:
        level = [task.remote(*level[i : i + fan_in]) for i in range(0, len(level), fan_in)]
        if len(level) == 1:
            return level[0]


def _at_least_two(fan_in: int) -> None:
    if whole("fan_in", fan_in) < 2:
        raise UsageError(f"a task merges at least two states\n       at: fan_in\n    found: {fan_in}")


def merged(states: Iterable[bytes]) -> bytes:
    """Merge the bytes of states here.

    >>> import calipers as cp
    >>> parts = []
    >>> for name in ("a", "b", "a"):
    ...     acc = cp.segmentation.Evaluator(labels={"original": 2}, kind="labels")
    ...     acc.update(name, truth=[[0, 1]], pred=[[0, 0]])
    ...     parts.append(acc.to_bytes())
    >>> len(cp.segmentation.Evaluator.from_bytes(merged(parts)))
    2
    """
    whole: _calipers.State | None = None
    for place, state in enumerate(states):
        part = _calipers.State.from_bytes(bytes(state), f"state {place}")
        if whole is None:
            whole = part
        else:
            whole.merge(part, f"state {place}")
    if whole is None:
        raise UsageError("there is no state to merge")
    return whole.to_bytes()


def _measured(start: E, measure: Callable[[E, S], None], shard: S) -> E:
    part = copy.copy(start)
    measure(part, shard)
    return part


def _merged_together(*states: bytes) -> bytes:
    return merged(states)


def _ray() -> Any:
    return library("ray", "calipers.ray")
