"""`tessera info --verify`: each file of a run that was changed, cut, lost or added is named, and nothing else is."""
import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import runs
import tessera
from tessera.program import find_program

MORE = """
[analysis]
format = "hdf5"
[[analysis.probe]]
name = "middle"
field = "concentration"
at = [0.5, 0.5, 0.5]
[[analysis.plane]]
name = "cut"
fields = ["concentration"]
axis = "z"
at = 0.5
every_steps = 2
"""
SUMMED = ("deck.toml", "history.csv", "history.json", "log.jsonl", "provenance.json", "resolved.toml", "statistics.csv")
LISTS = ("out/fields.hdf.series", "planes/cut.hdf.series")


def flipped(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


class VerifyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        deck = Path(cls.folder.name) / "deck.toml"
        text = (runs.INPUTS / "advection/gaussian_two_level.toml").read_text()
        deck.write_text(text.replace("every = 0.25", "every_steps = 2") + MORE)
        # Two ranks: a checkpoint has two files. Two levels of several patches: fields have a last value far from the first.
        cls.run_of = tessera.run(deck, Path(cls.folder.name) / "whole", 2, ["--threads", "1"], timeout=120, **{
            "time.max_steps": 4, "checkpoint.every_steps": 2, "history.every_steps": 1})

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def copy(self):
        path = Path(self.folder.name) / "copy"
        shutil.rmtree(path, ignore_errors=True)
        return Path(shutil.copytree(self.run_of.path, path))

    def verified(self, path):
        """(exit code, what is checked, {what is damaged: why})."""
        done = subprocess.run([find_program(), "info", "--verify", "--json", path], capture_output=True, text=True, check=False)
        found = json.loads(done.stdout)
        self.assertEqual((found["kind"], found["run"], found["whole"]), ("verification", str(path), not found["damaged"]))
        self.assertEqual(done.returncode, 3 if found["damaged"] else 0, done.stderr)
        return found["checked"], {one["what"]: one["problem"] for one in found["damaged"]}

    def files(self):
        """All that is looked at, a checkpoint as a whole."""
        path = self.run_of.path
        fields = [str(p.relative_to(path)) for place in ("out", "planes") for p in sorted((path / place).glob("*.hdf"))]
        checkpoints = [str(p.relative_to(path)) for p in sorted((path / "checkpoints").iterdir())]
        self.assertEqual((len(fields), len(checkpoints)), (6, 2))
        return [*checkpoints, *fields, *LISTS, "analysis.hdf", "sums.json", *SUMMED]

    def test_a_whole_run_is_whole_and_all_of_it_was_looked_at(self):
        self.assertEqual(self.verified(self.run_of.path), (len(self.files()), {}))
        sums = json.loads((self.run_of.path / "sums.json").read_text())
        self.assertEqual(set(sums), set(SUMMED))
        for name, entry in sums.items():
            self.assertEqual(entry["bytes"], (self.run_of.path / name).stat().st_size, name)

    def test_a_bit_that_flipped_in_a_table_or_text_is_found(self):
        for name in SUMMED:
            size = (self.run_of.path / name).stat().st_size
            for place in (0, size // 2, size - 1):
                with self.subTest(name=name, place=place):
                    path = self.copy()
                    flipped(path / name, place)
                    self.assertEqual(self.verified(path)[1].get(name), "it does not begin as it was written")

    def test_what_was_cut_or_lost_is_found(self):
        for name in SUMMED:
            with self.subTest(name=name):
                path = self.copy()
                (path / name).write_bytes((path / name).read_bytes()[:-1])
                self.assertEqual(self.verified(path)[1].get(name), "it does not begin as it was written")
                if name != "deck.toml":  # without it there is no run
                    (path / name).unlink()
                    self.assertIn(name, self.verified(path)[1])

    def test_what_has_grown_since_is_whole(self):
        path = self.copy()
        for name in ("history.csv", "log.jsonl", "statistics.csv"):
            with open(path / name, "a", encoding="utf-8") as stream:
                stream.write("one more line\n")
        (path / "result.json").unlink()  # it goes on: rows of analysis.hdf may be behind the history
        self.assertEqual(self.verified(path), (len(self.files()), {}))

    def test_rows_are_as_many_as_lines_of_the_history(self):
        path = self.copy()
        with open(path / "history.csv", "a", encoding="utf-8") as stream:
            stream.write("5,1,0.1\n")
        self.assertEqual(self.verified(path)[1], {"analysis.hdf": "it has 5 rows, and history.csv 6"})

    def test_any_value_of_a_field_file_is_read(self):
        for place, number in (("out", 0), ("out", -1), ("planes", 0), ("planes", -1)):
            series = self.run_of.fields if place == "out" else self.run_of.planes["cut"]
            file = series[number]
            for level in file.levels:
                for patch in (level.patches[0], level.patches[-1]):
                    with self.subTest(file=file.path.name, level=level.number, patch=patch.id):
                        path = self.copy()
                        damaged = path / place / file.path.name
                        value = patch.array("concentration")[:, 0, 0].tobytes()  # x runs fastest in the file
                        flipped(damaged, damaged.read_bytes().index(value))
                        self.assertEqual(list(self.verified(path)[1]), [f"{place}/{file.path.name}"])

    def test_lists_name_the_field_files_that_are_there(self):
        for name in LISTS:
            folder, base = name.split("/")[0], name.split("/")[1].removesuffix(".hdf.series")
            last = f"{folder}/{base}_000004.hdf"
            changes = {"it does not name the field files that are there": (
                lambda path: (path / last).unlink(), lambda path: shutil.copy(path / last, path / folder / f"{base}_000009.hdf"),
                lambda path: (path / name).write_text('{"files": []}')),
                "it is not a list of files": (lambda path: (path / name).write_text('{"files": 7}'),
                                              lambda path: (path / name).write_text("[")),
                "it has an entry without a name": (lambda path: (path / name).write_text('{"files": [{"time": 0}]}'),)}
            for problem, ways in changes.items():
                for number, change in enumerate(ways):
                    with self.subTest(name=name, problem=problem, way=number):
                        path = self.copy()
                        change(path)
                        self.assertEqual(self.verified(path)[1], {name: problem})
            path = self.copy()
            (path / name).unlink()
            self.assertEqual(list(self.verified(path)[1]), [name])

    def test_a_plane_that_the_deck_asks_for_is_missed_as_a_whole(self):
        path = self.copy()
        shutil.rmtree(path / "planes")
        (path / "analysis.hdf").unlink()
        self.assertEqual(set(self.verified(path)[1]), {"planes/cut.hdf.series", "analysis.hdf"})

    def test_every_file_of_a_checkpoint_is_read(self):
        first = sorted((self.run_of.path / "checkpoints").iterdir())[0].name
        names = [p.name for p in (self.run_of.path / "checkpoints" / first).iterdir()]
        self.assertEqual(len(names), 3)
        for name in names:
            size = (self.run_of.path / "checkpoints" / first / name).stat().st_size
            with self.subTest(name=name):
                path = self.copy()
                flipped(path / "checkpoints" / first / name, size // 2)
                self.assertEqual(list(self.verified(path)[1]), [f"checkpoints/{first}"])

    def test_sums_that_are_none_are_found(self):
        for text, said in (("[]", "it is not a JSON object"), ("{", "it is not a JSON object"),
                           ('{"a": {"bytes": 1}}', 'its entry of "a" is not a checksum'),
                           ('{"../deck.toml": {"bytes": 1, "crc32c": 1}}', 'its entry of "../deck.toml" is not a checksum')):
            with self.subTest(text=text):
                path = self.copy()
                (path / "sums.json").write_text(text)
                checked, damaged = self.verified(path)
                self.assertEqual((checked, list(damaged)), (len(self.files()) - len(SUMMED), ["sums.json"]))
                self.assertIn(said, damaged["sums.json"])

    def test_people_read_it_too(self):
        path = self.copy()
        done = subprocess.run([find_program(), "info", "--verify", path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"  verified    {len(self.files())} file(s) and checkpoint(s) are as they were written\n", done.stdout)
        for name in ("history.json", "log.jsonl"):
            flipped(path / name, 5)
        done = subprocess.run([find_program(), "info", "--verify", path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3)
        for name in ("history.json", "log.jsonl"):
            self.assertIn(f"  DAMAGED     {name}: it does not begin as it was written\n", done.stdout)
        self.assertNotIn("verified", done.stdout)
        self.assertIn(f"2 of {len(self.files())} file(s) and checkpoint(s) of {path} are damaged", done.stderr)
        self.assertIn("tessera restart --from STEP", done.stderr)


if __name__ == "__main__":
    unittest.main()
