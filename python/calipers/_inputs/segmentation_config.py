"""The tables of a segmentation configuration, as arguments give them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

from calipers._inputs.arguments import flag, number, table, whole, word, words, wrong_type

KINDS = ("labels", "logits", "log-probs", "probs")
LAYOUTS = ("CHW", "HWC")
MEASURES = (
    "overlap", "boundary", "cheng", "contour", "calibration", "classwise", "temperature", "surface", "images",
)  # fmt: skip
CONVENTIONS = ("strict", "medpy", "monai", "deepmind")
PRESETS = ("strict", "document", "coral-mtl", "cityscapes", "mmseg", "torchmetrics-jaccard")
SPACES = ("original", "global", "channel")

_LABELS = (
    "original", "global", "groups", "rest", "ignore", "background", "include_background", "unpredicted",
    "missing_heads", "colors",
)  # fmt: skip
_HEADS = (
    "name", "key", "path", "kind", "layout", "space", "channels", "groups", "rest", "absent", "alpha", "tau",
)  # fmt: skip
_CHOICES = {
    "kind": KINDS, "layout": LAYOUTS, "space": SPACES, "preset": PRESETS,
    "unpredicted": ("error", "wrong"), "missing_heads": ("error", "marginalise"),
    "truth_space": ("original", "global"),
}  # fmt: skip


def evaluator(**given: Any) -> dict[str, Any]:
    """Return the configuration that the arguments of an evaluator make; what is `None` is left out."""
    given = {key: value for key, value in given.items() if value is not None}
    for name, choices in _CHOICES.items():
        if name in given:
            word(name, given[name], choices)
    config: dict[str, Any] = {
        key: given[key] for key in ("preset", "kind", "layout", "space") if key in given
    }
    config["labels"] = labels_table(given["labels"], "labels")
    for name in ("unpredicted", "missing_heads"):
        if name in given:
            config["labels"][name] = given[name]
    heads = given.get("heads", ())
    if isinstance(heads, str | bytes | Mapping) or not isinstance(heads, Iterable):
        raise wrong_type("heads", heads, "a list of mappings, one per head")
    if made := [_head(f"heads[{at}]", head) for at, head in enumerate(heads)]:
        config["heads"] = made
    if "boundary" in given:
        config["boundary"] = _boundary(given["boundary"])
    if "bins" in given:
        config["bins"] = _bins(given["bins"])
    if "measure" in given:
        measure = given["measure"]
        config["measure"] = measure if measure == "all" else words("measure", measure, (*MEASURES, "all"))
        if "all" in config["measure"]:
            # The word stands for all parts but those that are asked for by name.
            named = [part for part in config["measure"] if part in MEASURES[-2:]] if measure != "all" else []
            config["measure"] = [*MEASURES[:-2], *named] if named else "all"
    if "surface" in given:
        config["surface"] = surface(given["surface"])
    if "images" in given:
        images = table("images", given["images"], ("worst",))
        config["images"] = {key: number(f"images[{key!r}]", value) for key, value in images.items()}
    if "truth_space" in given:
        config["data"] = {"truth_space": given["truth_space"]}
    return config


def labels_table(given: Any, name: str) -> dict[str, Any]:
    """Return the table of labels: itself, or from a number of classes, names, or names by id."""
    if isinstance(given, Mapping):
        if all(_is_whole(key) for key in given):
            return {"original": _original(name, given)}
        labels = table(name, given, _LABELS)
    else:
        return {"original": _original(name, given)}
    if "original" in labels:
        labels["original"] = _original(f"{name}['original']", labels["original"])
    for key in ("ignore", "global"):
        if key in labels:
            labels[key] = listed(f"{name}[{key!r}]", labels[key])
    for key in ("background", "rest"):
        if key in labels:
            labels[key] = one_class(f"{name}[{key!r}]", labels[key])
    if "include_background" in labels:
        flag(f"{name}['include_background']", labels["include_background"])
    for key in ("unpredicted", "missing_heads"):
        if key in labels:
            word(f"{name}[{key!r}]", labels[key], _CHOICES[key])
    for key in ("groups", "colors"):
        if key in labels:
            labels[key] = _by_name(f"{name}[{key!r}]", labels[key], grouped=key == "groups")
    return labels


def _is_whole(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


_ORIGINAL = "a number of classes, a list of names, or a mapping of ids to names"


def _original(name: str, given: Any) -> Any:
    if _is_whole(given):
        return whole(name, given, 1)
    if isinstance(given, Mapping):
        bad = [key for key, value in given.items() if not isinstance(value, str)]
        if bad or not all(
            _is_whole(key) or (isinstance(key, str) and key.lstrip("-").isdigit()) for key in given
        ):
            raise wrong_type(name, given, _ORIGINAL)
        return {str(key): value for key, value in given.items()}
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise wrong_type(name, given, _ORIGINAL)
    names = list(given)
    if not all(isinstance(one, str) for one in names):
        raise wrong_type(name, given, _ORIGINAL)
    return names


def one_class(name: str, given: Any) -> Any:
    """Return the id or the name of a class."""
    if isinstance(given, str):
        return given
    if _is_whole(given):
        return whole(name, given)
    raise wrong_type(name, given, "the id or the name of a class")


def listed(name: str, given: Any) -> list[Any]:
    """Return ids and names of classes; one of them is a list of one."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        return [one_class(name, given)]
    return [one_class(name, one) for one in given]


def _by_name(name: str, given: Any, *, grouped: bool) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise wrong_type(name, given, "a mapping by name")
    of = listed if grouped else one_class
    return {str(key): of(f"{name}[{key!r}]", value) for key, value in given.items()}


def _head(name: str, given: Any) -> dict[str, Any]:
    head = table(name, given, _HEADS)
    for key in ("kind", "layout", "space"):
        if key in head:
            word(f"{name}[{key!r}]", head[key], _CHOICES[key])
    for key in ("alpha", "tau"):
        if key in head:
            head[key] = number(f"{name}[{key!r}]", head[key])
    for key in ("channels", "absent"):
        if key in head:
            head[key] = listed(f"{name}[{key!r}]", head[key])
    if "groups" in head:
        head["groups"] = _by_name(f"{name}['groups']", head["groups"], grouped=True)
    if "rest" in head:
        head["rest"] = one_class(f"{name}['rest']", head["rest"])
    return head


def _boundary(given: Any) -> dict[str, Any]:
    boundary = table("boundary", given, ("thickness", "cheng", "tolerance", "tolerance_px"))
    for key, value in boundary.items():
        of = whole if key == "thickness" else number
        boundary[key] = of(f"boundary[{key!r}]", value)
    return boundary


def surface(given: Any) -> dict[str, Any]:
    """Return the table of surface distances."""
    made = table("surface", given, ("convention", "percentile", "tolerance", "missing", "absent"))
    if "convention" in made:
        word("surface['convention']", made["convention"], CONVENTIONS)
    if "absent" in made:
        word("surface['absent']", made["absent"], ("undefined", "perfect"))
    if "percentile" in made:
        made["percentile"] = number("surface['percentile']", made["percentile"])
    if isinstance(made.get("missing"), str):
        word("surface['missing']", made["missing"], ("undefined", "diagonal"))
    elif "missing" in made:
        made["missing"] = number("surface['missing']", made["missing"])
    if isinstance(made.get("tolerance"), Mapping):
        of = made["tolerance"].items()
        made["tolerance"] = {str(key): number(f"surface['tolerance'][{key!r}]", value) for key, value in of}
    elif "tolerance" in made:
        made["tolerance"] = number("surface['tolerance']", made["tolerance"])
    return made


def spacing(given: Any) -> list[float] | None:
    """Return how far elements are apart: one number for all axes, or one per axis."""
    if given is None:
        return None
    if isinstance(given, str | bytes | Mapping):
        raise wrong_type("spacing", given, "a number, or one per axis")
    many = list(given) if isinstance(given, Iterable) else [given]
    return [number(f"spacing[{at}]", step) for at, step in enumerate(many)]


def _bins(given: Any) -> dict[str, Any]:
    if _is_whole(given):
        return {"count": whole("bins", given)}
    if not isinstance(given, Mapping):
        raise wrong_type("bins", given, "a number, or a mapping with count, closed")
    bins = table("bins", given, ("count", "closed"))
    if "count" in bins:
        bins["count"] = whole("bins['count']", bins["count"])
    if "closed" in bins:
        word("bins['closed']", bins["closed"], ("right", "left"))
    return bins
