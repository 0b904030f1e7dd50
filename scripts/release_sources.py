"""Finds files that the sources of a package read and that are not in the package.

Sources in the repository compile with a file of another folder, and CI compiles only these. `include_str!` and `#[path]`
are the ways to name such a file.
"""

import posixpath
import re

from rust_source import code

STRING = r'"([^"]*)"'
INCLUDE = re.compile(
    rf"""\binclude(?:_str|_bytes)?!\s*\(\s*(?:{STRING}|concat!\(\s*env!\("(\w+)"\)\s*,\s*{STRING}|([^)]*))"""
)
PATH = re.compile(rf"#!?\[(?:path|cfg_attr\([^\]]*,\s*path)\s*=\s*{STRING}")
# A module in a file of its own that is compiled for tests or doc tests alone.
FOR_TESTS = re.compile(
    rf"#\[cfg\((?:all\()?(?:test|doctest)\b[^\]]*\]\s*(?:#\[path\s*=\s*{STRING}\]\s*)?(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;"
)


def missing(files):
    """The names of missing files, each with the file that reads it. `files` has the text of each Rust file of the package
    by its name, and None for each other file."""
    sources = {name: code(text, keeps_strings=True) for name, text in files.items() if text and is_compiled(name)}
    tests = {test for name, text in sources.items() for test in modules_for_tests(name, text)}
    found = []
    for name, text in sources.items():
        if any(name == test or name.startswith(f"{test.removesuffix('.rs')}/") for test in tests):
            continue
        for read in read_files(name, text):
            if read not in files:
                found.append(f"{name} reads {read}")
    return found


def is_compiled(name):
    """Whether users of the package compile the file: the rest is tests, examples and benchmarks."""
    return name.endswith(".rs") and name.split("/")[0] not in ("tests", "examples", "benches")


def read_files(name, text):
    folder = posixpath.dirname(name)
    for beside, variable, inside, other in INCLUDE.findall(text):
        if beside:
            yield posixpath.normpath(posixpath.join(folder, beside))
        elif variable == "CARGO_MANIFEST_DIR":
            yield posixpath.normpath(inside.lstrip("/"))
        # What a build script makes is not in the package. Anything else is shown as it is, and missing.
        elif variable != "OUT_DIR":
            yield variable or other
    for path in PATH.findall(text):
        yield posixpath.normpath(posixpath.join(folder, path))


def modules_for_tests(name, text):
    folder, file = posixpath.split(name)
    if file not in ("lib.rs", "main.rs", "mod.rs"):
        inner = posixpath.join(folder, file.removesuffix(".rs"))
    else:
        inner = folder
    for path, module in FOR_TESTS.findall(text):
        if path:
            yield posixpath.normpath(posixpath.join(folder, path))
        else:
            yield posixpath.join(inner, f"{module}.rs")
