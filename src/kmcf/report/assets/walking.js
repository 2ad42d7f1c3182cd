// The arrow keys walk through the points of a chart and tell what pointing at them tells: along a series, and between series.
function walk(canvas, plot) {
  const hovers = plot.model.toolbar.tools.filter((tool) => tool.type === "HoverTool").reverse();
  if (!hovers.some((hover) => places(hover).length)) return;
  const told = document.createElement("div");
  told.className = "told";
  told.setAttribute("role", "status");
  told.hidden = true;
  canvas.append(told);
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "group");
  canvas.ariaLabel += " Arrow keys walk through its points.";
  let series = null, point = null;

  const hide = () => { series = point = null; told.hidden = true; };
  canvas.addEventListener("blur", hide);
  canvas.addEventListener("keydown", (event) => {
    const step = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (event.key === "Escape") hide();
    const seen = hovers.filter((hover) => hover.renderers[0].visible && places(hover).length);
    if (!step || !seen.length) return;
    event.preventDefault();
    [series, point] = neighbour(seen, series, point, step);
    const data = series.renderers[0].data_source.data;
    told.replaceChildren(...series.tooltips.map(([label, words]) => line(label, words, series.renderers[0], point)));
    told.hidden = false;
    const left = plot.frame.x_scale.compute(data.x[point]), top = plot.frame.y_scale.compute(data.y[point]);
    told.style.left = `${Math.max(0, Math.min(left, canvas.clientWidth - told.offsetWidth))}px`;
    told.style.top = `${top > told.offsetHeight + 10 ? top - told.offsetHeight - 8 : top + 8}px`;
  });
}

function places(hover) {
  const {x, y} = hover.renderers[0].data_source.data;
  return Array.from(x, (_, k) => k).filter((k) => Number.isFinite(x[k]) && Number.isFinite(y[k]));
}

function neighbour(seen, series, point, [other, along]) {
  if (!seen.includes(series)) return [seen[0], places(seen[0])[0]];
  const own = places(series);
  if (along) return [series, own[(own.indexOf(point) + along + own.length) % own.length]];
  const next = seen[(seen.indexOf(series) + other + seen.length) % seen.length];
  const x = series.renderers[0].data_source.data.x[point], across = next.renderers[0].data_source.data.x;
  return [next, places(next).reduce((a, b) => (Math.abs(across[b] - x) < Math.abs(across[a] - x) ? b : a))];
}

// The same words as in the tooltip of the same point.
function line(label, words, {name, data_source: {data}}, point) {
  const row = document.createElement("div");
  const told = words === "$name" ? name : words.replace(/@(\w+)(?:\{%\.(\d)g\})?/g, (_, column, digits) =>
    digits ? String(Number(data[column][point].toPrecision(Number(digits)))) : data[column][point]);
  row.textContent = label ? `${label}: ${told}` : told;
  return row;
}
