"""What an explorable is: controls, a model, a figure and a readout, as pure data.

An `Explorable` names everything that a reader can drive, and nothing about how
it is driven. `explore.live` gives it ipywidgets, `explore.frames` draws all of
its states for the published page; both read the same object, so both show the
same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from primer import _checks, units

State = dict[str, Any]
Kind = Literal["slider", "select", "toggle", "step"]
Level = Literal["framework", "runtime", "isa", "driver", "hardware"]


def key(value: object) -> str:
    """Text of a control's value in a page, in a link and in a `data-` attribute.

    >>> key(0.25), key(True), key("bf16")
    ('0.25', 'true', 'bf16')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


@dataclass(frozen=True)
class Control:
    """One knob: a keyword of the model call, with a finite, ordered set of values.

    Parameters
    ----------
    name : str
        The keyword of `Explorable.compute` that it sets.
    label : str
        What the reader sees beside it.
    values : tuple
        All values, in the order in which the knob passes them.
    default : object
        The value in which the figure opens; one of `values`.
    kind : {"slider", "select", "toggle", "step"}
        Its form. A `step` is a slider that can be played.
    display : callable
        Turns a value into the text a reader sees.
    """

    name: str
    label: str
    values: tuple[Any, ...]
    default: Any
    kind: Kind = "slider"
    display: Callable[[Any], str] = str

    def __post_init__(self) -> None:
        _checks.one_of("kind", self.kind, ("slider", "select", "toggle", "step"))
        if len(set(self.values)) != len(self.values) or not self.values:
            raise ValueError(
                f"values of control {self.name!r} must be distinct and not empty; "
                f"got {self.values!r}"
            )
        if self.default not in self.values:
            raise ValueError(
                f"default of control {self.name!r} must be one of its values; got {self.default!r}"
            )
        if self.kind == "toggle" and self.values != (False, True):
            raise ValueError(
                f"values of toggle {self.name!r} must be (False, True); got {self.values!r}"
            )

    def index(self, value: object) -> int:
        """Position of `value` among the values; unknown values name the nearest."""
        for i, known in enumerate(self.values):
            if _same(value, known):
                return i
        keys = tuple(key(v) for v in self.values)
        return keys.index(_checks.one_of(self.name, key(value), keys))


def _same(value: object, known: object) -> bool:
    """Equal as a value of a control: 1 is 1.0, NumPy's numbers count, a flag is no number."""
    plain = value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
    if isinstance(plain, bool) or isinstance(known, bool):
        return plain is known
    return bool(plain == known) if isinstance(plain, (str, int, float)) else False


@dataclass(frozen=True)
class Row:
    """One line of a readout: the exact value, and the text that a reader sees.

    Parameters
    ----------
    name : str
        The field's name in the result (`attainable_flop_per_s`).
    value : float, int, bool or str
        Exactly what the model returned, in the base unit.
    unit : str
        Base unit; empty for a word, "1" for a fraction.
    label : str
        The row's title.
    text : str, optional
        Display text; by default `units.text`, or a percentage for unit "1".
    """

    name: str
    value: float | int | bool | str
    unit: str
    label: str
    text: str = ""

    def __post_init__(self) -> None:
        if not self.text:
            object.__setattr__(self, "text", _row_text(self.value, self.unit))


def _row_text(value: object, unit: str) -> str:
    if isinstance(value, str) or not unit:
        return str(value)
    if unit == "1":
        return f"{float(value) * 100:.3g} %"  # type: ignore[arg-type]
    return units.text(float(value), unit)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Outcome:
    """One evaluated state: the model's result, its rows, and the sentence under the figure.

    `sentence` is a template over the names of rows and controls (`{peak_frac}`),
    so that thousands of states share a handful of sentences on the page.
    """

    state: State
    result: Any
    rows: tuple[Row, ...]
    sentence: str
    texts: Mapping[str, str]

    @property
    def spoken(self) -> str:
        """The sentence with its names filled in."""
        return self.sentence.format_map(self.texts)


@dataclass(frozen=True)
class Explorable:
    """A question a reader answers by moving controls.

    Parameters
    ----------
    id : str
        As in links and `explore.show`.
    question : str
        The title: what the figure answers.
    level : {"framework", "runtime", "isa", "driver", "hardware"}
        Where in the stack the figure lives.
    controls : tuple of Control
    compute : callable
        The model: `compute(**state)` gives a frozen result.
    figure : class
        Built on axes, moved by `update(result)`; its `moving` artists carry gids.
    readout : callable
        `readout(result)` gives the rows under the figure.
    sentence : callable
        `sentence(result)` gives a template over row and control names.
    assumes : str
        The lie of the model, in one line.
    is_valid : callable
        False for states that cannot exist (a chip without that precision).
    """

    id: str
    question: str
    level: Level
    controls: tuple[Control, ...]
    compute: Callable[..., Any]
    figure: Any
    readout: Callable[[Any], tuple[Row, ...]]
    sentence: Callable[[Any], str]
    assumes: str
    is_valid: Callable[[State], bool] = lambda state: True

    @property
    def default_state(self) -> State:
        """The state in which the figure opens."""
        return {c.name: c.default for c in self.controls}

    @property
    def n_states(self) -> int:
        """Number of combinations of all values, possible or not."""
        n = 1
        for c in self.controls:
            n *= len(c.values)
        return n

    def control(self, name: str) -> Control:
        """The control of that name."""
        _checks.one_of("control", name, tuple(c.name for c in self.controls))
        return next(c for c in self.controls if c.name == name)

    def states(self) -> Iterator[State | None]:
        """Every combination, the last control fastest; None where impossible."""
        names = [c.name for c in self.controls]
        for values in product(*(c.values for c in self.controls)):
            state = dict(zip(names, values, strict=True))
            yield state if self.is_valid(state) else None

    def check(self, state: Mapping[str, Any]) -> State:
        """The whole state in the controls' own values; wrong names and values raise."""
        unknown = set(state) - {c.name for c in self.controls}
        if unknown:
            _checks.one_of("control", sorted(unknown)[0], tuple(c.name for c in self.controls))
        whole = {c.name: c.values[c.index(state.get(c.name, c.default))] for c in self.controls}
        if not self.is_valid(whole):
            raise ValueError(f"state of {self.id!r} must be possible; got {whole!r}")
        return whole

    def snap(self, state: State, changed: str | None = None) -> State | None:
        """The nearest possible state that keeps the control just changed.

        A control may move those after it, never those before it: choosing a chip may
        change the precision, choosing a precision never changes the chip. They are
        tried in their order, one at a time, nearest value first (the lower one of a
        tie). None if that leads nowhere: then the value cannot be chosen here.
        """
        if self.is_valid(state):
            return state
        names = [c.name for c in self.controls]
        after = names.index(changed) + 1 if changed else 0
        for control in self.controls[after:]:
            here = control.index(state[control.name])
            order = sorted(range(len(control.values)), key=lambda i: (abs(i - here), i))
            for i in order:
                candidate = {**state, control.name: control.values[i]}
                if self.is_valid(candidate):
                    return candidate
        return None

    def reach(self, state: State, name: str, value: Any) -> State | None:
        """Where a slider goes that is moved to a value: that, or the next one that can be chosen.

        It goes on in the direction of the move; beyond the last possible value it comes back as
        far as it must. None if it has to stay.
        """
        control = self.control(name)
        here, wanted = control.index(state[name]), control.index(value)
        way = -1 if wanted < here else 1
        onward = range(wanted, -1 if way < 0 else len(control.values), way)
        for i in (*onward, *range(wanted - way, here, -way)):
            reached = self.snap({**state, name: control.values[i]}, name)
            if reached is not None:
                return reached
        return None

    def choices(self, state: State, name: str) -> tuple[Any, ...]:
        """Values of one control that can be chosen from this state."""
        return tuple(
            value
            for value in self.control(name).values
            if self.snap({**state, name: value}, name) is not None
        )

    def evaluate(self, state: Mapping[str, Any]) -> Outcome:
        """Run the model for one state and read it out."""
        whole = self.check(state)
        result = self.compute(**whole)
        rows = self.readout(result)
        texts = {c.name: c.display(whole[c.name]) for c in self.controls}
        texts.update({row.name: row.text for row in rows})
        return Outcome(whole, result, rows, self.sentence(result), texts)
