// Forms for admins: they create and end learners, and set limits.

import { current } from "./learner.js";
import { at, keyed, made, number, Refused, request, say } from "./page.js";

const UNKNOWN = "The connection was lost before the answer came: look whether it was done before you try again.";
const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

/** Do something when a form is sent; what the API refuses is said in the form. */
function submits(form, action) {
  const [button, problem] = [form.querySelector("button:not([type])"), form.querySelector(".problem")];
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    say(problem, "");
    button.disabled = true;
    try {
      await action(new FormData(form));
    } catch (error) {
      say(problem, error instanceof Refused ? error.message : UNKNOWN);
    }
    button.disabled = false;
  });
}

// Create

const wanted = at("new").elements;

function offer() {
  const bandit = wanted.feedback.value === "bandit";
  at("new-bandit").disabled = !bandit;
  for (const group of wanted.method.querySelectorAll("optgroup")) group.disabled = (group.label === "costs") !== bandit;
  if (wanted.method.selectedOptions[0].parentNode.disabled) wanted.method.value = "";
}

submits(at("new"), async (data) => {
  const given = (name) => data.get(name)?.trim() || undefined; // what is undefined is not sent
  const held = lines(data.get("held") ?? "");
  const body = {
    ...Object.fromEntries(["name", "feedback", "mode", "method", "population"].map((name) => [name, given(name)])),
    items: lines(data.get("items")),
    epsilon: Number(data.get("epsilon")),
    cost_range: [Number(data.get("low")), Number(data.get("high"))],
    maximize: data.has("maximize"),
    deadline_seconds: given("deadline") && 60 * given("deadline"),
    holdout: held.length ? { set: held, share: data.get("share") / 100 } : undefined,
  };
  const { name } = await request("v1/learners", { method: "POST", body });
  at("new").reset();
  offer();
  location.hash = `#/learner/${name}`;
});
wanted.feedback.addEventListener("change", offer);
offer();

// End and restart

let path = ""; // of what was confirmed

function confirmed(what, title, text) {
  const { name } = current.learner;
  path = `v1/learners/${name}/${what}`;
  say(at("sure-title"), title);
  say(at("sure-text"), text);
  say(at("sure-do"), title);
  say(at("sure-problem"), "");
  at("sure").showModal();
}

at("archive").addEventListener("click", () => {
  const { name, epsilon } = current.learner;
  confirmed("archive", `Archive ${name}`, `This ends it for good: it can be read, but not asked or told. What is not released yet never will be. `
    + `Its epsilon of ${number(epsilon, 6)} stays spent.`);
});
at("restart").addEventListener("click", () => {
  const { learner: { name, epsilon }, ledger } = current;
  const limit = ledger && ledger.limit !== null ? `, of a limit of ${number(ledger.limit, 6)}` : "";
  const total = ledger ? ` The population ${ledger.name} has spent ${number(ledger.spent, 6)}, and then ${number(ledger.spent + epsilon, 6)}${limit}.` : "";
  confirmed("restart", `Restart ${name}`, `This costs its epsilon again: whoever is in the data of both epochs loses ${number(epsilon, 6)} more.${total} `
    + `The new epoch goes on with what was learned. Open decisions are forgotten, and what is not released yet never will be.`);
});
at("sure-not").addEventListener("click", () => at("sure").close());
submits(at("sure-form"), async () => {
  await request(path, { method: "POST" });
  at("sure").close();
  window.dispatchEvent(new Event("changed"));
});

// Limits

export function fillNames(populations) {
  keyed(at("names"), populations, ({ name }) => name, ({ name }) => made("option", { value: name }));
}

const limit = at("limit").elements;
limit.none.addEventListener("change", () => { limit.limit.disabled = limit.none.checked; });
submits(at("limit"), async (data) => {
  const body = { limit: data.has("none") ? null : Number(data.get("limit")) };
  await request(`v1/populations/${encodeURIComponent(data.get("population").trim())}`, { method: "PUT", body });
  at("limit").reset();
  limit.limit.disabled = false;
  window.dispatchEvent(new Event("changed"));
});
