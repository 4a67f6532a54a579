/**
 * Staleness weights, as the paper has them (paper mode): one buffer mixes versions, and updates trained on older models count less. The
 * weight is a factor of the masked update, and the server divides the sum by the sum of the weights. In one-shot mode a batch has one
 * version instead: with mixed versions a server can single out an update (docs/protocol.md).
 *
 * Run it with `node --import ./scripts/typescript.mjs --conditions=@basa/source examples/04-staleness.ts`.
 */

import type { UserId } from '@basa/protocol';
import { Training } from '@basa/protocol/policy';
import { PaperFederation } from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';

const staleness = { kind: 'polynomial', exponent: 0.5 } as const; // FedBuff's (1 + tau)^-1/2
const VERSION = 3;
const world = new PaperFederation(nodeEnvironment, {
  bufferSize: 3,
  dimension: 2,
  level: 2 ** 16,
  version: VERSION,
  staleness,
});

const trained = [
  { on: 3, delta: [1, 0] },
  { on: 2, delta: [0, 1] },
  { on: 0, delta: [0, 1] },
];
for (const [n, { on, delta }] of trained.entries()) {
  const age = VERSION - on;
  console.log(
    `trained on version ${on}: staleness ${age}, weight ${Training.stalenessWeight(staleness, age).toFixed(3)}`,
  );
  const user = new Uint8Array(32).fill(n + 1) as UserId;
  world.upload(user, world.prepare(user, delta, on));
}
console.log(`sum of weights: ${world.buffer.alphaSum.toFixed(3)}`);
console.log(
  `weighted mean:  ${world
    .mean()
    .map((value) => value.toFixed(2))
    .join('  ')}`,
);
