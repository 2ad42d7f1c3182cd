// Pointing at a chart, or walking through it with the arrow keys, shows the values of the nearest point.
for (const figure of document.querySelectorAll("figure.chart")) {
  const source = figure.querySelector("script[type='application/json']");
  const data = source ? JSON.parse(source.textContent) : {series: []};
  if (data.series.some((series) => series.x.length)) addTooltip(figure, data);
}

function addTooltip(figure, data) {
  const canvas = figure.querySelector(".canvas");
  const tooltip = document.createElement("div");
  tooltip.className = "tooltip";
  tooltip.setAttribute("role", "status");
  tooltip.hidden = true;
  canvas.append(tooltip);
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "group");
  canvas.setAttribute("aria-label", "Chart; arrow keys walk through its points");
  let current = null;

  const drawing = () => [...canvas.querySelectorAll(".drawing")].find((one) => one.getClientRects().length > 0);

  function points(svg) {
    const n = svg.dataset.scales.split(" ").map(Number);
    const places = [scale(n.slice(0, 5)), scale(n.slice(5))];
    return data.series.flatMap((series, s) => {
      const group = svg.querySelector(`[data-series="${s}"]`);
      if (!group || group.classList.contains("off")) return [];
      return series.x.map((x, i) => ({s, i, left: places[0](x), top: places[1](series.y[i])}))
        .filter((p) => p.left !== null && p.top !== null);
    });
  }

  function show(svg, point) {
    current = point;
    let ring = svg.querySelector(".pointer");
    if (!ring) {
      ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      ring.setAttribute("class", "pointer");
      ring.setAttribute("r", 7);
      svg.append(ring);
    }
    ring.setAttribute("cx", point.left);
    ring.setAttribute("cy", point.top);
    tooltip.replaceChildren(...lines(data, point));
    tooltip.hidden = false;
    const zoom = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const left = point.left * zoom, top = point.top * zoom;
    const room = canvas.clientWidth - tooltip.offsetWidth;
    tooltip.style.left = `${Math.max(0, Math.min(left + 14, room))}px`;
    tooltip.style.top = `${top > tooltip.offsetHeight + 14 ? top - tooltip.offsetHeight - 12 : top + 14}px`;
  }

  function hide() {
    current = null;
    tooltip.hidden = true;
    for (const ring of canvas.querySelectorAll(".pointer")) ring.remove();
  }

  canvas.addEventListener("pointermove", (event) => {
    const svg = drawing();
    if (!svg) return;
    const box = svg.getBoundingClientRect(), zoom = box.width / svg.viewBox.baseVal.width;
    const x = (event.clientX - box.left) / zoom, y = (event.clientY - box.top) / zoom;
    let best = null, nearest = 45;
    for (const point of points(svg)) {
      const distance = Math.hypot(point.left - x, point.top - y);
      if (distance < nearest) [best, nearest] = [point, distance];
    }
    if (best) show(svg, best); else hide();
  });
  canvas.addEventListener("pointerleave", hide);
  canvas.addEventListener("blur", hide);
  canvas.addEventListener("keydown", (event) => {
    const step = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (event.key === "Escape") hide();
    const svg = drawing();
    if (!step || !svg) return;
    event.preventDefault();
    const all = points(svg);
    if (all.length) show(svg, neighbour(all, current, step));
  });
}

function neighbour(all, current, [other, along]) {
  if (!current) return all[0];
  if (along) {
    const own = all.filter((p) => p.s === current.s);
    const place = own.findIndex((p) => p.i === current.i);
    return own.length ? own[(place + along + own.length) % own.length] : all[0];
  }
  const series = [...new Set(all.map((p) => p.s))];
  const next = series[(series.indexOf(current.s) + other + series.length) % series.length];
  const mates = all.filter((p) => p.s === next);
  return mates.reduce((a, b) => (Math.abs(b.left - current.left) < Math.abs(a.left - current.left) ? b : a));
}

// The same map from values to places as in the drawing; null for what lies outside of it.
function scale([low, high, start, end, log]) {
  const f = log ? Math.log10 : (v) => v;
  return (value) => {
    if (value === null || (log && value <= 0)) return null;
    const part = (f(value) - f(low)) / (f(high) - f(low));
    return part >= -1e-6 && part <= 1 + 1e-6 ? start + part * (end - start) : null;
  };
}

function lines(data, point) {
  const series = data.series[point.s], i = point.i;
  const name = document.createElement("strong");
  name.textContent = series.name;
  const category = data.categories && data.categories[series.x[i]];
  const words = [`${data.x}: ${category === undefined ? written(series.x[i]) : category}`];
  let value = `${data.y}: ${written(series.y[i])}`;
  if (series.lower) value += ` [${written(series.lower[i])}, ${written(series.upper[i])}]`;
  words.push(value);
  for (const [label, unit, values] of series.extra || []) words.push(`${label}: ${written(values[i])} ${unit}`);
  return [name, ...words.map((line) => {
    const row = document.createElement("div");
    row.textContent = line;
    return row;
  })];
}

function written(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const short = size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  return short.replace("-", "−").replace("e−", "e-").replace("e+", "e");
}
