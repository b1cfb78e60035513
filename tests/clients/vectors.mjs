// Compares the randomizer of a built kit with the vectors: `node vectors.mjs <folder of the build> <vectors.json>`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, file] = process.argv.slice(2);
const { OneBit } = await import(pathToFileURL(`${folder}/index.js`));
const { randomizers, cases } = JSON.parse(readFileSync(file, "utf8"));
const drawn = []; // what WebCrypto will give
crypto.getRandomValues = (array) => array.map(() => drawn.pop());

function float(hexadecimal) {
  return Buffer.from(hexadecimal, "hex").readDoubleBE();
}

const made = randomizers.map(
  ([epsilon, low, high, roundsPerPerson]) =>
    new OneBit({ epsilon: float(epsilon), costRange: [float(low), float(high)], roundsPerPerson }),
);
for (const [which, value, units, bits, bit] of cases) {
  drawn.push(BigInt(bits));
  assert.equal(made[which].units(float(value)), units);
  assert.equal(made[which].release(float(value)), bit);
  assert.equal(drawn.length, 0);
}
for (const value of [undefined, null, "0.9", {}, [0.9], Symbol("0.9"), 9n]) assert.equal(made[0].units(value), 0);
assert.deepEqual([made[0].units(true), made[0].units(false)], [2 ** 20, -(2 ** 20)]);
for (const wrong of [
  { epsilon: 0 }, { epsilon: -1 }, { epsilon: NaN }, { epsilon: 1001 }, { epsilon: "1" }, { epsilon: 1e-300 }, { epsilon: 1e-13 },
  { costRange: [1, 0] }, { costRange: [0, Infinity] }, { costRange: [NaN, 1] }, { costRange: [0, 5e-324] }, { costRange: ["0", "1"] },
  { roundsPerPerson: 0 }, { roundsPerPerson: 1.5 }, { epsilon: 1e-10, roundsPerPerson: 10_000 },
]) {
  assert.throws(() => new OneBit({ epsilon: 1, costRange: [0, 1], ...wrong }), RangeError, JSON.stringify(wrong));
}
console.log(cases.length);
