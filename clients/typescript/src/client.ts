import type { Bits } from "./bits.js";
import { ServiceError } from "./errors.js";
import { OneBit, type Bit, type Pinned } from "./randomizer.js";
import { checkedKey, checkedUrl, Requests } from "./requests.js";

/** What a service declares for a learner: the fields of `GET /v1/learners/{name}` that are compared. */
export interface Declared {
  readonly feedback: string;
  readonly mode: string;
  readonly epsilon: number | null;
  readonly cost_range: readonly [low: number, high: number];
  readonly rounds_per_person: number;
  /** This kit knows pure privacy only, which is 0. */
  readonly delta: number;
}

/** A decision as it comes to the device: plain JSON. `subset` is for showing, the rest for telling. */
export interface Decision {
  readonly learner: string;
  readonly id: string;
  readonly subset: readonly (string | number)[];
  /** Allows telling about this decision, and nothing else. */
  readonly token: string;
  readonly declared: Declared;
}

export interface Options {
  /** An API key that may ask; not for devices of others, which only tell. */
  readonly key?: string;
  /** Where bits are remembered, so that telling again sends the same one; in memory by default. */
  readonly bits?: Bits;
  /** Milliseconds for one attempt: 10,000 by default. */
  readonly timeout?: number;
  /** Milliseconds for all attempts of a call, with the pauses between them: 60,000 by default. */
  readonly deadline?: number;
  /** Whether keys and bits may travel unencrypted to other machines. */
  readonly allowInsecure?: boolean;
}

/** Bits that are remembered in memory. */
const REMEMBERED = 100_000;

/**
 * Tells a service one random bit for each decision, and never a cost.
 *
 * Calls are repeated, with growing pauses, while the service is not reachable or busy. That is safe: an ask has an
 * id, so a retry gets the same decision; the bit of a decision is made once, and every retry sends that one.
 *
 * ```js
 * const client = new Client("https://shop.example", { epsilon: 1, costRange: [0, 1] });
 * await client.tell(decision, 0.3);
 * ```
 */
export class Client {
  readonly #pinned: Pinned;
  readonly #randomizer: OneBit;
  readonly #key: string | undefined;
  readonly #bits: Bits;
  readonly #requests: Requests;

  constructor(url: string, pinned: Pinned, options: Options = {}) {
    this.#pinned = { ...pinned, costRange: [...pinned.costRange] };
    this.#randomizer = new OneBit(this.#pinned);
    this.#key = options.key === undefined ? undefined : checkedKey(options.key);
    this.#bits = options.bits ?? new LatestBits();
    const address = checkedUrl(url, options.allowInsecure ?? false);
    this.#requests = new Requests(address, options.timeout ?? 10_000, options.deadline ?? 60_000);
  }

  /**
   * Choose a set. Needs a key.
   *
   * @param available The items that can be chosen now. Public: never dependent on anybody's feedback.
   */
  async ask(learner: string, available?: readonly (string | number)[]): Promise<Decision> {
    if (this.#key === undefined) throw new TypeError("Asking needs a client with a 'key'.");
    const path = pathOf(learner);
    const declared: Declared = await this.#requests.answer(path, this.#key);
    this.#check(learner, declared);
    const { feedback, mode, epsilon, cost_range, rounds_per_person, delta } = declared;
    const request_id = [...crypto.getRandomValues(new BigUint64Array(2))].join("-");
    const answer = await this.#requests.answer(`${path}/ask`, this.#key, { request_id, available, tokens: true });
    const decision = answer?.decisions?.[0];
    if (typeof decision?.token !== "string") throw new ServiceError("bad_answer", "The response has no decision.");
    const { id, subset, token } = decision;
    const compared = { feedback, mode, epsilon, cost_range, rounds_per_person, delta };
    return { learner, id, subset, token, declared: compared };
  }

  /**
   * Tell what a decision cost, or earned: one random bit of it. It is durable when this is fulfilled.
   *
   * Telling again sends the bit of the first value again, so call this again after an error.
   */
  async tell(decision: Omit<Decision, "subset">, cost: number | boolean): Promise<void> {
    const { learner, id, token, declared } = decision;
    this.#check(learner, declared);
    const path = `${pathOf(learner)}/tell`;
    const answer = await this.#requests.answer(path, checkedKey(token), { decision: id, bit: this.#bit(learner, id, cost) });
    if (answer?.code !== "accepted") throw new ServiceError("bad_answer", "The response is not from this service.");
  }

  /** The bit of a decision: of the first cost that was given for it. */
  #bit(learner: string, id: string, cost: number | boolean): Bit {
    const name = `${encodeURIComponent(learner)}/${id}`;
    const known = this.#bits.get(name);
    if (known !== undefined) return known;
    const bit = this.#randomizer.release(cost);
    this.#bits.set(name, bit); // before it is sent: a second bit would be a second release
    return bit;
  }

  #check(learner: string, declared: Declared): void {
    const { epsilon, costRange, roundsPerPerson = 1 } = this.#pinned;
    const wanted = {
      feedback: "bandit",
      mode: "local",
      epsilon,
      cost_range: costRange,
      rounds_per_person: roundsPerPerson,
      delta: 0,
    };
    const different = Object.entries(wanted).filter(
      ([name, mine]) => JSON.stringify(mine) !== JSON.stringify(declared?.[name as keyof Declared]),
    );
    if (different.length > 0) {
      const names = different.map(([name]) => name).join(" and another ");
      const why = `The service declares another ${names} for the learner '${learner}' than this client pins.`;
      throw new ServiceError("pinned_mismatch", `${why} Nothing was told.`);
    }
  }
}

/** Bits in memory, the oldest of which are forgotten. */
class LatestBits extends Map<string, Bit> {
  override set(id: string, bit: Bit): this {
    if (this.size >= REMEMBERED) this.delete(this.keys().next().value!);
    return super.set(id, bit);
  }
}

function pathOf(learner: string): string {
  if (typeof learner !== "string" || ["", ".", ".."].includes(learner)) {
    throw new TypeError("The name of a learner must be a string that is not empty.");
  }
  return `/v1/learners/${encodeURIComponent(learner)}`;
}
