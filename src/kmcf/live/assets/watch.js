"use strict";
// Shows one moment of a filter after the other. The page asks for moments; it never gets more than it asked for.
(() => {
  const $ = (id) => document.getElementById(id);
  const token = new URLSearchParams(location.search).get("token");
  const query = token ? `?token=${encodeURIComponent(token)}` : "";
  const replayed = document.body.dataset.replayed === "yes";
  const state = { object: null, step: 0, playing: true, asked: false, wanted: null, news: {}, sources: {}, due: 0 };

  async function begin() {
    const figures = await (await fetch(`v1/figures${query}`)).json();
    for (const name of Object.keys(figures)) {
      const views = await Bokeh.embed.embed_item(figures[name], name);
      for (const root of (views.roots || [views])) {
        const model = root.model || root;
        for (const item of model.below || []) if (item.type === "Legend" && innerWidth > 800) item.ncols = 4;
        if (innerWidth <= 800 && model.height > innerWidth) model.height = innerWidth;
        for (const renderer of model.renderers || []) {
          const source = renderer.data_source;
          if (source && source.name) state.sources[source.name] = source;
        }
      }
    }
    connect();
    requestAnimationFrame(tick);
  }

  function connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const base = location.pathname.replace(/[^/]*$/, "");
    const socket = new WebSocket(`${scheme}://${location.host}${base}v1/watch${query}`);
    socket.onopen = () => { state.socket = socket; state.asked = false; connected(true); };
    socket.onclose = () => { state.socket = null; connected(false); setTimeout(connect, 1000); };
    socket.onmessage = (event) => {
      const told = JSON.parse(event.data);
      if (told.news) heard(told.news);
      else {
        state.asked = false;
        if (told.frame) show(told);
        else { pause(); $("alarm").hidden = false; $("alarm").textContent = told.error; }
      }
    };
  }

  function connected(yes) {
    $("connection").textContent = yes ? "connected" : "no connection to the server";
    $("connection").classList.toggle("lost", !yes);
  }

  function heard(news) {
    state.news = news;
    const names = Object.keys(news);
    const list = $("object");
    if ([...list.options].map((o) => o.value).join("\n") !== names.join("\n")) {
      list.replaceChildren(...names.map((name) => new Option(name, name, false, name === state.object)));
    }
    if (!state.object && names.length) choose(names[0]);
    const [first, last] = range();
    $("slider").min = first || 1;
    $("slider").max = Math.max(last, 1);
    if (state.step > last && last > 0) state.step = 0; // the object began anew
  }

  function choose(name) {
    state.object = name;
    state.step = 0;
    $("object").value = name;
    if (!replayed) state.playing = true;
    label();
  }

  const range = () => state.news[state.object] || [0, 0];

  // Which step comes next: the one asked for; while playing the next, or of what is followed the latest.
  function next(now) {
    const [first, last] = range();
    if (!last) return null;
    if (state.wanted !== null) return Math.min(Math.max(state.wanted, first), last);
    if (!state.playing) return null;
    if (!replayed) return last > state.step ? last : null;
    if (state.step >= last) { state.playing = false; label(); return null; }
    return now >= state.due ? Math.max(state.step + 1, first) : null;
  }

  function tick(now) {
    if (state.socket && !state.asked) {
      const step = next(now);
      if (step !== null && (step !== state.step || state.wanted !== null)) {
        state.asked = true;
        state.wanted = null;
        state.due = Math.max(state.due + 1000 / Number($("speed").value), now - 500);
        state.socket.send(JSON.stringify({ object: state.object, step }));
      }
    }
    requestAnimationFrame(tick);
  }

  function show(told) {
    if (told.object !== state.object) return;
    state.step = told.step;
    const { answer, layers, seen, seconds } = told.frame;
    for (const [name, data] of Object.entries(layers)) {
      if (state.sources[name]) state.sources[name].data = data;
    }
    $("slider").value = told.step;
    const when = answer.time === null ? "" : `, time ${number(answer.time)}`;
    $("moment").textContent = `step ${told.step} of ${range()[1]}${when}`;
    alarm(answer);
    numbers(answer, seconds);
    look(seen);
    document.body.dataset.step = told.step;
  }

  function alarm(answer) {
    const reasons = {
      "uncovered state": "the state is outside the examples",
      "unlike any example": "what was observed is unlike any example",
      "changed sensor": "the sensor seems to have changed",
      "cancelled weights": "positive and negative weights cancel",
      "lost": "the filter is lost",
    };
    $("alarm").hidden = !answer.alarm;
    $("alarm").textContent = answer.alarm ? `Do not believe this estimate: ${reasons[answer.reason] || answer.reason}.` : "";
  }

  const number = (x) => (x === null ? "–" : Math.abs(x) >= 1e6 ? x.toFixed(1) : Number(x.toPrecision(4)).toString());

  function numbers(answer, seconds) {
    const rows = answer.mean.map((value, j) => [
      names[j] || `state ${j}`,
      `${number(value)}  [${number(answer.interval[0][j])}, ${number(answer.interval[1][j])}]`,
    ]);
    const how = answer.missing ? "missing" : answer.rejected ? "not used: no example resembles it" : "used";
    rows.push(["observation", how], ["effective sample size", number(answer.ess)], ["coverage", number(answer.coverage)]);
    rows.push(["latency", `${(1e3 * seconds).toFixed(1)} ms`]);
    $("numbers").tBodies[0].replaceChildren(...rows.map(([name, text]) => {
      const row = document.createElement("tr");
      const head = document.createElement("th");
      const cell = document.createElement("td");
      head.textContent = name;
      cell.textContent = text;
      row.append(head, cell);
      return row;
    }));
  }

  // What was seen: images side by side, vectors as bars with the most similar example's as ticks.
  function look(seen) {
    $("seen").hidden = !seen;
    if (!seen) return;
    $("image").hidden = !seen.image;
    $("values").hidden = !!seen.image;
    $("beside").hidden = !seen.image || !seen.match;
    if (seen.image) {
      $("image").src = seen.image;
      if (seen.match) $("match").src = seen.match;
      $("seen-words").textContent = "seen";
      return;
    }
    $("seen-words").textContent = "seen (bars), most similar example (ticks)";
    bars(seen.values, seen.match);
  }

  function bars(values, match) {
    const canvas = $("values");
    const pen = canvas.getContext("2d");
    const all = [...values, ...(match || [])].filter((x) => x !== null);
    const low = Math.min(...all);
    const high = Math.max(...all);
    const y = (x) => 8 + 94 * (1 - (x - low) / (high - low || 1));
    const width = 300 / values.length;
    pen.clearRect(0, 0, 300, 120);
    values.forEach((value, j) => {
      if (value !== null) {
        pen.fillStyle = "#0072b2";
        pen.fillRect(j * width + 0.15 * width, y(value), 0.7 * width, 120 - y(value));
      }
      if (match && match[j] !== null) {
        pen.fillStyle = "#d55e00";
        pen.fillRect(j * width + 0.05 * width, y(match[j]) - 1, 0.9 * width, 3);
      }
    });
  }

  function label() {
    const play = $("play");
    play.textContent = state.playing ? "Pause" : "Play";
    play.ariaLabel = play.textContent;
  }

  const act = {
    play() {
      const [first, last] = range();
      state.playing = !state.playing;
      if (state.playing && replayed && state.step >= last) state.wanted = first;
      state.due = 0;
      label();
    },
    step(by) { pause(); state.wanted = (state.wanted === null ? state.step : state.wanted) + by; },
    rewind() { pause(); state.wanted = range()[0]; },
    latest() { state.wanted = range()[1]; state.playing = !replayed; label(); },
  };

  function pause() { state.playing = false; label(); }

  const keys = {
    " ": () => act.play(), ArrowRight: () => act.step(1), ArrowLeft: () => act.step(-1),
    Home: () => act.rewind(), End: () => act.latest(),
  };
  document.addEventListener("keydown", (event) => {
    const typed = event.target.tagName === "SELECT" || event.ctrlKey || event.altKey || event.metaKey;
    if (typed || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  // The keyboard works everywhere, so a pressed button must not keep the space bar for itself.
  for (const button of document.querySelectorAll("nav button")) button.addEventListener("click", () => button.blur());
  $("play").onclick = () => act.play();
  $("forward").onclick = () => act.step(1);
  $("back").onclick = () => act.step(-1);
  $("rewind").onclick = () => act.rewind();
  $("latest").onclick = () => act.latest();
  $("slider").oninput = () => { pause(); state.wanted = Number($("slider").value); };
  $("object").onchange = () => choose($("object").value);
  let names = [];
  fetch(`v1/model${query}`).then((answer) => answer.json()).then((model) => { names = model.state.names; });
  label();
  begin();
})();
