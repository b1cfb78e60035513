// What is said about a learner's status, and about keys that do not open the page.

export const STATES = {
  active: "It is active.",
  archived: "It has ended: it can be looked at, and neither asked nor told.",
  handed_over: "It has ended here: it was exported, and goes on where the export was imported.",
  stale: "It does not go on: the store is an old backup. Restarting it begins a new epoch.",
  damaged: "It does not go on: what is kept of it is damaged. Restarting it begins a new epoch.",
};
export const LOCKED = {
  401: "The server does not know this key. It may be mistyped, or have been revoked.",
  403: "This key does not allow looking at learners. One with any of the service's roles does.",
};
