/* Drawings: the part that is pointed at or focused is lit, and its explanation shown below.
   Without this file the explanations are a list under the picture. */
(() => {
  "use strict";

  class Drawing {
    constructor(figure) {
      this.frame = figure.querySelector(".frame");
      this.says = figure.querySelector(".says");
      this.hint = this.says.textContent;
      this.rows = new Map();
      figure.querySelectorAll("[data-for]").forEach((row) => {
        this.rows.set(row.dataset.for, [...row.children].map((cell) => cell.textContent));
      });
      this.places = [...figure.querySelectorAll(".frame [data-part]")];
      this.first = new Map();
      this.pointed = this.focused = this.kept = this.shown = null;
      this.places.forEach((place) => this.reach(place));
      this.listen();
      figure.classList.add("alive");
      figure.querySelector(".parts").open = false;
      this.frame.setAttribute("role", "group");
      this.says.hidden = false;
      new ResizeObserver(() => this.reserve()).observe(this.frame);
    }

    /* The first place of a part can be reached with Tab; what it says is its name. */
    reach(place) {
      const part = place.dataset.part;
      if (this.first.has(part)) return;
      this.first.set(part, place);
      place.setAttribute("tabindex", "0");
      place.setAttribute("role", "button");
      place.setAttribute("aria-pressed", "false");
      if (!place.textContent.trim()) place.setAttribute("aria-label", this.rows.get(part)[0]);
    }

    listen() {
      const part = (event) => event.target.closest("[data-part]")?.dataset.part ?? null;
      this.frame.addEventListener("pointerover", (event) => this.set({ pointed: part(event) }));
      this.frame.addEventListener("pointerleave", () => this.set({ pointed: null }));
      this.frame.addEventListener("focusin", (event) => this.set({ focused: part(event) }));
      this.frame.addEventListener("focusout", () => this.set({ focused: null }));
      this.frame.addEventListener("click", (event) => this.keep(part(event)));
      this.frame.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.keep(part(event));
      });
      document.addEventListener("keydown", (event) => {
        if (event.key === "Escape") this.set({ pointed: null, focused: null, kept: null });
      });
    }

    /* A click keeps an explanation; a second one, or one beside all parts, lets it go. */
    keep(part) {
      this.set({ kept: part === this.kept ? null : part });
    }

    set(change) {
      Object.assign(this, change);
      this.first.forEach((place, part) => {
        place.setAttribute("aria-pressed", String(part === this.kept));
      });
      this.show(this.pointed ?? this.focused ?? this.kept);
    }

    show(part) {
      if (part === this.shown) return;
      this.shown = part;
      this.places.forEach((place) => {
        place.classList.toggle("lit", place.dataset.part === part);
      });
      this.says.classList.toggle("explains", part !== null);
      this.write(this.says, part);
    }

    write(target, part) {
      const title = document.createElement("strong");
      const [label, text] = this.rows.get(part) ?? ["", this.hint];
      title.textContent = label;
      target.replaceChildren(...(label ? [title, text] : [text]));
    }

    /* Room for the longest explanation, so that the page below never moves. */
    reserve() {
      const width = this.says.offsetWidth;
      if (!width || width === this.width) return;
      this.width = width;
      const ghost = this.says.cloneNode();
      ghost.removeAttribute("aria-live");
      ghost.style.cssText = `position: absolute; visibility: hidden; width: ${width}px`;
      this.says.after(ghost);
      const heights = [null, ...this.rows.keys()].map((part) => {
        this.write(ghost, part);
        return ghost.offsetHeight;
      });
      ghost.remove();
      this.says.style.minHeight = `${Math.max(...heights)}px`;
    }
  }

  document.querySelectorAll("figure.drawing").forEach((figure) => new Drawing(figure));
})();
