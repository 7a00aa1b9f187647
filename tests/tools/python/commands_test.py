"""new, doctor, top, gallery, completion, man, and the launcher's way to Python."""
import json
import os
import pty
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import runs
from tessera import Deck
from tessera.commands import new_command, top_command
from tessera.commands.gallery_command import shipped_decks
from tessera.commands.parser import COMMANDS
from tessera.program import find_program

LAUNCHER = runs.ROOT / "tessera"


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()


class NewTest(FolderTest):
    def components(self):
        lines = subprocess.run([find_program(), "list"], capture_output=True, text=True, check=True).stdout.splitlines()
        return [line.split()[0] for line in lines]

    def test_a_deck_of_each_component_passes_the_check_as_it_is(self):
        for name in self.components():
            out = self.path / f"{name}.toml"
            code, said, error = runs.call("new", "deck", name, "-o", out)
            self.assertEqual((code, said), (0, f"wrote {out}\n"))
            if name == "rmcrt":  # what sends is for the author to choose
                self.assertIn("some values are for you to choose", error)
            elif name == "diffusion":  # what diffuses is for the author to say
                self.assertIn("write a [[diffusion.quantity]]", " ".join(error.split()))
            else:
                self.assertEqual(error, "")

    def test_every_default_in_a_deck_is_one_that_the_program_takes(self):
        tables = new_command.schema()
        for name in self.components():
            if name == "diffusion":
                continue
            lines, table = [], None
            for line in new_command.deck_text(tables, name, self.components()).splitlines():
                table = line.strip("[]") if line.startswith("[") else None if line.startswith("# [[") else table
                defaults = {key for key, about in new_command.flat(tables.get(table, {})) if "default" in about}
                is_default = line.startswith("# ") and line[2:].split(" = ")[0] in defaults
                lines.append(line[2:] if is_default else line)
            deck = self.path / "all.toml"
            deck.write_text("\n".join(lines))
            done = subprocess.run([find_program(), "check", deck], capture_output=True, text=True, check=False)
            if name == "rmcrt":  # what sends and takes up power is for the author to choose
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn("[rmcrt] does not say what radiates; give one of", done.stdout + done.stderr)
            else:
                self.assertEqual(done.returncode, 0, f"{name}: {done.stdout}{done.stderr}")
            keys = [line.split(" = ")[0] for line in lines if not line.startswith("#") and " = " in line]
            self.assertGreater(len(keys), 15)

    def test_every_key_is_in_the_deck(self):
        tables = new_command.schema()
        text = new_command.deck_text(tables, "advection", self.components())
        others = set(self.components()) - {"advection"}
        shown = [table for table in tables if table not in others and table not in ("constants", "notes")]
        self.assertTrue({"grid", "amr", "units", "balance", "solver", "advection"} <= set(shown))
        for table in shown:
            self.assertEqual(text.count(f"\n[{table}]\n"), 1, table)
            for key, _ in new_command.flat(tables[table]):
                self.assertRegex(text, rf"(?m)^(# )?(\[\[[a-z]+\.)?{key.replace('.', chr(92) + '.')}( = |\]\])", f"{table}.{key}")

    def test_a_component_is_written_whole(self):
        code, said, error = runs.call("new", "component", "salt_water", "-o", self.path / "salt")
        self.assertEqual(code, 0, error)
        self.assertEqual(sorted(p.name for p in (self.path / "salt").iterdir()),
                         ["CMakeLists.txt", "README.md", "salt_water.cpp", "salt_water.toml"])
        for path in (self.path / "salt").iterdir():
            self.assertNotRegex(path.read_text(), "@[A-Z]+@")
        self.assertIn("class SaltWater final", (self.path / "salt/salt_water.cpp").read_text())
        # What it includes is there; that it compiles and passes its test is for new_component.sh.
        for line in (self.path / "salt/salt_water.cpp").read_text().splitlines():
            if line.startswith('#include "'):
                self.assertTrue((runs.ROOT / line.split('"')[1]).is_file(), line)

    def test_mistakes_are_sentences(self):
        (self.path / "there").mkdir()
        for arguments, code, said in ((["component", "Salt"], 2, "is not a valid name for a component"),
                                      (["component", "salt", "-o", self.path / "there"], 5, "is there already"),
                                      (["deck", "heta"], 3, "did you mean 'heat'"), (["deck", "units"], 3, "no component 'units'"), (["dek", "heat"], 2, "did you mean 'deck'"),
                                      (["deck", "heat", "-o", self.path / "no/heat.toml"], 5, "cannot be written")):
            got, _, error = runs.call("new", *arguments)
            self.assertEqual(got, code, error)
            self.assertIn(said, error)


class DoctorTest(unittest.TestCase):
    def test_a_machine_that_runs_the_tests_is_well(self):
        code, said, _ = runs.call("doctor", "--json")
        rows = {row["what"]: row for row in json.loads(said)}
        self.assertEqual(code, 0, said)
        self.assertEqual(rows["a run on 1 process(es)"]["state"], "works")
        self.assertIn("right answer", rows["a run on 2 process(es)"]["found"])
        self.assertEqual(rows["numpy"]["state"], "works")

    def test_a_program_that_fails_is_found_out(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder) / "tessera"
            for script, said in (("echo 'heat.error_max = 0.5'", "wrong answer, off by 0.5"),
                                 ("echo 'tessera: error: no disk'; exit 5", "exit code 5: tessera: error: no disk")):
                fake.write_text(f"#!/bin/sh\n{script}\n")
                fake.chmod(0o755)
                before = os.environ.get("TESSERA_PROGRAM")
                os.environ["TESSERA_PROGRAM"] = str(fake)
                try:
                    code, text, _ = runs.call("doctor")
                finally:
                    os.environ.pop("TESSERA_PROGRAM") if before is None else os.environ.update(TESSERA_PROGRAM=before)
                self.assertEqual(code, 6)
                self.assertIn(said, text)
                self.assertIn("  fix  ", text)


class LiveTest(FolderTest):
    """A run that goes on while it is looked at."""

    def start(self, end):
        folder = self.path / "run"
        deck = self.path / "deck.toml"
        text = (runs.INPUTS / "heat/dirichlet_slab.toml").read_text()
        deck.write_text(text.replace("end = 0.5", f"end = 1e9\nmax_steps = {end}").replace("every = 0.125", "every_steps = 2000"))
        command = [find_program(), "run", "-q", "--threads", "1", "--out", str(folder), str(deck)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(200):
            if (folder / "history.csv").is_file() and len((folder / "history.csv").read_text().splitlines()) > 3:
                return process, folder
            time.sleep(0.05)
        process.kill()
        self.fail("the run has written no history: " + process.communicate()[0].decode())

    def test_top_shows_a_run_until_it_ends(self):
        process, folder = self.start(10**8)
        code, said, error = runs.call("top", folder, "--json")
        self.assertEqual(code, 0, error)
        state = json.loads(said)
        self.assertEqual((state["status"], state["ended"]), ("goes on", False))
        self.assertGreater(state["step"], 0)
        self.assertIn("heat.max", state["diagnostics"])
        watching = subprocess.Popen([str(LAUNCHER), "top", str(folder), "--interval", "0.2"], stdout=subprocess.PIPE, text=True)
        first = watching.stdout.readline() + watching.stdout.readline()
        (folder / "stop").touch()
        self.assertEqual(process.wait(timeout=60), 75)
        process.stdout.close()
        text = watching.communicate(timeout=60)[0]
        self.assertIn("goes on", first)
        self.assertIn("stopped", text)
        self.assertIn("steps/s", text)
        self.assertNotIn("\033[", text)  # colours and cursors only on a terminal

    def test_plot_watch_draws_again_and_ends_with_the_run(self):
        process, folder = self.start(10**8)
        out = self.path / "watch.png"
        watching = subprocess.Popen([str(LAUNCHER), "plot", "--watch", str(folder), "-o", str(out)], stdout=subprocess.PIPE,
                                    text=True)
        for _ in range(200):
            if out.is_file():
                break
            time.sleep(0.1)
        time.sleep(2)
        (folder / "stop").touch()
        process.wait(timeout=60)
        process.stdout.close()
        text = watching.communicate(timeout=120)[0]
        self.assertEqual(watching.returncode, 0)
        self.assertGreaterEqual(text.count(f"wrote {out}"), 2)

    def test_the_line_of_a_run_that_has_ended(self):
        code, said, _ = runs.call("top", runs.gaussian().path, "--once")
        self.assertEqual(code, 0)
        self.assertIn("done: reached time.end", said)
        self.assertIn("100 %", said)
        self.assertRegex(said, r"(?m)advection\.error_max .* amount/length³$")  # only a terminal cuts lines
        self.assertEqual(len(top_command.shown(top_command.state_of(runs.gaussian()), 60).splitlines()[-1]), 60)

    def test_what_is_no_run_is_a_sentence(self):
        self.assertEqual(runs.call("top", "nowhere")[0], 3)
        code, _, error = runs.call("top", runs.gaussian().path, "--interval", "0")
        self.assertEqual(code, 2)
        self.assertIn("above 0", error)

    def test_a_remaining_time_follows_the_rate(self):
        state = top_command.state_of(runs.gaussian())
        self.assertEqual(state["part"], 1.0)
        self.assertNotIn("remaining_seconds", state)
        self.assertGreater(state["steps_per_second"], 0)


class JsonTest(unittest.TestCase):
    """Tables of the program for programs; `trace summary --json` is in trace_test.py."""

    def program(self, *arguments):
        done = subprocess.run([find_program(), *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout)

    def test_the_list_of_components(self):
        code, rows = self.program("list")
        self.assertEqual(code, 0)
        self.assertIn({"name": "heat", "summary": "heat conduction, T_t = div(k grad T) + source"}, rows)

    def test_the_findings_of_a_check(self):
        deck = runs.INPUTS / "heat/cosine.toml"
        code, found = self.program("check", deck)
        self.assertEqual((code, found["ok"], found["findings"]), (0, True, []))
        code, found = self.program("check", deck, "--set", "heat.conductivty=1")
        self.assertEqual((code, found["ok"], len(found["findings"])), (2, False, 1))
        self.assertIn("did you mean 'conductivity'?", found["findings"][0]["text"])
        code, found = self.program("check", deck, "--set", 'output.fields=["temprature"]')
        self.assertEqual((code, found["ok"]), (2, False))
        self.assertIn("temprature", found["error"])
        code, found = self.program("check", deck, "--deep", "--ranks", "2", "--set", "grid.cells=[8, 8, 8]", "--set",
                                   "grid.patch_size=[4, 4, 4]")
        self.assertEqual((code, found["mesh"][0]["cells"], found["mesh"][0]["patches"]), (0, 512, 8))
        self.assertEqual([sum(rank[key] for rank in found["ranks"]) for key in ("cells", "patches")], [512, 8])
        self.assertEqual({plan["fault_count"] for plan in found["races"]}, {0})
        self.assertIn("temperature", [variable["name"] for variable in found["variables"]])
        tasks = [task for plan in found["plans"] if plan["plan"] == "step" for task in plan["tasks"]]
        self.assertIn("temperature", [name for task in tasks for name in task["writes"]])

    def test_the_keys_of_decks(self):
        code, found = self.program("describe", "heat")
        self.assertEqual((code, list(found["properties"])[:1]), (0, ["heat"]))

    def test_a_graph_with_places_on_devices(self):
        deck = runs.INPUTS / "heat/cosine.toml"
        code, found = self.program("graph", deck, "--device", "emulated:2")
        self.assertEqual(code, 0)
        self.assertIn("nodes", found)
        self.assertEqual(found["places"]["devices"], 2)
        on_devices = [sum(row["on_devices"]) for row in found["places"]["nodes"] if row["name"] == "Heat::advance"]
        self.assertGreater(on_devices[0] if on_devices else 0, 0)

    def test_what_an_ensemble_has_done(self):
        with tempfile.TemporaryDirectory() as folder:
            words = ["ensemble", runs.INPUTS / "ensemble/trajectories.toml", "--out", f"{folder}/a"]
            code, found = self.program(*words)
            self.assertEqual((code, [(s["stage"], s["tasks"], s["done"], s["failed"]) for s in found["stages"]]),
                             (0, [("short", 12, 12, 0), ("long", 4, 4, 0)]))
            self.assertEqual([s["done_before"] for s in self.program(*words)[1]["stages"]], [12, 4])
            deck = Path(folder) / "exchange.toml"
            deck.write_text((runs.INPUTS / "ensemble/replica_exchange.toml").read_text().replace("4000", "40"))
            code, found = self.program("ensemble", deck, "--out", f"{folder}/b")
            self.assertEqual((code, len(found["pairs"]), len(found["temperatures"])), (0, 5, 6))

    def test_what_a_verification_finds(self):
        code, found = self.program("info", "--verify", runs.gaussian().path)
        self.assertEqual((code, found["whole"], found["damaged"]), (0, True, []))
        self.assertGreater(found["checked"], 5)

    def test_a_comparison(self):
        files = runs.gaussian().fields.paths
        code, found = self.program("compare", files[0], files[0])
        self.assertEqual((code, found["equal"], found["differences"], found["compared"]), (0, True, [], 32 * 32))
        code, found = self.program("compare", files[0], files[-1])
        self.assertEqual((code, found["equal"]), (1, False))
        row, = found["differences"]
        self.assertEqual((row["field"], row["compared"]), ("concentration", 32 * 32))
        rows = json.loads(runs.call("compare", "--json", files[0], files[-1])[1])
        self.assertEqual(row["max_abs"], rows[0]["max"])


class StatusTest(unittest.TestCase):
    """Commands that read many files say on a terminal which one they are at."""

    def said(self, *arguments, program=None, folder=None):
        reader, terminal = pty.openpty()
        try:
            subprocess.run([program or find_program(), *map(str, arguments)], stdout=subprocess.PIPE, stderr=terminal, check=True,
                           cwd=folder)
            os.close(terminal)
            terminal = None
            text = b""
            try:
                while part := os.read(reader, 4096):
                    text += part
            except OSError:  # the end of what a terminal that is closed has got
                pass
            return text.decode()
        finally:
            os.close(reader)
            if terminal is not None:
                os.close(terminal)

    def test_a_comparison_and_a_verification_tell_files_and_wipe_the_line_out(self):
        run = runs.gaussian().path
        for said, word in ((self.said("compare", run, run), "comparing out/"),
                           (self.said("info", "--verify", run), "reading ")):
            self.assertIn("\r\033[K" + word, said)
            self.assertTrue(said.endswith("\r\033[K"), repr(said[-40:]))

    def test_long_commands_of_python_say_how_far_they_are(self):
        run, slab = runs.gaussian().path, runs.INPUTS / "heat/dirichlet_slab.toml"
        with tempfile.TemporaryDirectory() as folder:
            for command, said in (
                    (["extract", run, "--time", "all", "--point", "0.5,0.5,0.5"], "time {} of 3"),
                    (["export", run, "--time", "all", "--format", "csv"], "export {} of 3"),
                    (["plot", run, "-o", "movie.html"], "frame {} of 3"),
                    (["convergence", slab, "--cells", "8,12,16", "--set", "time.end=0.01"], "resolution {} of 3")):
                text = self.said(*command, program=LAUNCHER, folder=folder)
                self.assertIn("\r" + said.format(1), text)
                self.assertIn("\r" + said.format(2), text)
                # The last one ends the line, so that nothing is printed over it.
                self.assertTrue(text.endswith("\r" + said.format(3) + "\r\n"), repr(text[-40:]))
            self.assertIn("drawing concentration", self.said("report", run, program=LAUNCHER, folder=folder))
            self.assertIn("deck 1 of 1", self.said("gallery", slab, program=LAUNCHER, folder=folder))

    def test_nothing_is_said_elsewhere(self):
        done = subprocess.run([find_program(), "compare", runs.gaussian().path, runs.gaussian().path], capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stderr, "")


class WordsTest(FolderTest):
    def test_bash_completes_commands_options_and_files(self):
        code, script, error = runs.call("completion", "bash")
        self.assertEqual(code, 0, error)
        (self.path / "completion").write_text(script)
        (self.path / "deck.toml").touch()
        for words, expected in ((["tessera", "conv"], {"convergence"}), (["tessera", "run", "--exec"], {"--executor"}),
                                (["tessera", "plot", "--pat"], {"--patches"}), (["tessera", "run", "de"], {"deck.toml"}),
                                (["tessera", "compare", "--ex"], {"--exact"}), (["tessera", "compare", "--no"], {"--norms"})):
            line = f'source completion; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _tessera; ' \
                   'printf "%s\\n" "${COMPREPLY[@]}"'
            done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, cwd=self.path)
            self.assertEqual(set(done.stdout.split()), expected)
        for shell in ("zsh", "fish"):
            self.assertIn("convergence", runs.call("completion", shell)[1])
        self.assertEqual(runs.call("completion", "csh")[0], 2)

    def test_the_manual_page_has_every_command(self):
        code, said, error = runs.call("man", "-o", self.path / "tessera.1")
        self.assertEqual(code, 0, error)
        text = (self.path / "tessera.1").read_text()
        help_ = subprocess.run([find_program(), "--help"], capture_output=True, text=True, check=True).stdout
        names = re.findall(r"^  (\w+) {2,}", help_[help_.index("Subcommands:"):], re.M)
        self.assertGreater(len(names), 9)
        for name in (*names, *COMMANDS, "setup", "test", "bundle"):
            self.assertRegex(text, rf"(?m)^\.SS {name}$")
        self.assertIn(r"\fB\-\-executor\fR", text)


class GalleryTest(FolderTest):
    def test_a_page_has_each_deck_with_its_picture(self):
        arguments = ["gallery", runs.INPUTS / "levels/two_level.toml", runs.INPUTS / "heat/eigenmode_1d.toml", "--runs",
                     self.path / "runs", "-o", self.path / "gallery"]
        code, said, error = runs.call(*arguments)
        self.assertEqual(code, 0, error)
        text = (self.path / "gallery/gallery.md").read_text()
        for name in ("levels_two_level.png", "heat_eigenmode_1d.png"):
            self.assertIn(f"({name})", text)
            self.assertTrue((self.path / "gallery" / name).is_file())
        self.assertIn("`./tessera run inputs/levels/two_level.toml`", text)
        self.assertEqual(runs.call(*arguments)[0], 0)  # the runs are there already


    def test_the_shipped_decks_are_those_that_run(self):
        decks = shipped_decks()
        self.assertGreater(len(decks), 25)
        self.assertEqual(set(decks), set(runs.INPUTS.glob("*/*.toml")))
        for deck in decks:
            self.assertEqual(Deck.read(deck).command == "run", bool(Deck.read(deck).components), deck)
        self.assertEqual({deck.parent.name for deck in decks if Deck.read(deck).command != "run"}, {"ensemble", "jobs"})


class InfoTest(unittest.TestCase):
    def info(self, target):
        code, said, error = runs.call("info", "--json", target)
        self.assertEqual(code, 0, error)
        return json.loads(said)

    def test_of_a_run(self):
        found = self.info(runs.vortex().path)
        self.assertEqual((found["kind"], found["components"], found["active"]), ("run", ["euler"], False))
        self.assertEqual(found["result"]["status"], "done")
        self.assertEqual([found["units"][name] for name in found["result"]["diagnostics"]][:5],
                         ["mass", *["mass length/time"] * 3, "energy"])
        self.assertEqual([entry["time"] for entry in found["fields"]], [0.0, 0.25])
        self.assertEqual(found["checkpoints"][-1]["step"], found["result"]["step"])

    def test_of_a_field_file(self):
        found = self.info(runs.vortex().fields.paths[-1])
        self.assertEqual([level["patches"] for level in found["levels"]], [4, 4])
        self.assertEqual(found["cells"], 32 * 32 - 16 * 16 + 32 * 32)
        density = found["fields"][0]
        self.assertEqual((density["name"], density["unit"]), ("gas.density", "mass/length^3"))
        self.assertEqual([density["min"], density["max"]], list(runs.vortex().fields[-1].extremes("gas.density")))
        self.assertIn("gas.pressure", found["computed"])

    def test_of_a_checkpoint(self):
        found = self.info(runs.vortex().checkpoints[-1].path)
        self.assertEqual((found["kind"], found["ranks"], found["patches"]), ("checkpoint", 1, [4, 4]))
        self.assertIn("gas", [variable["name"] for variable in found["variables"]])

    def test_what_is_none_of_them_is_a_sentence(self):
        code, _, error = runs.call("info", "--json", runs.vortex().path / "history.csv")
        self.assertEqual(code, 2)
        self.assertIn("is no run folder, field file or checkpoint", error)
        self.assertEqual(runs.call("info", "nowhere", "--json")[0], 3)


class LauncherTest(FolderTest):
    def launch(self, *arguments):
        done = subprocess.run([str(LAUNCHER), *map(str, arguments)], capture_output=True, text=True, check=False, cwd=self.path)
        return done.returncode, done.stdout, done.stderr

    def test_commands_of_python_need_no_build(self):
        code, said, error = self.launch("plot", runs.gaussian().path, "--levels")
        self.assertEqual((code, said), (0, "wrote gaussian_concentration.png\n"), error)
        code, said, _ = self.launch("compare", "--norms", runs.gaussian().path, runs.gaussian().path)
        self.assertEqual(code, 0)
        self.assertIn("concentration", said)

    def test_the_program_hands_the_same_commands_over(self):
        names = set(COMMANDS) - {"compare", "info"}
        source = (runs.ROOT / "tools/tessera/python_commands.cpp").read_text()
        listed = source[source.index("kPythonCommands{"):source.index("kCompareOptions")]
        self.assertEqual(set(re.findall(r'"(\w+)"', listed)), names)
        self.assertEqual(set(re.search(r'case " (.*) " in', LAUNCHER.read_text()).group(1).split()), names)

    def test_the_program_becomes_python(self):
        done = subprocess.run([find_program(), "plot", runs.gaussian().path, "-o", self.path / "a.png"], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, f"wrote {self.path / 'a.png'}\n"), done.stderr)
        done = subprocess.run([find_program(), "compare", "--norms", runs.gaussian().path, runs.gaussian().path],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("verdict", done.stdout)
        done = subprocess.run([find_program(), "info", runs.gaussian().path, "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(json.loads(done.stdout)["kind"], "run", done.stderr)
        done = subprocess.run([find_program(), "plot", "x"], capture_output=True, text=True, check=False,
                              env={**os.environ, "TESSERA_PYTHON": "/nowhere/python3"})
        self.assertEqual(done.returncode, 6)
        self.assertIn("/nowhere/python3 cannot be started", done.stderr)
        self.assertIn("./tessera setup --plot", done.stderr)

    def test_a_misspelt_command_of_python_is_told(self):
        for word, meant in (("reprot", "report"), ("convergance", "convergence"), ("restrat", "restart")):
            done = subprocess.run([find_program(), word], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"did you mean `tessera {meant}`?", done.stderr)

    def test_its_errors_and_codes_come_through(self):
        code, _, error = self.launch("report", "nowhere")
        self.assertEqual(code, 3)
        self.assertIn("tessera: error: there is no nowhere", error)
        self.assertEqual(self.launch("plot", "--help")[0], 0)
        self.assertEqual(self.launch("plot")[0], 2)


if __name__ == "__main__":
    unittest.main()
