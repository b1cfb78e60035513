import type { Bit } from "./randomizer.js";

/** Remembers the bit of each decision. A `Map` does, until the page is closed. */
export interface Bits {
  get(id: string): Bit | undefined;
  set(id: string, bit: Bit): unknown;
}

/**
 * Bits in the storage of a website, such as `localStorage`: after a reload the same bit is sent again.
 *
 * What is stored may be seen by anybody, like what is sent. Nothing is removed.
 */
export function bitsIn(storage: Pick<Storage, "getItem" | "setItem">, prefix = "discreet:"): Bits {
  return {
    get(id) {
      const found = storage.getItem(prefix + id);
      return found === "0" || found === "1" ? (Number(found) as Bit) : undefined;
    },
    set(id, bit) {
      storage.setItem(prefix + id, String(bit));
    },
  };
}
