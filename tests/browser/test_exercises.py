"""The checks under the exercises, on the built pages: by keyboard, without a network."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator

from primer.exercises import Number, bank
from tests.browser import pages

CHAPTERS = pages.chapters()


def _number_of(form: Locator) -> str:
    return form.get_attribute("id").removeprefix("check-").replace("-", ".")


def _answer(form: Locator, typed: str) -> str:
    """What the page says to an answer, given by keyboard alone."""
    field = form.locator("input")
    field.focus()
    field.page.keyboard.press("ControlOrMeta+A")
    field.page.keyboard.type(typed)
    field.page.keyboard.press("Enter")
    return form.locator(".result").inner_text()


def _graded(page) -> list[tuple[Locator, Number]]:
    """The forms whose numbers the package asks for; others bring an answer of their own."""
    found = [(form, _number_of(form)) for form in page.locator("form.check").all()]
    known = [(form, bank.find(number)) for form, number in found if number in bank.ids()]
    return [(form, e) for form, e in known if isinstance(e, Number)]


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_page_says_what_the_package_says(name, page_of):
    page = page_of(name)
    for form, exercise in _graded(page):
        factor = exercise.reader.factor
        wrong = [ends[1] for _, ends in exercise.wrongs()]
        for value in [exercise.ends()[0], *wrong, 1.37 * wrong[0] + 0.11]:
            typed = repr(value / factor)
            assert _answer(form, typed) == str(exercise.grade(typed)), typed
        assert _answer(form, repr(exercise.ends()[0] / factor)) == "✓ Right."


@pytest.mark.parametrize("name", CHAPTERS)
def test_checks_are_labelled_and_stay_open(name, page_of):
    page = page_of(name)
    for form in page.locator("form.check").all():
        field = form.locator("input")
        assert page.locator(f"label[for='{field.get_attribute('id')}']").is_visible()
        for part in field.get_attribute("aria-describedby").split():
            assert page.locator(f"#{part}").count() == 1, part
        assert "is not a number here" in _answer(form, "apples")
        assert field.get_attribute("aria-invalid") == "true"
        assert field.evaluate("e => e === document.activeElement")
        assert "Not yet" in _answer(form, "-7")
        assert field.get_attribute("aria-invalid") == "false"
        page.keyboard.press("Tab")
        button = form.get_by_role("button", name="Check")
        assert button.evaluate("e => e === document.activeElement")
        solution = form.locator("xpath=..").locator("details.solution")
        assert solution.count() == 1
        assert not solution.evaluate("e => e.open")


@pytest.mark.parametrize("name", CHAPTERS)
def test_without_javascript_the_solution_remains(name, page_of):
    page = page_of(name, javascript=False)
    for form in page.locator("form.check").all():
        assert not form.is_visible()
        solution = form.locator("xpath=..").locator("details.solution > summary")
        assert solution.is_visible()


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_answer_in_what_a_check_shows(name, page_of):
    page = page_of(name)
    for form, exercise in _graded(page):
        shown = form.inner_text()
        shown += _answer(form, "-7")
        for number in re.findall(r"\d+(?:\.\d+)?", re.sub(r"within \S+ %", "", shown)):
            assert exercise.grade(number).is_right is not True, shown
