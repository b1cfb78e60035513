// Bars and lines over time, as SVG.

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Show a share from 0 to 1 as a bar in a node. */
export function bar(node, share) {
  if (!node.firstElementChild) {
    const track = svg("rect", { class: "track", width: "100%", height: "100%" });
    const half = svg("line", { class: "half", x1: "50%", x2: "50%", y1: 0, y2: "100%" });
    node.append(svg("svg", { class: "bar", "aria-hidden": "true" }, track, svg("rect", { class: "level", height: "100%" }), half));
  }
  node.querySelector(".level").setAttribute("width", `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`);
}

/** Draw lines over time, each with a band where its points have a margin.
 *
 * box: the element to draw in, as wide as it is
 * from, length: the time shown, in milliseconds
 * low, high: the values shown
 * marks: values with a dashed line
 * lines: lists of points, each with a time, a value (or null for a gap) and perhaps a margin
 * times: labels of the time axis, as pairs of a time and a text
 * written: a value as text
 * label: a description of the chart
 * down: its height
 */
export function draw(box, { from, length, low, high, marks = [], lines, times, written, label, down = 188 }) {
  const [left, right, top, bottom, across] = [48, 22, 8, 24, Math.max(170, box.clientWidth - 70)];
  const x = (time) => (time - from) / length * across;
  const y = (value) => (high - value) / (high - low) * down;
  const rule = (value, name) => svg("line", { class: name, x1: 0, x2: across, y1: y(value), y2: y(value) });
  const caption = (text, x, y, anchor) => svg("text", { x, y, "text-anchor": anchor }, text);
  const drawn = svg("g", { transform: `translate(${left} ${top})` });
  for (const value of ticks(low, high)) drawn.append(rule(value, "rule"), caption(written(value), -6, y(value) + 4, "end"));
  for (const [time, text] of times) {
    const anchor = x(time) < 20 ? "start" : x(time) > across - 20 ? "end" : "middle"; // not beyond the sides
    drawn.append(caption(text, x(time), down + 18, anchor));
  }
  const inside = svg("svg", { width: across, height: down }); // clips what is outside
  lines.forEach((points, k) => inside.append(...runs(points).flatMap((run) => shapes(run, k, x, y))));
  drawn.append(inside, ...marks.map((value) => rule(value, "mark")));
  if (!lines.length) drawn.append(caption("nothing in this period", across / 2, down / 2, "middle"));
  const size = `0 0 ${left + across + right} ${top + down + bottom}`;
  box.replaceChildren(svg("svg", { viewBox: size, role: "img", "aria-label": label }, drawn));
}

/** Draw a value and its interval on an axis that has a zero. */
export function interval(box, { low, value, high, written, label }) {
  const across = Math.max(170, box.clientWidth);
  const [least, most] = [Math.min(0, low), Math.max(0, high)];
  const x = (place) => 24 + (place - least) / (most - least || 1) * (across - 48);
  const rule = (place) => svg("line", { class: place ? "rule" : "mark", x1: x(place), x2: x(place), y1: 0, y2: 36 });
  const scale = ticks(least, most).flatMap((place) => [rule(place), svg("text", { x: x(place), y: 50, "text-anchor": "middle" }, written(place))]);
  const band = svg("rect", { class: "band", x: x(low), width: Math.max(1, x(high) - x(low)), y: 8, height: 20 });
  const dot = svg("circle", { class: "dot", r: 5, cx: x(value), cy: 18 });
  box.replaceChildren(svg("svg", { viewBox: `0 0 ${across} 56`, role: "img", "aria-label": label }, ...scale, band, dot));
}

function shapes(run, k, x, y) {
  const path = (points, shift) => points.map((point) => `${x(point.time).toFixed(1)},${y(point.value + shift(point)).toFixed(1)}`).join(" ");
  const line = svg("polyline", { class: `line line${k}`, points: path(run, () => 0) });
  if (run[0].margin === undefined) return [line];
  const edges = `${path(run, (point) => point.margin)} ${path([...run].reverse(), (point) => -point.margin)}`;
  return [svg("polygon", { class: "band", points: edges }), line];
}

/** The parts of a line between its gaps. */
function runs(points) {
  const found = [[]];
  for (const point of points) {
    if (point.value === null) found.push([]);
    else found.at(-1).push(point);
  }
  return found.filter((run) => run.length);
}

function ticks(low, high) {
  const rough = (high - low) / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough);
  return Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, k) => (Math.ceil(low / step) + k) * step);
}
