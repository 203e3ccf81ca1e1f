-- Style and script of reports. The script draws what can be zoomed, chosen or sorted; all numbers stand in tables without it.
local assets = {}

assets.style = [==[
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --faint: #6b7280; --line: #d5d9e0; --bar: #b9d0ea; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #16181c; --faint: #9aa3af; --line: #3a3f47; --bar: #2f4f74; } }
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; padding: 1.5rem; max-width: 76rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line); } h3 { font-size: 1rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; padding: 0; list-style: none; }
a { color: inherit; }
section { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0 1.2rem; font-variant-numeric: tabular-nums; }
#speed-ups tbody tr:last-child { font-weight: 600; }
caption { text-align: left; color: var(--faint); padding-bottom: .3rem; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; white-space: nowrap; }
th { font-weight: 600; } .narrow .bar { min-width: 4.5rem; } td.number, th.number { text-align: right; }
td.code { font-family: ui-monospace, monospace; white-space: pre; }
.bar { display: inline-block; min-width: 9rem; padding: 0 .3rem; text-align: right;
  background: linear-gradient(to right, var(--bar) var(--share), transparent var(--share)); border: 1px solid var(--line); }
.missing { color: var(--faint); }
.machine svg { max-width: 100%; height: auto; background: #fff; }
figure { margin: .8rem 0 1.4rem; } figcaption { color: var(--faint); }
svg.chart { width: 100%; max-width: 72rem; height: auto; touch-action: none; }
svg.chart text { fill: var(--ink); font: 11px system-ui, sans-serif; } svg.chart .axis { stroke: var(--faint); fill: none; }
svg.chart .grid { stroke: var(--line); } svg.chart path.series { fill: none; stroke: var(--ink); stroke-width: 1.4; }
svg.chart rect.select { fill: var(--bar); opacity: .5; } svg.chart .dot { fill: var(--paper); stroke: var(--ink); }
svg.chart .area { stroke: var(--ink); stroke-width: .4; }
label, select, input, button { font: inherit; margin-right: .6rem; }
th button { all: unset; cursor: pointer; font-weight: 600; } th button:focus-visible { outline: 2px solid currentColor; }
@media print { h2, h3 { break-after: avoid; } body { padding: 0; max-width: none; font-size: 10pt; } nav, .tools { display: none; } section { overflow: visible; }
  figure, tr, .machine { break-inside: avoid; } th, th button, td { white-space: normal; padding: .1rem .3rem; }
  .bar, .narrow .bar { min-width: 4rem; white-space: nowrap; padding: 0 .1rem; } table.sortable { font-size: 7pt; } table.sortable :is(th, td) { padding: .1rem .2rem; }
  :root { --ink: #000; --paper: #fff; --faint: #444; --line: #999; --bar: #ccc; } }
]==]

assets.script = [==[
"use strict";
(function () {
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
function make(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  return node;
}
function element(name, attributes, text) {
  const node = document.createElement(name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  return node;
}
function shown(value) {
  if (typeof value !== "number") return value === null || value === undefined ? "" : String(value);
  if (Number.isInteger(value) || Math.abs(value) >= 1e5) return String(Math.round(value));
  const text = value.toPrecision(5);
  return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
}
function step(span, count) {
  const raw = span / count, power = Math.pow(10, Math.floor(Math.log10(raw)));
  for (const factor of [1, 2, 5]) if (factor * power >= raw) return factor * power;
  return 10 * power;
}
const W = 960, H = 230, L = 70, R = 12, T = 12, B = 34;
function axes(svg, x, y, names) {
  const [x0, x1] = x, [y0, y1] = y;
  const at = v => L + (v - x0) / (x1 - x0 || 1) * (W - L - R), up = v => H - B - (v - y0) / (y1 - y0 || 1) * (H - T - B);
  const sx = step(x1 - x0 || 1, 8), sy = step(y1 - y0 || 1, 4);
  for (let v = Math.ceil(y0 / sy) * sy; v <= y1 + sy * 1e-6; v += sy) {
    svg.append(make("line", { class: "grid", x1: L, x2: W - R, y1: up(v), y2: up(v) }));
    svg.append(make("text", { x: L - 6, y: up(v) + 4, "text-anchor": "end" }, shown(+v.toPrecision(6))));
  }
  for (let v = Math.ceil(x0 / sx) * sx; v <= x1 + sx * 1e-6; v += sx) {
    svg.append(make("line", { class: "axis", x1: at(v), x2: at(v), y1: H - B, y2: H - B + 4 }));
    svg.append(make("text", { x: at(v), y: H - B + 16, "text-anchor": "middle" }, shown(+v.toPrecision(8))));
  }
  svg.append(make("line", { class: "axis", x1: L, x2: W - R, y1: H - B, y2: H - B }));
  svg.append(make("text", { x: (L + W - R) / 2, y: H - 4, "text-anchor": "middle" }, names[0]));
  svg.append(make("text", { x: 12, y: (T + H - B) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(T + H - B) / 2})` }, names[1]));
  return [at, up];
}

/* Intervals: steps over time; all charts show the same window of it. */
function intervals(place) {
  const { columns, rows, slots } = data.intervals;
  const whole = [rows[0][0], rows[rows.length - 1][1]];
  let view = whole.slice();
  const charts = [];
  const tools = element("p", { class: "tools" });
  const select = element("select", { "aria-label": "statistic" });
  columns.forEach((name, i) => select.append(element("option", { value: i }, name)));
  const buttons = [["zoom in", v => inner(v, .25, .75)], ["zoom out", v => inner(v, -.5, 1.5)], ["earlier", v => inner(v, -.5, .5)],
    ["later", v => inner(v, .5, 1.5)], ["all", () => whole.slice()]];
  function inner(v, a, b) {
    const span = v[1] - v[0], size = Math.min((b - a) * span, whole[1] - whole[0]);
    const low = Math.max(whole[0], Math.min(v[0] + a * span, whole[1] - size));
    return [low, low + size];
  }
  tools.append(element("label", {}, "one more: "), select);
  for (const [name, change] of buttons) {
    const button = element("button", { type: "button" }, name);
    button.addEventListener("click", () => { view = change(view); charts.forEach(draw => draw()); });
    tools.append(button);
  }
  place.append(tools);
  function value(row, i) { return row[3 + i]; }
  function chart(title, index, stacked) {
    const figure = element("figure", {}), caption = element("figcaption", {});
    const svg = make("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img" });
    figure.append(svg, caption);
    place.append(figure);
    let pressed = null;
    const toX = event => view[0] + ((event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width * W - L) / (W - L - R) * (view[1] - view[0]);
    svg.addEventListener("pointerdown", event => { pressed = toX(event); });
    svg.addEventListener("pointerup", event => {
      const now = toX(event);
      if (pressed !== null && Math.abs(now - pressed) > (view[1] - view[0]) / 100) {
        view = [Math.max(whole[0], Math.min(now, pressed)), Math.min(whole[1], Math.max(now, pressed))];
        charts.forEach(draw => draw());
      }
      pressed = null;
    });
    svg.addEventListener("dblclick", () => { view = whole.slice(); charts.forEach(draw => draw()); });
    function draw() {
      const list = stacked ? index : [typeof index === "function" ? index() : index];
      svg.replaceChildren();
      const seen = rows.filter(row => row[1] > view[0] && row[0] < view[1]);
      svg.append(make("title", {}, title || columns[list[0]]));
      if (stacked) {
        const [at, up] = axes(svg, view, [0, 1], ["core cycles", "share of slots"]);
        const base = seen.map(() => 0);
        list.forEach((column, k) => {
          const sums = seen.map(row => list.reduce((sum, c) => sum + (value(row, c) || 0), 0) || 1);
          let top = "", bottom = "";
          seen.forEach((row, i) => {
            const a = at(Math.max(row[0], view[0])), b = at(Math.min(row[1], view[1])), low = base[i], high = low + (value(row, column) || 0) / sums[i];
            top += `${i ? "L" : "M"}${a} ${up(high)}L${b} ${up(high)}`;
            bottom = `L${b} ${up(low)}L${a} ${up(low)}` + bottom;
            base[i] = high;
          });
          svg.append(pattern(svg, k), make("path", { class: "area", d: top + bottom + "Z", fill: `url(#shade${k})` }));
        });
        legend(svg, list.map(c => columns[c].replace(/^.*slots_/, "")));
      } else {
        const values = seen.map(row => value(row, list[0])).filter(v => typeof v === "number");
        const [at, up] = axes(svg, view, [0, Math.max(1e-9, ...values)], ["core cycles", ""]);
        let path = "", open = false;
        for (const row of seen) {
          const v = value(row, list[0]);
          if (typeof v !== "number") { open = false; continue; }
          const a = at(Math.max(row[0], view[0])), b = at(Math.min(row[1], view[1]));
          path += `${open ? "L" : "M"}${a} ${up(v)}L${b} ${up(v)}`;
          open = true;
        }
        svg.append(make("path", { class: "series", d: path }));
      }
      caption.textContent = (title || columns[list[0]]) + ` - cycles ${Math.round(view[0])} to ${Math.round(view[1])}; drag to zoom, double click for all`;
    }
    charts.push(draw);
    draw();
    return draw;
  }
  if (slots.length) chart("where the issue slots went", slots, true);
  columns.forEach((name, i) => { if (/^run\.ipc$|miss_rate$|bandwidth_utilisation$/.test(name) && !/constant|texture/.test(name)) chart(null, i); });
  select.value = columns.findIndex(name => !/slots_/.test(name));
  const extra = chart(null, () => +select.value);
  select.addEventListener("change", extra);
}
/* Areas are told apart by their hatching, too. */
function pattern(svg, k) {
  const hue = [210, 0, 45, 280, 20, 120, 60, 330, 170, 240][k % 10], angle = [0, 45, 90, 135, 20, 70, 110, 160, 30, 60][k % 10];
  const defs = make("defs", {}), p = make("pattern", { id: `shade${k}`, width: 3 + k % 4 * 2, height: 3 + k % 4 * 2, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${angle})` });
  p.append(make("rect", { width: 20, height: 20, fill: `hsl(${hue} 45% 70%)` }), make("line", { x1: 0, y1: 0, x2: 0, y2: 20, stroke: `hsl(${hue} 45% 35%)`, "stroke-width": k % 3 }));
  defs.append(p);
  return defs;
}
function legend(svg, names) {
  let x = L;
  names.forEach((name, k) => {
    svg.append(make("rect", { x, y: 0, width: 10, height: 10, fill: `url(#shade${k})`, class: "area" }), make("text", { x: x + 14, y: 9 }, name));
    x += 26 + 6.4 * name.length;
  });
}

/* Tables whose columns sort, with a field that leaves out rows. */
function sortable(table) {
  const body = table.tBodies[0], rows = [...body.rows];
  const units = { "": 1, "%": 1, B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824 };
  const key = (row, c) => {
    const text = row.cells[c].textContent.trim(), found = /^([-+]?[\d.]+(?:[eE][-+]?\d+)?) ?(%|B|KiB|MiB|GiB|)$/.exec(text);
    return found ? parseFloat(found[1]) * units[found[2]] : text;
  };
  /* Numbers before texts; cells without a value behind both, whichever way it is sorted. */
  const rank = v => typeof v === "number" ? 0 : v === "" || v === "-" ? 2 : 1;
  const compare = (x, y, down) => rank(x) !== rank(y) ? rank(x) - rank(y) : (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
  [...table.tHead.rows[0].cells].forEach((head, c) => {
    const button = element("button", { type: "button", title: "sort" });
    button.append(...head.childNodes);
    let down = false;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      rows.sort((a, b) => compare(key(a, c), key(b, c), down));
      down = !down;
      [...table.tHead.rows[0].cells].forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "ascending" : "descending");
      body.append(...rows);
    });
  });
  const label = element("label", { class: "tools" }, "only rows with: "), field = element("input", { type: "search" });
  label.append(field);
  table.before(label);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
  });
}

/* Of a sweep: a map of two axes, and a scatter of two figures. */
function options(names, chosen) {
  const select = element("select", {});
  names.forEach(name => select.append(element("option", {}, name)));
  if (chosen) select.value = chosen;
  return select;
}
function heatmap(place) {
  const { axes: names, figures, runs } = data.sweep;
  if (names.length < 2) { place.append(element("p", { class: "missing" }, "A map needs two axes with more than one value.")); return; }
  const across = options(names, names[names.length - 1]), down = options(names, names[0]), figure = options(figures, figures[0]);
  const tools = element("p", { class: "tools" });
  tools.append(element("label", {}, "across: "), across, element("label", {}, "down: "), down, element("label", {}, "mean of: "), figure);
  const box = element("div", {});
  place.append(tools, box);
  function draw() {
    const of = (run, name) => shown(run[name]);
    const unique = name => [...new Set(runs.map(run => of(run, name)))];
    const table = element("table", {}), head = element("tr", {}), cells = [];
    head.append(element("th", { scope: "col" }, `${down.value} \\ ${across.value}`));
    unique(across.value).forEach(value => head.append(element("th", { scope: "col" }, value)));
    table.append(element("thead", {}), element("tbody", {}));
    table.tHead.append(head);
    unique(down.value).forEach(y => {
      const row = element("tr", {});
      row.append(element("th", { scope: "row" }, y));
      unique(across.value).forEach(x => {
        const values = runs.filter(run => of(run, down.value) === y && of(run, across.value) === x).map(run => run[figure.value]).filter(v => typeof v === "number");
        const cell = element("td", { class: "number" }, values.length ? shown(values.reduce((a, b) => a + b, 0) / values.length) : "-");
        if (values.length) cells.push([cell, values.reduce((a, b) => a + b, 0) / values.length]);
        row.append(cell);
      });
      table.tBodies[0].append(row);
    });
    const low = Math.min(...cells.map(c => c[1])), high = Math.max(...cells.map(c => c[1]));
    cells.forEach(([cell, v]) => { const share = high > low ? (v - low) / (high - low) : 0; cell.style.background = `color-mix(in srgb, var(--bar) ${Math.round(100 * share)}%, transparent)`; });
    box.replaceChildren(table);
  }
  [across, down, figure].forEach(select => select.addEventListener("change", draw));
  draw();
}
function scatter(place) {
  const { figures, runs } = data.sweep;
  const across = options(figures, figures[Math.min(2, figures.length - 1)]), up = options(figures, figures[0]);
  const tools = element("p", { class: "tools" });
  tools.append(element("label", {}, "across: "), across, element("label", {}, "up: "), up);
  const svg = make("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img" });
  place.append(tools, svg);
  function draw() {
    const points = runs.filter(run => typeof run[across.value] === "number" && typeof run[up.value] === "number");
    const xs = points.map(run => run[across.value]), ys = points.map(run => run[up.value]);
    svg.replaceChildren(make("title", {}, `${up.value} over ${across.value}`));
    const [at, high] = axes(svg, [Math.min(0, ...xs), Math.max(1e-9, ...xs)], [0, 1.08 * Math.max(1e-9, ...ys)], [across.value, up.value]);
    points.forEach(run => {
      const dot = make("circle", { class: "dot", cx: at(run[across.value]), cy: high(run[up.value]), r: 4 });
      dot.append(make("title", {}, `run ${run.run}: ${data.sweep.axes.map(axis => shown(run[axis])).join(", ")}: ${shown(run[across.value])}, ${shown(run[up.value])}`));
      svg.append(dot);
      if (points.length <= 100) svg.append(make("text", { x: at(run[across.value]) - 6, y: high(run[up.value]) - 6, "text-anchor": "end" }, run.run));
    });
  }
  [across, up].forEach(select => select.addEventListener("change", draw));
  draw();
}

const places = { intervals, heatmap, scatter };
for (const name in places) {
  const place = document.getElementById("draw-" + name);
  if (place) places[name](place);
}
document.querySelectorAll("table.sortable").forEach(sortable);
})();
]==]

return assets
