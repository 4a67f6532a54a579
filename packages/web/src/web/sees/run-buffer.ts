/** One real buffer in a page: the cores of users, server and authority with slot keys, and the server's view of it. */

import { prefixElements } from '@basa/protocol';
import { chiSquareUniform, Federation, type Sealings, uniformityOf } from '@basa/simulator';
import { pageEnvironment } from '../shared/simulation.ts';
import type { FromSees } from './sees-messages.ts';

const LEVEL = 2 ** 16;
const SHOWN_TESTS = 5;

export function runBuffer(pictures: readonly Float32Array[], sealings: Sealings, tell: (news: FromSees) => void): void {
  const dimension = pictures[0]?.length ?? 0;
  const bufferSize = pictures.length;
  const world = new Federation(pageEnvironment(), {
    bufferSize,
    minimum: bufferSize,
    dimension,
    level: LEVEL,
    sealings,
  });
  const devices = pictures.map(() => world.device());
  const uploads = devices.map((device, n) => {
    device.contribute('deposit', pictures[n] as Float32Array);
    const { ctx, slot } = device;
    device.contribute('upload', pictures[n] as Float32Array);
    const vector = world.server.vector(ctx, slot).slice(prefixElements(world.policy));
    tell({ kind: 'upload', slot, vector });
    return { ctx, vector };
  });
  tellEvenness(
    uploads.map(({ vector }) => vector),
    world.policy.modulus,
    tell,
  );
  const [first] = uploads;
  if (first === undefined) return;
  const verdict = world.server.finish(first.ctx);
  if (verdict.kind !== 'good') throw new Error(`the sum did not open: ${verdict.why}`);
  const mean = Float32Array.from(verdict.sum, (value) => value / LEVEL);
  tell({ kind: 'sum', mean, isExact: isSumOf(verdict.sum, pictures) });
}

/** Pictures have whole steps of 1 / LEVEL, so rounding changes nothing: the sum must be exact. */
function isSumOf(sum: ArrayLike<number>, pictures: readonly Float32Array[]): boolean {
  return Array.from(sum).every(
    (value, k) => value === pictures.reduce((total, picture) => total + Math.round((picture[k] as number) * LEVEL), 0),
  );
}

function tellEvenness(
  vectors: readonly Uint32Array[],
  modulus: Parameters<typeof uniformityOf>[1],
  tell: (news: FromSees) => void,
): void {
  const byteCounts = new Uint32Array(256);
  for (const vector of vectors)
    for (const byte of new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength))
      byteCounts[byte] = (byteCounts[byte] as number) + 1;
  const tests = uniformityOf(vectors, modulus);
  tell({
    kind: 'evenness',
    byteCounts,
    pValue: chiSquareUniform(byteCounts).pValue,
    tests: tests.slice(0, SHOWN_TESTS),
    tried: tests.length,
  });
}
