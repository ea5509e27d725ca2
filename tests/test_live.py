"""The figure in a kernel: one view, no stacking, visible errors."""

from __future__ import annotations

import dataclasses
import json
import re

import matplotlib.pyplot as plt
import pytest

from primer import explore, figures, hardware, roofline
from primer.explore.live import Live

IDS = figures.ids()


def _shown_state(live: Live) -> dict:
    raw = re.search(r'data-state="([^"]*)"', live.view.value)[1]
    return json.loads(raw.replace("&quot;", '"'))


@pytest.mark.parametrize("name", IDS)
def test_it_opens_in_the_state_that_the_page_shows(name):
    live = explore.show(name)
    assert live.state == live.explorable.default_state == _shown_state(live)
    assert {key: widget.value for key, widget in live.controls.items()} == live.state


@pytest.mark.parametrize("name", IDS)
def test_moving_controls_redraws_one_view_with_the_models_numbers(name):
    live = explore.show(name)
    explorable = live.explorable
    for control in explorable.controls:
        for value in explorable.choices(live.state, control.name)[:6]:
            live.controls[control.name].value = value
            assert live.state[control.name] == value
            assert _shown_state(live) == live.state
            for row in explorable.evaluate(live.state).rows:
                assert f'data-name="{row.name}"' in live.view.value
            assert live.view.value.count("<svg") == 1
            assert live.view.value.count('role="img"') == 1
    assert live.errors == []
    assert plt.get_fignums() == []


def test_choosing_a_chip_moves_an_impossible_precision():
    live = explore.show("roofline")
    live.controls["chip"].value = "v100_sxm2_32gb"
    assert live.state["compute"] == "fp16"
    assert live.controls["compute"].value == "fp16"
    offered = [value for _, value in live.controls["compute"].options]
    assert "bf16" not in offered
    live.controls["chip"].value = "h100_sxm5_80gb"
    assert "bf16" in [value for _, value in live.controls["compute"].options]


def test_a_player_has_a_speed_and_a_slider_skips_what_is_impossible():
    live = explore.show("systolic")
    player, speed = live.widget.children[-2].children[0].children
    speed.value = 150
    assert player.interval == 150
    live.controls["preset"].value = "large"
    live.controls["cycle"].value = 1
    assert live.state["cycle"] == live.controls["cycle"].value == 32
    live.controls["cycle"].value = 510
    assert live.state["cycle"] == 382
    assert live.errors == []


def test_a_failing_model_shows_its_message_instead_of_the_old_figure():
    def fails(**state):
        if state["overlap"]:
            return roofline_point(**state)
        raise ZeroDivisionError("three threads too few")

    roofline_point = figures.load("roofline").compute
    broken = dataclasses.replace(figures.load("roofline"), compute=fails)
    live = explore.show(broken)
    assert "<svg" in live.view.value
    live.controls["overlap"].value = False
    assert "three threads too few" in live.view.value
    assert "<svg" not in live.view.value
    assert [type(e) for e in live.errors] == [ZeroDivisionError]
    live.controls["overlap"].value = True
    assert "<svg" in live.view.value


def test_show_opens_in_the_state_asked_for():
    live = explore.show("roofline", chip="tpu_v5e", intensity_flop_per_byte=128.0)
    assert live.state["chip"] == "tpu_v5e"
    assert live.controls["intensity_flop_per_byte"].value == 128.0


def test_show_names_the_nearest_id_and_value():
    with pytest.raises(ValueError, match="roofline"):
        explore.show("rooflin")
    with pytest.raises(ValueError, match="h100_sxm5_80gb"):
        explore.show("roofline", chip="h100")


def test_live_and_page_show_the_same_picture(monkeypatch):
    live = explore.show("roofline")
    monkeypatch.setenv("PRIMER_BOOK", "1")
    page = explore.show("roofline")._repr_html_()
    svg = re.compile(r"<svg.*</svg>", re.S)
    assert svg.search(live.view.value)[0] == svg.search(page)[0]
    table = re.compile(r'<table class="readout">.*</table>', re.S)
    assert table.search(live.view.value)[0] == table.search(page)[0]


def test_page_html_keeps_the_contract(monkeypatch):
    monkeypatch.setenv("PRIMER_BOOK", "1")
    for name in IDS:
        explorable = figures.load(name)
        html = explore.show(name)._repr_html_()
        assert f'<figure class="explorable" id="{name}" data-explorable="{name}"' in html
        assert f'data-level="{explorable.level}"' in html
        for control in explorable.controls:
            assert f'data-control="{control.name}"' in html
            assert f'<label for="{name}-{control.name}">' in html
        assert html.count("aria-valuetext=") == html.count('type="range"')
        assert 'class="assumes"' in html


def test_readout_holds_the_exact_value():
    point = roofline.place(
        hardware.load("h100_sxm5_80gb"),
        work_flop=64e9,
        traffic_bytes=1e9,
    )
    live = explore.show("roofline")
    found = re.search(r'data-name="attainable_flop_per_s" data-value="([^"]+)"', live.view.value)
    assert float(found[1]) == point.attainable_flop_per_s
