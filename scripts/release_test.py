"""Tests of `scripts/release`: each of its checks refuses what it is there for. `./scripts/test release` runs them."""

import tempfile
import unittest
from pathlib import Path

from release_crates import check_files
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
