// Holds the reader to vectors/*.json: what must come out, and what must be refused (`node examples/second-reader/vectors.mjs`).
import { readFileSync } from 'node:fs';
import { sha256 } from './bytes.mjs';
import * as cpAbe from './cp-abe.mjs';
import { groupOf, mask, pack } from './masks.mjs';
import { gaussian } from './noise.mjs';
import * as slotKeys from './slot-keys.mjs';

const hex = (text) => Buffer.from(text, 'hex');
const read = (name) => JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), 'utf8'));
const groupIn = ({ kind, bits }) => groupOf(kind === 'field' ? 0 : bits);

let held = 0;
const failed = [];
function check(name, holds) {
  if (holds) held++;
  else failed.push(name);
}
function refuses(question) {
  try {
    return question() === undefined;
  } catch {
    return true;
  }
}
/** All sets of t of the parts. */
const choose = (parts, t) =>
  t === 0 ? [[]] : parts.flatMap((one, k) => choose(parts.slice(k + 1), t - 1).map((rest) => [one, ...rest]));

const masking = read('masking');
for (const { modulus, seed, salt, d, first } of masking.prg) {
  const elements = mask(hex(seed), hex(salt), groupIn(modulus), d);
  check(
    `mask of ${d} in ${JSON.stringify(modulus)}`,
    first.every((element, k) => elements[k] === element),
  );
}
for (const { modulus, vector, packed } of masking.packing.filter((one) => !one.malformed)) {
  check(`packing of ${JSON.stringify(modulus)}`, pack(vector, groupIn(modulus).bits).equals(hex(packed)));
}

for (const { variance, words, drawn } of masking.noise) {
  const draw = gaussian(variance);
  words.forEach((word, k) => {
    check(`noise of variance ${variance}`, draw(hex(word).swap32()) === drawn[k]); // the file has each u32 little-endian
  });
}

const keys = read('slot-keys');
const alone = keys.seals.map((one) => ({ ...one, threshold: 1, parts: [{ authority: 0, ...one }] }));
for (const { threshold, ctx, context, parts, seed, sealed } of [...alone, ...keys.dealt]) {
  const to = parts.map(({ authority, key }) => ({ authority, key: hex(key) }));
  const buffer = { ctx: hex(ctx), t: threshold };
  check('a seed sealed again', slotKeys.seal(hex(seed), to, buffer, hex(context)).equals(hex(sealed)));
  for (const set of choose(parts, threshold)) {
    const secrets = new Map(set.map(({ authority, secret }) => [authority, hex(secret)]));
    check('a seed opened', slotKeys.open(hex(sealed), to, secrets, buffer, hex(context))?.equals(hex(seed)));
  }
}
const refusedAlone = keys.refusedSeals
  .filter(({ secret, key }) => secret !== undefined && key !== undefined)
  .map((one) => ({ ...one, threshold: 1, parts: [{ authority: 0, ...one }] }));
for (const { why, threshold, ctx, context, parts, sealed } of [...refusedAlone, ...keys.refusedDealt]) {
  const to = parts.map(({ authority, key }) => ({ authority, key: hex(key) }));
  for (const set of choose(parts, threshold)) {
    const secrets = new Map(set.map(({ authority, secret }) => [authority, hex(secret)]));
    const buffer = { ctx: hex(ctx), t: threshold };
    check(`a sealed seed: ${why}`, slotKeys.open(hex(sealed), to, secrets, buffer, hex(context)) === undefined);
  }
}
const part = (hash) => ({ authority: 0, sealingKey: Buffer.concat([Buffer.alloc(32), hash]) });
const { slots, list, hash } = keys.lists[0];
check('a list', !refuses(() => slotKeys.readLists({ parts: [part(hex(hash))], K: slots }, hex(list))));
for (const { why, hash: named, list: given } of keys.refusedLists) {
  check(
    `a list: ${why}`,
    refuses(() => slotKeys.readLists({ parts: [part(hex(named))], K: 3 }, hex(given))),
  );
}
for (const { why, key } of keys.refusedKeys) {
  const one = Buffer.concat([hex(keys.secrets[0].key), hex(key)]);
  check(
    `a key: ${why}`,
    refuses(() => slotKeys.readLists({ parts: [part(sha256(one))], K: 1 }, one)),
  );
}

const abe = read('abe');
const attributeOf = (key) => key.subarray(6, 6 + key.readUInt16LE(4));
check('a public key', !refuses(() => cpAbe.readPublicKey(hex(abe.setup.publicKey))));
for (const { key, attribute, context, seed, sealed } of abe.seeds) {
  const opened = cpAbe.open(hex(sealed), cpAbe.readKey(hex(key), hex(attribute)), hex(context));
  check('a seed of CP-ABE opened', opened?.equals(hex(seed)));
}
const readers = {
  publicKey: ({ bytes }) => cpAbe.readPublicKey(hex(bytes)),
  sealed: ({ bytes, key, context }) =>
    cpAbe.open(hex(bytes), cpAbe.readKey(hex(key), attributeOf(hex(key))), hex(context)),
};
for (const negative of abe.negatives.filter(({ what }) => readers[what])) {
  const { what, field, why } = negative;
  check(
    `${what} ${field ?? ''}: ${why}`,
    refuses(() => readers[what](negative)),
  );
}

for (const name of failed) console.error(`does not hold: ${name}`);
console.log(JSON.stringify({ held, failed: failed.length }));
process.exitCode = failed.length === 0 ? 0 : 1;
