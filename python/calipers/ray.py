"""Evaluators over Ray tasks: shards are measured anywhere, and their states are merged in a tree.

    import calipers as cp
    from calipers.ray import evaluate

    def measure(acc, shard):
        for name, truth, pred in shard:
            acc.update(name, truth=truth, pred=pred)

    acc = evaluate(cp.segmentation.Evaluator(labels={"original": 19}, kind="labels"), shards, measure)
    acc.report()

The bytes of states travel between tasks. Merging is associative, commutative and idempotent. A task that Ray
retries, a shard that arrives twice and any shape of the tree give the numbers of one process, bit for bit.
Importing this module does not import Ray. Calling `evaluate` and `merged_by_tasks` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from calipers import _calipers
from calipers._errors import UsageError
from calipers._evaluator import EvaluatorBase

if TYPE_CHECKING:
    from ray import ObjectRef

__all__ = ["evaluate", "merged", "merged_by_tasks"]

E = TypeVar("E", bound=EvaluatorBase)
S = TypeVar("S")


def evaluate(
    evaluator: E,
    shards: Iterable[S | ObjectRef[S]],
    measure: Callable[[E, S], None],
    *,
    fan_in: int = 8,
    **task_options: Any,
) -> E:
    """Measure every shard in a task of its own and return an evaluator of all units.

    `measure` is called in a task with a copy of the evaluator and the shard, and updates the copy. A shard
    that is an object reference is resolved there. `task_options` are those of `ray.remote`, such as
    `num_cpus`, `resources` and `max_retries`. Units of equal names coincide where their rows are equal, and
    raise `ConflictError` where they are not.
    """
    ray = _ray()
    task = ray.remote(_measured)
    task = task.options(**task_options) if task_options else task
    start = evaluator.to_bytes()
    parts = [task.remote(type(evaluator), start, measure, shard) for shard in shards]
    if not parts:
        return type(evaluator).from_bytes(start)
    return type(evaluator).from_bytes(ray.get(merged_by_tasks(parts, fan_in=fan_in)))


def merged_by_tasks(states: Sequence[ObjectRef[bytes] | bytes], *, fan_in: int = 8) -> ObjectRef[bytes]:
    """Merge the bytes of states in a tree of tasks, each of which takes up to `fan_in` of them."""
    if fan_in < 2:
        raise UsageError(f"a task merges at least two states\n       at: fan_in\n    found: {fan_in}")
    if not states:
        raise UsageError("there is no state to merge")
    ray = _ray()
    task = ray.remote(_merged_together)
    level = list(states)
    while True:
        level = [task.remote(*level[i : i + fan_in]) for i in range(0, len(level), fan_in)]
        if len(level) == 1:
            return level[0]


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


def _measured(kind: type[E], start: bytes, measure: Callable[[E, S], None], shard: S) -> bytes:
    part = kind.from_bytes(start)
    measure(part, shard)
    return part.to_bytes()


def _merged_together(*states: bytes) -> bytes:
    return merged(states)


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ImportError(
            f"calipers.ray needs Ray ({error})\n     help: pip install 'calipers[ray]'"
        ) from error
    return ray
