"""What all parts of `scripts/release` use: its folders and names, its commands, and its errors."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "target" / "release-files"
PROGRAM = "turnbuckle"
SHELLS = {"bash": "turnbuckle.bash", "zsh": "_turnbuckle", "fish": "turnbuckle.fish"}
LICENCES = ("LICENSE-MIT", "LICENSE-APACHE")


class Problem(Exception):
    """Why there is no release, and what to do."""


def say(text):
    print(f"== {text}", flush=True)


def run(*command, **options):
    return subprocess.run(command, cwd=ROOT, check=True, text=True, **options)


def output_of(*command):
    return run(*command, stdout=subprocess.PIPE).stdout


def target_folder():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
