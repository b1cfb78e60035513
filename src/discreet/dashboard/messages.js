// Sentences about learners, and about keys that are refused.

export const STATES = {
  active: "It is active.",
  archived: "It has ended: it can be read, but not asked or told.",
  stale: "It cannot continue: the store is an old backup. Restarting it begins a new epoch.",
  damaged: "It cannot continue: its stored state is damaged. Restarting it begins a new epoch.",
};
export const MODES = {
  central: "Central: exact sums are kept sealed until they are released with noise.",
  local: "Local: each value becomes one random bit when it arrives, or before. Nothing else is kept.",
};
export const MEANS = {
  central: "These means are computed from released sums, each with its noise (post-processing), so the same epsilon "
    + "covers them. Short periods shake more.",
  local: "Each value was turned into one random bit before it was stored. These means, and the bands of about 95% "
    + "confidence around them, are computed only from the bits (post-processing), so the same epsilon covers them.",
};
export const LOCKED = {
  401: "The server does not know this key. It may be mistyped or revoked.",
  403: "This key has no role that allows reading learners.",
};
export const UNSEEN = {
  403: ["Not for this key", "This key may not read this."],
  404: ["No such learner", "No learner has this name."],
};
