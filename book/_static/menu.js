/* What the theme's pages need of Bootstrap's script, at a fraction of its weight: the menu of
   downloads, tips on buttons, the way back to the top, and the mark in the contents. */
(() => {
  "use strict";
  const SHOW_MS = 500;
  const HIDE_MS = 100;
  const GAP = 6;

  const within = (low, value, high) => Math.max(low, Math.min(value, high));

  function box(name, ...inside) {
    const made = document.createElement("div");
    made.className = name;
    made.append(...inside);
    return made;
  }

  /* Left of its owner, where that is asked and there is room; else below, within the window. */
  function place(tip, arrow, owner) {
    const at = owner.getBoundingClientRect();
    const { width, height } = tip.getBoundingClientRect();
    const isLeft = owner.dataset.bsPlacement === "left" && at.left > width + GAP;
    const middle = { x: at.left + at.width / 2, y: at.top + at.height / 2 };
    const x = isLeft ? at.left - width - GAP : middle.x - width / 2;
    const left = Math.round(within(0, x, document.documentElement.clientWidth - width));
    const top = Math.round(isLeft ? middle.y - height / 2 : at.bottom + GAP);
    tip.classList.add(isLeft ? "bs-tooltip-start" : "bs-tooltip-bottom");
    Object.assign(tip.style, { left: `${left}px`, top: `${top}px` });
    if (isLeft) arrow.style.top = `${Math.round(middle.y - top - arrow.offsetHeight / 2)}px`;
    else arrow.style.left = `${Math.round(middle.x - left - arrow.offsetWidth / 2)}px`;
  }

  function explain(owner, i) {
    const text = owner.title || owner.dataset.bsTitle;
    if (!text) return;
    owner.removeAttribute("title");  // or the browser would show a second one
    if (!owner.textContent.trim() && !owner.hasAttribute("aria-label")) {
      owner.setAttribute("aria-label", text);
    }
    let tip = null;
    let timer = 0;
    const hide = () => {
      clearTimeout(timer);
      tip?.remove();
      tip = null;
      owner.removeAttribute("aria-describedby");
    };
    const show = () => {
      if (tip) return;
      const arrow = box("tooltip-arrow");
      arrow.style.position = "absolute";
      tip = box("tooltip show", arrow, box("tooltip-inner", text));
      tip.style.position = "fixed";
      tip.id = `tip-${i}`;
      tip.setAttribute("role", "tooltip");
      (owner.closest("dialog") || document.body).append(tip);
      place(tip, arrow, owner);
      owner.setAttribute("aria-describedby", tip.id);
    };
    const later = (act, ms) => () => {
      clearTimeout(timer);
      timer = setTimeout(act, ms);
    };
    for (const event of ["mouseenter", "focus"]) owner.addEventListener(event, later(show, SHOW_MS));
    for (const event of ["mouseleave", "blur"]) owner.addEventListener(event, later(hide, HIDE_MS));
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
    addEventListener("scroll", hide, { passive: true });
  }

  function unfold(button) {
    const parent = button.parentElement;
    const menu = parent.querySelector(".dropdown-menu");
    const items = [...menu.querySelectorAll(".dropdown-item")];
    const isOpen = () => menu.classList.contains("show");

    function set(open) {
      if (open === isOpen()) return;
      for (const part of [button, menu]) part.classList.toggle("show", open);
      button.setAttribute("aria-expanded", open);
      menu.removeAttribute("style");
      if (!open) return;
      const at = parent.getBoundingClientRect();
      const room = document.documentElement.clientWidth - menu.offsetWidth - at.left;
      Object.assign(menu.style, {
        left: `${Math.min(0, Math.round(room))}px`, top: "calc(100% + 2px)", transform: "none",
      });
    }

    function step(way) {
      const at = items.indexOf(document.activeElement);
      const first = way > 0 ? 0 : items.length - 1;
      items[at < 0 ? first : within(0, at + way, items.length - 1)].focus();
    }

    button.addEventListener("click", () => set(!isOpen()));
    parent.addEventListener("keydown", (event) => {
      const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (way) {
        event.preventDefault();
        set(true);
        step(way);
      } else if (event.key === "Escape" && isOpen()) {
        set(false);
        button.focus();
      }
    });
    document.addEventListener("click", (event) => { if (!button.contains(event.target)) set(false); });
    document.addEventListener("focusin", (event) => { if (!parent.contains(event.target)) set(false); });
  }

  /* The last section that has come into the upper part of the window is the one that is read. */
  function follow() {
    const links = new Map();
    for (const link of document.querySelectorAll('.page-toc a[href^="#"]')) {
      const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      if (section) links.set(section, link);
    }
    const seen = new Set();
    const watch = new IntersectionObserver((changes) => {
      for (const change of changes) seen[change.isIntersecting ? "add" : "delete"](change.target);
      const read = [...links.keys()].filter((section) => seen.has(section)).pop();
      for (const [section, link] of links) {
        link.classList.toggle("active", Boolean(read) && section.contains(read));
      }
    }, { rootMargin: document.body.dataset.bsRootMargin });
    for (const section of links.keys()) watch.observe(section);
  }

  function rise(button) {
    let last = scrollY;
    button.addEventListener("click", () => scrollTo(0, 0));
    addEventListener("scroll", () => {
      if (scrollY === last) return;
      button.style.display = last > scrollY && scrollY > 0 ? "block" : "none";
      last = scrollY;
    }, { passive: true });
  }

  document.querySelectorAll('[data-bs-toggle="tooltip"]').forEach(explain);
  document.querySelectorAll('[data-bs-toggle="dropdown"]').forEach(unfold);
  follow();
  rise(document.getElementById("pst-back-to-top"));
})();
