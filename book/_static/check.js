/* Checks of answers on the page: right, or not yet and why; never the answer. The rules are
   those of primer.exercises.Number, which also wrote the key. Without this file a page shows
   the exercise and its solution, folded. */
(() => {
  "use strict";
  const { readEnds, complaint } = globalThis.primerReading;

  function relative(value, low, high) {
    const near = Math.min(Math.max(value, low), high);
    return value === near ? 0 : Math.abs(value - near) / Math.max(Math.abs(value), Math.abs(near));
  }

  /* How far an answer, a number or the ends of a range, leaves the wanted range. */
  function gap(given, [low, high]) {
    return Math.max(...given.map((end) => relative(end, low, high)));
  }

  function isRight(given, key) {
    const [low, high] = key.right;
    return gap(given, key.right) <= key.rel_tol ||
           given.every((end) => low - key.abs_tol <= end && end <= high + key.abs_tol);
  }

  /* The nearest slip speaks; of those that coincide, the first. */
  function hint(given, key) {
    let nearest = Infinity, said = "";
    for (const slip of key.slips) {
      const off = gap(given, slip.ends);
      const rounded = Math.round(1e6 * off);
      if (off <= Math.max(slip.rel_tol, 1e-9) && rounded < nearest) {
        [nearest, said] = [rounded, slip.hint];
      }
    }
    const isBroken = key.whole && !given.every(Number.isInteger);
    return said || (isBroken ? key.whole : key.otherwise);
  }

  function verdict(given, key) {
    if (isRight(given, key)) return "\u2713 Right.";
    const also = key.accepted.find((other) => gap(given, other.ends) <= key.rel_tol);
    return also ? "\u2713 Right. " + also.hint : "\u2717 Not yet. " + hint(given, key);
  }

  function prepare(form) {
    const data = form.dataset;
    const key = JSON.parse(atob(data.key));
    const field = form.querySelector("input");
    const result = form.querySelector(".result");
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = readEnds(field.value, data, key.right[0] < key.right[1]);
      const problem = complaint(given.reduce((sum, end) => sum + end, 0), field.value, data);
      field.setAttribute("aria-invalid", problem ? "true" : "false");
      result.textContent = problem || verdict(given, key);
      form.classList.toggle("right", result.textContent.startsWith("\u2713"));
      field.focus();
    });
  }

  document.querySelectorAll("form.check").forEach(prepare);
})();
