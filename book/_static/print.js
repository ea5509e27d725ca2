/* On paper: folded parts unfolded, dark pages light. Afterwards all is as it was. */
(() => {
  "use strict";
  const root = document.documentElement;
  let opened = [];
  let theme = root.dataset.theme;
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((part) => { part.open = true; });
    theme = root.dataset.theme;
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    opened.forEach((part) => { part.open = false; });
    root.dataset.theme = theme;
  });
})();
