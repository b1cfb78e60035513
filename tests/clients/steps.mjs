// What the tests of the kit do on a device, under node and in a browser: functions of the kit and of settings.

/** The outcome of a call: "done", or the code and status of its error. */
async function outcome(call) {
  try {
    await call;
    return ["done"];
  } catch (error) {
    return [error.name === "ServiceError" ? error.code : error.name, error.status ?? null, error.attempts ?? 0, `${error}`, error.cause ?? null];
  }
}

/** Ask with a key, and tell the same cost of all. */
export async function askAndTell(kit, { url, key, pinned, learner, count, cost }) {
  const asking = new kit.Client(url, pinned, { key });
  const telling = new kit.Client(url, pinned);
  const decisions = [];
  for (let i = 0; i < count; i++) {
    decisions.push(await asking.ask(learner));
    await telling.tell(decisions.at(-1), cost);
  }
  return decisions;
}

/** Ask for some of the items. */
export async function askFor(kit, { url, key, pinned, learner, available }) {
  return new kit.Client(url, pinned, { key }).ask(learner, available);
}

/** Tell about a decision with each of some costs, by a client that reads its bits again each time. */
export async function tellAgain(kit, { url, pinned, decision, costs, reload, ...options }) {
  const kept = new Map();
  const storage = globalThis.localStorage ?? {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, text) => kept.set(name, text),
  };
  const once = new kit.Client(url, pinned, options);
  const outcomes = [];
  for (const cost of costs) {
    const client = reload ? new kit.Client(url, pinned, { bits: kit.bitsIn(storage), ...options }) : once;
    outcomes.push(await outcome(client.tell(decision, cost)));
  }
  return outcomes;
}

/** Tell, and leave the page at once. */
export function tellAndLeave(kit, { url, pinned, decision, cost }) {
  new kit.Client(url, pinned).tell(decision, cost);
  location.href = "about:blank";
}

/** Ask with each of some pins. */
export async function askPinned(kit, { url, key, pins, learner }) {
  return Promise.all(pins.map((pinned) => outcome(new kit.Client(url, pinned, { key }).ask(learner))));
}

/** Make clients for addresses. */
export async function addresses(kit, { urls, ...options }) {
  const make = async (url) => new kit.Client(url, { epsilon: 1, costRange: [0, 1] }, options);
  return Promise.all(urls.map((url) => outcome(make(url))));
}
