#!/usr/bin/env python3
"""The set-up scripts on pretended machines: which commands exist and what they answer is made up here."""
import hashlib
import os
import shutil
import subprocess
import tempfile
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SETUP = ROOT / "tools" / "setup"
REAL = ["bash", "awk", "sed", "sort", "comm", "cat", "cut", "dirname", "basename", "mkdir", "mktemp", "rm", "mv", "cp",
        "sha256sum", "grep", "env", "true"]


class Machine:
    """A folder of commands: a few real ones, and fakes that are shell scripts."""

    def __init__(self, folder):
        self.bin = Path(folder) / "bin"
        self.home = Path(folder) / "home"
        self.bin.mkdir()
        self.home.mkdir()
        for name in REAL:
            os.symlink(shutil.which(name), self.bin / name)

    def fake(self, name, script):
        path = self.bin / name
        path.write_text("#!/bin/bash\n" + script + "\n")
        path.chmod(0o755)

    def run(self, script, *arguments, **variables):
        environment = {"PATH": str(self.bin), "HOME": str(self.home), **variables}
        done = subprocess.run([SETUP / script, *arguments], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout, done.stderr


class MachineTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.machine = Machine(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()


class PackagesTest(MachineTest):
    def setUp(self):
        super().setUp()
        # Everything is there but MPICH.
        self.machine.fake("dpkg-query", 'for p in "${@:4}"; do [[ $p == *mpich* ]] || echo "$p ii"; done; exit 1')
        self.machine.fake("apt-get", f'echo "$@" >> {self.folder.name}/apt.log')

    def apt_log(self):
        log = Path(self.folder.name) / "apt.log"
        return log.read_text() if log.exists() else ""

    def test_without_root_and_sudo_it_prints_the_command_and_exits_2(self):
        self.machine.fake("id", "echo 1000")
        status, _, said = self.machine.run("packages.sh", "build")
        self.assertEqual(status, 2)
        self.assertIn("apt-get update && apt-get install --no-install-recommends -y libmpich-dev mpich\n", said)
        self.assertEqual(self.apt_log(), "")

    def test_root_installs_what_is_missing_and_says_so(self):
        self.machine.fake("id", "echo 0")
        status, _, said = self.machine.run("packages.sh", "build")
        self.assertEqual(status, 0, said)
        self.assertIn("installing with apt: libmpich-dev mpich\n", said)
        self.assertRegex(self.apt_log(), "update\n.*install --no-install-recommends -y libmpich-dev mpich\n")

    def test_sudo_is_used_where_it_asks_no_password(self):
        self.machine.fake("id", "echo 1000")
        self.machine.fake("sudo", f'[ "$1" = -n ] && exit 0; echo sudo "$1" >> {self.folder.name}/apt.log; "$@"')
        status, _, said = self.machine.run("packages.sh", "build")
        self.assertEqual(status, 0, said)
        self.assertIn("sudo env", self.apt_log())

    def test_a_machine_that_has_everything_is_left_alone(self):
        self.machine.fake("dpkg-query", 'for p in "${@:4}"; do echo "$p ii"; done')
        status, _, said = self.machine.run("packages.sh", "build", "test", "develop")
        self.assertEqual((status, said, self.apt_log()), (0, "", ""))

    def test_a_machine_without_apt_is_told_what_to_do(self):
        (self.machine.bin / "apt-get").unlink()
        status, _, said = self.machine.run("packages.sh", "build")
        self.assertEqual(status, 2)
        self.assertIn("./tessera setup --no-packages", said)


class PythonTest(MachineTest):
    def test_missing_packages_are_named_with_the_way_to_them(self):
        self.machine.fake("python", "exit 1")
        status, _, said = self.machine.run("python.sh", "run", "plot", "cosine", TESSERA_PYTHON=str(self.machine.bin / "python"))
        self.assertEqual(status, 6)
        self.assertIn("numpy and h5py", said)
        self.assertIn("fix  ./tessera setup --plot", said)

    def test_a_machine_without_python_is_told_what_to_do(self):
        status, _, said = self.machine.run("python.sh", "run", "plot", "cosine", TESSERA_PYTHON="/nowhere/python")
        self.assertEqual(status, 6)
        self.assertIn("fix  ./tessera setup --plot", said)

    def test_the_command_and_the_folder_of_the_package_are_passed_on(self):
        self.machine.fake("python", 'if [ "$1" = -c ]; then exit 0; fi; echo "$@ in $PYTHONPATH"')
        status, out, _ = self.machine.run("python.sh", "run", "plot", "a b", TESSERA_PYTHON=str(self.machine.bin / "python"))
        self.assertEqual((status, out), (0, f"-m tessera plot a b in {ROOT}/tools/python\n"))


class PartsTest(unittest.TestCase):
    """Which parts of the program a command needs, and a build has."""

    def ask(self, function, *arguments):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", f'. "{SETUP}/parts.sh"; "$@"', "bash", function, *arguments],
                              capture_output=True, text=True, check=True, timeout=60)
        return done.stdout

    def needed(self, *command):
        return self.ask("parts_needed", str(ROOT), *command)

    def test_every_deck_gets_its_components(self):
        decks = sorted(ROOT.glob("inputs/*/*.toml"))
        script = f'. "{SETUP}/parts.sh"; for deck; do parts_needed "{ROOT}" run -n 2 "$deck" --set time.end=1; echo; done'
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script, "bash", *decks], capture_output=True, text=True,
                              check=True, timeout=100)
        runs = 0
        for deck, parts in zip(decks, done.stdout.splitlines(), strict=True):
            wanted = tomllib.loads(deck.read_text()).get("simulation", {}).get("components")
            if wanted is None:
                self.assertEqual(parts, "all", deck)
                continue
            self.assertLessEqual(set(wanted), set(parts.split(";")), deck)
            runs += 1
        self.assertGreater(runs, 50)
        self.assertEqual(self.needed("run", str(ROOT / "inputs/heat/cosine.toml")), "heat")

    def test_a_run_folder_gets_those_of_its_deck(self):
        with tempfile.TemporaryDirectory() as run:
            Path(run, "resolved.toml").write_text('simulation.components = ["euler"]  # not heat\n')
            self.assertEqual(self.needed("restart", run), "euler")

    def test_a_number_sign_in_a_text_begins_no_comment(self):
        with tempfile.TemporaryDirectory() as folder:
            deck = Path(folder, "deck.toml")
            deck.write_text('simulation = { title = "run #3", components = ["wave"] } # not euler\ngrid.cells = 4 # heat\n')
            self.assertLessEqual({"wave"}, set(self.needed("run", str(deck)).split(";")))
            self.assertNotIn("heat", self.needed("run", str(deck)))

    def test_where_the_deck_does_not_say_it_all_parts_are_needed(self):
        deck = str(ROOT / "inputs/heat/cosine.toml")
        for command in (["job", deck], ["ensemble", deck], ["describe", "heat"], ["run", "absent.toml"], [],
                        ["run", deck, "--set", "simulation.components=['wave']"]):
            self.assertEqual(self.needed(*command), "all", command)

    def test_what_looks_at_results_needs_none(self):
        for command in (["--version"], ["compare", "a", "b"], ["info", "a"], ["trace", "summary", "a"]):
            self.assertEqual(self.needed(*command), "", command)
        self.assertEqual(self.ask("parts_together", "", ""), "all")
        self.assertEqual(self.ask("parts_together", "heat", ""), "heat")

    def test_parts_are_added_to_those_built(self):
        self.assertEqual(self.ask("parts_together", "", "heat"), "heat")
        self.assertEqual(self.ask("parts_together", "heat;rmcrt", "euler;heat"), "euler;heat;rmcrt")
        self.assertEqual(self.ask("parts_together", "heat", "all"), "all")
        self.assertEqual(self.ask("parts_together", "all", "heat"), "all")

    def test_a_build_says_what_it_has(self):
        with tempfile.TemporaryDirectory() as build:
            self.assertEqual(self.ask("parts_built", build), "")
            Path(build, "CMakeCache.txt").write_text("TESSERA_PARTS:STRING=euler;heat\n")
            self.assertEqual(self.ask("parts_built", build), "euler;heat")


class FetchTest(MachineTest):
    def setUp(self):
        super().setUp()
        self.archives = Path(self.folder.name) / "archives"
        self.archives.mkdir()

    def test_an_archive_that_differs_from_the_pinned_one_is_refused(self):
        (self.archives / "kokkos-5.0.2.tar.gz").write_text("not Kokkos")
        status, out, said = self.machine.run("fetch.sh", "kokkos", TESSERA_ARCHIVES=str(self.archives))
        self.assertEqual((status, out), (1, ""))
        self.assertIn("refused kokkos from", said)
        self.assertIn("kokkos 5.0.2 cannot be had", said)
        self.assertEqual(list((self.machine.home / ".cache/tessera/archives").iterdir()), [])

    def test_upstream_is_asked_before_the_mirrors_of_apt(self):
        log = Path(self.folder.name) / "urls"
        self.machine.fake("curl", f'echo "${{@: -1}}" >> {log}; exit 6')
        self.machine.fake("apt-get", "echo http://mirror.invalid/debian/; echo cdrom:x")
        status, _, _ = self.machine.run("fetch.sh", "hypre")
        self.assertEqual(status, 1)
        first, second = log.read_text().splitlines()
        self.assertIn("/archive/refs/tags/v2.32.0.tar.gz", first)
        self.assertEqual(second, "http://mirror.invalid/debian/pool/main/h/hypre/hypre_2.32.0.orig.tar.gz")

    def test_the_right_bytes_are_kept_and_asked_for_once(self):
        # A copy of the script beside a list whose one archive is ours.
        root = Path(self.folder.name) / "root"
        shutil.copytree(SETUP, root / "tools/setup")
        (root / "cmake").mkdir()
        digest = hashlib.sha256(b"bytes").hexdigest()
        (root / "cmake/dependencies.txt").write_text(f"thing 1.0 {digest} https://upstream.invalid/thing pool/thing\n")
        self.machine.fake("curl", f'echo x >> {root}/asked; while [ "$1" != -o ]; do shift; done; printf bytes > "$2"')
        script = root / "tools/setup/fetch.sh"
        for _ in range(2):
            status, out, said = self.machine.run(script, "thing")
            self.assertEqual(status, 0, said)
            self.assertEqual(Path(out.strip()).read_bytes(), b"bytes")
        self.assertEqual((root / "asked").read_text(), "x\n")

    def test_an_unknown_name_is_a_sentence(self):
        status, _, said = self.machine.run("fetch.sh", "kokos")
        self.assertEqual(status, 2)
        self.assertIn("cmake/dependencies.txt has no line for 'kokos'", said)


class CountTest(unittest.TestCase):
    """What test.sh says in the end; ctest counts a test that was skipped as passed."""

    LOG = """    Start 1: A.a
1/4 Test #1: A.a ..............   Passed    0.01 sec
2/4 Test #2: A.b ..............***Failed    0.01 sec
3/4 Test #3: A.c ..............***Skipped   0.01 sec
4/4 Test #4: A.d ..............***Not Run (Disabled)   0.00 sec

75% tests passed, 1 tests failed out of 4
"""

    def test_skipped_tests_are_not_passed(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(folder)
            for name in ("tee", "readlink"):
                os.symlink(shutil.which(name), machine.bin / name)
            machine.fake("nproc", "echo 2")
            machine.fake("ctest", f"cat <<'END'\n{self.LOG}END\nexit 8")
            scripts = Path(folder) / "tools" / "setup"
            scripts.mkdir(parents=True)
            (Path(folder) / "build" / "release").mkdir(parents=True)
            shutil.copy(SETUP / "test.sh", scripts)
            (scripts / "setup.sh").write_text("#!/bin/bash\n")
            (scripts / "setup.sh").chmod(0o755)
            code, out, err = machine.run(scripts / "test.sh")
            self.assertNotEqual(code, 0)
            self.assertEqual(out.splitlines()[-1], "1 passed, 1 failed, 2 skipped", err)


if __name__ == "__main__":
    unittest.main()
