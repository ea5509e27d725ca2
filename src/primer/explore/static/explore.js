/* Switches the states of every figure.explorable on a page.
   The states were computed by primer; nothing is computed here but positions. */
(() => {
  "use strict";
  const arrived = new Map();
  window.primerFrames = (id, data) => arrived.set(id, data);

  function load(figure) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = figure.dataset.frames;
      script.onload = () => resolve(arrived.get(figure.dataset.explorable));
      script.onerror = () => reject(new Error(`${figure.dataset.frames} did not load`));
      document.head.append(script);
    });
  }

  /* One face for range, select and checkbox: its values as keys, and an index. */
  function knob(input) {
    const name = input.dataset.control;
    if (input.type === "checkbox") {
      return {
        name, input, keys: ["false", "true"], texts: ["off", "on"],
        get: () => Number(input.checked),
        set: (i) => { input.checked = Boolean(i); },
      };
    }
    if (input.tagName === "SELECT") {
      const options = [...input.options];
      return {
        name, input, options, keys: options.map((o) => o.value), texts: options.map((o) => o.text),
        get: () => input.selectedIndex,
        set: (i) => { input.selectedIndex = i; },
      };
    }
    const values = JSON.parse(input.dataset.values);
    const output = input.parentElement.querySelector("output");
    const texts = values.map((v) => v[1]);
    return {
      name, input, texts, keys: values.map((v) => v[0]),
      get: () => Number(input.value),
      set: (i) => {
        input.value = i;
        input.setAttribute("aria-valuetext", texts[i]);
        output.textContent = texts[i];
      },
    };
  }

  class Explorable {
    constructor(figure) {
      this.figure = figure;
      this.id = figure.dataset.explorable;
      this.knobs = [...figure.querySelectorAll("[data-control]")].map(knob);
      this.at = this.knobs.map((k) => k.get());
      this.slots = [...figure.querySelectorAll("[data-slot]")];
      this.rows = [...figure.querySelectorAll("table.readout tr")];
      this.frame = figure.querySelector(".frame");
      this.sentence = figure.querySelector(".sentence");
      this.question = figure.querySelector("figcaption").textContent;
      this.start();
    }

    start() {
      this.figure.querySelector(".controls").hidden = false;
      this.figure.classList.add("alive");
      this.knobs.forEach((k, i) => {
        k.input.addEventListener("input", () => this.move(i, k.get()));
        const play = k.input.parentElement.querySelector("button.play");
        if (play) this.player(play, k, i);
      });
      for (const event of ["pointerenter", "focusin"]) {
        this.figure.addEventListener(event, () => this.ready().catch(() => {}), { once: true });
      }
      addEventListener("hashchange", () => this.follow());
      this.follow();
    }

    ready() {
      this.loading ??= load(this.figure).then((data) => { this.data = data; this.limit(); });
      return this.loading;
    }

    position(at) {
      return this.data.at[at.reduce((sum, i, k) => sum * this.knobs[k].keys.length + i, 0)];
    }

    /* The nearest possible state; a control moves only those after it, as in Explorable.snap. */
    snap(at, moved) {
      if (this.position(at) >= 0) return at;
      for (let k = moved + 1; k < at.length; k++) {
        const order = this.knobs[k].keys.map((_, i) => i)
          .sort((a, b) => Math.abs(a - at[k]) - Math.abs(b - at[k]) || a - b);
        for (const i of order) {
          const other = at.map((v, j) => (j === k ? i : v));
          if (this.position(other) >= 0) return other;
        }
      }
      return null;
    }

    async move(k, index, quiet = false) {
      const wanted = this.at.map((v, j) => (j === k ? index : v));
      return this.go(wanted, k, quiet);
    }

    async go(wanted, moved, quiet) {
      try {
        if (!this.data) await this.ready();
      } catch (error) {
        return this.fail(error);
      }
      this.at = this.snap(wanted, moved) ?? this.at;
      this.draw(this.position(this.at));
      this.limit();
      if (!quiet) this.link();
    }

    draw(n) {
      const d = this.data;
      this.slots.forEach((slot) => {
        const s = Number(slot.dataset.slot);
        const f = d.frame[s][n];
        if (slot.piece !== f) { slot.innerHTML = d.fragments[f]; slot.piece = f; }
      });
      const texts = {};
      this.knobs.forEach((k, i) => { k.set(this.at[i]); texts[k.name] = k.texts[this.at[i]]; });
      this.rows.forEach((row, r) => {
        const [value, unit, text] = d.cells[d.rows[r][n]];
        row.dataset.value = String(value);
        row.dataset.unit = unit;
        row.lastElementChild.textContent = text;
        texts[row.dataset.name] = text;
      });
      const spoken = d.sentences[d.sentence[n]].replace(/\{(\w+)\}/g, (_, name) => texts[name]);
      if (this.sentence.textContent !== spoken) this.sentence.textContent = spoken;
      this.frame.setAttribute("aria-label", `${this.question} ${spoken}`);
      this.figure.dataset.state = this.state();
    }

    state() {
      return `{${this.knobs.map((k, i) => {
        const key = k.keys[this.at[i]];
        const value = k.input.dataset.type === "text" ? JSON.stringify(key) : key;
        return `${JSON.stringify(k.name)}:${value}`;
      }).join(",")}}`;
    }

    /* Values that cannot be chosen from here stay visible, but disabled. */
    limit() {
      const leads = (j, i) => this.snap(this.at.map((v, x) => (x === j ? i : v)), j) !== null;
      this.knobs.forEach((k, j) => {
        k.options?.forEach((option, i) => { option.disabled = !leads(j, i); });
        if (k.input.type === "checkbox") k.input.disabled = !leads(j, 1 - this.at[j]);
      });
    }

    link() {
      const query = this.knobs.map((k, i) => `${k.name}=${encodeURIComponent(k.keys[this.at[i]])}`);
      history.replaceState(null, "", `#${this.id}?${query.join("&")}`);
    }

    async follow() {
      const [id, query] = location.hash.slice(1).split("?");
      if (id !== this.id || !query) return;
      const wanted = new URLSearchParams(query);
      const at = this.knobs.map((k, i) => {
        const found = k.keys.indexOf(wanted.get(k.name));
        return found < 0 ? this.at[i] : found;
      });
      await this.go(at, -1, true);
      this.figure.scrollIntoView();
    }

    player(button, k, i) {
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      let timer = null;
      const stop = () => { clearInterval(timer); timer = null; button.textContent = "Play"; };
      const step = () => {
        if (this.at[i] + 1 >= k.keys.length) return stop();
        this.move(i, this.at[i] + 1, true);
      };
      button.hidden = false;
      if (still) button.textContent = "Step";
      button.addEventListener("click", () => {
        if (still) return step();
        if (timer) return stop();
        if (this.at[i] + 1 >= k.keys.length) this.move(i, 0, true);
        timer = setInterval(step, 400);
        button.textContent = "Pause";
      });
    }

    fail(error) {
      const note = document.createElement("p");
      note.className = "failed";
      note.setAttribute("role", "alert");
      note.textContent = `The states of this figure could not be loaded (${error.message}).`;
      this.frame.after(note);
    }
  }

  const begin = () => document.querySelectorAll("figure.explorable[data-frames]")
    .forEach((figure) => new Explorable(figure));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
