"use strict";
// Light or dark: the setting of the system, until the reader presses the button.
(() => {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const show = () => {
    const dark = chosen === null ? system.matches : chosen;
    root.style.colorScheme = chosen === null ? "" : dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
    dispatchEvent(new Event("themechange"));
  };
  button.addEventListener("click", () => {
    chosen = !(chosen === null ? system.matches : chosen);
    show();
  });
  system.addEventListener("change", show);
  show();
})();
