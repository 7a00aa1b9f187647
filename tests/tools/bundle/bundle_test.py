#!/usr/bin/env python3
"""A bundle, packed from a build, runs where nothing else is; and its `verify` can fail.

usage: bundle_test.py BUILD [unittest options]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKING = ROOT / "tools" / "bundle"
BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build" / "release"
BARE = {"PATH": "/usr/bin:/bin"}
GLIBC = r"/(ld-linux[^/]*|lib(c|m|mvec|dl|rt|pthread|resolv|util))\.so\.\d+$"


def run(*command, env=None, cwd="/"):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([str(word) for word in command], env=BARE if env is None else env, cwd=cwd, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=200)
    return done.returncode, done.stdout, done.stderr


def line_of(table, what):
    return next((line for line in table.splitlines() if line.startswith(what)), f'no line "{what}" in:\n{table}')


class PackedTest(unittest.TestCase):
    """One bundle for all cases, in a folder that it was not made in, with a blank in its name."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        made = Path(cls.folder.name) / "made"
        status, _, said = run(PACKING / "pack.sh", BUILD, made, "60", env=os.environ)
        if status != 0:
            raise RuntimeError(said)
        cls.archive = Path(f"{made}.tar.xz")
        cls.bundle = made.rename(Path(cls.folder.name) / "moved away")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_verify_is_green_with_nothing_but_libc_and_a_shell(self):
        """Only root can change the root folder; others get an emptied environment."""
        with tempfile.TemporaryDirectory() as place:
            status, table, said = self.verify_on_bare_host(Path(place)) if os.geteuid() == 0 else run(
                self.bundle / "verify", "--quick")

        self.assertEqual(status, 0, table + said)
        self.assertRegex(line_of(table, "heat 3-D, 1 and 2 ranks"), "same +ok$")
        self.assertRegex(line_of(table, "devices, emulated"), r" [1-9]\d* passed, .* ok$")
        self.assertRegex(line_of(table, "devices, CUDA"), "(skipped: no GPU|ok$)")
        self.assertRegex(table, r"\d+ ok, 0 failed, \d+ skipped\n$")

    def test_every_library_is_of_the_bundle_or_of_glibc(self):
        for file in [*self.bundle.glob("bin/*"), *self.bundle.rglob("lib/**/*.so*")]:
            for line in run("ldd", file)[1].splitlines():
                self.assertNotIn("not found", line, file)
                found = re.search(r"=> (/.*) \(", line)
                if found and not re.search(GLIBC, found.group(1)):
                    self.assertEqual(Path(found.group(1)).resolve().parent, self.bundle / "lib", file)

    def test_ranks_are_started_by_the_launcher_beside_the_program(self):
        with tempfile.TemporaryDirectory() as place:
            status, _, said = run(self.bundle / "bin/tessera", "run", "-q", "-n", "2", "--set", "time.max_steps=2",
                                  self.bundle / "inputs/heat/eigenmode_1d.toml", env={"PATH": "/nowhere"}, cwd=place)
            self.assertEqual(status, 0, said)

    def test_a_changed_file_is_named(self):
        changed = self.bundle / "lib" / "libz.so.1"
        whole = changed.read_bytes()
        changed.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        try:
            status, table, _ = run(self.bundle / "verify", "--quick", "--only", "program starts", env=self.own_tmp())
        finally:
            changed.write_bytes(whole)

        self.assertEqual(status, 1)
        self.assertIn("FAIL: lib/libz.so.1 is not as it was packed", line_of(table, "files as they were packed"))

    def test_the_archive_is_the_bundle(self):
        with tempfile.TemporaryDirectory() as place:
            self.assertEqual(run("tar", "-xf", self.archive, "-C", place)[0], 0)
            status, table, _ = run(Path(place) / "made" / "verify", "--only", "program starts")
            self.assertEqual(status, 0, table)
            self.assertEqual(os.listdir(place), ["made"])

    def own_tmp(self):
        """Logs of a failure stay; here they go with the folder of the test."""
        return {**BARE, "TMPDIR": self.folder.name}

    def verify_on_bare_host(self, host):
        self.furnish(host)
        shutil.copytree(self.bundle, host / "bundle", symlinks=True)
        mounts = "mount -t proc none proc && mount --rbind /dev dev"
        return run("unshare", "-m", "sh", "-c",
                   f"{mounts} && exec env PATH=/bin /usr/sbin/chroot . /bundle/verify --quick", cwd=host)

    @staticmethod
    def furnish(host):
        """The commands that verify uses, and of libraries only theirs and glibc's."""
        for name in ["bin", "tmp", "proc", "dev", "lib64", "lib/x86_64-linux-gnu"]:
            (host / name).mkdir(parents=True)
        wanted = {"/lib/x86_64-linux-gnu/libm.so.6", "/lib/x86_64-linux-gnu/libresolv.so.2"}
        for name in ["sh", "awk", "sed", "grep", "tr", "mktemp", "timeout", "sha256sum", "cat", "tail", "dirname", "uname",
                     "getconf", "sort", "rm", "mkdir"]:
            command = shutil.which(name, path=BARE["PATH"])
            shutil.copy(command, host / "bin" / name)
            wanted.update(re.findall(r"(/\S+) \(", run("ldd", command)[1]))
        for library in wanted:
            (host / library[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, host / library[1:])


class PackTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_one_that_is_too_large_says_what_is_largest_and_leaves_nothing(self):
        status, _, said = run(PACKING / "pack.sh", BUILD, f"{self.folder.name}/small", "1", env=os.environ)
        self.assertEqual(status, 6)
        self.assertRegex(said, r"error: the archive of the bundle takes [\d.]+ MB, and its limit is 1 MB\n  largest  lib/libmpich")
        self.assertIn("fix ", said)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_folder_that_is_there_is_left_alone(self):
        for name in ["there", "other.tar.xz"]:
            (Path(self.folder.name) / name).mkdir()
        for name in ["there", "other"]:
            status, _, said = run(ROOT / "tessera", "bundle", f"{self.folder.name}/{name}", env=os.environ)
            self.assertEqual(status, 2)
            self.assertRegex(said, f"/{name}[a-z.]* is there already\n  fix  ")

    def test_what_cannot_be_meant_is_refused_before_the_build(self):
        for words, text in [([], "no folder"), (["a", "b"], 'two folders, "a" and "b"'), (["--fast"], '"--fast"'),
                            (["a", "--limit", "60MB"], '"60MB" is not a valid limit')]:
            status, _, said = run(ROOT / "tessera", "bundle", *words, env=os.environ, cwd=self.folder.name)
            self.assertEqual(status, 2, words)
            self.assertIn(text, said)


class VerifyTest(unittest.TestCase):
    """verify on a pretended bundle: programs that are shell scripts, and rows of our own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.bundle = Path(self.folder.name) / "bundle"
        (self.bundle / "bin").mkdir(parents=True)
        shutil.copy(PACKING / "verify.sh", self.bundle / "verify")
        (self.bundle / "about").write_text(f"program pretended\nmachine {os.uname().machine}\nglibc 2.4\n")
        (self.bundle / "files").write_text(run("sha256sum", "verify", cwd=self.bundle)[1])

    def program(self, name, script, folder=None):
        path = (folder or self.bundle / "bin") / name
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)

    def verify(self, *rows, options=(), path=BARE["PATH"]):
        (self.bundle / "rows.txt").write_text("".join(row + "\n" for row in rows))
        return run(self.bundle / "verify", *options, env={"PATH": path, "TMPDIR": self.folder.name})

    def check_row(self, row, status, pattern):
        code, table, _ = self.verify(row)
        self.assertEqual(code, status, table)
        self.assertRegex(line_of(table, "row"), pattern)

    def test_a_host_with_an_older_glibc_is_refused_in_a_sentence(self):
        hosts = Path(self.folder.name) / "host"
        hosts.mkdir()
        self.program("getconf", "echo glibc 2.9", hosts)
        path = f"{hosts}:{BARE['PATH']}"
        for needed, status in [("2.9", 0), ("2.4", 0), ("2.10", 1), ("3.0", 1)]:
            (self.bundle / "about").write_text(f"program x\nmachine {os.uname().machine}\nglibc {needed}\n")
            code, _, said = self.verify(path=path)
            self.assertEqual(code, status, needed)
            if status == 1:
                self.assertIn(f"this host has glibc 2.9, and the bundle needs {needed} or newer: use a newer host", said)

    def test_another_processor_is_refused_in_a_sentence(self):
        (self.bundle / "about").write_text("program x\nmachine riscv128\nglibc 2.4\n")
        code, _, said = self.verify()
        self.assertEqual(code, 1)
        self.assertIn("and the bundle is for riscv128", said)

    def test_figures_are_held_against_their_targets(self):
        for figure, status, pattern in [("a 90 % >=85", 0, r"row: a +90 % +>=85  ok"), ("a 85 % >=85", 0, "ok$"),
                                        ("a 84.9 % >=85", 1, "FAIL: target missed"), ("a 1e-1 us_a_task <1", 0, "a +1e-1 us a task +<1  ok$"),
                                        ("a 1 us <1", 1, "FAIL"), ("a 8 % <=8", 0, "ok$"), ("a 8 % >8", 1, "FAIL"),
                                        ("a 7 us -", 0, "- +ok$"), ("a nan % >=85", 1, "not a figure"),
                                        ("a 7 us", 1, "not a figure"), ("a 7 us >=x", 1, "not a figure"),
                                        ("a 7 us >=8 more", 1, "not a figure")]:
            with self.subTest(figure):
                self.program("bench", f"echo '{figure}'")
                self.check_row("row | quick | - | 10 | lines | bench", status, pattern)

    def test_a_benchmark_without_figures_fails(self):
        self.program("bench", "echo words >&2")
        self.check_row("row | quick | - | 10 | lines | bench", 1, "FAIL")
        self.program("bench", "echo 'a 1 us -'; exit 3")
        self.check_row("row | quick | - | 10 | lines | bench", 1, "FAIL: exit code 3")

    def test_tests_have_to_run(self):
        row = "row | quick | {} | 10 | tests | tests"
        self.program("tessera_device_bench", "echo one GPU")
        self.program("tests", "echo '[  PASSED  ] 3 tests.'; echo '[  SKIPPED ] 1 test, listed below:'")
        self.check_row(row.format("-"), 0, "3 passed, .* ok$")
        self.check_row(row.format("gpu"), 1, "FAIL: 1 skipped themselves")
        self.program("tests", "echo '[  PASSED  ] 0 tests.'")
        self.check_row(row.format("-"), 1, "FAIL: no test ran")
        self.program("tests", "echo '[  PASSED  ] 2 tests.'; echo '[  FAILED  ] Suite.Claim (3 ms)'; exit 1")
        self.check_row(row.format("-"), 1, r"FAIL: Suite.Claim \(exit code 1\)")
        # Cases that start their own program again do so by this name.
        self.program("tests", 'echo "[  PASSED  ] ${#1} tests."; test "$0 $1" = "$bundle/bin/tests --a=*:b"')
        self.check_row(row.format("-") + " '--a=*:b'", 0, "7 passed, .* ok$")

    def test_runs_are_compared_with_the_options_of_the_row(self):
        (self.bundle / "inputs").mkdir()
        self.program("tessera", 'echo "$*" >>"$bundle/calls"; [ "$1" != compare ] || [ "$4" = --abs ]')
        self.check_row("row | quick | - | 10 | same | d.toml | -n 1 | -n 2", 1, "FAIL")
        self.check_row("row | quick | - | 10 | same | d.toml | -n 1 | -n 2 | --abs 1e-12", 0, "ok$")
        calls = (self.bundle / "calls").read_text().splitlines()
        self.assertEqual(calls[2], "compare one two --exact")
        self.assertEqual(calls[3:], [f"run -q {self.bundle}/inputs/d.toml --out one -n 1",
                                     f"run -q {self.bundle}/inputs/d.toml --out two -n 2", "compare one two --abs 1e-12"])

    def test_what_does_not_end_is_ended(self):
        self.program("sleeper", "sleep 60")
        self.check_row("row | quick | - | 1 | exit | sleeper", 1, "FAIL: not done after 1 s")

    def test_gpu_lines_are_skipped_without_and_fail_where_asked_for(self):
        row = "row | quick | gpu2 | 10 | exit | does"
        self.program("does", "exit 0")
        self.check_row(row, 0, "skipped: no GPU programs here")
        self.program("tessera_device_bench", "exit 0")
        self.check_row(row, 0, "skipped: no GPU$")
        self.program("tessera_device_bench", "echo one")
        self.check_row(row, 0, "skipped: needs 2 GPUs$")
        self.program("tessera_device_bench", "echo the driver is too old >&2; exit 6")
        self.check_row(row, 0, "skipped: the driver is too old$")
        status, table, _ = self.verify(row, options=["--gpu"])
        self.assertEqual(status, 1)
        self.assertIn("FAIL: the driver is too old", line_of(table, "row"))
        self.program("tessera_device_bench", "echo one; echo two")
        self.check_row(row, 0, "ok$")

    def test_quick_and_only_choose_rows(self):
        self.program("does", "exit 0")
        rows = ["row one | quick | - | 10 | exit | does", "row two | full | - | 10 | exit | does", "# row three"]
        self.assertEqual(self.verify(*rows)[1].count("\nrow"), 2)
        self.assertEqual(self.verify(*rows, options=["--quick"])[1].count("\nrow one"), 1)
        self.assertEqual(self.verify(*rows, options=["--quick"])[1].count("\nrow two"), 0)
        self.assertEqual(self.verify(*rows, options=["--only", "two"])[1].count("\nrow"), 1)
        self.assertEqual(self.verify(options=["--fast"])[0], 2)

    def test_a_row_with_several_figures_that_are_none_shows_its_log_once(self):
        self.program("bench", "echo a 1; echo b 2; echo c 3 us '>=4'")
        _, table, _ = self.verify("row | quick | - | 10 | lines | bench")
        self.assertEqual(table.count("FAIL"), 3)
        self.assertEqual(table.count("== row: the end of its log"), 1)

    def test_the_log_of_a_failure_is_shown_and_kept(self):
        self.program("breaks", "echo the reason >&2; exit 9")
        status, table, said = self.verify("row | quick | - | 10 | exit | breaks")
        self.assertEqual(status, 1)
        self.assertIn("\n== row: the end of its log\nthe reason\n", table)
        kept = Path(re.search(r"the logs are in (.*)\n", said).group(1))
        self.assertEqual((kept / "1.log").read_text(), "the reason\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
