"""The packages for crates.io that `scripts/release` makes, and what is checked in them."""

import shutil
import tarfile
import tomllib

from release_run import Problem, run, target_folder


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


def check_manifests(crates, metadata):
    """What crates.io demands, and what would break for users of the packages."""
    problems = []
    unpublished = {
        package["name"] for package in metadata["packages"] if package["source"] is None
    } - {crate["name"] for crate in crates}
    for crate in crates:
        for member in ("description", "license", "readme", "rust_version", "keywords", "categories"):
            if not crate[member]:
                problems.append(f"{crate['name']}: `{member}` is missing in its Cargo.toml")
        # The limit of crates.io.
        for keyword in crate["keywords"]:
            if len(keyword) > 20:
                problems.append(f"{crate['name']}: the keyword `{keyword}` has more than 20 characters")
        # The dot in the name of the table makes two tables.
        if "rs" not in (crate["metadata"] or {}).get("docs", {}):
            problems.append(f"{crate['name']}: `[package.metadata.docs.rs]` is missing in its Cargo.toml")
        for used in crate["dependencies"]:
            if used["kind"] == "dev":
                continue
            if used["name"] in unpublished and used["source"] is None:
                problems.append(f"{crate['name']}: depends on {used['name']}, which is not published")
            if used["req"] == "*":
                problems.append(f"{crate['name']}: {used['name']} has no version, only a path")
    if problems:
        raise Problem("\n".join(problems))


def package_crates(crates, folder, allow_dirty):
    names = [crate["name"] for crate in crates]
    selected = [word for name in names for word in ("--package", name)]
    dirty = ["--allow-dirty"] if allow_dirty else []
    # Verifying would build each crate by itself, which CI has done with the same sources.
    run("cargo", "package", "--quiet", "--no-verify", *dirty, *selected)
    for crate in crates:
        name = f"{crate['name']}-{crate['version']}.crate"
        shutil.copy2(target_folder() / "package" / name, folder / name)
        check_package(folder / name, crate)
    (folder / "order.txt").write_text("".join(f"{name}\n" for name in names))


def check_package(path, crate):
    """The manifest inside of a package has no path, and its sources are there."""
    top = path.name.removesuffix(".crate")
    with tarfile.open(path) as package:
        manifest = tomllib.load(package.extractfile(f"{top}/Cargo.toml"))
        files = package.getnames()
    for table in ("dependencies", "build-dependencies"):
        for name, used in manifest.get(table, {}).items():
            if isinstance(used, dict) and ("path" in used or "git" in used):
                raise Problem(f"{crate['name']}: {name} is still a path or a repository in the package")
    if not any(name.endswith(".rs") for name in files):
        raise Problem(f"{crate['name']}: the package has no sources")
