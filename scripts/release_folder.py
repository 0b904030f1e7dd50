"""The folder that `scripts/release` fills: `crates` and a folder for each target, each with its checksums."""

import hashlib
import shutil

from release_run import Problem, say

SUMS = "SHA256SUMS"


def keep_or_empty(folder, commit):
    """Empties the folder if its files were made from another commit. A release is made in several runs, one for each
    target, and all files of a release must be made from the same commit."""
    note = folder / "commit.txt"
    if folder.exists() and (not note.exists() or note.read_text() != commit):
        say(f"removing {folder}: its files are of another commit")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    note.write_text(commit)


def fresh(folder):
    """Returns the folder, created or emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def write_sums(folder):
    lines = [f"{sum_of(path)}  {path.relative_to(folder)}\n" for path in files(folder)]
    (folder / SUMS).write_text("".join(lines))


def check_all_sums(folder):
    """Checks the checksums of all folders, including those of targets that other runs made."""
    for part in sorted(path for path in folder.iterdir() if path.is_dir()):
        lines = (part / SUMS).read_text().splitlines() if (part / SUMS).exists() else []
        listed = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
        found = {str(path.relative_to(part)): sum_of(path) for path in files(part)}
        for name in sorted(listed.keys() | found.keys()):
            if listed.get(name) != found.get(name):
                raise Problem(f"{part / name} is not the file that {SUMS} lists")


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS)


def sum_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
