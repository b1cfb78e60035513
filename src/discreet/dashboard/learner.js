// The page of one learner.

import { bar, draw, interval } from "./charts.js";
import { MEANS, MODES, STATES } from "./messages.js";
import { at, charts, chips, clock, count, DAYS, fill, HOURS, keyed, made, MINUTE, now, number, present, Refused, request, say, SECONDS } from "./page.js";

const MOMENTS = 60; // of a time axis
const CONFIDENT = 1.96; // standard errors of a band of 95%
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

const isBandit = (learner) => learner.feedback === "bandit";
const isLocal = (learner) => learner.mode === "local";

export async function showLearner(name, signal) {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(name)) throw new Refused(404);
  const path = `v1/learners/${name}`;
  const learner = await request(path, { signal });
  const unlessRefused = (problem) => {
    if (problem.status !== 403) throw problem; // a key for some learners shows no populations
    return null;
  };
  const [moments, promise, ledger] = await Promise.all([
    momentsOf(learner, path, signal),
    request(`${path}/guarantee`, { signal }),
    learner.population === null ? null : request(`v1/populations/${learner.population}`, { signal }).catch(unlessRefused),
  ]);
  say(at("learner-title"), learner.name);
  say(at("status"), STATES[learner.status] ?? learner.status);
  say(at("mode"), MODES[learner.mode]);
  say(at("guarantee"), promise.text);
  present("learner", learner.name);
  charts.redraw = () => {
    const most = Number(at("levels-more").value);
    showLevels(learner, most);
    showHistory(learner, moments, most);
    showHoldout(learner);
  };
  charts.redraw();
  showFacts(learner);
  chips(at("best"), learner.best);
  showLedger(ledger);
}

function duration(seconds) {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? UNITS.at(-1);
  return `${number(seconds / size)} ${unit}${seconds === size ? "" : "s"}`;
}

function showFacts(learner) {
  const { counts, cost_range: [low, high], mean, noise_variance: variance } = learner;
  const error = isLocal(learner) && mean !== null ? ` ± ${number(CONFIDENT * Math.sqrt(variance / latest(learner).rounds), 2)}` : "";
  const facts = [
    ["Epsilon", number(learner.epsilon, 6)],
    ["Rounds learned from", count(learner.rounds)],
    isBandit(learner) && mean !== null && [`Mean ${learner.maximize ? "reward" : "cost"}, noisy`, number(mean) + error],
    !isBandit(learner) && ["Blocks released", count(learner.releases)],
    ["Pending decisions", count(counts.pending)],
    ["Expired", count(counts.expired)],
    ["Asked", count(counts.asked)], ["Told", count(counts.told)],
    ["Kind", learner.feedback.replace("_", " ")],
    ["Mode", learner.mode],
    ["Method", learner.policy ?? learner.method ?? "default"],
    [learner.maximize ? "Rewards" : "Costs", `${number(low, 6)} to ${number(high, 6)}`],
    learner.retired.length > 0 && ["Retired items", learner.retired.join(", ")],
    ["Deadline", duration(learner.deadline_seconds)],
    ["Rounds per person", count(learner.rounds_per_person)], ...(learner.delta ? [["Delta", number(learner.delta, 6)]] : []), ["Epoch", count(learner.epoch)],
  ].filter(Boolean);
  keyed(at("facts"), facts, (fact) => fact[0], () => made("div", {}, made("dt"), made("dd")), (pair, fact) => {
    fact.forEach((text, k) => say(pair.children[k], text));
  });
}

/** The places of the items that are offered. */
const offered = ({ items, retired }) => items.map((_, place) => place).filter((place) => !retired.includes(items[place]));

/** The places of the highest levels, in their order. */
function highest(learner, most) {
  const { point } = learner;
  const places = offered(learner).sort((one, other) => point[other] - point[one] || one - other);
  return places.slice(0, most).sort((one, other) => one - other);
}

function showLevels(learner, most) {
  const { items, point } = learner;
  const all = offered(learner).length;
  at("levels-some").hidden = all <= most;
  say(at("levels-which"), `The ${most} highest of ${count(all)} items.`);
  fill("levels", highest(learner, most).map((place) => (
    { key: place, cells: [String(items[place]), point[place].toFixed(3)], also: (line) => bar(line.cells[2], point[place]) })));
}

function showLedger(ledger) {
  at("ledger").hidden = ledger === null;
  if (ledger === null) return;
  const limit = ledger.limit === null ? "No limit is set." : `The limit is ${number(ledger.limit, 6)}.`;
  const delta = ledger.delta ? `, delta = ${number(ledger.delta, 6)}` : "";
  const sum = `it is at most epsilon = ${number(ledger.spent, 6)}${delta} in total. ${limit}`;
  say(at("ledger"), `The losses of all learners from the population ${ledger.name} add up: for somebody in the data of all of them ${sum}`);
}

function showHoldout(learner) {
  const { holdout: held, maximize } = learner;
  const known = held !== null && held.uplift !== null;
  at("holdout").hidden = !isBandit(learner);
  at("uplift-figure").hidden = !known;
  if (held === null) return say(at("uplift-text"), "This is not measured: no share of the rounds is held out. A new learner can do so.");
  const names = held.set.slice(0, 5).join(", ") + (held.set.length > 5 ? ` and ${held.set.length - 5} more` : "");
  const always = `always showing ${names || "nothing"}`;
  if (!known) return say(at("uplift-text"), `There is nothing to compare yet: rounds with learned sets, and rounds of ${always}, are not both released.`);
  const { low, uplift, high } = held;
  const amount = (value) => `${number(Math.abs(value), 2)} ${value < 0 === maximize ? "less" : "more"}`;
  const ends = [low, high].map(Math.abs).sort((one, other) => one - other).map((value) => number(value, 2));
  const chance = low < 0 && high > 0;
  const text = `Learned sets ${maximize ? "earn" : "cost"} ${amount(uplift)} per round than ${always} (95%: ${(chance ? [low, high].map(amount) : ends).join(" to ")}).`;
  say(at("uplift-text"), text + (chance ? " The difference may still be chance." : ""));
  say(at("uplift-rounds"), `${count(held.rounds)} rounds were held out (a share of ${number(100 * held.share)}%), beside ${count(held.learned_rounds)} others.`);
  interval(at("uplift"), { low, value: uplift, high, written: number, label: text });
}

// Since the start

const MOMENT = { rounds: 0, mean: null, held_rounds: 0, held_mean: null };
let past = { of: "", at: 0, history: [] };

/** What was released by now, as in the learner's history. */
function latest({ rounds, mean, point, holdout: held }) {
  const moment = { ...MOMENT, time: now, rounds, mean, point };
  return held ? { ...moment, rounds: held.learned_rounds, held_rounds: held.rounds, held_mean: held.mean } : moment;
}

/** What was released over time. What is older than the learner itself is requested once a minute. */
async function momentsOf(learner, path, signal) {
  const of = `${learner.name} ${learner.epoch} ${learner.created_at}`;
  if (past.of !== of || now - past.at >= MINUTE) {
    past = { of, at: now, history: (await request(`${path}/history`, { signal })).history };
  }
  const moments = past.history.map((moment) => ({ ...moment, time: Math.min(now, moment.at + MINUTE) })); // at begins its minute
  if (learner.rounds > 0) moments.push(latest(learner));
  const start = learner.created_at;
  const bin = (moment) => Math.ceil((moment.time - start) / (now - start + 1) * MOMENTS);
  return [...new Map(moments.map((moment) => [bin(moment), moment])).values()];
}

/** The time between releases, with the means of what was released at its end. */
function periods(moments, start, rounds, mean) {
  let before = { ...MOMENT, time: start };
  return moments.flatMap((moment) => {
    const more = moment[rounds] - before[rounds];
    if (more <= 0) return [];
    const value = (moment[mean] * moment[rounds] - before[mean] * before[rounds]) / more;
    const found = { from: before.time, to: moment.time, value, rounds: more };
    before = moment;
    return [found];
  });
}

const steps = (found) => found.flatMap((period) => [{ ...period, time: period.from }, { ...period, time: period.to }]);

/** How a time is written where so much of it is shown. */
const precise = (length) => (length < 10 * MINUTE ? SECONDS : length < 1440 * MINUTE ? HOURS : length < 20160 * MINUTE ? { ...DAYS, ...HOURS } : DAYS);

function showHistory(learner, moments, most) {
  const { items, point, cost_range: [low, high], noise_variance: variance, created_at: from, maximize, holdout } = learner;
  const length = Math.max(MINUTE, now - from);
  const labels = (...shares) => shares.map((share) => [from + share * length, clock(from + share * length, precise(length))]);
  at("past-none").hidden = moments.length > 0;
  at("levels-past").hidden = moments.length === 0;
  const name = (place) => String(items[place]);
  const figure = () => made("figure", {}, made("figcaption"), made("div", { class: "chart" }));
  keyed(at("multiples"), moments.length ? highest(learner, most) : [], (place) => place, figure, ({ children: [title, box] }, place) => {
    say(title, name(place));
    const line = moments.flatMap((moment, k) => [moment.time, moments[k + 1]?.time ?? now].map((time) => ({ time, value: moment.point[place] ?? null }))); // it may have come later
    const label = `Level of ${name(place)} since the start: ${number(line.find(({ value }) => value !== null)?.value ?? point[place])} at first, now ${number(point[place])}.`;
    draw(box, { from, length, low: -0.05, high: 1.05, lines: [line], times: labels(0, 1), written: number, label, down: 72 });
  });

  const word = maximize ? "Reward" : "Cost";
  const wanted = isBandit(learner) && moments.length > 0;
  say(at("mean-title"), `${word} since the start`);
  at("mean-none").hidden = isBandit(learner);
  at("mean-box").hidden = !wanted;
  if (!wanted) return;
  say(at("mean-about"), MEANS[learner.mode]);
  const margin = (period) => ({ ...period, ...(isLocal(learner) && { margin: CONFIDENT * Math.sqrt(variance / period.rounds) }) });
  const learned = periods(moments, from, "rounds", "mean").map(margin);
  const held = periods(moments, from, "held_rounds", "held_mean");
  const edge = (side, sign) => side(...learned.map((period) => period.value + sign * (period.margin ?? 0)), ...held.map((period) => period.value));
  at("mean-legend").hidden = holdout === null;
  draw(at("mean-chart"), {
    from, length, times: labels(0, 0.5, 1), written: number, marks: [low, high],
    low: Math.max(2 * low - high, edge(Math.min.bind(null, low), -1)),
    high: Math.min(2 * high - low, edge(Math.max.bind(null, high), 1)),
    lines: [steps(learned), steps(held)],
    label: `${word} since the start: ${learned.length} means, the last ${learned.length ? number(learned.at(-1).value) : "unknown"}.`,
  });
  const kinds = [[learned, holdout ? "learned" : "all"], [held, "held out"]];
  const rows = kinds.flatMap(([found, kind]) => found.map((period) => ({ ...period, kind }))).sort((one, other) => other.to - one.to);
  fill("means", rows.map(({ to, kind, value, margin: error, rounds }) => ({
    key: `${to} ${kind}`, cells: [clock(to, { ...precise(length), ...SECONDS }), kind, number(value) + (error ? ` ± ${number(error, 2)}` : ""), count(rounds)] })));
}

at("levels-more").addEventListener("click", ({ target }) => {
  target.value = 4 * Number(target.value);
  charts.redraw();
});
