"""The pictures of a report drawn with matplotlib: one function for each form that a picture has."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calipers._errors import UsageError
from calipers._extras import library

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Chart = Mapping[str, Any]

#: Lines and nodes that stand back.
_QUIET = "#5d6675"
_MARKERS = ("o", "s", "^", "D", "v", "P", "*", "X")


def draw(chart: Chart, ax: Axes | None) -> Axes:
    """Draw a chart on axes; without any, on a figure of its own."""
    plt = library("matplotlib.pyplot", "drawing with matplotlib", "plot")
    form = _FORMS.get(chart["form"])
    if form is None:
        raise UsageError("several drawings on one sheet have no axes\n     help: figure() gives their file")
    if ax is None:
        _, ax = plt.subplots()
    form(ax, chart)
    ax.set_title(chart["title"])
    return ax


def _numbers(values: Any) -> Any:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _pairs(points: Any) -> tuple[Any, Any]:
    return _numbers([point[0] for point in points]), _numbers([point[1] for point in points])


def _axis(ax: Axes, which: str, axis: Chart) -> None:
    if axis["logarithmic"]:
        getattr(ax, f"set_{which}scale")("log")
    getattr(ax, f"set_{which}lim")(axis["low"], axis["high"])
    getattr(ax, f"set_{which}label")(axis["title"])


def _legend(ax: Axes) -> None:
    if ax.get_legend_handles_labels()[1]:
        ax.legend()


def _lines(ax: Axes, chart: Chart) -> None:
    named = [curve for curve in chart["curves"] if curve["name"]]
    for place, curve in enumerate(chart["curves"]):
        x, y = _pairs(curve["points"])
        several = len(named) > 1 and curve["name"]
        ax.plot(
            x,
            y,
            label=curve["name"],
            color=curve["colour"],
            alpha=curve["opacity"],
            drawstyle="steps-post" if curve["course"] == "steps" else "default",
            marker=_MARKERS[place % len(_MARKERS)] if several else None,
            markevery=max(1, len(x) // 5),
        )
        if curve["band"]:
            at, low, high = (_numbers(part) for part in zip(*curve["band"], strict=True))
            ax.fill_between(at, low, high, color=curve["colour"], alpha=0.15, linewidth=0)
        if curve["marks"]:
            mx, my = _pairs(curve["marks"])
            ax.scatter(mx, my, color=curve["colour"], edgecolors="black", linewidths=0.6, zorder=3)
    for value, name in chart["levels"]:
        ax.axhline(value, color="black", linestyle="--", linewidth=1)
        ax.annotate(name, (1, value), xycoords=("axes fraction", "data"), ha="right", va="bottom")
    _axis(ax, "x", chart["x"])
    _axis(ax, "y", chart["y"])
    _legend(ax)


def _bars(ax: Axes, chart: Chart) -> None:
    bars = chart["bars"]
    values = _numbers([bar["value"].get("Ok") for bar in bars])
    places = np.arange(len(bars))
    ax.barh(places, values, color=[bar["colour"] for bar in bars])
    for place, bar in zip(places, bars, strict=True):
        if bar["interval"] is not None and "Ok" in bar["value"]:
            ax.hlines(place, *bar["interval"], color="black")
    ax.set_yticks(places, [bar["name"] for bar in bars])
    ax.invert_yaxis()
    if chart["reference"] is not None:
        value, name = chart["reference"]
        ax.axvline(value, color="black", linestyle="--", linewidth=1, label=name)
    _axis(ax, "x", chart["axis"])
    _legend(ax)


def _heat(ax: Axes, chart: Chart) -> None:
    values = np.array([_numbers([cell["value"] for cell in row]) for row in chart["cells"]])
    image = ax.imshow(values, cmap="Blues", aspect="auto")
    ax.set_xticks(range(len(chart["columns"])), chart["columns"], rotation=90)
    ax.set_yticks(range(len(chart["rows"])), chart["rows"])
    ax.set_xlabel(chart["column_title"])
    ax.set_ylabel(chart["row_title"])
    figure = ax.get_figure()
    if figure is not None:
        figure.colorbar(image, ax=ax)


def _histogram(ax: Axes, chart: Chart) -> None:
    for place, (name, colour, counts) in enumerate(chart["counts"]):
        ax.stairs(counts, chart["edges"], label=name, color=colour, fill=place == 0)
    for value, name in chart["posts"]:
        ax.axvline(value, color="black", linestyle="--", linewidth=1, label=name)
    _axis(ax, "x", chart["x"])
    ax.set_ylabel(chart["counted"])
    _legend(ax)


def _images(ax: Axes, chart: Chart) -> None:
    left = 0.0
    for panel in chart["panels"]:
        image = panel["image"]
        shape = (image["height"], image["width"], 3)
        pixels = np.frombuffer(base64.b64decode(image["pixels"]), dtype=np.uint8).reshape(shape)
        wide = image["width"] / image["height"]
        ax.imshow(pixels, extent=(left, left + wide, 0.0, 1.0), interpolation="nearest")
        ax.text(left + wide / 2, -0.05, panel["caption"], ha="center", va="top")
        left += wide + 0.05
    ax.set_xlim(0.0, max(left - 0.05, 0.05))
    ax.set_ylim(-0.2, 1.0)
    ax.set_axis_off()


def _stroke(stroke: str | dict[str, Any]) -> tuple[str, float, str]:
    """Colour, width and style of an edge; a weight goes from 0 to 10."""
    if isinstance(stroke, str):
        return _QUIET, 1.0, "-"
    kind, look = next(iter(stroke.items()))
    if kind == "weighted":
        colour, weight = look
        return colour, 0.8 + 0.42 * weight, "-"
    if kind == "pale":
        return _QUIET, 0.8 + 0.42 * look, "-"
    return look, 3.0 if kind == "thick" else 1.0, "--" if kind == "dashed" else "-"


def _network(ax: Axes, chart: Chart) -> None:
    from matplotlib.collections import LineCollection

    places = np.array(chart["places"], dtype=float).reshape(-1, 2) * (1, -1)
    segments = [(places[u], places[v]) for u, v, _ in chart["edges"]]
    strokes = [_stroke(stroke) for _, _, stroke in chart["edges"]]
    colours, widths, styles = ([stroke[part] for stroke in strokes] for part in range(3))
    ax.add_collection(LineCollection(segments, colors=colours, linewidths=widths, linestyles=styles))
    looks = [
        next(iter(look.items())) if isinstance(look, dict) else (look, _QUIET) for look, _ in chart["nodes"]
    ]
    faces = [colour if kind in ("full", "wrong") else "white" for kind, colour in looks]
    rims = ["#c22f3d" if kind == "wrong" else colour for kind, colour in looks]
    ax.scatter(places[:, 0], places[:, 1], c=faces, edgecolors=rims, zorder=3)
    ax.set_axis_off()


def _reliability(ax: Axes, chart: Chart) -> None:
    bins = chart["bins"]
    wide = 1 / max(len(bins), 1)
    left = np.arange(len(bins)) * wide
    accuracy = _numbers([bin["accuracy"] for bin in bins])
    confidence = _numbers([bin["confidence"] for bin in bins])
    ax.bar(left, accuracy, width=wide, align="edge", color="#2763b0", label="right")
    ax.plot(confidence, accuracy, "o", color="#e0562f", label="mean confidence")
    ax.plot([0, 1], [0, 1], "--", color="black", linewidth=1, label="perfectly calibrated")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_xlabel("confidence")
    ax.set_ylabel("share that is right")
    _legend(ax)


def _scatter(ax: Axes, chart: Chart) -> None:
    for name, points in chart["contours"]:
        x, y = _pairs(points)
        ax.plot(x, y, color=_QUIET, linewidth=0.8)
        if name and len(x):
            ax.annotate(name, (x[-1], y[-1]))
    for place, cloud in enumerate(chart["clouds"]):
        ax.scatter(
            _numbers([point["x"] for point in cloud["points"]]),
            _numbers([point["y"] for point in cloud["points"]]),
            label=cloud["name"],
            facecolors="none" if cloud["hollow"] else cloud["colour"],
            edgecolors=cloud["colour"],
            marker=_MARKERS[place % len(_MARKERS)],
        )
    for value, name in chart["levels"]:
        ax.axhline(value, color="black", linestyle="--", linewidth=1, label=name)
    _axis(ax, "x", chart["x"])
    _axis(ax, "y", chart["y"])
    _legend(ax)


_FORMS: dict[str, Callable[[Axes, Chart], None]] = {
    "bars": _bars,
    "heat": _heat,
    "histogram": _histogram,
    "images": _images,
    "lines": _lines,
    "network": _network,
    "reliability": _reliability,
    "scatter": _scatter,
}
