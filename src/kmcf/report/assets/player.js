// Plays the frames of an animation; the slider also listens to the arrow keys, as every slider does.
for (const figure of document.querySelectorAll("figure.player")) {
  const {milliseconds, frames} = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
  const layers = [0, 1, 2, 3, 4, 5].map((place) => figure.querySelector(`.canvas [data-series="${place}"]`));
  const [button, slider, speed, label] = [".play", ".slider", ".speed", ".moment"].map((name) => figure.querySelector(name));
  let timer = null;

  function draw() {
    const frame = frames[Number(slider.value)];
    frame.layers.forEach((numbers, place) => (place < 4 ? drawDiscs : drawSign)(layers[place], numbers));
    label.textContent = frame.label;
    slider.setAttribute("aria-valuetext", frame.label);
  }

  function pause() {
    clearTimeout(timer);
    timer = null;
    button.textContent = "▶";
    button.setAttribute("aria-label", "Play");
  }

  function advance() {
    if (Number(slider.value) >= frames.length - 1) return pause();
    slider.value = Number(slider.value) + 1;
    draw();
    timer = setTimeout(advance, milliseconds / Number(speed.value));
  }

  button.addEventListener("click", () => {
    if (timer !== null) return pause();
    if (Number(slider.value) >= frames.length - 1) slider.value = -1;
    button.textContent = "❚❚";
    button.setAttribute("aria-label", "Pause");
    advance();
  });
  slider.addEventListener("input", () => { pause(); draw(); });
  slider.value = 0;
  draw();
}

function drawDiscs(layer, numbers) {
  const count = numbers.length / 3;
  while (layer.childElementCount > count) layer.lastElementChild.remove();
  while (layer.childElementCount < count) layer.append(document.createElementNS("http://www.w3.org/2000/svg", "circle"));
  for (let k = 0; k < count; k++) {
    ["cx", "cy", "r"].forEach((name, j) => layer.children[k].setAttribute(name, numbers[3 * k + j] / 10));
  }
}

function drawSign(layer, [x, y]) {
  const sign = layer.firstElementChild;
  if (x === undefined) return sign.setAttribute("visibility", "hidden");
  sign.removeAttribute("visibility");
  sign.setAttribute("transform", `translate(${x / 10} ${y / 10})`);
}
