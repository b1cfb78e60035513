// The dashboard. Names of items and learners are untrusted: they become text, never markup.

import { bar, draw } from "./charts.js";
import { LOCKED, STATES } from "./messages.js";

const POLL = 2000; // milliseconds between updates
const TIMEOUT = 10000; // until a request counts as lost
const SLOWEST = 15000; // between attempts when the connection is lost
const FEW = 50; // items shown by default
const RECENT = 15; // sets shown
const MINUTE = 60000;
const CONFIDENT = 1.96; // standard errors of a band of 95%
const WINDOWS = {
  hour: { length: 60 * MINUTE, step: MINUTE, tick: 15 * MINUTE, word: "minute", name: "the last hour" },
  day: { length: 1440 * MINUTE, step: 30 * MINUTE, tick: 360 * MINUTE, word: "half hour", name: "the last day" },
  month: { length: 43200 * MINUTE, step: 720 * MINUTE, tick: 10080 * MINUTE, word: "half day", name: "the last 30 days" },
};

// Helpers

const at = (id) => document.getElementById(id);
const number = (value, digits = 3) => new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
const count = (value) => new Intl.NumberFormat("en").format(value);
const clock = (time, options) => new Intl.DateTimeFormat([], { hourCycle: "h23", ...options }).format(time);
const HOURS = { hour: "2-digit", minute: "2-digit" };
const SECONDS = { ...HOURS, second: "2-digit" };
const DAYS = { day: "numeric", month: "short" };

function say(node, text) {
  if (node.textContent !== text) node.textContent = text; // screen readers repeat what changes
}

function made(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Give a parent a child for each entry. Children with the same key stay, and so keep the focus. */
function keyed(parent, entries, keyOf, make, update) {
  const keys = entries.map((entry) => String(keyOf(entry)));
  const wanted = new Set(keys);
  for (const child of [...parent.children]) if (!wanted.has(child.dataset.key)) child.remove();
  const present = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let next = parent.firstElementChild;
  entries.forEach((entry, place) => {
    const child = present.get(keys[place]) ?? make(entry);
    child.dataset.key = keys[place];
    update(child, entry);
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  });
}

/** Fill a table's body: each row has a key, the texts of its cells, and optionally a function `also`. */
function fill(id, rows) {
  const classes = [...at(id).tHead.rows[0].cells].map((head) => head.className);
  const blank = () => made("tr", {}, made("th", { scope: "row" }), ...classes.slice(1).map((name) => made("td", { class: name })));
  keyed(at(id).tBodies[0], rows, (row) => row.key, blank, (line, row) => {
    row.cells.forEach((text, k) => say(line.cells[k].firstElementChild ?? line.cells[k], text));
    row.also?.(line);
  });
}

// Requests

const STORED = "discreet key";
const key = () => sessionStorage.getItem(STORED) ?? "";
let leaving = new AbortController(); // of the current update
let now = Date.now(); // by the server's clock

class Lost extends Error {}

class Refused extends Error {
  constructor(status, message = "", wait = 0) {
    super(message);
    Object.assign(this, { status, wait });
  }
}

async function get(path, signal) {
  let response, body;
  try {
    const headers = { authorization: `Bearer ${key()}` };
    response = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]) });
    body = await response.json();
  } catch {
    throw new Lost();
  }
  now = Date.parse(response.headers.get("date")) || Date.now();
  if (response.ok) return body;
  throw new Refused(response.status, body?.error?.message, 1000 * Number(response.headers.get("retry-after")));
}

// Pages

let shown = null; // the address of the current page
let redraw = () => {}; // its charts, for another width

function present(view, title) {
  const address = view === "key" ? view : `${view} ${location.hash}`;
  if (shown === address) return;
  for (const part of at("main").querySelectorAll("[id^=view-]")) part.hidden = part.id !== `view-${view}`;
  document.title = `${title} - discreet`;
  at("forget").hidden = view === "key";
  if (shown !== null) document.querySelector(`#view-${view} h1`).focus();
  shown = address;
}

function lock(problem = "") {
  sessionStorage.removeItem(STORED);
  leaving.abort();
  for (const part of document.querySelectorAll("tbody, dl, .chart")) part.replaceChildren();
  for (const id of ["banner", "updated"]) say(at(id), "");
  redraw = () => {};
  present("key", "Key needed");
  say(at("key-problem"), problem);
  if (problem) at("key").focus();
}

// Updating

let timer, failures = 0;

async function update() {
  clearTimeout(timer);
  leaving.abort();
  if (!key() && shown !== "key") lock();
  if (!key() || document.hidden) return; // becoming visible updates again
  const mine = (leaving = new AbortController());
  const name = /^#\/learner\/(.+)$/.exec(location.hash)?.[1];
  let wait = POLL;
  try {
    await (name === undefined ? showList(mine.signal) : showLearner(name, mine.signal));
    say(at("banner"), failures ? "Connected again." : "");
    say(at("updated"), `Last updated ${clock(new Date(), SECONDS)}`);
    failures = 0;
  } catch (problem) {
    if (mine.signal.aborted) return; // the visitor left the page meanwhile
    wait = trouble(problem);
  }
  if (!mine.signal.aborted) timer = setTimeout(update, wait);
}

/** Show an error; return how long to wait before the next attempt. */
function trouble(problem) {
  const { status = 0, message } = problem;
  if (status in LOCKED) lock(LOCKED[status]);
  else if (status === 404) present("none", "No such learner");
  else if (status === 429) say(at("banner"), "Too many requests with this key. Waiting, then trying again.");
  else if (status) say(at("banner"), `The server cannot answer now, trying again. ${message}`);
  else if (problem instanceof Lost) say(at("banner"), "Connection lost, trying again.");
  else {
    say(at("banner"), "This page has a fault and may not show everything.");
    console.error(problem);
  }
  if (status === 404) return POLL;
  failures += 1;
  const longer = Math.min(SLOWEST, 500 * 2 ** failures) * (0.9 + 0.2 * Math.random()); // not all tabs at the same time
  return Math.max(longer, problem.wait || 0);
}

// All learners

const kind = (learner) => learner.feedback.replace("_", " ");

async function showList(signal) {
  const { learners } = await get("v1/learners?items=false", signal);
  present("list", "Learners");
  at("list-none").hidden = learners.length > 0;
  at("list-box").hidden = learners.length === 0;
  say(at("list-where"), new URL("v1/learners", location.href.split("#")[0]).href);
  fill("list", learners.map((learner) => ({
    key: learner.name,
    cells: [learner.name, kind(learner), learner.status.replace("_", " "), count(learner.rounds), number(learner.epsilon, 6), count(learner.counts.pending)],
    also: ({ cells: [first] }) => {
      if (!first.firstElementChild) first.replaceChildren(made("a", { href: `#/learner/${learner.name}` }, learner.name));
    },
  })));
}

// One learner

const worth = (learner) => (learner.maximize ? "reward" : "cost");
const isBandit = (learner) => learner.feedback === "bandit";

async function showLearner(name, signal) {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(name)) throw new Refused(404);
  const path = `v1/learners/${name}`;
  const learner = await get(path, signal);
  const view = WINDOWS[at("window").value];
  const [minutes, { recent }, promise, ledger] = await Promise.all([
    minutesOf(learner, view, path, signal),
    get(`${path}/recent?limit=${RECENT}`, signal),
    get(`${path}/guarantee`, signal),
    learner.population === null ? null : get(`v1/populations/${learner.population}`, signal),
  ]);
  say(at("learner-title"), learner.name);
  say(at("status"), STATES[learner.status] ?? learner.status);
  say(at("guarantee"), promise.text);
  present("learner", learner.name);
  const bins = binned(minutes, view);
  redraw = () => {
    showLevels(learner);
    if (isBandit(learner)) showMean(learner, bins, view);
    showActivity(bins, view);
  };
  redraw();
  showFacts(learner);
  showRecent(recent);
  showLedger(ledger);
  at("mean-box").hidden = !isBandit(learner);
  at("mean-none").hidden = isBandit(learner);
  for (const word of document.querySelectorAll(".step")) say(word, view.word);
}

function showFacts(learner) {
  const { counts, cost_range: [low, high], mean, rounds, noise_variance: variance } = learner;
  const facts = [
    ["Epsilon", number(learner.epsilon, 6)],
    ["Rounds learned from", count(rounds)],
    mean !== null && [`Mean ${worth(learner)}, noisy`, `${number(mean)} ± ${number(CONFIDENT * Math.sqrt(variance / rounds), 2)}`],
    !isBandit(learner) && [learner.method === "tree" ? "Rounds released" : "Blocks released", count(learner.releases)],
    ["Pending decisions", count(counts.pending)],
    ["Expired", count(counts.expired)],
    ["Asked", count(counts.asked)], ["Told", count(counts.told)],
    ["Kind", kind(learner)],
    [learner.maximize ? "Rewards" : "Costs", `${number(low, 6)} to ${number(high, 6)}`],
    ["Rounds per person", count(learner.rounds_per_person)], ["Epoch", count(learner.epoch)],
  ].filter(Boolean);
  keyed(at("facts"), facts, (fact) => fact[0], () => made("div", {}, made("dt"), made("dd")), (pair, fact) => {
    fact.forEach((text, k) => say(pair.children[k], text));
  });
}

function showLevels({ items, point }) {
  const all = at("levels-all").getAttribute("aria-pressed") === "true";
  at("levels-some").hidden = items.length <= FEW;
  say(at("levels-which"), all ? `All ${count(items.length)} items.` : `The ${FEW} highest of ${count(items.length)} items.`);
  let places = items.map((_, place) => place);
  if (!all) {
    places.sort((one, other) => point[other] - point[one] || one - other);
    places = places.slice(0, FEW).sort((one, other) => one - other);
  }
  fill("levels", places.map((place) => (
    { key: place, cells: [String(items[place]), point[place].toFixed(3)], also: (line) => bar(line.cells[2], point[place]) })));
}

function showRecent(recent) {
  at("recent-none").hidden = recent.length > 0;
  at("recent").hidden = recent.length === 0;
  const rows = recent.map((choice, place) => ({ ...choice, key: JSON.stringify([place, choice]) }));
  keyed(at("recent").tBodies[0], rows, (row) => row.key, ({ asked_at: asked, subset }) => {
    const chips = subset.slice(0, FEW).map((item) => made("li", {}, String(item)));
    const rest = subset.length > FEW ? `and ${count(subset.length - FEW)} more` : subset.length ? "" : "nothing";
    if (rest) chips.push(made("li", { class: "plain" }, rest));
    const when = clock(asked, now - asked < 720 * MINUTE ? SECONDS : { ...DAYS, ...HOURS });
    return made("tr", {}, made("th", { scope: "row" }, when), made("td", {}, made("ul", { class: "chips" }, ...chips)));
  }, () => {});
}

function showLedger(ledger) {
  at("ledger").hidden = ledger === null;
  if (ledger === null) return;
  const limit = ledger.limit === null ? "No limit is set." : `The limit is ${number(ledger.limit, 6)}.`;
  say(at("spent"), `The loss of somebody in the data of all of these is at most epsilon = ${number(ledger.spent, 6)} in total. ${limit}`);
  say(at("population"), ledger.name);
  fill("losses", ledger.learners.map(({ name, epoch, epsilon }) => (
    { key: `${name} ${epoch}`, cells: [name, count(epoch), number(epsilon, 6)] })));
}

// Counts over time

let history = { of: "", minutes: new Map(), last: 0 };

/** The minutes of a window; only the latest are requested again. */
async function minutesOf(learner, view, path, signal) {
  const of = `${learner.name} ${learner.epoch} ${view.word}`;
  const start = firstOf(view);
  const kept = history.of === of ? history : { of, minutes: new Map(), last: 0 };
  const found = await get(`${path}/minutes?since=${Math.max(start, kept.last - 3 * MINUTE)}`, signal);
  for (const minute of found.minutes) kept.minutes.set(minute.start, minute);
  for (const time of kept.minutes.keys()) if (time < start) kept.minutes.delete(time);
  kept.last = Math.max(0, ...found.minutes.slice(-1).map((minute) => minute.start), kept.last);
  history = kept;
  return [...kept.minutes.values()];
}

const firstOf = (view) => Math.floor(now / view.step) * view.step + view.step - view.length;
const moment = (time, view) => clock(time, view === WINDOWS.hour ? HOURS : { ...DAYS, ...HOURS });

/** The time axis of a chart. */
function axis(view) {
  const from = firstOf(view);
  const zone = new Date(now).getTimezoneOffset() * MINUTE;
  const times = [];
  for (let time = Math.ceil((from - zone) / view.tick) * view.tick + zone; time <= from + view.length; time += view.tick) {
    times.push([time, clock(time, view === WINDOWS.month ? DAYS : HOURS)]);
  }
  return { from, length: view.length, times, written: number };
}

function binned(minutes, view) {
  const start = firstOf(view);
  const bins = Array.from({ length: view.length / view.step }, (_, k) => {
    const from = start + k * view.step;
    const lasted = (Math.min(now, from + view.step) - from) / MINUTE;
    return { start: from, time: from + view.step / 2, lasted, asked: 0, told: 0, expired: 0, released: 0, total: 0 };
  });
  for (const minute of minutes) {
    const bin = bins[Math.floor((minute.start - start) / view.step)];
    if (!bin) continue;
    for (const what of ["asked", "told", "expired", "released"]) bin[what] += minute[what];
    bin.total += (minute.mean ?? 0) * minute.released;
  }
  return bins;
}

function showMean(learner, bins, view) {
  const [low, high] = learner.cost_range;
  const points = bins.map(({ start, time, released, total }) => {
    const error = Math.sqrt(learner.noise_variance / released);
    return { start, time, released, error, value: released ? total / released : null, margin: CONFIDENT * error };
  });
  const there = points.filter((point) => point.value !== null).reverse();
  const last = there.length ? `, the last ${number(there[0].value)} plus or minus ${number(there[0].margin, 2)}` : "";
  draw(at("mean-chart"), {
    ...axis(view),
    low: Math.max(2 * low - high, Math.min(low, ...there.map((point) => point.value - point.margin))),
    high: Math.min(2 * high - low, Math.max(high, ...there.map((point) => point.value + point.margin))),
    marks: [low, high],
    lines: there.length ? [points] : [],
    label: `Mean ${worth(learner)} in each ${view.word} of ${view.name}: ${there.length} values${last}.`,
  });
  fill("means", there.map(({ start, value, error, released }) => (
    { key: start, cells: [moment(start, view), number(value), number(error, 2), count(released)] })));
  showNoise(learner, (high - low) / 2);
}

function showNoise({ rounds, noise_variance: variance }, half) {
  const share = Math.sqrt(variance / rounds) / half;
  const verdict = share >= 1 ? "The mean says nothing yet." : share >= 0.3 ? "Mostly noise: only large differences show."
    : share > 0.1 ? "The mean begins to show." : "The mean can be read.";
  const text = rounds === 0 ? "No bits have been released yet."
    : `${count(rounds)} bits so far: the standard error is ${number(share * half, 2)}, which is ${number(100 * share, 2)}% of half the range. ${verdict}`;
  const needed = share > 0.1 ? ` It takes about ${number(100 * variance / half ** 2, 2)} bits for 10%.` : "";
  say(at("noise-text"), text + needed);
  bar(at("noise"), share);
  at("noise").setAttribute("aria-valuenow", Math.min(100, 100 * share).toFixed(0));
  at("noise").setAttribute("aria-valuetext", `${Math.min(100, 100 * share).toFixed(0)}% noise`);
}

function showActivity(bins, view) {
  const perMinute = (bin, what) => (bin.lasted < 1 ? null : bin[what] / bin.lasted); // a partial minute would look like a drop
  const lines = ["asked", "told"].map((what) => bins.map((bin) => ({ time: bin.time, value: perMinute(bin, what) })));
  const [asks, tells] = ["asked", "told"].map((what) => count(bins.reduce((sum, bin) => sum + bin[what], 0)));
  const label = `Asks and tells per minute in ${view.name}: ${asks} asks and ${tells} tells in total.`;
  const high = 1.05 * Math.max(1, ...lines.flat().map((point) => point.value));
  draw(at("activity-chart"), { ...axis(view), low: 0, high, marks: [], lines, label });
  const busy = bins.filter((bin) => bin.asked || bin.told || bin.expired).reverse();
  fill("activity", busy.map((bin) => (
    { key: bin.start, cells: [moment(bin.start, view), count(bin.asked), count(bin.told), count(bin.expired)] })));
}

// Events

at("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const typed = at("key").value.trim();
  at("key").value = "";
  const isKey = /^[!-~]+$/.test(typed);
  say(at("key-problem"), isKey ? "" : "This is not a key: keys are letters, digits and underscores.");
  if (!isKey) return;
  sessionStorage.setItem(STORED, typed);
  update();
});
at("forget").addEventListener("click", () => lock());
at("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address says which learner is shown
  at("main").focus();
});
at("levels-all").addEventListener("click", ({ target }) => {
  target.setAttribute("aria-pressed", String(target.getAttribute("aria-pressed") !== "true"));
  redraw();
});
at("window").addEventListener("change", update);
window.addEventListener("hashchange", update);
window.addEventListener("online", update);
window.addEventListener("resize", () => redraw());
document.addEventListener("visibilitychange", update);
update();
