/* How a number in a form is read: for predictions and for checks of answers alike. The rules are
   those of primer.exercises.reading and .arithmetic, and tests read the same texts with both.
   data.unit is the base unit ("" for a plain number), data.written the unit shown beside the
   field, data.factor how many base units one of it is, data.about what the number is. */
globalThis.primerReading = (() => {
  "use strict";
  const LONGEST = 200;
  const LARGE = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
  const SMALL = { p: 1e-12, n: 1e-9, u: 1e-6, "\u00b5": 1e-6, m: 1e-3 };
  const BINARY = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 };
  const DATA = { ...LARGE, ...BINARY };
  const PREFIXES = {
    "FLOP/s": LARGE, "OP/s": LARGE, FLOP: LARGE, OP: LARGE, Hz: LARGE, s: SMALL,
    "B/s": DATA, B: DATA, "bit/s": DATA, bit: DATA, "b/s": DATA, b: DATA,
    W: { ...LARGE, ...SMALL }, J: { ...LARGE, ...SMALL },
  };
  /* The same amount under another name: how many base units one of them is. */
  const SAME = {
    B: { bit: 1 / 8, b: 1 / 8 }, "B/s": { "bit/s": 1 / 8, "b/s": 1 / 8 },
    bit: { b: 1, B: 8 }, "bit/s": { "b/s": 1, "B/s": 8 }, cycles: { cycle: 1 },
    OP: { FLOP: 1 }, "OP/s": { "FLOP/s": 1 }, "OP/B": { "FLOP/B": 1 },
    FLOP: { OP: 1 }, "FLOP/s": { "OP/s": 1 }, "FLOP/B": { "OP/B": 1 },
  };
  const PLAIN = { "%": 0.01, percent: 0.01, "per cent": 0.01, "\u00d7": 1, x: 1, times: 1 };
  const PREFIX_WORDS = {
    kilo: "k", mega: "M", giga: "G", tera: "T", peta: "P", exa: "E",
    milli: "m", micro: "\u00b5", nano: "n", pico: "p",
    kibi: "Ki", mebi: "Mi", gibi: "Gi", tebi: "Ti", pebi: "Pi",
  };
  const UNIT_WORDS = {
    second: "s", sec: "s", byte: "B", bit: "bit", flop: "FLOP", op: "OP",
    joule: "J", watt: "W", hertz: "Hz",
  };
  const either = (words) => Object.keys(words).join("|");
  const WORD = new RegExp("^(" + either(PREFIX_WORDS) + ")?(" + either(UNIT_WORDS) + ")s?$");
  const FUNCTIONS = {
    sqrt: Math.sqrt, exp: Math.exp, log: Math.log, ln: Math.log, log2: Math.log2,
    log10: Math.log10, abs: Math.abs, ceil: Math.ceil, floor: Math.floor,
  };
  const SIGNS = {
    "\u2212": "-", "\u00d7": "*", "\u00b7": "*", "\u22c5": "*", "\u2219": "*", "\u00f7": "/",
    "\u2019": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "^": "**",
  };
  const POWERS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  const TO = /\s*(?:\u2013|\u2014|\.\.+|\u2026|\bto\b)\s*/;
  const TOKEN = /\s*(\d+(?:_\d+)*\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|\*\*|[-+*\/()]|[a-z]\w*)\s*/iy;

  const own = (table, key) =>
    Object.prototype.hasOwnProperty.call(table, key) ? table[key] : undefined;
  const singular = (word) => word.replace(/s+$/, "");

  function withoutComma(number) {
    if (/^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(number)) return number.replace(/,/g, "");
    return /^\d+,\d*$/.test(number) ? number.replace(",", ".") : number;
  }

  /* "1,000" and "1 000" are a thousand; "0,083" and "1,5" have a decimal comma. */
  function plain(written) {
    let text = written.replace(/[\u2212\u00d7\u00b7\u22c5\u2219\u00f7\u2019\u00a0\u202f\u2009^]/g,
                               (sign) => SIGNS[sign]);
    text = text.replace(/[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207b]+/g, (raised) =>
      "**" + [...raised].map((sign) => sign === "\u207b" ? "-" : POWERS.indexOf(sign)).join(""));
    text = text.replace(/(^|[^\w.])(\d{1,3}(?:[ ']\d{3})+)(?!\d)/g,
                        (found, before, digits) => before + digits.replace(/[ ']/g, ""));
    if (/[a-z0-9]\(/.test(text)) return text;
    return text.replace(/(^|[^\w.,])(\d[\d,]*(?:\.\d+)?)/g,
                        (found, before, number) => before + withoutComma(number));
  }

  function tokens(text) {
    const found = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const token = TOKEN.exec(text);
      if (!token) throw new SyntaxError(text);
      found.push(token[1]);
    }
    return found;
  }

  /* The value of + - * / ** ( ) and a few functions; each step must be a finite number. */
  function evaluate(written) {
    const rest = tokens(plain(written));
    const finite = (value) => {
      if (!Number.isFinite(value)) throw new RangeError(written);
      return value;
    };
    const expect = (token) => {
      if (rest.shift() !== token) throw new SyntaxError(written);
    };
    function sum() {
      let value = product();
      while (rest[0] === "+" || rest[0] === "-") {
        value = finite(rest.shift() === "+" ? value + product() : value - product());
      }
      return value;
    }
    function product() {
      let value = signed();
      while (rest[0] === "*" || rest[0] === "/") {
        value = finite(rest.shift() === "*" ? value * signed() : value / signed());
      }
      return value;
    }
    function signed() {
      if (rest[0] === "-" || rest[0] === "+") return rest.shift() === "-" ? -signed() : signed();
      const base = atom();
      if (rest[0] !== "**") return base;
      rest.shift();
      return finite(base ** signed());
    }
    function atom() {
      const token = rest.shift();
      const apply = own(FUNCTIONS, token);
      if (token === "(" || apply) {
        if (apply) expect("(");
        const inner = sum();
        expect(")");
        return apply ? finite(apply(inner)) : inner;
      }
      if (token === "pi") return Math.PI;
      return finite(/^[\d.]/.test(token) ? Number(token.replace(/_/g, "")) : NaN);
    }
    const value = sum();
    return rest.length ? NaN : value;
  }

  function arithmetic(text) {
    try {
      return text.length > LONGEST ? NaN : evaluate(text);
    } catch (problem) {
      return NaN;
    }
  }

  /* "gigabytes per second" is "GB/s". */
  function symbol(word) {
    const found = WORD.exec(word.toLowerCase());
    return found ? (PREFIX_WORDS[found[1]] || "") + UNIT_WORDS[found[2]] : word;
  }
  const spelled = (suffix) =>
    suffix.split(/\/|\bper\b/).map((part) => symbol(part.replace(/ /g, ""))).join("/");

  /* Base units in one of this unit, with or without a prefix; undefined if it is another one. */
  function inBase(unit, base) {
    for (const [name, factor] of Object.entries({ [base]: 1, ...own(SAME, base) })) {
      if (unit === name) return factor;
      const prefix = unit.endsWith(name) ? unit.slice(0, -name.length) : "";
      const times = own(own(PREFIXES, name) || {}, prefix);
      if (times) return factor * times;
    }
    return undefined;
  }

  /* Whether a plain number is followed by words of what it is about. */
  function isAbout(suffix, about) {
    const known = (about.toLowerCase().match(/[a-z][a-z-]*/g) || []).map(singular);
    const words = suffix.toLowerCase().split(/\s+/);
    return words[0].length >= 3 && words.every((word) => known.includes(singular(word)));
  }

  /* A number without a unit is in the unit shown; a prefix alone counts from the base unit. */
  function scale(suffix, data) {
    if (suffix === "" || suffix === data.written) return Number(data.factor);
    const alone = own({ K: 1e3, ...DATA, ...(data.unit ? SMALL : {}) }, suffix);
    if (data.unit) return inBase(spelled(suffix), data.unit) || alone;
    const isCounted = /^[a-z]{3,}(?: [a-z]+)*$/.test(data.written || "");
    if (isCounted && singular(suffix) === singular(data.written)) return 1;
    if (own(PLAIN, suffix)) return PLAIN[suffix];
    return data.written !== "%" && isAbout(suffix, data.about || "") ? 1 : alone;
  }

  /* Without what people write around a number: "T = 24 ms." is "24 ms". */
  function tidy(written) {
    const text = written.replace(/\u03bc/g, "\u00b5").trim();
    return text.replace(/^(?:[a-z_][a-z_0-9]*\s*)?[~\u2248=](?!=)\s*/i, "")
               .replace(/([^\d\s])\s*\.$/, "$1");
  }

  /* The number in base units; NaN for a text that is none. It is cut where a unit can begin, and
     the first cut that makes sense counts. */
  function read(written, data) {
    const text = tidy(written);
    if (/^[-+\u2212]\s*[-+\u2212]/.test(text)) return NaN;
    const cuts = [...text.matchAll(/[\d\s).][A-Za-z\u00b5%\u00d7]/g)].map((m) => m.index + 1);
    for (const cut of [text.length, ...cuts]) {
      const times = scale(text.slice(cut), data);
      const value = times ? arithmetic(text.slice(0, cut)) * times : NaN;
      if (Number.isFinite(value)) return value;
    }
    return NaN;
  }

  /* The ends of what was written: two where a range is asked for and given, else one. */
  function readEnds(written, data, ranges) {
    const text = tidy(written);
    // A hyphen behind a number is a dash; one in front of it is a sign.
    const parts = ranges ? text.replace(/([\d\s])-/g, "$1\u2013").split(TO) : [];
    if (parts.length !== 2 || !parts[0] || !parts[1]) return [read(text, data)];
    const unit = /[\d\s)]([A-Za-z\u00b5%][^\d]*)$/.exec(parts[1]);  // "3 to 4 ms": ms for both
    if (unit && /^[\d.,\/ ]+$/.test(parts[0])) parts[0] += " " + unit[1];
    return parts.map((part) => read(part, data));
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

  return { read, readEnds, complaint };
})();
