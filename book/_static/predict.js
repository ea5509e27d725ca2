/* Predictions: compare the reader's number with the model's, then show the model's.
   Without this file a page shows the question and the answer folded beneath it. */
(() => {
  "use strict";
  const { read, complaint } = globalThis.primerReading;

  function times(ratio) {
    const shown = ratio < 9.95 ? ratio.toFixed(1) : Number(ratio.toPrecision(2)).toLocaleString("en-US");
    return shown + " times";
  }

  function verdict(guess, data) {
    const ratio = guess / Number(data.value);
    const tolerance = Number(data.tolerance);
    const percent = (fraction) => Number((100 * fraction).toPrecision(2)) + "%";
    if (Math.abs(ratio - 1) <= tolerance * (1 + 1e-9)) {
      return "Your guess is within " + percent(tolerance) + " of the model\u2019s value.";
    }
    const side = ratio > 1 ? " too high." : " too low.";
    const gap = Math.max(ratio, 1 / ratio);
    return "Your guess is " + (gap < 1.5 ? percent(Math.abs(ratio - 1)) : times(gap)) + side;
  }

  function prepare(form) {
    const data = form.dataset;
    const [field, button] = form.querySelectorAll("input, button");
    const result = form.querySelector(".result");
    const answer = form.querySelector(".answer");
    answer.hidden = true;
    answer.open = false;
    form.querySelector(".entry").hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (field.readOnly) return;
      const guess = read(field.value, data);
      const problem = complaint(guess, field.value, data) ||
                      (guess > 0 ? "" : "The answer is above zero.");
      field.setAttribute("aria-invalid", problem ? "true" : "false");
      result.textContent = problem || verdict(guess, data);
      field.focus();
      if (problem) return;
      field.readOnly = true;
      button.hidden = true;
      answer.hidden = false;
      answer.open = true;
      form.classList.add("committed");
    });
  }

  document.querySelectorAll("form.predict").forEach(prepare);
})();
