/** The on-device kit of discreet: a private number becomes one random bit before anything leaves. */

export { bitsIn, type Bits } from "./bits.js";
export { Client, type Decision, type Declared, type Options } from "./client.js";
export { ServiceError } from "./errors.js";
export { OneBit, type Bit, type Pinned } from "./randomizer.js";
