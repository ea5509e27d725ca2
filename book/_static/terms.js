/* Definitions beside links to the glossary, on hover and on focus. Without this file such a
   link leads to the glossary, as it does with it. */
(() => {
  "use strict";
  const LINK = "a:has(> .std-term)";
  const script = document.currentScript;
  let tip = null;
  let shown = null;
  let timer = 0;

  function make() {
    const box = document.createElement("div");
    box.id = "term-tip";
    box.className = "term-tip";
    box.setAttribute("role", "tooltip");
    box.hidden = true;
    box.addEventListener("pointerenter", () => clearTimeout(timer));
    box.addEventListener("pointerleave", () => later(hide));
    (document.querySelector("main") || document.body).append(box);
    return box;
  }

  function later(act) {
    clearTimeout(timer);
    timer = setTimeout(act, 180);
  }

  function hide() {
    clearTimeout(timer);
    if (!shown) return;
    shown.removeAttribute("aria-describedby");
    shown = null;
    tip.hidden = true;
  }

  /* Above the word where there is room, else below it; never beyond the window. */
  function place(link) {
    const word = link.getClientRects()[0];
    const box = tip.getBoundingClientRect();
    const wide = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(word.left, wide - box.width - 8));
    const above = word.top - box.height - 6;
    tip.style.left = left + "px";
    tip.style.top = (above > 8 ? above : word.bottom + 6) + "px";
  }

  function show(link) {
    clearTimeout(timer);
    const id = decodeURIComponent(link.hash.slice(1));
    const text = (window.primerTerms || {})[id];
    if (!text || shown === link) return;
    hide();
    tip = tip || make();
    tip.textContent = text;
    tip.hidden = false;
    place(link);
    link.setAttribute("aria-describedby", tip.id);
    shown = link;
  }

  function listen(link) {
    link.addEventListener("pointerenter", (event) => {
      if (event.pointerType !== "touch") later(() => show(link));
    });
    link.addEventListener("pointerleave", () => later(hide));
    link.addEventListener("focus", () => show(link));
    link.addEventListener("blur", hide);
  }

  function load() {
    const data = document.createElement("script");
    data.src = new URL("terms-data.js", script.src).href;
    document.head.append(data);
  }

  document.querySelectorAll(LINK).forEach(listen);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  window.addEventListener("scroll", hide, { passive: true });
  (window.requestIdleCallback || setTimeout)(load);
})();
