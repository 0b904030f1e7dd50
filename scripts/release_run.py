"""The common part of `scripts/release`: folders, names, running commands, and errors."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "target" / "release-files"
PROGRAM = "turnbuckle"
SHELLS = {"bash": "turnbuckle.bash", "zsh": "_turnbuckle", "fish": "turnbuckle.fish"}
LICENCES = ("LICENSE-MIT", "LICENSE-APACHE")


class Problem(Exception):
    """An error that prevents the release. Its text says what is wrong and what to do."""


def say(text):
    print(f"== {text}", flush=True)


def run(*command, **options):
    return subprocess.run(command, cwd=ROOT, check=True, text=True, **options)


def output_of(*command):
    return run(*command, stdout=subprocess.PIPE).stdout


def target_folder():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
