/* Hardware tables: a filter, and headings that sort. Without this file the whole tables are
   there, in the book's order. */
(() => {
  "use strict";

  const STATES = { none: "descending", descending: "ascending", ascending: "none" };

  /* Missing values go last, whichever way the others run. */
  function compare(a, b, isNumber, sign) {
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
    return sign * (isNumber ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true }));
  }

  function valueOf(row, column) {
    const cell = row.cells[column];
    return column === 0 ? cell.querySelector("a").textContent : cell.dataset.value;
  }

  /* A first press gives the largest number, or the first name; a third one the book's order. */
  function next(heading) {
    const state = heading.getAttribute("aria-sort") || "none";
    if (heading.dataset.sort === "number") return STATES[state];
    return { none: "ascending", ascending: "descending", descending: "none" }[state];
  }

  function sortable(box, say) {
    const body = box.querySelector("tbody");
    const own = [...body.rows];
    const headings = [...box.querySelectorAll("th[data-sort]")];
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      const arrow = document.createElement("span");
      arrow.className = "arrow";
      arrow.setAttribute("aria-hidden", "true");
      button.insertBefore(arrow, button.querySelector(".unit"));
      heading.append(button);
      button.addEventListener("click", () => {
        const state = next(heading);
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        if (state !== "none") heading.setAttribute("aria-sort", state);
        const sign = state === "descending" ? -1 : 1;
        const isNumber = heading.dataset.sort === "number";
        const rows = [...own];
        if (state !== "none") {
          rows.sort((a, b) =>
            compare(valueOf(a, column), valueOf(b, column), isNumber, sign));
        }
        body.append(...rows);
        say(state === "none" ? "In the book\u2019s order." : "Sorted, " + state + ".");
      });
    });
  }

  function filterable(box, say) {
    const rows = [...box.querySelectorAll("tbody tr")];
    const field = box.querySelector("input[type=search]");
    const show = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) {
        row.hidden = !words.every((word) => row.dataset.find.includes(word));
      }
      const left = rows.filter((row) => !row.hidden).length;
      say(left + " of " + rows.length + " chips.");
    };
    box.querySelector(".tools").hidden = false;
    field.addEventListener("input", show);
    if (field.value) show();
  }

  function prepare(box) {
    const count = box.querySelector(".count");
    const say = (text) => { count.textContent = text; };
    sortable(box, say);
    filterable(box, say);
  }

  /* A link into a folded list unfolds it. */
  function reveal() {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    const folded = target && target.closest("details.fields");
    if (!folded || folded.open) return;
    folded.open = true;
    target.scrollIntoView();
  }

  document.querySelectorAll(".chips").forEach(prepare);
  window.addEventListener("hashchange", reveal);
  /* The same link pressed again changes no hash. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('.chips a[href^="#"]');
    if (link && link.hash === location.hash) reveal();
  });
  reveal();
})();
