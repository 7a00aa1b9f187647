"""Formulas of decks, evaluated on arrays: what docs/ and `tessera describe` call an expression of x, y, z and t.

    >>> f = Expression("amplitude * sin(2*pi*x) * exp(-t)", {"amplitude": 2.0})
    >>> float(f(x=0.25, t=0.0))
    2.0
    >>> Expression("-2^2")().item(), Expression("x < 1 ? 5 : 6")(x=3).item()
    (-4.0, 6.0)

The grammar and the functions are those of the program (core/expression.hpp); the bits may differ in the last place.
"""
import re

import numpy as np

from tessera.errors import UsageError, nearest

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_][\w.]*)|(<=|>=|==|!=|&&|\|\||[-+*/^()?:,<>]))")


def _round(a):
    return np.where(np.asarray(a) < 0, -np.floor(0.5 - a), np.floor(np.asarray(a) + 0.5))


def _mod(a, b):
    return a - b * np.floor(a / b)


def _if(condition, a, b):
    return np.where(np.asarray(condition) != 0, a, b)


def _each(function):
    def fold(*values):
        result = values[0]
        for value in values[1:]:
            result = function(result, value)
        return result
    return fold


FUNCTIONS = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp, "log": np.log,
    "log10": np.log10, "sqrt": np.sqrt, "abs": np.abs, "sign": np.sign, "min": _each(np.minimum),
    "max": _each(np.maximum), "floor": np.floor, "ceil": np.ceil, "round": _round, "pow": np.power, "mod": _mod, "if": _if,
}
COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal}
# Weakest first; all of them join to the left.
BINARY = [
    {"||": lambda a, b: ((np.asarray(a) != 0) | (np.asarray(b) != 0)) * 1.0},
    {"&&": lambda a, b: ((np.asarray(a) != 0) & (np.asarray(b) != 0)) * 1.0},
    {sign: (lambda test: lambda a, b: test(a, b) * 1.0)(test) for sign, test in COMPARE.items()},
    {"+": np.add, "-": np.subtract},
    {"*": np.multiply, "/": np.divide},
]


class Expression:
    """One formula; call it with x, y, z, t as numbers or arrays.

    `resolve(name)` may give a meaning to other names, and `functions` to other functions: what is called with the places
    and, for functions, with the argument. derived.py makes formulas of fields with them; `reach` says how many cells
    around a cell such functions look at, where each looks at the next ones.
    """

    def __init__(self, text, constants=None, resolve=None, functions=None):
        self.text = str(text)
        self.reach, self._depth = 0, 0
        self._constants = {"pi": np.pi, **(constants or {})}
        self._resolve, self._functions = resolve or (lambda name: None), functions or {}
        self._tokens, at = [], 0
        while self.text[at:].strip():
            found = TOKEN.match(self.text, at)
            if not found:
                raise UsageError(f"'{self.text}': no expression can go on with '{self.text[at:].strip()[:1]}'")
            self._tokens.append(found.group(1) or found.group(2) or found.group(3))
            at = found.end()
        self._next = 0
        self._program = self._choice()
        if self._next < len(self._tokens):
            self._fail(f"an operator is missing before '{self._tokens[self._next]}'")

    def __call__(self, x=0.0, y=0.0, z=0.0, t=0.0):
        places = {"x": np.asarray(x, float), "y": np.asarray(y, float), "z": np.asarray(z, float), "t": np.asarray(t, float)}
        value = self.on(places)
        shape = np.broadcast_shapes(*[a.shape for a in places.values()])
        return np.broadcast_to(np.asarray(value, float), shape)

    def _fail(self, why):
        raise UsageError(f"the expression '{self.text}' cannot be read: {why}")

    def _peek(self):
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self, wanted=None):
        token = self._peek()
        if token is None or (wanted is not None and token != wanted):
            self._fail(f"'{wanted or 'a value'}' is missing " + (f"before '{token}'" if token else "at its end"))
        self._next += 1
        return token

    def _choice(self):
        condition = self._binary(0)
        if self._peek() != "?":
            return condition
        self._take("?")
        yes = self._choice()
        self._take(":")
        no = self._choice()
        return lambda p: _if(condition(p), yes(p), no(p))

    def _binary(self, strength):
        if strength == len(BINARY):
            return self._signed()
        left = self._binary(strength + 1)
        while self._peek() in BINARY[strength]:
            operation = BINARY[strength][self._take()]
            left = (lambda f, a, b: lambda p: f(a(p), b(p)))(operation, left, self._binary(strength + 1))
        return left

    def _signed(self):
        if self._peek() not in ("-", "+"):
            return self._power()
        sign = self._take()
        value = self._signed()
        return (lambda p: -value(p)) if sign == "-" else value

    def _power(self):
        base = self._value()
        if self._peek() != "^":
            return base
        self._take("^")
        exponent = self._signed()
        return lambda p: np.power(np.asarray(base(p), float), exponent(p))

    def _value(self):
        token = self._take()
        if token == "(":
            inner = self._choice()
            self._take(")")
            return inner
        if token[0].isdigit() or token[0] == ".":
            number = float(token)
            return lambda p: number
        if not (token[0].isalpha() or token[0] == "_"):
            self._fail(f"the operator '{token}' has no value before it")
        if self._peek() == "(":
            return self._call(token)
        if token in "xyzt":
            return lambda p: p[token]
        found = self._resolve(token)
        if found is not None:
            program, reach = found
            self.reach = max(self.reach, self._depth + reach)
            return program
        if token not in self._constants:
            self._fail(f"unknown name '{token}'" + nearest(token, [*self._constants, "x", "y", "z", "t"]))
        constant = float(self._constants[token])
        return lambda p: constant

    def on(self, places):
        """The value where `places` has x, y, z, t and what `resolve` and `functions` ask it for."""
        with np.errstate(all="ignore"):
            return self._program(places)

    def _call_beyond(self, name):
        self._take("(")
        self._depth += 1
        self.reach = max(self.reach, self._depth)
        argument = self._choice()
        self._depth -= 1
        self._take(")")
        function = self._functions[name]
        return lambda p: function(p, argument(p))

    def _call(self, name):
        if name in self._functions:
            return self._call_beyond(name)
        if name not in FUNCTIONS:
            self._fail(f"unknown function '{name}'" + nearest(name, [*FUNCTIONS, *self._functions]))
        self._take("(")
        arguments = [self._choice()]
        while self._peek() == ",":
            self._take(",")
            arguments.append(self._choice())
        self._take(")")
        function = FUNCTIONS[name]
        return lambda p: function(*[a(p) for a in arguments])
