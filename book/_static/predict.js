/* Predictions: read the reader's number, compare it with the model's, then show the model's.
   Without this file a page shows the question and the answer folded beneath it. */
(() => {
  "use strict";
  const POWERS = { p: -12, n: -9, u: -6, "\u00b5": -6, "\u03bc": -6, m: -3, "": 0,
                   k: 3, K: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
  const BINARY = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5 };
  const NUMBER = /^[-+]?(?:\d[\d.,' \u00a0\u202f]*|[.,]\d+)(?:e[-+]?\d+)?/i;

  /* "1,000" and "1 000" are a thousand; "0,083" and "1,5" have a decimal comma. */
  function plain(written) {
    let text = written.trim().replace(/[\u00a0\u202f']/g, " ");
    if (/^[-+]?\d{1,3}( \d{3})+(?!\d)/.test(text)) text = text.replace(/ /g, "");
    if (/^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?(e|$)/i.test(text)) text = text.replace(/,/g, "");
    else if (!text.includes(".")) text = text.replace(",", ".");
    return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : NaN;
  }

  /* A number without a unit is in the unit shown; a prefix counts from the base unit. */
  function scale(rest, data) {
    if (rest === "" || rest === data.written) return Number(data.factor);
    if (rest === "%" && !data.unit) return 0.01;
    const unit = data.unit;
    const prefix = unit && rest.endsWith(unit) ? rest.slice(0, -unit.length).trim() : rest;
    if (prefix in BINARY) return 1024 ** BINARY[prefix];
    return prefix in POWERS ? 10 ** POWERS[prefix] : NaN;
  }

  function read(written, data) {
    const text = written.trim().replace(/^[~\u2248=]\s*/, "").replace(/^\u2212/, "-");
    const first = NUMBER.exec(text);
    if (!first) return NaN;
    let value = plain(first[0]);
    let rest = text.slice(first[0].length).trim();
    const over = rest[0] === "/" && NUMBER.exec(rest.slice(1).trim());
    if (over) {
      value /= plain(over[0]);
      rest = rest.slice(1).trim().slice(over[0].length).trim();
    }
    return value * scale(rest, data);
  }

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

  function complaint(guess, written, data) {
    if (!written.trim()) return "Write a number first.";
    if (Number.isFinite(guess)) return guess > 0 ? "" : "The answer is above zero.";
    const example = data.unit ? "300, 3e2 or 0.3 k" : "300 or 3e2";
    return "\u201c" + written.trim() + "\u201d is not a number here. Write it like " + example +
           "; without a unit it counts as " + data.written + ".";
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
      const problem = complaint(guess, field.value, data);
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
