"""What the manifest of a checkpoint says: step, time, variables, ranks, state. The values stay with the program."""
import json
import struct
from pathlib import Path

from tessera.errors import InputError

SCALARS = {1: "float32", 2: "float64", 3: "int32", 4: "int64"}  # as core/element_type.hpp numbers them
CENTERINGS = ("cell", "node", "face x", "face y", "face z")


def exact_number(text):
    """'0x1.8p+1' or 'bits:7ff8000000000001' as a float, every bit of it.

        >>> exact_number("0x1.8p+1")
        3.0
    """
    if text.startswith("bits:"):
        return struct.unpack(">d", bytes.fromhex(text[5:]))[0]
    return float.fromhex(text)


def _value(entry):
    (kind, content), = entry.items()
    if kind == "real":
        return exact_number(content)
    return [exact_number(text) for text in content] if kind == "reals" else content


class Checkpoint:
    """One checkpoint folder; `tessera info CHECKPOINT` also verifies its checksums."""

    def __init__(self, path):
        self.path = Path(path)
        manifest = self.path / "manifest.json"
        if not manifest.is_file():
            raise InputError(f"{self.path} is not a checkpoint: it has no manifest.json\n"
                             "  fix  give a folder RUN/checkpoints/ckpt-...")
        try:
            document = json.loads(manifest.read_text(encoding="utf-8"))
            self._read(document)
        except (ValueError, KeyError, TypeError) as problem:
            raise InputError(f"{manifest} is damaged: {problem}\n  fix  tessera info {self.path.parent.parent} tells"
                             " which checkpoints are whole") from problem

    def _read(self, document):
        if document["tessera_checkpoint"] != 1:
            raise InputError(f"{self.path} has format {document['tessera_checkpoint']}; this package reads format 1")
        body = document["body"]
        identity = body["identity"]
        self.step = int(body["step"])
        self.ranks = len(body["files"])
        self.bytes = sum(int(file["bytes"]) for file in body["files"])
        self.components = list(identity["components"])
        self.code_version = identity["code_version"]
        self.deck_text = identity["deck"]
        self.variables = [{"name": label["name"], "type": SCALARS[label["scalar"]], "components": label["components"],
                           "centering": CENTERINGS[label["centering"]]} for label in identity["labels"]]
        self.state = {key: _value(entry) for key, entry in body["state"].items()}

    @property
    def time(self):
        return float(self.state.get("time", float("nan")))

    def __repr__(self):
        return f"Checkpoint({self.path}, step {self.step}, t = {self.time:g}, {self.ranks} rank(s))"
