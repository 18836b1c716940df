"""The shape of a golden file, the same for every family: one case per line, and the ids that the cases pin."""

import json


def expectation(report, pins):
    """What a case expects: the pinned ids of a report, without the prefix of the family, and everything that has no id."""
    def kept(values):
        return {path: value for path, value in values.items() if path.split(".")[0] in pins}

    return {**report, "metrics": kept(report["metrics"]), "undefined": kept(report["undefined"])}


def without_prefix(family, report):
    """A report whose ids are those of the family, as the metric list of the engine writes them."""
    def short(values):
        return {path.removeprefix(family + "."): value for path, value in values.items()}

    return {**report, "metrics": short(report["metrics"]), "undefined": short(report["undefined"])}


def text(pins, cases, **head):
    """The file: its head, the ids that a case pins unless it has `pins` of its own, and the cases."""
    head = json.dumps({**head, "pins": list(pins)})
    lines = []
    for case in cases:
        if "expect" in case:
            case = {**case, "expect": expectation(case["expect"], case.get("pins", pins))}
        lines.append(json.dumps(case, separators=(",", ":"), allow_nan=False))
    return head[:-1] + ', "cases": [\n' + ",\n".join(lines) + "\n]}\n"
