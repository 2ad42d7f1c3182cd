// Pressing an entry of a legend shows or hides its series, in all drawings of the figure.
"use strict";
document.documentElement.classList.add("script");
for (const legend of document.querySelectorAll(".legend")) {
  const figure = legend.closest("figure");
  for (const button of legend.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      const chosen = `.canvas [data-series="${button.dataset.series}"]`;
      for (const series of figure.querySelectorAll(chosen)) series.classList.toggle("off", !shown);
    });
  }
}
