"""The Debian package that `scripts/release` makes, and what is checked in it."""

import gzip
import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import elf
from release_run import LICENCES, PROGRAM, ROOT, SHELLS, Problem, output_of, run, say

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# The Debian package that contains each library.
LIBRARIES = {
    "libc.so.6": "libc6",
    "libm.so.6": "libc6",
    "ld-linux-x86-64.so.2": "libc6",
    "ld-linux-aarch64.so.1": "libc6",
    "libgcc_s.so.1": "libgcc-s1",
}
# Features of the C library that are not named after its versions, with the version that added each.
FEATURES = {"GLIBC_ABI_DT_RELR": "2.36"}
NOBODY = "The Turnbuckle maintainers <maintainers@invalid>"


def maintainer_of(package, allow_dirty):
    """The maintainer of the package: the first of the `authors` of the command line's crate."""
    names = package["authors"] or ([NOBODY] if allow_dirty else [])
    if not names or not re.fullmatch(r"[^<>]+ <[^<>@\s]+@[^<>@\s]+>", names[0]):
        raise Problem(
            f"{package['name']}: the Debian package needs a maintainer; set `authors = [\"NAME <ADDRESS>\"]` in its"
            " Cargo.toml"
        )
    return names[0]


def depends(program):
    """The packages that the program depends on, each with the lowest version that has all symbols the program uses."""
    least = {}
    for library, symbols in elf.libraries(program).items():
        if library not in LIBRARIES:
            raise Problem(f"the program needs {library}: name the package of Debian that has it in {__file__}")
        versions = least.setdefault(LIBRARIES[library], [])
        for symbol in symbols:
            found = re.fullmatch(r"(?:GLIBC|GCC)_(\d+(?:\.\d+)*)", symbol)
            if not found and symbol not in FEATURES:
                raise Problem(f"the program needs {symbol} of {library}, which is not a version: name it in {__file__}")
            versions.append([int(part) for part in (found[1] if found else FEATURES[symbol]).split(".")])
    return ", ".join(
        f"{package} (>= {'.'.join(map(str, max(versions)))})" if versions else package
        for package, versions in sorted(least.items())
    )


def control(version, architecture, size, program, package, maintainer):
    needs = depends(program)
    return (
        f"Package: {PROGRAM}\nVersion: {version}\nArchitecture: {architecture}\nInstalled-Size: {size}\n"
        + (f"Depends: {needs}\n" if needs else "")
        # The program trusts these certificates for https.
        + f"Recommends: ca-certificates\nMaintainer: {maintainer}\nSection: utils\nPriority: optional\n"
        + (f"Homepage: {package['repository']}\n" if package["repository"] else "")
        + "Description: serve, inspect and script Model Context Protocol servers\n"
        " The command line of Turnbuckle, an implementation of the Model Context Protocol.\n"
    )


def contents(folder):
    """The bytes of each file of the package, from the folder of the archive."""
    files = {
        f"usr/bin/{PROGRAM}": folder / PROGRAM,
        f"usr/share/bash-completion/completions/{PROGRAM}": folder / "completions" / SHELLS["bash"],
        f"usr/share/zsh/vendor-completions/{SHELLS['zsh']}": folder / "completions" / SHELLS["zsh"],
        f"usr/share/fish/vendor_completions.d/{SHELLS['fish']}": folder / "completions" / SHELLS["fish"],
        f"usr/share/doc/{PROGRAM}/THIRD-PARTY-LICENSES.txt": folder / "THIRD-PARTY-LICENSES.txt",
    }
    made = {name: path.read_bytes() for name, path in files.items()}
    texts = [(ROOT / name).read_text() for name in LICENCES]
    copyright = "\n\n".join(["Licensed under MIT or Apache-2.0, at your choice.", *texts])
    made[f"usr/share/doc/{PROGRAM}/copyright"] = copyright.encode()
    for page in (folder / "man").iterdir():
        made[f"usr/share/man/man1/{page.name}.gz"] = gzip.compress(page.read_bytes(), mtime=0)
    return made


def debian(folder, place, package, target, seconds, maintainer):
    architecture = ARCHITECTURES.get(target.split("-")[0])
    if "linux" not in target or architecture is None or shutil.which("dpkg-deb") is None:
        say("no Debian package: it needs dpkg-deb, and a target of Linux on x86_64 or aarch64")
        return
    version = package["version"]
    path = place / f"{PROGRAM}_{version}_{architecture}.deb"
    made = contents(folder)
    with tempfile.TemporaryDirectory() as top:
        root = Path(top) / "root"
        for name, content in made.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        (root / "DEBIAN").mkdir()
        size = sum(len(content) for content in made.values()) // 1024
        text = control(version, architecture, size, made[f"usr/bin/{PROGRAM}"], package, maintainer)
        (root / "DEBIAN/control").write_text(text)
        # The umask of this process may have removed permissions that other users need.
        for file in [root, *root.rglob("*")]:
            file.chmod(0o755 if file.is_dir() or file.parent == root / "usr/bin" else 0o644)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(seconds)}
        run("dpkg-deb", "--root-owner-group", "--build", root, path, stdout=subprocess.DEVNULL, env=environment)
    check_debian(path, made, target)


def check_debian(path, made, target):
    """Checks the package: `dpkg` must find the files of the archive in it, and it must depend on all libraries of the
    program."""
    packed = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, stdout=subprocess.PIPE).stdout
    found = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        for entry in files:
            name = entry.name.removeprefix("./")
            is_open = entry.isdir() or name.startswith("usr/bin/")
            if (entry.uid, entry.gid, entry.mode & 0o777) != (0, 0, 0o755 if is_open else 0o644):
                raise Problem(f"{path.name}: {name} has the owner {entry.uid} and the mode {entry.mode:o}")
            if entry.isfile():
                found[name] = files.extractfile(entry).read()
    for name in sorted(made.keys() | found.keys()):
        if made.get(name) != found.get(name):
            raise Problem(f"{path.name}: {name} is not the file that was made")
    field = lambda name: output_of("dpkg-deb", "--field", path, name).strip()  # noqa: E731
    check_depends(field("Depends"), found[f"usr/bin/{PROGRAM}"])
    if ("musl" in target) != elf.is_static(found[f"usr/bin/{PROGRAM}"]):
        raise Problem(f"{path.name}: the program is not linked as {target} asks for")
    for name in ("Package", "Version", "Architecture", "Maintainer", "Description"):
        if not field(name):
            raise Problem(f"{path.name}: the field {name} is missing")


def check_depends(text, program):
    """Each library has its package, with a version where the program uses symbols that have one."""
    named = dict(re.findall(r"([a-z0-9.+-]+)(?: \(>= ([^)]+)\))?", text))
    for library, symbols in elf.libraries(program).items():
        package = LIBRARIES[library]
        if package not in named or (symbols and not named[package]):
            raise Problem(f"the Debian package does not say which version of {package} has {library}: {text!r}")
