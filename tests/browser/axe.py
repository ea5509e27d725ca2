"""Accessibility findings of axe-core, told apart by whose markup they are in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from playwright.sync_api import Page

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

#: What we write ourselves: no finding in it is ever excused.
OURS = (
    "figure.explorable, figure.drawing, form.predict, .exercise, .solution, .promise, .takeaway, "
    ".lies, .deeper"
)

#: Rules about colors: all that another color scheme can change.
OF_COLOR = ("color-contrast", "link-in-text-block")

# Of text that looks alike, three pieces are marked (one may be covered): contrast takes most of
# the time, and is the same for the rest. Alike is what has the same colors, size and weight on
# the same grounds.
_MARK = """() => {
  const looks = new Map(), seen = new Map();
  const ground = element => {
    if (!element) return '';
    if (!looks.has(element)) {
      const style = getComputedStyle(element);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter];
      const isClear = own.join() === 'rgba(0, 0, 0, 0),none,1,none';
      const below = ground(element.parentElement);
      looks.set(element, isClear ? below : `${below} > ${own}`);
    }
    return looks.get(element);
  };
  document.querySelectorAll('[data-look]').forEach(e => e.removeAttribute('data-look'));
  for (const element of document.body.querySelectorAll('*')) {
    const isText = [...element.childNodes].some(n => n.nodeType === 3 && n.nodeValue.trim());
    if (!isText && !('value' in element)) continue;
    const style = getComputedStyle(element);
    const look = [ground(element), style.color, style.fontSize, style.fontWeight, style.position,
      style.textShadow, element.localName, element.checkVisibility({visibilityProperty: true}),
      element.matches(':disabled') || element.closest('label')?.control?.disabled].join();
    const n = seen.get(look) ?? 0;
    if (n < 3) element.dataset.look = '';
    seen.set(look, n + 1);
  }
  axe.configure({rules: [{id: 'color-contrast', selector: '[data-look]'}]});
}"""

_RUN = """async ([only, ours]) => {
  const found = await axe.run(document, {
    runOnly: only, resultTypes: ['violations'],
    preload: false,  // it would fetch style sheets, which a page from a file may not
  });
  return found.violations.flatMap(rule => rule.nodes.map(node => {
    const target = node.target.flat().join(' ');
    const element = node.target.length === 1 ? document.querySelector(target) : null;
    const why = [...node.any, ...node.all, ...node.none].map(check => check.message);
    return {rule: rule.id, target, html: node.html.slice(0, 200), why: why.join('; '),
      is_ours: Boolean(element?.closest(ours))};
  }));
}"""


@dataclass(frozen=True)
class Excused:
    """A finding of the theme that we live with: which, why, and what would mend it."""

    rule: str
    target: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether this is the finding meant; `target` is a pattern over its selector."""
        same_place = re.search(self.target, finding.target) is not None
        return finding.rule == self.rule and same_place and not finding.is_ours


@dataclass(frozen=True)
class Finding:
    """One element that breaks one rule."""

    rule: str
    target: str
    html: str
    why: str
    is_ours: bool

    def __str__(self) -> str:
        return f"{self.rule} at {self.target}: {self.why}\n    {self.html}"


@cache
def script() -> str:
    """axe-core, from the installed package that carries it."""
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def findings(page: Page, *, only_colors: bool = False) -> list[Finding]:
    """All violations on the page as it stands; only those of color where the rest is known."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(script())
    page.evaluate(_MARK)
    kind, values = ("rule", OF_COLOR) if only_colors else ("tag", TAGS)
    only = {"type": kind, "values": list(values)}
    return [Finding(**raw) for raw in page.evaluate(_RUN, [only, OURS])]


def unexcused(found: Iterable[Finding], excused: Iterable[Excused]) -> list[Finding]:
    """Findings that nothing excuses."""
    known = tuple(excused)
    return [finding for finding in found if not any(e.covers(finding) for e in known)]
