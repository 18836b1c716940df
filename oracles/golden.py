"""Writes the golden files of every family from its oracle, or compares them with what is on disk.

    python3 oracles/golden.py [--check] [FAMILY...]

A family is a folder with a module `golden`, whose `FILES` are functions that give texts or bytes by path in that folder.
Every function runs in a process of its own, because exact arithmetic is slow.
"""

import concurrent.futures
import importlib
import json
import math
import sqlite3
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True


def families():
    return sorted(path.parent.name for path in HERE.glob("*/golden.py"))


def module(family):
    return importlib.import_module(f"{family}.golden")


def made(family, index):
    """{path in the folder of the family: bytes} of one of its functions."""
    files = module(family).FILES[index]()
    return {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}


def rows_of(database):
    """The rows of an SQLite file. Its bytes depend on the version of SQLite, its rows do not."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(database)
    return list(connection.iterdump())


def near(a, b):
    """Whether two JSON values are equal but for the last digits of their floats."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(near(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    return type(a) is type(b) and a == b


def same(path, old, new, nearly):
    if old == new:
        return True
    if path.endswith(".db"):
        return rows_of(old) == rows_of(new)
    return nearly and near(json.loads(old), json.loads(new))


def compare(family, files):
    """What differs between the files of a family and those on disk, in words."""
    folder, about = HERE / family, module(family)
    for path, new in sorted(files.items()):
        old = folder / path
        if not old.is_file():
            yield f"{family}/{path} is missing"
        elif not same(path, old.read_bytes(), new, path in about.NEARLY):
            yield f"{family}/{path} differs"
    sources = {".py", ".md", ".pyc"}
    for old in sorted(folder.rglob("*")):
        path = str(old.relative_to(folder))
        if old.is_file() and old.suffix not in sources and path not in files and path not in about.RECORDED:
            yield f"{family}/{path} is written by nothing"


def write(family, files):
    for path, new in files.items():
        old = HERE / family / path
        # A file that says the same stays, whichever version of SQLite or of NumPy is at hand.
        if old.is_file() and same(path, old.read_bytes(), new, path in module(family).NEARLY):
            continue
        print(f"    writing oracles/{family}/{path}")
        old.parent.mkdir(parents=True, exist_ok=True)
        old.write_bytes(new)


def main(arguments):
    check = "--check" in arguments
    named = [argument for argument in arguments if argument != "--check"] or families()
    if unknown := set(named) - set(families()):
        sys.exit(f"no oracle {', '.join(sorted(unknown))}; there are {', '.join(families())}")
    files = {family: {} for family in named}
    with concurrent.futures.ProcessPoolExecutor() as workers:
        jobs = {family: [workers.submit(made, family, k) for k in range(len(module(family).FILES))] for family in named}
        for family, results in jobs.items():
            for result in results:
                files[family].update(result.result())
    found = []
    for family in named:
        if not check:
            write(family, files[family])
        found += compare(family, files[family])
    for problem in found:
        print(problem)
    print(f"    {sum(map(len, files.values()))} golden files of {len(named)} families")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
