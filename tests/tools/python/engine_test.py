"""Many small tasks from Python, by the shared library of the engine."""
import os
import struct
import subprocess
import sys
import unittest
from pathlib import Path

from tessera.engine import Engine, EngineError, TaskError


class EngineFromPython(unittest.TestCase):
    def test_ten_thousand_tasks_come_back_in_order(self):
        with Engine("threads", 2, 64) as engine:
            sums = engine.map("adder", [(n, 5) for n in range(10_000)])
        self.assertEqual(sums, [(n + 5,) for n in range(10_000)])

    def test_data_go_in_and_out(self):
        with Engine("stepped") as engine:
            block = engine.allocate(3 * 8 * 4)
            engine.copy_in(block, struct.pack("8d", 1, 2, 3, 4, 10, 20, 30, 40))
            self.assertEqual(engine.map("vector_add", [(block, block + 32, block + 64, 4)]), [(110.0,)])
            self.assertEqual(struct.unpack("4d", engine.copy_out(block + 64, 32)), (11.0, 22.0, 33.0, 44.0))
            engine.free(block)
            with self.assertRaisesRegex(EngineError, "given back already"):
                engine.free(block)

    def test_kinds_of_ones_own_come_from_a_library(self):
        example = Path(__file__).parents[3] / "examples/reactions/rows.py"
        done = subprocess.run([sys.executable, example, os.environ["TESSERA_REACT_KINDS"]], capture_output=True,
                              text=True, check=False, env=os.environ)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("100 rows, 792 substeps, all right", done.stdout)
        with self.assertRaisesRegex(EngineError, "the library of kinds ./none.so cannot be loaded"):
            Engine("stepped", kinds="./none.so")

    def test_a_task_that_fails_is_named(self):
        with Engine("stepped") as engine, self.assertRaisesRegex(TaskError, "task 0 failed with code 7"):
            engine.map("failing", [(7,)])

    def test_mistakes_are_sentences(self):
        with self.assertRaisesRegex(EngineError, "an engine's form is threads, stepped or cuda"):
            Engine("quantum")
        with Engine("stepped") as engine, self.assertRaisesRegex(EngineError, "it has adder, adder_warp"):
            engine.map("subtracter", [(1, 2)], ("qq", "q"))

    def test_the_example_runs(self):
        done = subprocess.run([sys.executable, "-m", "tessera.engine"], capture_output=True, text=True, check=False,
                              env=os.environ)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("10000 tasks, all results right", done.stdout)


if __name__ == "__main__":
    unittest.main()
