/**
 * Staleness weights, as the paper has them: one buffer mixes versions, and updates trained on older models count less. The weight travels
 * masked beside the update, so that the server learns the sum of the weights and the weighted mean. New tasks have one version a buffer instead:
 * with mixed versions a server can single out an update (docs/decisions/041-one-version-a-buffer.md).
 *
 * Run it with `node --import ./scripts/typescript.mjs --conditions=@basa/source examples/04-staleness.ts`.
 */

import { dequantizeSum, FIELD } from '@basa/masking';
import { stalenessWeight } from '@basa/protocol';
import { Federation } from '@basa/simulator';
import { nodeEnvironment } from '@basa/virtual-time/simulation';

const staleness = { kind: 'polynomial', exponent: 0.5 } as const; // FedBuff's (1 + tau)^-1/2
const world = new Federation(nodeEnvironment, {
  bufferSize: 3,
  dimension: 2,
  modulus: FIELD,
  level: 2 ** 16,
  versions: 'unsafeMixed',
  staleness,
  maxStaleness: 8,
});

// Three versions pass, so that an update may be old.
for (let version = 0; version < 3; version++) {
  const devices = [world.device(), world.device(), world.device()];
  world.server.finish(world.fill(devices));
}

const [fresh, old, ancient] = [world.device(), world.device(), world.device()];
const trained = [
  { device: fresh, on: 3, delta: Float32Array.of(1, 0) },
  { device: old, on: 2, delta: Float32Array.of(0, 1) },
  { device: ancient, on: 0, delta: Float32Array.of(0, 1) },
];
for (const { device, on, delta } of trained) {
  console.log(`trained on version ${on}: staleness ${3 - on}, weight ${stalenessWeight(staleness, 3 - on).toFixed(3)}`);
  device.contribute('upload', delta, on);
}

const verdict = world.server.finish(fresh.ctx);
if (verdict.kind !== 'good') throw new Error(verdict.why);
const { descriptor } = world.server.buffer(fresh.ctx);
const mean = dequantizeSum(verdict.sum, descriptor, {
  weightSum: verdict.weightSum,
  weightScale: descriptor.weightScale,
});
console.log(`sum of weights: ${(verdict.weightSum / descriptor.weightScale).toFixed(3)}`);
console.log(`weighted mean:  ${Array.from(mean, (value) => value.toFixed(2)).join('  ')}`);
