"""The folder that `scripts/release` fills: `crates` and a folder for each target, each with the sums of its files."""

import hashlib
import shutil

from release_run import Problem, say

SUMS = "SHA256SUMS"


def keep_or_empty(folder, commit):
    """Keeps the files of other targets if they are of the same commit, and removes all others: one release is made in
    several runs, and has the files of one commit."""
    note = folder / "commit.txt"
    if folder.exists() and (not note.exists() or note.read_text() != commit):
        say(f"removing {folder}: its files are of another commit")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    note.write_text(commit)


def fresh(folder):
    """Makes the folder anew for what this run makes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def write_sums(folder):
    lines = [f"{sum_of(path)}  {path.relative_to(folder)}\n" for path in files(folder)]
    (folder / SUMS).write_text("".join(lines))


def check_all_sums(folder):
    """Each file of each folder is listed with its sum, also those of targets that this run did not make."""
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
