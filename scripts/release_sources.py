"""Finds files that the sources of a package read and that are not in the package.

`include_str!` and `#[path]` may name a file outside of the crate's folder. That compiles in the repository, but not in
the package, which has only the files of the crate's folder.
"""

import posixpath
import re

from rust_source import code

STRING = r'"([^"]*)"'
INCLUDE = re.compile(
    rf"""\binclude(?:_str|_bytes)?!\s*\(\s*(?:{STRING}|concat!\(\s*env!\("(\w+)"\)\s*,\s*{STRING}|([^)]*))"""
)
PATH = re.compile(rf"#!?\[(?:path|cfg_attr\([^\]]*,\s*path)\s*=\s*{STRING}")
# A module in its own file that is only compiled for tests or doc tests.
FOR_TESTS = re.compile(
    rf"#\[cfg\((?:all\()?(?:test|doctest)\b[^\]]*\]\s*(?:#\[path\s*=\s*{STRING}\]\s*)?(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;"
)


def missing(files):
    """The missing files, each with the file that reads it. `files` maps the name of each file of the package to its
    text, or to None if it is not a Rust file."""
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
    """Whether users of the package compile the file. They do not compile tests, examples and benchmarks."""
    return name.endswith(".rs") and name.split("/")[0] not in ("tests", "examples", "benches")


def read_files(name, text):
    folder = posixpath.dirname(name)
    for beside, variable, inside, other in INCLUDE.findall(text):
        if beside:
            yield posixpath.normpath(posixpath.join(folder, beside))
        elif variable == "CARGO_MANIFEST_DIR":
            yield posixpath.normpath(inside.lstrip("/"))
        # Files that a build script makes are not in the package. Any other path is reported as missing.
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
