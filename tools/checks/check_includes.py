#!/usr/bin/env python3
"""Compares every #include and every CMake link with the table "who may include whom" of docs/design.md.

usage: check_includes.py [ROOT]      exit 0: all agree, 1: prints one line for each that does not
"""
import re
import sys
from pathlib import Path

SHARED_BY_COMPONENTS = {"detail", "reflux", "stencils", "subcycle", "sources", "tables"}
MODULES = ["core", "grid", "taskgraph", "datawarehouse", "scheduler", "components", "tools"]

# The words of the table's column "never", and the headers that they stand for.
FORBIDDEN_HEADERS = {
    "MPI": r"mpi\.h|mpio?\.h",
    "CUDA": r"cuda.*|cub/.*|thrust/.*|nv(?!tx3/).*\.h",  # NVTX is annotations and needs no CUDA
    "threads": r"thread|mutex|shared_mutex|condition_variable|future|semaphore|barrier|latch|pthread\.h|atomic",
    "I/O": r"fstream|iostream|cstdio|stdio\.h|filesystem|fcntl\.h|unistd\.h|hdf5.*|H5.*|sys/.*",
}
# Heavy headers stay out of interfaces, whatever the module, so that nobody else pays for them.
HEAVY = re.compile(r"mpi\.h|_?HYPRE.*|nvtx3/.*|hdf5.*|H5.*|toml\+\+/.*|nlohmann/.*|CLI/.*|muParser.*|Kokkos_.*|hwloc.*")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def read_table(design):
    """The rows of the table in docs/design.md: folder -> (modules it may include, words it must never include)."""
    table = {}
    for line in design.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        folder = re.fullmatch(r"`(\w+)/`", cells[0]) if len(cells) >= 3 else None
        if folder and folder.group(1) in MODULES:
            allowed = set(MODULES) if cells[1] == "all" else set(re.findall(r"\w+", cells[1])) & set(MODULES)
            never = [word for word in FORBIDDEN_HEADERS if re.search(rf"\b{word}\b", cells[2])]
            table[folder.group(1)] = (allowed, never)
    return table


def includes_of(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1) == '"', found.group(2)


def fault_of_project_include(root, path, module, target, table):
    """Why `path` may not include the project's header `target`, or None."""
    parts = target.split("/")
    if not (root / target).exists():
        return "is not a path from the root of the repository"
    if parts[0] == "tests":
        # A benchmark may measure what a test proves, on the same case.
        bench = path.relative_to(root).parts[:2] == ("tools", "bench")
        return None if module == "tests" or bench else "is a test's header"
    owner = parts[0]
    if owner not in MODULES:
        return "lies in no module"
    # tests/grid/x_test.cpp tests the module grid, private parts included.
    home = path.relative_to(root).parts[1] if module == "tests" else module
    if "detail" in parts[:-1] and owner != home:
        return f"is private to {owner}/"
    if module != "tests" and owner != module and owner not in table[module][0]:
        return f"is closed to {module}/: the table in docs/design.md allows {', '.join(sorted(table[module][0])) or 'none'}"
    if path.relative_to(root).parts[:2] == ("scheduler", "device") and parts[:2] != ["scheduler", "device"]:
        if owner == "scheduler":
            return "is closed to scheduler/device/, a module of its own that the rest of scheduler/ is built on"
    solvers = ["scheduler", "solvers"]
    ofSolvers = list(path.relative_to(root).parts[:2]) == solvers
    if owner == "scheduler" and ofSolvers != (parts[:2] == solvers):
        if module == "scheduler" and not (ofSolvers and parts[:2] == ["scheduler", "device"]):
            return "is closed: scheduler/solvers/ is a module of its own, and the rest of scheduler/ another one"
    if module == "components" and owner == "components":
        mine, theirs = path.relative_to(root).parts[1:-1], parts[1:-1]
        if mine and theirs and mine[0] != theirs[0] and theirs[0] not in SHARED_BY_COMPONENTS:
            return "belongs to another component: components couple through labels alone"
    return None


def check_file(root, path, module, table):
    for number, own, target in includes_of(path):
        place = f"{path.relative_to(root)}:{number}"
        if own:
            fault = fault_of_project_include(root, path, module, target, table)
            if fault:
                yield f'{place}: "{target}" {fault}'
            continue
        if module in table:
            for word in table[module][1]:
                if re.fullmatch(FORBIDDEN_HEADERS[word], target):
                    yield f"{place}: <{target}> brings {word}, which {module}/ must never see"
        # A benchmark calls hypre without us, to say what our layer costs.
        solves = path.relative_to(root).parts[:2] == ("scheduler", "solvers") or path.name == "bare_hypre.cpp"
        if target.startswith(("HYPRE", "_hypre")) and not solves:
            yield f"{place}: <{target}> is for scheduler/solvers/ alone"
        if module != "tests" and path.suffix == ".hpp" and "detail" not in path.parts and HEAVY.fullmatch(target):
            yield f"{place}: <{target}> is heavy: include it in a .cpp file only"


def check_links(root, table):
    """The libraries that CMakeLists.txt links, with what they link in turn, are the table's rows."""
    text = re.sub(r"#.*", "", (root / "CMakeLists.txt").read_text())
    links = {}
    for name, rest in re.findall(r"tessera_module\((\w+)([^)]*)\)", text):
        direct = re.search(r"LINKS((?:\s+[a-z]\w*)+)", rest)
        links[name] = set(direct.group(1).split()) & set(MODULES) if direct else set()
    for name in links:
        reached, todo = set(), list(links[name])
        while todo:
            other = todo.pop()
            if other not in reached:
                reached.add(other)
                todo.extend(links.get(other, ()))
        if name in table and reached != table[name][0]:
            yield (f"CMakeLists.txt: {name} links {sorted(reached)}, "
                   f"but the table in docs/design.md says {sorted(table[name][0])}")
    for name in table:
        if name != "tools" and name not in links:
            yield f"CMakeLists.txt: no tessera_module({name})"


def check(root):
    table = read_table(root / "docs" / "design.md")
    absent = [module for module in MODULES if module not in table]
    if absent:
        return [f"docs/design.md: the table 'who may include whom' has no row for {', '.join(absent)}"]
    faults = list(check_links(root, table))
    for module in MODULES + ["tests"]:
        for path in sorted((root / module).rglob("*.?pp")):
            faults.extend(check_file(root, path, module, table))
    return faults


if __name__ == "__main__":
    ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]).resolve()
    FAULTS = check(ROOT)
    print("\n".join(FAULTS) or "includes: every include and link is allowed")
    sys.exit(1 if FAULTS else 0)
