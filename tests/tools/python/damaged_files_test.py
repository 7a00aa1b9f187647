"""Files of a run folder that are damaged, too large or no files: each is an error that names it, with exit code 3."""
import gzip
import os
import shutil
import tempfile
import unittest
from pathlib import Path

import runs


def nested(path):
    path.write_text("[" * 100000, encoding="utf-8")


def other_shape(path):
    path.write_text("[1, 2]", encoding="utf-8")


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(8 << 30)


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def no_text(path):
    path.write_bytes(b"\xff\xfe\x00")


def no_deflate(path):
    """The head of gzip, and then no stream of it."""
    path.write_bytes(gzip.compress(b"{}")[:10] + b"\xff" * 64)


def bomb(path):
    path.write_bytes(gzip.compress(b'{"traceEvents": [' + b" " * (64 << 20) + b"]}"))


def no_events(path):
    path.write_bytes(gzip.compress(b'{"traceEvents": [1, {"ph": "X", "pid": 0, "cat": "step", "ts": "x"}]}'))


def damaged_header(path):
    data = bytearray(path.read_bytes())
    for at in range(96, min(len(data), 40000), 512):
        data[at] ^= 0x5A
    path.write_bytes(data)


LOOK = ["top", "--once"]
PAGE = ["report", "-o", "page.html"]
PICTURE = ["plot", "-o", "picture.png"]
CASES = [("result.json", damage, command) for damage in (nested, other_shape, sparse) for command in (LOOK, PAGE)]
CASES += [("provenance.json", damage, PAGE) for damage in (nested, other_shape, sparse)]
CASES += [("history.csv", damage, ["plot", "--history", "-o", "picture.png"]) for damage in (sparse, pipe, no_text)]
CASES += [("history.json", damage, ["plot", "--history", "-o", "picture.png"]) for damage in (nested, other_shape, sparse)]
CASES += [("log.jsonl", sparse, LOOK), ("resolved.toml", sparse, PAGE), ("resolved.toml", nested, PICTURE)]
CASES += [("out/fields.hdf.series", damage, PICTURE) for damage in (nested, other_shape, sparse)]
CASES += [("trace.json.gz", damage, PAGE) for damage in (no_deflate, bomb, no_events, sparse)]


class DamagedFilesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)

    def copy(self):
        run = Path("run")
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(runs.cosine().path, run)
        return run

    def test_each_is_an_error_that_names_the_file(self):
        for name, damage, command in CASES:
            with self.subTest(file=name, damage=damage.__name__, command=command[0]):
                run = self.copy()
                damage(run / name)
                code, _, err = runs.call(command[0], *command[1:], run)
                self.assertEqual(code, 3, err)
                self.assertIn(Path(name).name, err)

    def test_a_field_file_with_a_damaged_header_is_one_too(self):
        run = self.copy()
        file = sorted((run / "out").glob("*.hdf"))[-1]
        damaged_header(file)
        for command in (PICTURE, ["extract", "--point", "0.5,0.5,0.5"], ["export", "--format", "csv", "-o", "values.csv"]):
            with self.subTest(command=command[0]):
                code, _, err = runs.call(command[0], *command[1:], file)
                self.assertEqual(code, 3, err)
                self.assertIn(file.name, err)

    def test_a_run_without_a_folder_of_fields_is_one_too(self):
        run = self.copy()
        shutil.rmtree(run / "out")
        (run / "deck.toml").unlink()
        code, _, err = runs.call(*PAGE, run)
        self.assertEqual(code, 3, err)


if __name__ == "__main__":
    unittest.main()
