#!/usr/bin/env python3
"""Proves that each check of tools/checks can fail: a small tree with one fault, and the line that reports it."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CHECKS = ROOT / "tools" / "checks"

DESIGN = """
| folder | may include | never | what is there |
|---|---|---|---|
| `core/` | - | - | x |
| `grid/` | core | MPI | x |
| `taskgraph/` | core, grid | MPI, threads, I/O | x |
| `datawarehouse/` | core, grid | - | x |
| `scheduler/` | core, grid, taskgraph, datawarehouse | - | x |
| `components/` | core, grid, taskgraph, datawarehouse | MPI, CUDA | x |
| `tools/` | all | - | x |
"""
CMAKE = """
tessera_module(core EXTERNAL PkgConfig::MPICH)
tessera_module(grid LINKS core)
tessera_module(taskgraph LINKS grid)
tessera_module(datawarehouse LINKS grid EXTERNAL PkgConfig::HDF5)
tessera_module(scheduler LINKS taskgraph datawarehouse)
tessera_module(components LINKS taskgraph datawarehouse)
"""


class TreeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.write("docs/design.md", DESIGN)
        self.write("CMakeLists.txt", CMAKE)
        for folder in ("taskgraph", "datawarehouse", "tools"):
            (self.root / folder).mkdir()
        for header in ("core/geometry/box.hpp", "grid/level.hpp", "scheduler/executor.hpp", "core/detail/secret.hpp",
                       "components/heat/heat.hpp"):
            self.write(header, "/// A box.\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_check(self, name, *options):
        done = subprocess.run([sys.executable, CHECKS / name, *options, self.root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_fault(self, name, text):
        status, said = self.run_check(name)
        self.assertIn(text, said)
        self.assertEqual(status, 1)

    def assert_clean(self, name):
        status, said = self.run_check(name)
        self.assertEqual(status, 0, said)


class IncludesTest(TreeTest):
    def test_what_the_table_allows_passes(self):
        self.write("grid/level.cpp", '#include "core/geometry/box.hpp"\n')
        self.write("tests/core/secret_test.cpp", '#include "core/detail/secret.hpp"\n')
        self.assert_clean("check_includes.py")

    def test_a_later_module_is_refused(self):
        self.write("grid/level.cpp", '\n#include "scheduler/executor.hpp"\n')
        self.assert_fault("check_includes.py", 'grid/level.cpp:2: "scheduler/executor.hpp" is closed to grid/')

    def test_private_parts_of_another_module_are_refused(self):
        self.write("grid/level.cpp", '#include "core/detail/secret.hpp"\n')
        self.assert_fault("check_includes.py", '"core/detail/secret.hpp" is private to core/')

    def test_a_component_may_not_include_another(self):
        self.write("components/wave/wave.cpp", '#include "components/heat/heat.hpp"\n')
        self.assert_fault("check_includes.py", "belongs to another component")

    def test_a_relative_include_is_refused(self):
        self.write("grid/level.cpp", '#include "level.hpp"\n')
        self.assert_fault("check_includes.py", '"level.hpp" is not a path from the root')

    def test_forbidden_headers_are_refused(self):
        self.write("taskgraph/compile.cpp", "#include <mutex>\n#include <mpi.h>\n#include <fstream>\n")
        self.assert_fault("check_includes.py", "compile.cpp:1: <mutex> brings threads")
        self.assert_fault("check_includes.py", "compile.cpp:2: <mpi.h> brings MPI")
        self.assert_fault("check_includes.py", "compile.cpp:3: <fstream> brings I/O")

    def test_a_heavy_header_in_a_header_is_refused(self):
        self.write("core/deck/deck.hpp", "#include <toml++/toml.h>\n")
        self.assert_fault("check_includes.py", "<toml++/toml.h> is heavy")

    def test_a_link_beyond_the_table_is_refused(self):
        self.write("CMakeLists.txt", CMAKE.replace("grid LINKS core", "grid LINKS core scheduler"))
        self.assert_fault("check_includes.py", "CMakeLists.txt: grid links")

    def test_a_missing_row_is_refused(self):
        self.write("docs/design.md", DESIGN.replace("| `grid/`", "| grid"))
        self.assert_fault("check_includes.py", "has no row for grid")


class SizesTest(TreeTest):
    def test_short_files_pass(self):
        self.assert_clean("check_sizes.py")

    def test_a_long_file_is_refused(self):
        self.write("core/long.cpp", "\n" * 601)
        self.assert_fault("check_sizes.py", "core/long.cpp: 601 lines, at most 600")

    def test_a_long_function_is_refused_and_a_long_class_is_not(self):
        body = "  a();\n" * 80
        members = "  void f();\n" * 100
        self.write("core/a.cpp", "namespace t {\nclass C {\n" + members + "};\nvoid f(int x) const {\n" + body + "}\n}\n")
        status, said = self.run_check("check_sizes.py")
        self.assertEqual(said.strip(), "core/a.cpp:104: a function of 82 lines, at most 80")
        self.assertEqual(status, 1)

    def test_braces_in_text_do_not_count(self):
        self.write("core/a.cpp", 'void f() { g("{{{{", R"(})", \'{\'); }  // {\n' + "int x;\n" * 90)
        self.assert_clean("check_sizes.py")

    def test_an_unexplained_header_is_refused(self):
        self.write("core/plain.hpp", "int x();\n" * 40)
        self.assert_fault("check_sizes.py", "core/plain.hpp: 0 comment lines of 40")
        self.assert_fault("check_sizes.py", "public headers: ")


class LayoutTest(TreeTest):
    ROOMS = """
| room | may include | open to other modules | what is there |
|---|---|---|---|
| `core/text` | - | yes | x |
| `core/deck` | `text` | no | x |
| `core/geometry` | - | yes | x |
| `core/detail` | - | yes | x |
| `scheduler/.` | - | yes | x |
"""

    def test_small_rooms_pass(self):
        self.write("docs/rooms.md", self.ROOMS)
        self.write("core/text/error.hpp", "/// x\n")
        self.write("core/deck/deck.cpp", '#include "core/text/error.hpp"\nint Deck::size() const { return 0; }\n')
        self.assert_clean("check_layout.py")

    def test_a_crowded_folder_is_refused(self):
        for number in range(26):
            self.write(f"grid/part_{number}.hpp", "/// x\n")
        self.assert_fault("check_layout.py", "grid: 27 files, at most 25")

    def test_a_class_in_two_sources_is_refused(self):
        self.write("grid/level.cpp", "int Level::size() const { return 0; }\n")
        self.write("grid/more.cpp", "\nstd::vector<int> Level::parts(int n) {\n  return {};\n}\n")
        self.assert_fault("check_layout.py", "Level: defined in grid/level.cpp, grid/more.cpp")

    def test_a_call_or_a_result_of_another_class_is_no_definition(self):
        self.write("grid/level.cpp", "int Level::size() const { return 0; }\n")
        self.write("grid/other.cpp", "const int x = \n    Level::size();\nLevel::Part partOf(int n) { return {}; }\n")
        self.assert_clean("check_layout.py")

    def test_a_room_beyond_its_row_is_refused(self):
        self.write("docs/rooms.md", self.ROOMS)
        self.write("core/deck/deck.hpp", "/// x\n")
        self.write("core/text/error.cpp", '#include "core/deck/deck.hpp"\n')
        self.assert_fault("check_layout.py", 'core/text/error.cpp:1: "core/deck/deck.hpp" is closed to the room text of core')

    def test_a_private_room_and_a_room_without_a_row_are_refused(self):
        self.write("docs/rooms.md", self.ROOMS)
        self.write("core/deck/deck.hpp", "/// x\n")
        self.write("grid/level.cpp", '#include "core/deck/deck.hpp"\n')
        self.write("core/attic/old.hpp", "/// x\n")
        self.assert_fault("check_layout.py", "is in a room that is private to core")
        self.assert_fault("check_layout.py", "docs/rooms.md has no row for the room attic of core")


class KernelsTest(TreeTest):
    def test_kernels_of_public_and_free_functions_pass(self):
        self.write("components/heat/step_kernels.cpp",
                   "struct Step {\n void run() { f([=] TESSERA_KERNEL(Index x) {}); }\n private:\n  int n;\n};\n"
                   "void free() { f([=] TESSERA_KERNEL(Index x) {}); }\n")
        self.assert_clean("check_kernels.py")

    def test_a_kernel_in_a_private_function_is_refused(self):
        self.write("components/heat/step_kernels.cpp",
                   "struct Step {\n private:\n  void run() { f([=] TESSERA_KERNEL(Index x) {}); }\n};\n")
        self.assert_fault("check_kernels.py", "step_kernels.cpp:3: a kernel in a private")

    def test_a_generic_kernel_is_refused(self):
        self.write("tests/core/any_kernels.cpp", "void free() { f([=] TESSERA_KERNEL(auto x) {}); }\n")
        self.assert_fault("check_kernels.py", "any_kernels.cpp:1: a generic kernel")


    def test_a_kernel_in_a_header_of_two_sources_is_refused(self):
        self.write("components/sums.hpp", "template <class T> void sum() { f([=] TESSERA_KERNEL(Index x) {}); }\n")
        self.write("components/more.hpp", '#include "components/sums.hpp"\n')
        self.write("components/heat/heat_kernels.cpp", '#include "components/sums.hpp"\n')
        self.assert_clean("check_kernels.py")
        self.write("components/euler/euler_kernels.cpp", '#include "components/more.hpp"\n')
        self.assert_fault("check_kernels.py", "components/sums.hpp:1: a kernel in a header of 2 sources")


class BuildCostTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.build = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_check(self, *options):
        done = subprocess.run([sys.executable, CHECKS / "build_cost.py", self.build, *options], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_an_object_above_the_limit_is_refused_by_its_processor_time(self):
        (self.build / "build.ninja").write_text("")
        (self.build / ".ninja_log").write_text("# ninja log v5\n0\t90000\t0\tslow.o\tx\n0\t90000\t0\tidle.o\tx\n")
        slow = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"
        commands = [{"directory": str(self.build), "file": name, "command": f"{sys.executable} -c '{program}' -o {name}.o"}
                    for name, program in (("slow", slow), ("idle", "import time; time.sleep(0.5)"))]
        (self.build / "compile_commands.json").write_text(json.dumps(commands))
        status, said = self.run_check("--limit", "0.4")
        self.assertEqual(status, 1, said)
        self.assertIn("slow.o: 0.", said)
        self.assertNotIn("idle.o: 0.", said)

    def test_a_folder_without_a_build_is_named(self):
        status, said = self.run_check()
        self.assertEqual(status, 2)
        self.assertIn("holds no Ninja build", said)


class WordsTest(TreeTest):
    def test_plain_words_pass(self):
        self.write("core/a.cpp", "// The common part of two boxes.\n")
        self.assert_clean("check_words.py")

    def test_marks_are_found(self):
        for line in ("// TO" + "DO later", "#if " + "0", "TEST(A, DISABLE" + "D_b)", "  GTEST_SKI" + "P();",
                     '"/wor' + 'k/main"'):
            self.write("core/a.cpp", "\n" + line + "\n")
            self.assert_fault("check_words.py", "core/a.cpp:2: ")

    def test_empty_names_are_found(self):
        self.write("core/deck_utils.hpp", "/// x\n")
        self.assert_fault("check_words.py", '"deck_utils" says nothing')
        self.write("core/b.hpp", "struct DeckHelper {};\n")
        self.assert_fault("check_words.py", '"DeckHelper" says nothing')


class LinksTest(TreeTest):
    def test_links_that_lead_somewhere_pass(self):
        self.write("docs/page.md", "See [the design](design.md#words), [the web](https://x.invalid/) and `core/geometry/box.hpp`.\n")
        self.assert_clean("check_links.py")

    def test_links_and_paths_that_lead_nowhere_are_found(self):
        self.write("docs/page.md", "\nSee [it](gone.md).\n`grid/gone.hpp`\n")
        self.assert_fault("check_links.py", "docs/page.md:2: the link gone.md leads nowhere")
        self.assert_fault("check_links.py", "docs/page.md:3: there is no grid/gone.hpp")

    def test_a_promise_without_its_test_is_found(self):
        self.write("docs/promises.md", "| P1 | `Restart.IsBitwise`, `Restart.IsGone`, `Session.Ends` |\n")
        self.write("tests/regression/restart_test.cpp", "TEST_F(Restart,\n       IsBitwise) {}\n")
        self.write("tests/mpi/CMakeLists.txt", "tessera_mpi_test(Session.Ends RANKS 3)\n")
        status, said = self.run_check("check_links.py")
        self.assertEqual((status, said), (1, "docs/promises.md:1: there is no test Restart.IsGone\n"))


    def test_a_fault_without_a_test_is_found(self):
        self.write("docs/faults.md", "# Faults\n\n## 1: it hangs\n\n* Tests: `All/Job.Stops/*`\n\n## 2: it lies\n\n* Tests: none\n")
        self.write("tests/faults/job_test.cpp", "TEST_P(Job, Stops) {}\n")
        status, said = self.run_check("check_links.py")
        self.assertEqual((status, said), (1, 'docs/faults.md: the fault "2: it lies" names no test\n'))


class GeneratedPagesTest(TreeTest):
    """Each script writes a page, agrees with it, and notices when what it came from has changed."""

    def assert_written(self, name):
        self.assertEqual(self.run_check(name)[0], 0)
        self.assertEqual(self.run_check(name, "--check")[0], 0)

    def assert_stale(self, name, text):
        status, said = self.run_check(name, "--check")
        self.assertIn(text, said)
        self.assertEqual(status, 1)

    def test_a_new_include_between_rooms_makes_the_picture_stale(self):
        self.write("core/text/error.hpp", "/// x\n")
        self.assert_written("draw_house.py")
        self.write("core/geometry/box.hpp", "/// A box.\n/// One line more changes numbers alone.\n")
        self.assertEqual(self.run_check("draw_house.py", "--check")[0], 0)
        self.write("core/geometry/box.hpp", '#include "core/text/error.hpp"\n')
        self.assert_stale("draw_house.py", "docs/figures/house.svg is stale")

    def test_a_changed_source_makes_its_listing_stale(self):
        self.write("docs/page.md", '<!-- listing core/a.cpp from "^int f" to "^}" -->\n```cpp\n```\n')
        self.write("core/a.cpp", "int e();\nint f() {\n  return 1;\n}\n")
        self.assert_written("copy_listings.py")
        self.assertIn("```cpp\nint f() {\n  return 1;\n}\n```\n", (self.root / "docs/page.md").read_text())
        self.write("core/a.cpp", "int f() {\n  return 2;\n}\n")
        self.assert_stale("copy_listings.py", "docs/page.md: a listing is stale")
        self.write("core/a.cpp", "int g();\n")
        self.assert_fault("copy_listings.py", "docs/page.md: core/a.cpp has no such part")

    def test_a_new_status_makes_the_index_stale_and_a_missing_one_is_a_fault(self):
        self.write("docs/decisions/0001-sums.md", "# 0001: sums are exact\n\n*Accepted. Subject: graphs.*\n")
        self.assert_written("decision_index.py")
        self.write("docs/decisions/0001-sums.md", "# 0001: sums are exact\n\n*Closed: gone. Subject: graphs.*\n")
        self.assert_stale("decision_index.py", "docs/decisions/README.md is stale")
        self.write("docs/decisions/0001-sums.md", "# 0001: sums are exact\n\nA sum.\n")
        self.assert_fault("decision_index.py", "0001-sums.md:3: no status")


if __name__ == "__main__":
    unittest.main()
