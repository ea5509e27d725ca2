"""An explorable in a kernel: ipywidgets for its controls, one HTML widget for the rest.

There is no `Output` widget, so nothing stacks and nothing flickers in any front
end. A failing model shows its message in place of the old figure, and is kept
in `Live.errors`, where a test can see it.
"""

from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets as widgets

from primer.explore import markup
from primer.explore.explorable import Control, Explorable, Outcome, State
from primer.explore.frames import FrameRenderer, fill


class Live:
    """The controls and the picture of one explorable.

    Attributes
    ----------
    state : dict
        The state shown.
    controls : dict of str to ipywidgets.Widget
        By name of the control.
    view : ipywidgets.HTML
        Picture, sentence, readout: the same element as on the page.
    errors : list of Exception
        What went wrong while a control moved; empty when all is well.
    """

    def __init__(self, explorable: Explorable, state: State) -> None:
        self.explorable = explorable
        self.state = state
        self.errors: list[Exception] = []
        self.view = widgets.HTML()
        self.controls = {c.name: _widget(c, state[c.name]) for c in explorable.controls}
        self._renderer = FrameRenderer(explorable)
        self._skeleton = ""
        self._busy = False
        self._follow()
        for name, widget in self.controls.items():
            widget.observe(lambda change, name=name: self._moved(name, change["new"]), "value")
        self._draw()
        self.widget = widgets.VBox([*_rows(explorable, self.controls), self.view])

    def _moved(self, name: str, value: Any) -> None:
        if self._busy:
            return
        self.state = self.explorable.reach(self.state, name, value) or self.state
        self._busy = True
        try:
            self._follow()
        finally:
            self._busy = False
        self._draw()

    def _follow(self) -> None:
        """Bring every widget to the state; a dropdown offers only what can be chosen."""
        for control in self.explorable.controls:
            widget = self.controls[control.name]
            if control.kind == "select":
                possible = self.explorable.choices(self.state, control.name)
                options = tuple((control.display(v), v) for v in possible)
                if tuple(widget.options) != options:
                    widget.options = options
            widget.value = self.state[control.name]

    def _draw(self) -> None:
        try:
            outcome = self.explorable.evaluate(self.state)
            pieces = self._renderer.fragments(outcome)
            self._skeleton = self._skeleton or self._renderer.skeleton()
            svg = fill(self._skeleton, pieces)
            self.view.value = live_figure(self.explorable, outcome, svg)
        except Exception as error:  # a reader must see it, whatever it is
            self.errors.append(error)
            self.view.value = f'<p role="alert"><b>This state failed:</b> {escape(str(error))}</p>'

    # Colab's ipywidgets 7 knows this hook and not `_repr_mimebundle_`.
    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self.widget)


def _widget(control: Control, value: Any) -> Any:
    """The ipywidget of one control."""
    options = [(control.display(v), v) for v in control.values]
    wide = widgets.Layout(width="auto")
    style = {"description_width": "initial"}
    if control.kind == "toggle":
        return widgets.Checkbox(value=value, description=control.label, indent=False)
    if control.kind == "select":
        return widgets.Dropdown(
            options=options, value=value, description=control.label, style=style, layout=wide
        )
    return widgets.SelectionSlider(
        options=options,
        value=value,
        description=control.label,
        style=style,
        layout=widgets.Layout(width="min(36em, 100%)"),
        continuous_update=True,
    )


def _rows(explorable: Explorable, made: dict[str, Any]) -> list[Any]:
    """Short controls side by side, each slider on a line of its own."""
    wrap = widgets.Layout(flex_flow="row wrap", align_items="center")
    short = [made[c.name] for c in explorable.controls if c.kind in ("select", "toggle")]
    rows: list[Any] = [widgets.HBox(short, layout=wrap)] if short else []
    for control in explorable.controls:
        slider = made[control.name]
        if control.kind == "step":
            rows.append(widgets.HBox([_player(control, slider), slider]))
        elif control.kind == "slider":
            rows.append(slider)
    return rows


def _player(control: Control, slider: Any) -> Any:
    """Play and pause for a stepper; it drives the slider's index."""
    # A link begins by giving the second what the first has.
    player = widgets.Play(
        value=slider.index, min=0, max=len(control.values) - 1,
        interval=markup.SPEEDS_MS["normal"],
    )  # fmt: skip
    widgets.link((player, "value"), (slider, "index"))
    speed = widgets.Dropdown(
        options=list(markup.SPEEDS_MS.items()), value=player.interval, description="speed",
        layout=widgets.Layout(width="9em"), style={"description_width": "initial"},
    )  # fmt: skip
    widgets.link((speed, "value"), (player, "interval"))
    return widgets.HBox([player, speed])


def live_figure(explorable: Explorable, outcome: Outcome, svg: str) -> str:
    """The element of the page contract, less the controls, which are ipywidgets here."""
    return (
        f"<style>{markup.stylesheet('explore')}</style>{markup.opening_tag(explorable, outcome)}"
        f"<figcaption>{escape(explorable.question)}</figcaption>"
        f"{markup.frame(explorable, outcome, svg)}{markup.sentence(outcome)}"
        f"{markup.readout(outcome)}{markup.assumes(explorable)}</figure>"
    )
