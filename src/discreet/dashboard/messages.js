// Messages about the status of a learner, and about keys that are refused.

export const STATES = {
  active: "It is active.",
  archived: "It has ended: it can be read, but not asked or told.",
  handed_over: "It has ended here: it was exported, and continues where the export was imported.",
  stale: "It cannot continue: the store is an old backup. Restarting it begins a new epoch.",
  damaged: "It cannot continue: its stored state is damaged. Restarting it begins a new epoch.",
};
export const LOCKED = {
  401: "The server does not know this key. It may be mistyped or revoked.",
  403: "This key has no role that allows reading learners.",
};
