"""Tests of `scripts/release`: each check reports its mistake. `./scripts/test release` runs them."""

import shutil
import tempfile
import unittest
from pathlib import Path
from unittest.mock import patch

import elf
from release_crates import check_files, check_manifests, relative_links
from release_debian import check_debian, check_depends, contents, debian, depends, maintainer_of
from release_folder import check_all_sums, fresh, keep_or_empty, write_sums
from release_image import check_containerfile, containerfile
from release_run import LICENCES, ROOT, Problem

ARCHIVE = "turnbuckle-1.2.3-x"


class Image(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / f"{ARCHIVE}.tar.gz").touch()
            path = Path(folder) / "Containerfile"
            path.write_text(text)
            check_containerfile(path)

    def test_the_image_has_certificates(self):
        for target in ("x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl"):
            self.check(containerfile(ARCHIVE, target))

    def test_an_image_without_certificates_is_refused(self):
        for base in ("FROM scratch", "FROM debian:stable-slim\n# ca-certificates"):
            with self.assertRaisesRegex(Problem, "has no certificates"):
                self.check(f"{base}\nADD {ARCHIVE}.tar.gz /\n")

    def test_certificates_of_another_stage_alone_are_not_in_the_image(self):
        text = containerfile(ARCHIVE, "x86_64-unknown-linux-musl")
        with self.assertRaisesRegex(Problem, "has no certificates"):
            self.check("\n".join(line for line in text.splitlines() if not line.startswith("COPY ")))

    def test_an_archive_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(Problem, "adds other.tar.gz"):
            self.check(containerfile("other", "x86_64-unknown-linux-gnu"))


class Package(unittest.TestCase):
    def check(self, **sources):
        contents = {licence: (ROOT / licence).read_bytes() for licence in LICENCES}
        contents |= {f"src/{name}.rs": text.encode() for name, text in sources.items()}
        check_files("some-crate", contents | {"src/page.md": b"", "build/join.rs": b""})

    def refuse(self, what, **sources):
        with self.assertRaisesRegex(Problem, what):
            self.check(**sources)

    def test_files_of_the_package_may_be_read(self):
        self.check(
            lib="""#![doc = include_str!("page.md")]
            const ALL: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/page.md"));
            const MADE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));
            #[cfg_attr(unix, path = "../build/join.rs")]
            mod join;
            // include_str!("../../README.md")
            """
        )

    def test_files_of_other_folders_are_refused(self):
        for line in (
            'include!("../../base/src/lock.rs");',
            'const A: &str = include_str!(\n    "../../../README.md",\n);',
            'const A: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));',
            'const A: &str = include_str!(env!("PAGE"));',
            'include!(file!());',
            '#[path = "../../base/src/lock.rs"]\nmod lock;',
            '#[cfg_attr(not(feature = "lock"), path = "../../no_lock.rs")]\nmod lock;',
        ):
            self.refuse("lib.rs reads", lib=line)

    def test_tests_and_doc_tests_may_read_more(self):
        outside = 'const A: &str = include_str!("../../../README.md");'
        self.check(
            lib="#[cfg(doctest)]\nmod book;\nmod value;\n#[cfg(test)]\nmod tests { " + outside + " }",
            book=outside,
            value='#[cfg(test)]\n#[path = "value_tests.rs"]\nmod tests;',
            value_tests=outside,
        )
        self.refuse("book.rs reads", lib="mod book;", book=outside)

    def test_a_package_without_the_texts_of_its_licences_is_refused(self):
        for text in ({}, {"LICENSE-MIT": (ROOT / "LICENSE-MIT").read_bytes(), "LICENSE-APACHE": b"../../LICENSE-APACHE"}):
            with self.assertRaisesRegex(Problem, "the package has no LICENSE"):
                check_files("some-crate", {"src/lib.rs": b"", **text})


class Manifests(unittest.TestCase):
    def setUp(self):
        top = tempfile.TemporaryDirectory()
        self.addCleanup(top.cleanup)
        self.crate = Path(top.name).resolve() / "crates/some-crate"
        self.crate.mkdir(parents=True)
        self.readme = Path(top.name) / "README.md"
        self.readme.write_text("[here](https://example.com/tools.md) and [below](#below)")

    def check(self, allow_dirty=False, **members):
        named = ("description", "license", "rust_version", "keywords", "categories")
        crate = {member: ["text"] for member in named} | {
            "name": "some-crate",
            "readme": "../../README.md",
            "manifest_path": str(self.crate / "Cargo.toml"),
            "metadata": {"docs": {"rs": {}}},
            "dependencies": [],
            "repository": "https://example.com/turnbuckle",
        }
        check_manifests([crate | members], {"packages": []}, allow_dirty)

    def test_a_release_needs_the_address_of_the_repository(self):
        self.check()
        self.check(allow_dirty=True, repository=None)
        with self.assertRaisesRegex(Problem, r"set it in `\[workspace.package\]`"):
            self.check(repository=None)

    def test_links_that_crates_io_would_break_are_refused(self):
        self.readme.write_text("[tools](docs/tools.md)")
        self.check(allow_dirty=True)
        with self.assertRaisesRegex(Problem, "write the whole URL of docs/tools.md"):
            self.check()
        # crates.io resolves relative links of a page that is in the folder of the crate.
        (self.crate / "README.md").write_text("[tools](docs/tools.md)")
        self.check(readme="README.md")

    def test_links_of_each_form_are_found(self):
        text = "![a](<b.png>)\n[![c](d.svg)](e.md#f)\n<img src='g.png'>\n[h]: i.md\n```sh\n[j](k.md)\n```\n[l](mailto:m@n)"
        self.assertEqual(relative_links(text), ["b.png", "d.svg", "e.md#f", "g.png", "i.md"])


# A 64-bit program without dynamic libraries.
STATIC = b"\x7fELF\x02\x01" + bytes(58)
LINKED = {"libgcc_s.so.1": ["GCC_3.0", "GCC_4.2.0"], "libm.so.6": ["GLIBC_2.4"], "libc.so.6": ["GLIBC_2.34", "GLIBC_2.9"]}


class Debian(unittest.TestCase):
    def test_it_depends_on_the_libraries_of_the_program(self):
        with patch("elf.libraries", return_value=LINKED):
            self.assertEqual(depends(b""), "libc6 (>= 2.34), libgcc-s1 (>= 4.2.0)")
        self.assertEqual(depends(STATIC), "")
        # A program that is installed on this machine.
        self.assertRegex(depends(Path("/bin/sh").read_bytes()), r"^libc6 \(>= 2\.\d+\)")

    def test_a_library_that_is_not_known_is_refused(self):
        for libraries in ({"libssl.so.3": []}, {"libc.so.6": ["GLIBC_PRIVATE"]}):
            with patch("elf.libraries", return_value=libraries), self.assertRaises(Problem):
                depends(b"")

    def test_a_package_that_does_not_name_a_library_is_refused(self):
        with patch("elf.libraries", return_value=LINKED):
            check_depends("libc6 (>= 2.34), libgcc-s1 (>= 4.2.0)", b"")
            for text in ("", "libc6", "libc6 (>= 2.34)", "libc6, libgcc-s1 (>= 4.2.0)"):
                with self.assertRaisesRegex(Problem, "does not say which version"):
                    check_depends(text, b"")

    def test_a_release_needs_a_maintainer(self):
        package = {"name": "some-crate", "authors": []}
        maintainer_of(package, allow_dirty=True)
        for authors in ([], ["Ada"], ["Ada <nowhere>"]):
            with self.assertRaisesRegex(Problem, "needs a maintainer"):
                maintainer_of(package | {"authors": authors}, allow_dirty=False)
        ada = "Ada <ada@example.com>"
        self.assertEqual(maintainer_of(package | {"authors": [ada]}, allow_dirty=False), ada)

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb")
    def test_a_package_with_other_files_is_refused(self):
        target = "x86_64-unknown-linux-musl"
        with tempfile.TemporaryDirectory() as top:
            folder, place = Path(top) / "archive", Path(top) / "place"
            place.mkdir()
            for name in ("turnbuckle", "THIRD-PARTY-LICENSES.txt", "man/turnbuckle.1", "completions/turnbuckle.bash",
                         "completions/_turnbuckle", "completions/turnbuckle.fish"):  # fmt: skip
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(STATIC)
            package = {"version": "1.2.3", "repository": None}
            debian(folder, place, package, target, 0, "Ada <ada@example.com>")
            (made,) = place.iterdir()
            files = contents(folder)
            check_debian(made, files, target)
            for other in (files | {"usr/bin/more": b""}, files | {"usr/bin/turnbuckle": b""}, {}):
                with self.assertRaisesRegex(Problem, "is not the file that was made"):
                    check_debian(made, other, target)
            with self.assertRaisesRegex(Problem, "is not linked as"):
                check_debian(made, files, "x86_64-unknown-linux-gnu")


class Elf(unittest.TestCase):
    def test_a_program_of_this_machine_has_a_linker(self):
        self.assertTrue(elf.is_static(STATIC))
        self.assertFalse(elf.is_static(Path("/bin/sh").read_bytes()))
        with self.assertRaises(elf.NotElf):
            elf.is_static(b"#!/bin/sh\n")


class Folder(unittest.TestCase):
    def setUp(self):
        top = tempfile.TemporaryDirectory()
        self.addCleanup(top.cleanup)
        self.folder = Path(top.name) / "release-files"

    def make(self, target, commit="a"):
        keep_or_empty(self.folder, commit)
        place = fresh(self.folder / target)
        (place / "archive").write_text(f"{target} {commit}")
        write_sums(place)
        check_all_sums(self.folder)

    def test_a_release_for_another_target_keeps_the_files_of_the_first(self):
        self.make("gnu")
        self.make("musl")
        self.make("musl")
        self.assertEqual((self.folder / "gnu/archive").read_text(), "gnu a")

    def test_files_of_another_commit_are_removed(self):
        self.make("gnu")
        self.make("musl", commit="b")
        self.assertFalse((self.folder / "gnu").exists())

    def test_files_that_are_not_those_of_the_sums_are_refused(self):
        for change in (
            lambda place: (place / "archive").write_text("other"),
            lambda place: (place / "archive").unlink(),
            lambda place: (place / "more").write_text(""),
            lambda place: (place / "SHA256SUMS").unlink(),
        ):
            self.make("gnu")
            change(self.folder / "gnu")
            with self.assertRaisesRegex(Problem, "is not the file"):
                check_all_sums(self.folder)


if __name__ == "__main__":
    unittest.main()
