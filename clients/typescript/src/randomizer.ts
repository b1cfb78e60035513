/**
 * One private number as one random bit: the same integers, and from the same random bits the same bit, as
 * `discreet.randomizers.OneBit` in Python. `clients/vectors.json` compares them.
 */

/** A released bit. */
export type Bit = 0 | 1;

/** What the device insists on, whatever a server says. */
export interface Pinned {
  /** The privacy loss of one person, over all their rounds. */
  readonly epsilon: number;
  /** The declared range; values outside are clipped. */
  readonly costRange: readonly [low: number, high: number];
  /** In how many rounds one person may appear; 1 by default. */
  readonly roundsPerPerson?: number;
}

/** The bit is 1 if a uniform integer below 2^63 is smaller than a threshold around 2^62. */
const CENTRE = 1n << 62n;
/** Steps of the grid in half the declared range. */
const UNITS = 2 ** 20;
/** Beyond this a privacy loss protects nobody. */
const LARGEST_LOSS = 1000;
/** With less than 2^-200 in each round nothing can be learned. */
const SMALLEST_LOSS_BITS = 200n;

/**
 * Releases one bit of a private number.
 *
 * Any two private values give either bit with probabilities that differ by a factor of at most
 * exp(epsilon / roundsPerPerson), exactly: the threshold is an integer, rounded so that the bound holds.
 * Proof: `docs/guarantees.md#one-bit`.
 */
export class OneBit {
  readonly #low: number;
  readonly #high: number;
  readonly #slope: bigint;

  constructor({ epsilon, costRange: [low, high], roundsPerPerson = 1 }: Pinned) {
    const middle = low + (0.5 * high - 0.5 * low);
    if (![low, high].every(Number.isFinite) || !(low < middle && middle < high) || halfWidth(low, high) / UNITS === 0) {
      throw new RangeError("The 'costRange' must be two finite numbers that are far enough apart, the lower first.");
    }
    [this.#low, this.#high] = [low, high];
    this.#slope = steepestSlope(epsilon, roundsPerPerson);
  }

  /**
   * One bit: all that may ever leave the device. To send again, send the same bit again.
   *
   * Values outside the range are clipped, and whatever is not a finite number counts as the middle of the range.
   */
  release(value: number | boolean): Bit {
    return this.bit(value, crypto.getRandomValues(new BigUint64Array(1))[0]!);
  }

  /** @internal The bit of a value, given 64 random bits. */
  bit(value: unknown, random: bigint): Bit {
    return random >> 1n < CENTRE + BigInt(this.units(value)) * this.#slope ? 1 : 0;
  }

  /** @internal The grid point of a value: 0 if it is not a finite number, otherwise clipped to [-UNITS, UNITS]. */
  units(value: unknown): number {
    const number = typeof value === "number" || typeof value === "boolean" ? Number(value) : NaN;
    if (!Number.isFinite(number)) return 0;
    const half = halfWidth(this.#low, this.#high);
    const centred = Math.min(Math.max(number, this.#low), this.#high) - (this.#low + half);
    return Math.min(Math.max(Math.floor((centred / half) * UNITS + 0.5), -UNITS), UNITS);
  }
}

function halfWidth(low: number, high: number): number {
  return 0.5 * high - 0.5 * low;
}

/** The largest slope for which no likelihood ratio exceeds exp(epsilon / rounds). */
function steepestSlope(epsilon: number, rounds: number): bigint {
  if (!(typeof epsilon === "number" && epsilon > 0 && epsilon <= LARGEST_LOSS)) {
    throw new RangeError(`The 'epsilon' must be a positive number of at most ${LARGEST_LOSS}.`);
  }
  if (!(Number.isSafeInteger(rounds) && rounds >= 1)) {
    throw new RangeError("The 'roundsPerPerson' must be an integer of at least 1.");
  }
  let [top, bottom] = fraction(epsilon);
  bottom *= BigInt(rounds);
  if (top << SMALLEST_LOSS_BITS < bottom) {
    throw new RangeError("The 'epsilon' must be at least 2^-200 in each round.");
  }
  const [power, one] = exponentialBelow(top, bottom);
  const units = BigInt(UNITS);
  const slope = (CENTRE * (power - one)) / ((power + one) * units);
  const steepest = (CENTRE - 1n) / units;
  if (slope < 1n) throw new RangeError(`The 'epsilon' must be large enough for a grid of ${UNITS} units.`);
  return slope < steepest ? slope : steepest;
}

/** A positive number as a fraction, exactly. */
function fraction(number: number): [top: bigint, bottom: bigint] {
  let bottom = 1n;
  while (!Number.isInteger(number)) {
    number *= 2; // exact: it is far from overflowing
    bottom *= 2n;
  }
  return [BigInt(number), bottom];
}

/** A fraction at or below exp(top / bottom), within a factor 1 - 2^-128 of it. */
function exponentialBelow(top: bigint, bottom: bigint): [power: bigint, one: bigint] {
  // exp(x) = exp(x / 2^j)^(2^j). Cutting off the series, rounding its terms and squaring err downwards.
  const halvings = BigInt(((top + bottom - 1n) / bottom).toString(2).length);
  const one = 1n << (128n + 2n * halvings + 16n);
  const divisor = bottom << halvings;
  let [term, total] = [one, one];
  for (let order = 1n; term > 0n; order++) {
    term = (term * top) / (divisor * order);
    total += term;
  }
  for (let done = 0n; done < halvings; done++) total = (total * total) / one;
  return [total, one];
}
