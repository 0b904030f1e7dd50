"""The packages for crates.io that `scripts/release` makes, and what is checked in them."""

import re
import shutil
import tarfile
import tomllib
from pathlib import Path

from release_run import LICENCES, ROOT, Problem, run, target_folder
from release_sources import missing


def published(metadata):
    """The crates of the workspace that are published, each after those that it uses."""
    crates = {
        package["name"]: package
        for package in metadata["packages"]
        if package["source"] is None and package["publish"] != [] and "/crates/" in package["manifest_path"]
    }
    ordered, waiting = [], dict(crates)
    while waiting:
        ready = [
            name
            for name, package in sorted(waiting.items())
            if not any(used["name"] in waiting and used["kind"] != "dev" for used in package["dependencies"])
        ]
        if not ready:
            raise Problem(f"these crates use each other in a circle: {', '.join(sorted(waiting))}")
        for name in ready:
            ordered.append(waiting.pop(name))
    return ordered


def check_manifests(crates, metadata, allow_dirty):
    """Checks what crates.io requires, and mistakes that would break the packages for users. A trial run (`allow_dirty`)
    needs no URL of the repository."""
    problems = []
    unpublished = {
        package["name"] for package in metadata["packages"] if package["source"] is None
    } - {crate["name"] for crate in crates}
    for crate in crates:
        for member in ("description", "license", "readme", "rust_version", "keywords", "categories"):
            if not crate[member]:
                problems.append(f"{crate['name']}: `{member}` is missing in its Cargo.toml")
        # crates.io refuses longer ones.
        for keyword in crate["keywords"]:
            if len(keyword) > 20:
                problems.append(f"{crate['name']}: the keyword `{keyword}` has more than 20 characters")
        # `[package.metadata.docs.rs]` is read as the table `rs` in the table `docs`.
        if "rs" not in (crate["metadata"] or {}).get("docs", {}):
            problems.append(f"{crate['name']}: `[package.metadata.docs.rs]` is missing in its Cargo.toml")
        for used in crate["dependencies"]:
            if used["kind"] == "dev":
                continue
            if used["name"] in unpublished and used["source"] is None:
                problems.append(f"{crate['name']}: depends on {used['name']}, which is not published")
            if used["req"] == "*":
                problems.append(f"{crate['name']}: {used['name']} has no version, only a path")
    if not allow_dirty:
        problems += addresses(crates)
    if problems:
        raise Problem("\n".join(problems))


def addresses(crates):
    """Problems with the URL of the repository, and with links that crates.io resolves with it."""
    if homeless := [crate["name"] for crate in crates if not crate["repository"]]:
        yield (
            "`repository` is missing: set it in `[workspace.package]` of Cargo.toml, and write"
            f" `repository.workspace = true` in the Cargo.toml of each crate ({', '.join(homeless)})"
        )
    readmes = {}
    for crate in crates:
        folder = Path(crate["manifest_path"]).parent
        path = (folder / crate["readme"]).resolve()
        if folder not in path.parents:
            readmes.setdefault(path, crate["name"])
    for path, name in readmes.items():
        if links := relative_links(path.read_text()):
            yield (
                f"{path.name}: {name} has it from another folder, and crates.io resolves relative links in the folder of"
                f" the crate; write the whole URL of {', '.join(links)}"
            )


def relative_links(text):
    """The relative links and images of a page, except links to its own headings, which work everywhere."""
    text = re.sub(r"^(```+).*?^\1`*$", "", text, flags=re.S | re.M)
    found = re.findall(r"""\]\(\s*<?([^)\s>]+)|^\[[^\]]+\]:\s*(\S+)|\b(?:src|href)=["']([^"']+)""", text, re.M)
    links = [link for groups in found for link in groups if link]
    return [link for link in links if not re.match(r"#|[a-z][a-z0-9+.-]*:", link)]


def package_crates(crates, folder, allow_dirty):
    names = [crate["name"] for crate in crates]
    selected = [word for name in names for word in ("--package", name)]
    dirty = ["--allow-dirty"] if allow_dirty else []
    # A release compiles each package, because a published package cannot be replaced. A trial run does not, because
    # that takes minutes.
    unverified = ["--no-verify"] if allow_dirty else []
    run("cargo", "package", "--quiet", *unverified, *dirty, *selected)
    for crate in crates:
        name = f"{crate['name']}-{crate['version']}.crate"
        shutil.copy2(target_folder() / "package" / name, folder / name)
        check_package(folder / name, crate)
    (folder / "order.txt").write_text("".join(f"{name}\n" for name in names))


def check_package(path, crate):
    """Checks a package: its manifest must have no dependency by path or repository, and it must contain the sources,
    all files that they read, and the texts of the licences."""
    top = path.name.removesuffix(".crate")
    with tarfile.open(path) as package:
        contents = {
            entry.name.removeprefix(f"{top}/"): package.extractfile(entry).read() for entry in package if entry.isfile()
        }
    manifest = tomllib.loads(contents["Cargo.toml"].decode())
    for table in ("dependencies", "build-dependencies"):
        for name, used in manifest.get(table, {}).items():
            if isinstance(used, dict) and ("path" in used or "git" in used):
                raise Problem(f"{crate['name']}: {name} is still a path or a repository in the package")
    check_files(crate["name"], contents)


def check_files(name, contents):
    """Checks the files of a package. `contents` maps their names to their bytes."""
    files = {file: text.decode() if file.endswith(".rs") else None for file, text in contents.items()}
    if not any(file.endswith(".rs") for file in files):
        raise Problem(f"{name}: the package has no sources")
    if found := missing(files):
        raise Problem(f"{name}: a file is not in the package: {'; '.join(found)}")
    for licence in LICENCES:
        # Without symbolic links (git on Windows), the file contains the path of the text instead of the text.
        if contents.get(licence) != (ROOT / licence).read_bytes():
            raise Problem(f"{name}: the package has no {licence}; link it: `ln -s ../../{licence}` in the folder of the crate")
