// The dashboard. Names of items and learners are untrusted: they become text, never markup.

import { bar } from "./charts.js";
import { showLearner } from "./learner.js";
import { LOCKED, UNSEEN } from "./messages.js";
import { at, charts, chips, clock, count, fill, key, Lost, made, number, present, request, say, SECONDS, STORED } from "./page.js";

const POLL = 2000; // milliseconds between updates
const SLOWEST = 15000; // between attempts when the connection is lost
const PAGE = 100; // learners

// Updating

let leaving = new AbortController(); // of the current update
let timer, failures = 0;

async function update() {
  clearTimeout(timer);
  leaving.abort();
  if (!key() && at("view-key").hidden) lock();
  if (!key() || document.hidden) return; // becoming visible updates again
  const mine = (leaving = new AbortController());
  let wait = POLL;
  try {
    await show(location.hash, mine.signal);
    say(at("banner"), failures ? "Connected again." : "");
    say(at("updated"), `Last updated ${clock(new Date(), SECONDS)}`);
    failures = 0;
  } catch (problem) {
    if (mine.signal.aborted) return; // the visitor left the page meanwhile
    wait = trouble(problem);
  }
  if (!mine.signal.aborted) timer = setTimeout(update, wait);
}

async function show(place, signal) {
  const name = /^#\/learner\/(.+)$/.exec(place)?.[1];
  if (name !== undefined) await showLearner(name, signal);
  else if (place === "#/populations") await showPopulations(signal);
  else await showList(signal);
}

/** Show an error; return how long to wait before the next attempt. */
function trouble(problem) {
  const { status = 0, message } = problem;
  if (status in UNSEEN && location.hash.length > 2) { // not the list of all learners
    const [title, text] = UNSEEN[status];
    say(at("none-title"), title);
    say(at("none-text"), text);
    present("none", title);
    return POLL;
  }
  if (status in LOCKED) lock(LOCKED[status]);
  else if (status === 429) say(at("banner"), "Too many requests with this key. Waiting, then trying again.");
  else if (status) say(at("banner"), `The server cannot answer now, trying again. ${message}`);
  else if (problem instanceof Lost) say(at("banner"), "Connection lost, trying again.");
  else {
    say(at("banner"), "This page has a fault and may not show everything.");
    console.error(problem);
  }
  failures += 1;
  const longer = Math.min(SLOWEST, 500 * 2 ** failures) * (0.9 + 0.2 * Math.random()); // not all tabs at the same time
  return Math.max(longer, problem.wait || 0);
}

function lock(problem = "") {
  sessionStorage.removeItem(STORED);
  leaving.abort();
  for (const form of document.forms) form.reset();
  for (const part of document.querySelectorAll("tbody, dl, ul, .chart, .multiples")) part.replaceChildren();
  for (const part of document.querySelectorAll("#banner, #updated, .problem")) say(part, "");
  present("key", "Key needed");
  say(at("key-problem"), problem);
  if (problem) at("key").focus();
}

// All learners

let after = ""; // the name before those shown

async function showList(signal) {
  const search = at("search").value.trim();
  const query = new URLSearchParams({ items: false, limit: PAGE, ...(search && { search }), ...(after && { after }) });
  const { learners, next } = await request(`v1/learners?${query}`, { signal });
  const found = learners.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  present("list", "Learners");
  at("list-none").hidden = found.length > 0 || search !== "" || after !== "";
  at("list-box").hidden = found.length === 0;
  at("search-form").hidden = !at("list-none").hidden;
  say(at("list-found"), found.length || !search ? "" : "No learner's name contains this.");
  at("list-first").hidden = after === "";
  at("list-next").hidden = !next;
  at("list-next").value = next ?? "";
  fill("list", found.map((learner) => ({
    key: learner.name,
    cells: [learner.name, learner.feedback.replace("_", " "), learner.status.replace("_", " "), count(learner.rounds), number(learner.epsilon, 6),
      count(learner.counts.pending)],
    also: ({ cells: [first] }) => {
      if (!first.firstElementChild) first.replaceChildren(made("a", { href: `#/learner/${learner.name}` }, learner.name));
    },
  })));
}

function turn(name) {
  after = name;
  update();
}

// Populations

async function showPopulations(signal) {
  const { populations } = await request("v1/populations", { signal });
  present("populations", "Populations");
  at("populations-none").hidden = populations.length > 0;
  at("populations-box").hidden = populations.length === 0;
  fill("populations", populations.map(({ name, limit, spent, delta, learners }) => ({
    key: name,
    cells: [name, number(spent, 6) + (delta ? ` (delta ${number(delta, 6)})` : "") + (limit === null ? ", no limit" : ` of ${number(limit, 6)}`)],
    also: ({ cells: [, , level, list] }) => {
      level.classList.toggle("endless", limit === null);
      bar(level, limit === null ? 0 : spent / limit);
      if (!list.firstElementChild) list.append(made("ul", { class: "chips" }));
      chips(list.firstElementChild, learners.map((each) => `${each.name}${each.epoch > 1 ? `, epoch ${each.epoch}` : ""}: ${number(each.epsilon, 6)}`));
    },
  })));
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
at("search-form").addEventListener("submit", (event) => event.preventDefault());
at("search").addEventListener("input", () => turn(""));
at("list-first").addEventListener("click", () => turn(""));
at("list-next").addEventListener("click", ({ target }) => turn(target.value));
for (const name of ["hashchange", "online"]) window.addEventListener(name, update);
window.addEventListener("resize", () => charts.redraw());
document.addEventListener("visibilitychange", update);
update();
