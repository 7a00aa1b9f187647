#!/usr/bin/env python3
"""Runs the tests of tools/python and the examples in its texts (doctests).

usage: run_tests.py [NAME]...     names of files here without _test.py [default: all]; TESSERA_PROGRAM names the program
Ends with "N passed, N failed"; exit 1 where one failed.
"""
import doctest
import importlib
import os
import pkgutil
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[2] / "tools" / "python"
NEEDS_MORE = {"all_decks_browser", "browser", "site_browser", "yt"}  # run by name: a browser, the built site, yt


def doctests():
    """The examples of every module of the package."""
    suite = unittest.TestSuite()
    import tessera

    for module in pkgutil.walk_packages(tessera.__path__, "tessera."):
        if not module.name.endswith("__main__"):
            suite.addTests(doctest.DocTestSuite(importlib.import_module(module.name)))
    return suite


def main(names):
    for folder in (PACKAGE, HERE):
        sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ.setdefault("MPLCONFIGDIR", str(Path(os.environ.get("TMPDIR", "/tmp")) / f"matplotlib-{os.getuid()}"))
    known = sorted(path.name[:-len("_test.py")] for path in HERE.glob("*_test.py"))
    suite = unittest.TestSuite()
    for name in names or [*[n for n in known if n not in NEEDS_MORE], "doctest"]:
        if name == "doctest":
            suite.addTests(doctests())
        elif name in known:
            suite.addTests(unittest.defaultTestLoader.loadTestsFromName(f"{name}_test"))
        else:
            print(f"run_tests.py: there is no {name}_test.py; there is {', '.join(known)}")
            return 2
    result = unittest.TextTestRunner(verbosity=1, stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
