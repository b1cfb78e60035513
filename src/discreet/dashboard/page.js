// What all parts of the page use: helpers, requests, and which part is shown.

export const MINUTE = 60000;
export const FEW = 50; // items shown by default
export const HOURS = { hour: "2-digit", minute: "2-digit" };
export const SECONDS = { ...HOURS, second: "2-digit" };
export const DAYS = { day: "numeric", month: "short" };
const TIMEOUT = 10000; // until a request counts as lost

export const at = (id) => document.getElementById(id);
export const number = (value, digits = 3) => new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
export const count = (value) => new Intl.NumberFormat("en").format(value);
export const clock = (time, options) => new Intl.DateTimeFormat([], { hourCycle: "h23", ...options }).format(time);

export function say(node, text) {
  if (node.textContent !== text) node.textContent = text; // screen readers repeat what changes
}

export function made(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Give a parent a child for each entry. Children with the same key stay, and so keep the focus. */
export function keyed(parent, entries, keyOf, make, update = () => {}) {
  const keys = entries.map((entry) => String(keyOf(entry)));
  const wanted = new Set(keys);
  for (const child of [...parent.children]) if (!wanted.has(child.dataset.key)) child.remove();
  const present = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let next = parent.firstElementChild;
  entries.forEach((entry, place) => {
    const child = present.get(keys[place]) ?? make(entry);
    child.dataset.key = keys[place];
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
    update(child, entry); // in its place, where it has a width
  });
}

/** Fill a table's body: each row has a key, the texts of its cells, and optionally a function `also`. */
export function fill(id, rows) {
  const classes = [...at(id).tHead.rows[0].cells].map((head) => head.className);
  const blank = () => made("tr", {}, made("th", { scope: "row" }), ...classes.slice(1).map((name) => made("td", { class: name })));
  keyed(at(id).tBodies[0], rows, (row) => row.key, blank, (line, row) => {
    row.cells.forEach((text, k) => say(line.cells[k].firstElementChild ?? line.cells[k], text));
    row.also?.(line);
  });
}

/** Names as a list of little boxes. */
export function chips(list, names) {
  const shown = names.slice(0, FEW).map((name) => ({ name: String(name), plain: "" }));
  const rest = names.length > FEW ? `and ${count(names.length - FEW)} more` : names.length ? "" : "nothing";
  if (rest) shown.push({ name: rest, plain: "plain" });
  keyed(list, shown, JSON.stringify, ({ name, plain }) => made("li", { class: plain }, name));
}

export const STORED = "discreet key";
export const key = () => sessionStorage.getItem(STORED) ?? "";
export let now = Date.now(); // by the server's clock

export class Lost extends Error {}

export class Refused extends Error {
  constructor(status, message = "", wait = 0) {
    super(message);
    Object.assign(this, { status, wait });
  }
}

export async function request(path, { signal }) {
  let response, found;
  try {
    const headers = { authorization: `Bearer ${key()}` };
    const limits = { cache: "no-store", signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]) };
    response = await fetch(path, { headers, ...limits });
    found = await response.json();
  } catch {
    throw new Lost();
  }
  now = Date.parse(response.headers.get("date")) || Date.now();
  if (response.ok) return found;
  throw new Refused(response.status, found?.error?.message, 1000 * Number(response.headers.get("retry-after")));
}

let shown = null; // the address of the current part
export const charts = { redraw: () => {} }; // for another width

export function present(view, title) {
  const address = view === "key" ? view : `${view} ${location.hash}`;
  if (shown === address) return;
  for (const part of at("main").querySelectorAll("[id^=view-]")) part.hidden = part.id !== `view-${view}`;
  document.title = `${title} - discreet`;
  at("forget").hidden = view === "key";
  charts.redraw = () => {};
  if (shown !== null) document.querySelector(`#view-${view} h1`).focus();
  shown = address;
}
