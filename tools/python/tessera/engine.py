"""Many small tasks from Python, by the C face of the task engine (scheduler/engine/tessera_engine.h).

    from tessera.engine import Engine

    with Engine("threads") as engine:                       # or "cuda"
        sums = engine.map("adder", [(n, 1) for n in range(10_000)])
        assert sums[41] == (42,)

The library is libtessera_engine_c.so: in $TESSERA_ENGINE_LIBRARY, beside an installed program, or in a build folder.
`python3 -m tessera.engine` runs the example above and prints how long it took.
"""
from __future__ import annotations

import ctypes
import os
import struct
import time
from pathlib import Path

#: Arguments and results of the kinds that are shipped, in the letters of the module struct.
LAYOUTS = {
    "adder": ("qq", "q"),
    "adder_warp": ("qq", "q"),
    "adder_block": ("qq", "q"),
    "vector_add": ("PPPq", "d"),
    "matrix_product": ("PPPq", "d"),
    "matrix_product_block": ("PPPq", "d"),
    "molecular_dynamics": ("PQIIdd", "6d"),
    "molecular_dynamics_block": ("PQIIdd", "6d"),
    "harmonic_replica": ("PQddII", "3d"),
    "spin": ("QQ", "Q"),
    "failing": ("I", "I"),
}
STATUS = ["done", "failed", "late", "cancelled", "skipped", "of an unknown kind"]


class EngineError(RuntimeError):
    """What the engine said was wrong, a sentence with a fix."""


class TaskError(RuntimeError):
    """A task that did not end well; `index` is its place in the list."""

    def __init__(self, index: int, status: str, code: int):
        super().__init__(f"task {index} {status}" + (f" with code {code}" if status == "failed" else ""))
        self.index, self.status, self.code = index, status, code


class _Options(ctypes.Structure):
    _fields_ = [("kinds", ctypes.c_char_p), ("place", ctypes.c_int), ("multiprocessors", ctypes.c_int),
                ("capacity", ctypes.c_int64), ("memory", ctypes.c_int64)]


class _Result(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_uint64), ("status", ctypes.c_uint16), ("kind", ctypes.c_uint16),
                ("code", ctypes.c_uint32), ("result", ctypes.c_uint64 * 6)]


def find_library() -> Path:
    """The first libtessera_engine_c.so of the places that this page's beginning names."""
    name = "libtessera_engine_c.so"
    given = os.environ.get("TESSERA_ENGINE_LIBRARY")
    if given:
        return Path(given)
    here = Path(__file__).resolve()
    for folder in here.parents:
        for place in [folder / "lib" / name, *sorted(folder.glob(f"build/*/{name}")),
                      *sorted(folder.glob(f"build/*/scheduler/engine/{name}"))]:
            if place.exists():
                return place
    raise EngineError(f"{name} is not beside this package; build the target tessera_engine_c, or name the file in "
                      "TESSERA_ENGINE_LIBRARY")


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(str(find_library()))
    handle, size, pointer = ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p
    signatures = {
        "setup_with": (ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(_Options), ctypes.POINTER(handle)]),
        "cleanup": (ctypes.c_int, [handle]),
        "kind": (ctypes.c_int, [handle, ctypes.c_char_p]),
        "push": (size, [handle, ctypes.c_int, pointer, size, size, pointer]),
        "poll": (size, [handle, pointer, size]),
        "allocate": (pointer, [handle, size]),
        "free": (ctypes.c_int, [handle, pointer]),
        "copy_in": (ctypes.c_int, [handle, pointer, pointer, size]),
        "copy_out": (ctypes.c_int, [handle, pointer, pointer, size]),
        "drain": (ctypes.c_int, [handle]),
        "error": (ctypes.c_char_p, []),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, f"tessera_engine_{name}")
        function.restype, function.argtypes = result, arguments
    return library


class Engine:
    """One engine; `form` is "threads", "stepped" or "cuda", `place` its threads (0: one a core) or its GPU.

    `kinds` is the file of a library with kinds of one's own, in place of those that ship; `multiprocessors` how many of
    the GPU are for this engine (0: all). Many engines may live at a time.
    """

    def __init__(self, form: str = "threads", place: int = 0, capacity: int = 0, memory: int = 0,
                 kinds: str | os.PathLike | None = None, multiprocessors: int = 0):
        self._library = _load()
        self._handle = ctypes.c_void_p()
        options = _Options(None if kinds is None else os.fsencode(kinds), place, multiprocessors, capacity, memory)
        self._check(self._library.tessera_engine_setup_with(form.encode(), ctypes.byref(options),
                                                            ctypes.byref(self._handle)))

    def close(self) -> None:
        """Ends the workers after the tasks that run."""
        if self._handle:
            self._library.tessera_engine_cleanup(self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _check(self, code: int) -> int:
        if code < 0:
            raise EngineError(self._library.tessera_engine_error().decode())
        return code

    def map(self, kind: str, arguments, layout: tuple[str, str] | None = None) -> list[tuple]:
        """Runs a task of `kind` for each tuple of arguments; the tuples of results in the same order.

        `layout` has the struct letters of arguments and result; those of shipped kinds are known. Raises TaskError
        for the first task that did not end well.
        """
        before, after = layout or LAYOUTS[kind]
        number = self._check(self._library.tessera_engine_kind(self._handle, kind.encode()))
        packed = b"".join(struct.pack(before, *each) for each in arguments)
        width = struct.calcsize(before)
        count = len(packed) // width
        bytes_in = ctypes.create_string_buffer(packed, max(1, len(packed)))
        tags = (ctypes.c_uint64 * count)(*range(count))
        results: list[tuple] = [()] * count
        failure: TaskError | None = None
        room = (_Result * 256)()
        pushed = polled = 0
        while polled < count:
            pushed += self._check(self._library.tessera_engine_push(
                self._handle, number, ctypes.byref(bytes_in, pushed * width), width, count - pushed,
                ctypes.byref(tags, pushed * 8)))
            got = self._check(self._library.tessera_engine_poll(self._handle, room, len(room)))
            for end in room[:got]:
                if end.status != 0 and failure is None:
                    failure = TaskError(end.tag, STATUS[end.status], end.code)
                results[end.tag] = struct.unpack_from(after, end.result)
            polled += got
        if failure is not None:
            raise failure
        return results

    def allocate(self, size: int) -> int:
        """The address of memory where tasks run."""
        block = self._library.tessera_engine_allocate(self._handle, size)
        if not block:
            raise EngineError(self._library.tessera_engine_error().decode())
        return block

    def free(self, block: int) -> None:
        """Gives a block back."""
        self._check(self._library.tessera_engine_free(self._handle, block))

    def copy_in(self, to: int, data: bytes) -> None:
        """Copies bytes to memory of tasks."""
        self._check(self._library.tessera_engine_copy_in(self._handle, to, data, len(data)))

    def copy_out(self, source: int, size: int) -> bytes:
        """Copies bytes from memory of tasks."""
        data = ctypes.create_string_buffer(size)
        self._check(self._library.tessera_engine_copy_out(self._handle, data, source, size))
        return data.raw


def main() -> None:
    """The example: 10,000 small tasks."""
    with Engine("threads") as engine:
        begin = time.perf_counter()
        sums = engine.map("adder", [(n, 1) for n in range(10_000)])
        seconds = time.perf_counter() - begin
    assert sums == [(n + 1,) for n in range(10_000)]
    print(f"10000 tasks, all results right, {seconds * 1e6 / 10_000:.2f} us a task")


if __name__ == "__main__":
    main()
