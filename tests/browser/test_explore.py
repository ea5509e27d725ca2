"""What can happen to a figure between its page and its reader."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

PAGE = "chapters/01_roofline"
DELAY_MS = 800


def _state(page: Page, explorable_id: str = "roofline") -> dict:
    return json.loads(page.locator(f"#{explorable_id}").get_attribute("data-state"))


def _control(page: Page, name: str, explorable_id: str = "roofline"):
    return page.locator(f'#{explorable_id} [data-control="{name}"]')


def _settled(page: Page, explorable_id: str, **wanted: object) -> None:
    page.wait_for_function(
        """([id, wanted]) => {
          const state = JSON.parse(document.getElementById(id).dataset.state);
          return Object.entries(wanted).every(([name, value]) => state[name] === value);
        }""",
        arg=[explorable_id, wanted],
    )


def test_a_link_that_names_one_control_gets_it(page_of):
    for chip in ("epyc_9654", "v100_sxm2_32gb", "tpu_v5e"):
        page = page_of(PAGE, fragment=f"#roofline?chip={chip}")
        _settled(page, "roofline", chip=chip)


def test_a_link_may_write_a_number_in_any_way(page_of):
    page = page_of(PAGE, fragment="#roofline?intensity_flop_per_byte=1")
    _settled(page, "roofline", intensity_flop_per_byte=1)


def test_a_link_without_sense_changes_nothing(page_of):
    page = page_of(PAGE, fragment="#roofline?chip=nonsense&intensity_flop_per_byte=abc&x=1")
    page.wait_for_timeout(300)
    assert _state(page)["chip"] == "h100_sxm5_80gb"
    assert page.evaluate("scrollY") == 0


def test_an_impossible_pair_in_a_link_changes_nothing(page_of):
    page = page_of(PAGE, fragment="#roofline?chip=tpu_v5e&compute=fp64")
    page.wait_for_timeout(500)
    assert _state(page)["chip"] == "h100_sxm5_80gb"


def test_the_address_keeps_the_state_of_two_figures(page_of):
    page = page_of(PAGE)
    _control(page, "intensity_flop_per_byte").press("End")
    _settled(page, "roofline", intensity_flop_per_byte=4096)
    _control(page, "m", "gemm-intensity").press("Home")
    _settled(page, "gemm-intensity", m=1)
    again = page_of(PAGE, fragment=page.evaluate("location.hash"))
    _settled(again, "roofline", intensity_flop_per_byte=4096)
    _settled(again, "gemm-intensity", m=1)


def test_controls_agree_with_the_figure_after_going_back(page_of):
    page = page_of(PAGE, via="http")
    _control(page, "intensity_flop_per_byte").press("End")
    _settled(page, "roofline", intensity_flop_per_byte=4096)
    page.evaluate("history.replaceState(null, '', location.pathname)")
    page.goto(page.url.replace("01_roofline", "00_why_special_hardware"))
    page.go_back()
    page.wait_for_timeout(400)
    slider = _control(page, "intensity_flop_per_byte")
    values = json.loads(slider.get_attribute("data-values"))
    shown = float(values[int(slider.input_value())][0])
    assert shown == _state(page)["intensity_flop_per_byte"]


def test_moves_made_while_the_states_load_are_all_kept(page_of):
    page = page_of(PAGE)

    def late(route):
        page.wait_for_timeout(DELAY_MS)
        route.continue_()

    page.route("**/frames/*", late)
    before = _state(page, "gemm-intensity")
    for name in ("m", "n", "k"):
        _control(page, name, "gemm-intensity").press("Home")
    _settled(page, "gemm-intensity", m=1, n=128, k=128)
    assert before != _state(page, "gemm-intensity")


def test_states_that_do_not_load_are_told_once_and_tried_again(page_of):
    page = page_of(PAGE)
    page.route("**/frames/*", lambda route: route.fulfill(body="", content_type="text/javascript"))
    slider = _control(page, "intensity_flop_per_byte")
    index = slider.input_value()
    for _ in range(3):
        slider.press("ArrowRight")
        page.wait_for_timeout(120)
    expect(page.locator("#roofline .failed")).to_have_count(1)
    assert slider.input_value() == index
    page.unroute("**/frames/*")
    slider.press("End")
    _settled(page, "roofline", intensity_flop_per_byte=4096)
    expect(page.locator("#roofline .failed")).to_have_count(0)


def test_paper_is_light_and_unfolded(page_of):
    page = page_of(PAGE, scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


ARRAY = "chapters/04_dataflow_machines"


def test_a_cell_tells_its_life_by_list_and_by_tap(page_of):
    page = page_of(ARRAY)
    tells = page.locator("#systolic .tells")
    tells.locator("select").select_option("row 0, column 1")
    assert tells.locator("p").inner_text().startswith("cycle 2: ")
    page.locator('#systolic [data-tell="row 1, column 0"] rect').click()
    assert tells.locator("select").input_value() == "row 1, column 0"
    said = tells.locator("p").inner_text()
    _control(page, "cycle", "systolic").press("ArrowRight")
    _settled(page, "systolic", cycle=5)
    assert tells.locator("p").inner_text() == said
    assert page.locator("#systolic .told").count() == 1
    # another product: the same cell lived another life
    _control(page, "preset", "systolic").select_option("long")
    _settled(page, "systolic", preset="long")
    assert tells.locator("p").inner_text() != said
    _control(page, "preset", "systolic").select_option("large")
    _settled(page, "systolic", preset="large")
    expect(tells).to_be_hidden()


def test_a_slider_skips_what_cannot_be_chosen_and_ends_where_it_must(page_of):
    page = page_of(ARRAY)
    cycle = _control(page, "cycle", "systolic")
    cycle.press("End")
    _settled(page, "systolic", cycle=10)
    assert cycle.get_attribute("max") == cycle.input_value() == "10"
    _control(page, "preset", "systolic").select_option("large")
    cycle.press("Home")
    _settled(page, "systolic", preset="large", cycle=0)
    cycle.press("ArrowRight")
    _settled(page, "systolic", cycle=32)
    cycle.press("End")
    _settled(page, "systolic", cycle=382)


def test_a_stepper_plays_at_a_speed_to_its_end(page_of):
    page = page_of(ARRAY)
    player = page.locator("#systolic .player")
    player.locator("select.speed").select_option("fast")
    _control(page, "cycle", "systolic").press("Home")
    _settled(page, "systolic", cycle=0)
    player.locator("button.play").click()
    expect(player.locator("button.play")).to_have_text("Pause")
    _settled(page, "systolic", cycle=10)
    expect(player.locator("button.play")).to_have_text("Play")
