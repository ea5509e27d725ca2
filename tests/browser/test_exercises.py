"""The checks under the exercises, on the built pages: by keyboard, without a network."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page

from primer.exercises import Number, bank
from tests.browser import pages

every_chapter = pages.every("name", pages.chapters())

# What the form says to each of some answers, given as its button gives them.
_SAID = """(form, answers) => answers.map(answer => {
  form.querySelector('input').value = answer;
  form.requestSubmit();
  return form.querySelector('.result').innerText;
})"""

_IS_ACTIVE = "e => e === document.activeElement"


def _number_of(form: Locator) -> str:
    return form.get_attribute("id").removeprefix("check-").replace("-", ".")


def _answer(form: Locator, typed: str) -> str:
    """What the page says to an answer, given by keyboard alone."""
    form.locator("input").focus()
    form.page.keyboard.press("ControlOrMeta+A")
    form.page.keyboard.type(typed)
    form.page.keyboard.press("Enter")
    return form.locator(".result").inner_text()


def _graded(page: Page) -> list[tuple[Locator, Number]]:
    """The forms whose numbers the package asks for; others bring an answer of their own."""
    found = [(form, _number_of(form)) for form in page.locator("form.check").all()]
    known = [(form, bank.find(number)) for form, number in found if number in bank.ids()]
    return [(form, e) for form, e in known if isinstance(e, Number)]


@every_chapter
def test_the_page_says_what_the_package_says(name, visit):
    for form, exercise in _graded(visit(name)):
        factor = exercise.reader.factor
        wrong = [ends[1] for _, ends in exercise.wrongs()]
        values = [exercise.ends()[0], *wrong, 1.37 * wrong[0] + 0.11]
        typed = [repr(value / factor) for value in values]
        said = form.evaluate(_SAID, typed)
        assert said == [str(exercise.grade(answer)) for answer in typed]
        assert said[0] == "✓ Right."
        assert _answer(form, typed[1]) == said[1]


@every_chapter
def test_checks_are_labelled_and_stay_open(name, visit):
    page = visit(name)
    for form in page.locator("form.check").all():
        field = form.locator("input")
        assert page.locator(f"label[for='{field.get_attribute('id')}']").is_visible()
        for part in field.get_attribute("aria-describedby").split():
            assert page.locator(f"#{part}").count() == 1, part
        assert "is not a number here" in _answer(form, "apples")
        assert field.get_attribute("aria-invalid") == "true"
        assert field.evaluate(_IS_ACTIVE)
        assert "Not yet" in _answer(form, "-7")
        assert field.get_attribute("aria-invalid") == "false"
        page.keyboard.press("Tab")
        assert form.get_by_role("button", name="Check").evaluate(_IS_ACTIVE)
        solution = form.locator("xpath=..").locator("details.solution")
        assert solution.count() == 1
        assert not solution.evaluate("e => e.open")


@every_chapter
def test_no_answer_in_what_a_check_shows(name, visit):
    for form, exercise in _graded(visit(name)):
        shown = form.inner_text() + "".join(form.evaluate(_SAID, ["-7"]))
        for number in re.findall(r"\d+(?:\.\d+)?", re.sub(r"within \S+ %", "", shown)):
            assert exercise.grade(number).is_right is not True, shown


@every_chapter
def test_without_javascript_the_solution_remains(name, visit):
    page = visit(name, javascript=False)
    assert not page.locator("form.check:visible").count()
    for form in page.locator("form.check").all():
        assert form.locator("xpath=..").locator("details.solution > summary").is_visible()
