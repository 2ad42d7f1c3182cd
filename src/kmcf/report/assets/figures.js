// Draws the figures by BokehJS; pressing an entry of a legend shows or hides its series.
"use strict";
document.documentElement.classList.add("script");
for (const figure of document.querySelectorAll("figure")) {
  const data = figure.querySelector("script[type='application/json']");
  if (data) draw(figure, JSON.parse(data.textContent));
}

async function draw(figure, {item, player}) {
  const canvas = figure.querySelector(".canvas");
  const root = document.createElement("div");
  root.id = `${figure.id}--drawing`;
  canvas.append(root);
  const views = await Bokeh.embed.embed_item({...item, target_id: root.id});
  const plot = views.get_by_id(item.root_id);
  const find = (id) => plot.model.document.get_model_by_id(id);
  for (const button of figure.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      for (const id of button.dataset.models.split(" ")) find(id).visible = shown;
    });
  }
  if (player) play(figure, player, find);
  walk(canvas, plot);
  window.addEventListener("beforeprint", () => picture(canvas, plot));
  figure.classList.add("drawn");
}

// Paper has another width than the window, and no time to draw anew: it gets a picture that fits.
function picture(canvas, plot) {
  const image = canvas.querySelector("img") ?? document.createElement("img");
  image.alt = "";
  image.src = plot.export("png", true).canvas.toDataURL();
  canvas.append(image);
}
