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
      script.onload = () => {
        const data = arrived.get(figure.dataset.explorable);
        if (data) resolve(data);
        else reject(new Error(`${figure.dataset.frames} holds no states`));
      };
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

  /* Where a value stands among a control's keys; 1 and 1.0 are the same number. */
  function indexOf(k, value) {
    const text = String(value);
    const same = k.input.dataset.type === "number"
      ? (key) => text.trim() !== "" && Number(key) === Number(text)
      : (key) => key === text;
    return k.keys.findIndex(same);
  }

  /* The address holds figures with their states: #one?a=1&b=2;other?c=3 */
  const parts = () => location.hash.slice(1).split(";").map((part) => part.split("?"));

  class Explorable {
    constructor(figure) {
      this.figure = figure;
      this.id = figure.dataset.explorable;
      this.knobs = [...figure.querySelectorAll("[data-control]")].map(knob);
      const state = JSON.parse(figure.dataset.state);
      this.at = this.knobs.map((k) => indexOf(k, state[k.name]));
      this.moves = [];
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
      this.show();
      this.knobs.forEach((k, i) => {
        k.input.addEventListener("input", () => this.move(i, k.get()));
        const player = k.input.parentElement.querySelector(".player");
        if (player) this.player(player, i);
      });
      this.tell();
      this.frame.addEventListener("click", (event) => {
        const place = event.target.closest("[data-tell]");
        if (place) this.tell(place.dataset.tell);
      });
      for (const event of ["pointerenter", "focusin"]) {
        this.figure.addEventListener(event, () => this.ready().catch(() => {}), { once: true });
      }
      addEventListener("hashchange", () => this.follow());
      // A browser that goes back puts old values into the controls, after this script has run.
      addEventListener("pageshow", () => { if (!this.moves.length) this.show(); });
      this.follow();
    }

    /* Bring the controls to the state that the figure is in. */
    show() {
      this.knobs.forEach((k, i) => k.set(this.at[i]));
    }

    ready() {
      this.loading ??= load(this.figure).then(
        (data) => { this.data = data; this.limit(); },
        (error) => { this.loading = null; throw error; },
      );
      return this.loading;
    }

    position(at) {
      return this.data.at[at.reduce((sum, i, k) => sum * this.knobs[k].keys.length + i, 0)];
    }

    /* The nearest possible state, by a step of one control that may move: Explorable.snap. */
    snap(at, mayMove) {
      if (this.position(at) >= 0) return at;
      for (let k = 0; k < at.length; k++) {
        if (!mayMove(k)) continue;
        const order = this.knobs[k].keys.map((_, i) => i)
          .sort((a, b) => Math.abs(a - at[k]) - Math.abs(b - at[k]) || a - b);
        for (const i of order) {
          const other = at.map((v, j) => (j === k ? i : v));
          if (this.position(other) >= 0) return other;
        }
      }
      return null;
    }

    /* The value that a move goes to, or the next one in its direction: Explorable.reach. */
    reach(k, index) {
      const at = (i) =>
        this.snap(this.at.map((v, x) => (x === k ? i : v)), (x) => x > k);
      const here = this.at[k], way = index < here ? -1 : 1;
      for (let i = index; i >= 0 && i < this.knobs[k].keys.length; i += way) {
        const found = at(i);
        if (found) return found;
      }
      for (let i = index - way; i !== here && way * (i - here) > 0; i -= way) {
        const found = at(i);
        if (found) return found;
      }
      return null;
    }

    /* Moves made while the states are still loading are kept, and made in their order. */
    async move(k, index, quiet = false) {
      this.moves.push([k, index]);
      if (!this.data && !(await this.loaded())) return;
      const moves = this.moves.splice(0);
      if (!moves.length) return;
      for (const [j, i] of moves) this.at = this.reach(j, i) ?? this.at;
      this.refresh();
      if (!quiet) this.link();
    }

    /* Whether the states are there; if they cannot be had, say so once and undo the controls. */
    async loaded() {
      try {
        await this.ready();
        this.note?.remove();
        return true;
      } catch (error) {
        this.moves = [];
        this.show();
        this.fail(error);
        return false;
      }
    }

    refresh() {
      this.limit();
      this.draw(this.position(this.at));
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
      this.tell();
    }

    /* Places of the picture that tell more: a list of them, and what the chosen one says. */
    tell(name = this.teller?.list.value) {
      const places = [...this.frame.querySelectorAll("[data-tell]")];
      if (!places.length && !this.teller) return;
      const { box, list, said } = this.teller ??= this.listTells();
      box.hidden = !places.length;
      const names = ["", ...places.map((place) => place.dataset.tell)];
      if (names.length !== list.length || names.some((n, i) => list.options[i].value !== n)) {
        list.replaceChildren(...names.map((n) => new Option(n || "choose, or tap it", n)));
      }
      list.value = names.includes(name) ? name : "";
      const chosen = places.find((place) => place.dataset.tell === list.value);
      for (const place of places) place.classList.toggle("told", place === chosen);
      said.textContent = chosen?.querySelector("title").textContent ?? "";
    }

    listTells() {
      const box = document.createElement("div"), label = document.createElement("label");
      const list = document.createElement("select"), said = document.createElement("p");
      box.className = "tells";
      list.autocomplete = "off";
      said.setAttribute("aria-live", "polite");
      label.append("Look into ", list);
      box.append(label, said);
      list.addEventListener("change", () => this.tell());
      this.frame.after(box);
      return { box, list, said };
    }

    state() {
      return `{${this.knobs.map((k, i) => {
        const key = k.keys[this.at[i]];
        const value = k.input.dataset.type === "text" ? JSON.stringify(key) : key;
        return `${JSON.stringify(k.name)}:${value}`;
      }).join(",")}}`;
    }

    /* Values that cannot be chosen from here stay visible, but disabled; a slider ends before
       those at its end. */
    limit() {
      const leads = (j, i) =>
        this.snap(this.at.map((v, x) => (x === j ? i : v)), (x) => x > j) !== null;
      this.knobs.forEach((k, j) => {
        k.options?.forEach((option, i) => { option.disabled = !leads(j, i); });
        if (k.input.type === "checkbox") k.input.disabled = !leads(j, 1 - this.at[j]);
        if (k.input.type !== "range") return;
        let last = k.keys.length - 1;
        while (last > this.at[j] && !leads(j, last)) last -= 1;
        k.input.max = last;
      });
    }

    /* This figure's state goes first into the address; those of others stay behind it. */
    link() {
      const query = this.knobs.map((k, i) => `${k.name}=${encodeURIComponent(k.keys[this.at[i]])}`);
      const others = parts().filter(([id, query]) => query && id !== this.id);
      const all = [[this.id, query.join("&")], ...others];
      history.replaceState(null, "", `#${all.map((part) => part.join("?")).join(";")}`);
    }

    /* Controls that the address names get its values; others may move to make that possible. */
    async follow() {
      const found = parts().find(([id, query]) => id === this.id && query);
      if (!found) return;
      const named = new Map();
      for (const [name, value] of new URLSearchParams(found[1])) {
        const k = this.knobs.findIndex((knob) => knob.name === name);
        const i = k < 0 ? -1 : indexOf(this.knobs[k], value);
        if (i >= 0) named.set(k, i);
      }
      if (!named.size || !(await this.loaded())) return;
      const wanted = this.at.map((v, k) => named.get(k) ?? v);
      this.at = this.snap(wanted, (k) => !named.has(k)) ?? this.at;
      this.refresh();
      if (parts()[0][0] === this.id) this.figure.scrollIntoView();
    }

    player(player, i) {
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      const button = player.querySelector("button.play"), speed = player.querySelector("select");
      let timer = null;
      const rest = still ? "Step" : "Play";
      const stop = () => { clearInterval(timer); timer = null; button.textContent = rest; };
      const isLast = () => this.at[i] >= Number(this.knobs[i].input.max);
      const step = () => (isLast() ? stop() : this.move(i, this.at[i] + 1, true));
      const start = () => { timer = setInterval(step, Number(speed.value)); };
      player.hidden = false;
      speed.parentElement.hidden = still;
      button.textContent = rest;
      speed.addEventListener("change", () => { if (timer) { clearInterval(timer); start(); } });
      button.addEventListener("click", () => {
        if (still) return step();
        if (timer) return stop();
        if (isLast()) this.move(i, 0, true);
        start();
        button.textContent = "Pause";
      });
    }

    fail(error) {
      this.note ??= document.createElement("p");
      this.note.className = "failed";
      this.note.setAttribute("role", "alert");
      this.note.textContent = `The states of this figure could not be loaded (${error.message}).`;
      this.frame.after(this.note);
    }
  }

  const begin = () => document.querySelectorAll("figure.explorable[data-frames]")
    .forEach((figure) => new Explorable(figure));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
