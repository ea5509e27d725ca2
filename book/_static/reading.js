/* How a number in a form is read: for predictions and for checks of answers alike.
   data.unit is the base unit ("" for a plain number), data.written the unit shown beside the
   field, data.factor how many base units one of it is. */
globalThis.primerReading = (() => {
  "use strict";
  const POWERS = { p: -12, n: -9, u: -6, "\u00b5": -6, "\u03bc": -6, m: -3, "": 0,
                   k: 3, K: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
  const BINARY = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5 };
  const PLAIN = { "%": 0.01, "\u00d7": 1, x: 1, times: 1 };
  const NUMBER = /^[-+]?(?:\d[\d.,' \u00a0\u202f]*|[.,]\d+)(?:e[-+]?\d+)?/i;

  /* "1,000" and "1 000" are a thousand; "0,083" and "1,5" have a decimal comma. */
  function plain(written) {
    let text = written.trim().replace(/[\u00a0\u202f']/g, " ");
    if (/^[-+]?\d{1,3}( \d{3})+(?!\d)/.test(text)) text = text.replace(/ /g, "");
    if (/^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?(e|$)/i.test(text)) text = text.replace(/,/g, "");
    else if (!text.includes(".")) text = text.replace(",", ".");
    return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : NaN;
  }

  function prefix(rest, unit) {
    const found = unit && rest.endsWith(unit) ? rest.slice(0, -unit.length).trim() : rest;
    if (found in BINARY) return 1024 ** BINARY[found];
    return found in POWERS ? 10 ** POWERS[found] : NaN;
  }

  /* A number without a unit is in the unit shown; a prefix counts from the base unit. */
  function scale(rest, data) {
    if (rest === "" || rest === data.written) return Number(data.factor);
    if (!data.unit && rest in PLAIN) return PLAIN[rest];
    const bits = { B: ["bit", "b"], "B/s": ["bit/s", "b/s"] }[data.unit] || [];
    const named = bits.find((name) => rest.endsWith(name));
    return named ? prefix(rest, named) / 8 : prefix(rest, data.unit);
  }

  /* The number in base units; NaN for a text that is none. */
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

  /* What to say about a text that is no number; "" if it is one. */
  function complaint(value, written, data) {
    if (!written.trim()) return "Write a number first.";
    if (Number.isFinite(value)) return "";
    const example = data.unit ? "300, 3e2 or 0.3 k" : "300 or 3e2";
    const unit = data.written ? "; without a unit it counts as " + data.written : "";
    return "\u201c" + written.trim() + "\u201d is not a number here. Write it like " + example +
           unit + ".";
  }

  return { read, complaint };
})();
