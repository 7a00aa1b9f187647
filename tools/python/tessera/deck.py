"""Decks as the run folder keeps them: every value, and the exact solutions that they give."""
import tomllib
from pathlib import Path

from tessera.errors import InputError
from tessera.expression import Expression
from tessera.files import read_text

# Which field an `exact` of a table belongs to, where the table has another name than the field.
EXACT_FIELDS = {"heat": "temperature", "advection": "concentration", "wave": "displacement"}


class Deck:
    """The values of a deck; `deck["grid"]["cells"]`, `deck.get("time.end")`."""

    def __init__(self, values, text="", path=None):
        self.values, self.text, self.path = values, text, path

    @classmethod
    def read(cls, path):
        path = Path(path)
        text = read_text(path)
        try:
            return cls(tomllib.loads(text), text, path)
        except (tomllib.TOMLDecodeError, RecursionError) as problem:
            raise InputError(f"{path} is not TOML: {problem}\n  fix  tessera check {path} shows the place") from problem

    def __getitem__(self, key):
        return self.values[key]

    def get(self, name, default=None):
        """The value of 'table.key', or the default."""
        value = self.values
        for part in name.split("."):
            if not isinstance(value, dict) or part not in value:
                return default
            value = value[part]
        return value

    @property
    def title(self):
        return str(self.get("simulation.title", ""))

    @property
    def components(self):
        return list(self.get("simulation.components", []))

    def unit(self, word):
        """What the deck calls a unit: 's' for `unit("time")`; the word where it does not say."""
        return str(self.get(f"units.{word}", word))

    def constants(self):
        return {key: float(value) for key, value in self.values.get("constants", {}).items()}

    def exact(self, field_names):
        """{field: Expression} for each component that gives an exact solution of one of these fields."""
        found = {}
        for component in self.components:
            given = self.get(f"{component}.exact")
            if given in (None, ""):
                continue
            if isinstance(given, dict):
                parts = self._exact_parts(component, given, field_names)
            else:
                parts = {self._exact_field(component, field_names): given}
            found.update({name: Expression(text, self.constants()) for name, text in parts.items() if name is not None})
        return found

    @property
    def command(self):
        """The command that runs it: 'run', 'job' or 'ensemble'."""
        if self.get("job") is not None:
            return "job"
        return "ensemble" if self.get("stages") is not None or self.get("replica_exchange") is not None else "run"

    @classmethod
    def _exact_parts(cls, component, table, field_names, before=""):
        """Of `exact.velocity.x` and its like: {"velocity_x": text}; fields may begin with the name of the component."""
        found = {}
        for key, value in table.items():
            if isinstance(value, dict):
                found.update(cls._exact_parts(component, value, field_names, f"{before}{key}_"))
                continue
            for name in (before + key, f"{component}.{before}{key}", f"{component}_{before}{key}"):
                if name in field_names:
                    found[name] = value
        return found

    @staticmethod
    def _exact_field(component, field_names):
        """The field that the exact solution of a component is of: by its name, or the only one that it can be."""
        if component in EXACT_FIELDS:
            return EXACT_FIELDS[component] if EXACT_FIELDS[component] in field_names else None
        own = [name for name in field_names if name.startswith(f"{component}.")]
        shared = [name for name in field_names if "." not in name and name not in EXACT_FIELDS.values()]
        return own[0] if len(own) == 1 else shared[0] if len(shared) == 1 else None
