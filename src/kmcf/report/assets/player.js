// Plays the frames of an animation; the slider also listens to the arrow keys, as every slider does.
function play(figure, {milliseconds, origin, step, sources, frames}, find) {
  const [button, slider, speed, label] = [".play", ".slider", ".speed", ".moment"].map((name) => figure.querySelector(name));
  let timer = null;

  function draw() {
    const frame = frames[Number(slider.value)];
    for (const [name, layer] of Object.entries(frame.layers)) {
      const data = {x: layer.x.map((k) => origin[0] + k * step[0]), y: layer.y.map((k) => origin[1] + k * step[1])};
      if (layer.size) data.size = layer.size.map((k) => k / 10);
      find(sources[name]).data = data;
    }
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
