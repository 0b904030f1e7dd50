"""The Debian package that `scripts/release` makes."""

import gzip
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from release_run import LICENCES, PROGRAM, ROOT, SHELLS, run, say

DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}


def debian(folder, place, version, target, seconds):
    architecture = DEBIAN.get(target.split("-")[0])
    if "linux" not in target or architecture is None or shutil.which("dpkg-deb") is None:
        say("no Debian package: it needs dpkg-deb, and a target of Linux on x86_64 or aarch64")
        return
    with tempfile.TemporaryDirectory() as top:
        root = Path(top) / "root"
        documents = root / "usr/share/doc" / PROGRAM
        copies = {
            f"usr/bin/{PROGRAM}": folder / PROGRAM,
            f"usr/share/bash-completion/completions/{PROGRAM}": folder / "completions" / SHELLS["bash"],
            f"usr/share/zsh/vendor-completions/{SHELLS['zsh']}": folder / "completions" / SHELLS["zsh"],
            f"usr/share/fish/vendor_completions.d/{SHELLS['fish']}": folder / "completions" / SHELLS["fish"],
            f"usr/share/doc/{PROGRAM}/THIRD-PARTY-LICENSES.txt": folder / "THIRD-PARTY-LICENSES.txt",
        }
        for name, source in copies.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, root / name)
        texts = [(ROOT / name).read_text() for name in LICENCES]
        (documents / "copyright").write_text("\n\n".join(["Licensed under MIT or Apache-2.0, at your choice.", *texts]))
        manuals = root / "usr/share/man/man1"
        manuals.mkdir(parents=True)
        for page in sorted((folder / "man").iterdir()):
            (manuals / f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
        needs = "" if "musl" in target else "Depends: libc6\n"
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN/control").write_text(
            f"Package: {PROGRAM}\nVersion: {version}\nArchitecture: {architecture}\nInstalled-Size: {size}\n{needs}"
            "Maintainer: The Turnbuckle maintainers <maintainers@invalid>\nSection: utils\nPriority: optional\n"
            "Description: serve, inspect and script Model Context Protocol servers\n"
            " The command line of Turnbuckle, an implementation of the Model Context Protocol.\n"
        )
        path = place / f"{PROGRAM}_{version}_{architecture}.deb"
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(seconds)}
        run("dpkg-deb", "--root-owner-group", "--build", root, path, stdout=subprocess.DEVNULL, env=environment)
