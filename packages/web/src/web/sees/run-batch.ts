/** One real batch in a page: the cores of devices, server and authority in one-shot mode, and the server's view of it. */

import { isRefused } from '@basa/protocol';
import { updateWords } from '@basa/protocol/wire';
import { chiSquareUniform, OneShotFederation, uniformityOf } from '@basa/simulator';
import { pageEnvironment } from '../shared/simulation.ts';
import type { FromSees } from './sees-messages.ts';

const LEVEL = 2 ** 16;
const SHOWN_TESTS = 5;

export function runBatch(pictures: readonly Float32Array[], tell: (news: FromSees) => void): void {
  const dimension = pictures[0]?.length ?? 0;
  const bufferSize = pictures.length;
  // No picture is longer, so none is clipped.
  const policy = { clip: Math.sqrt(dimension) };
  const options = { bufferSize, minimum: bufferSize, dimension, level: LEVEL, policy };
  const world = new OneShotFederation(pageEnvironment(), options);
  for (const picture of pictures) {
    const answer = world.shooter().contribute(picture);
    if (isRefused(answer)) throw new Error(`an upload was refused: ${answer.reason}`);
  }
  const uploads = [...world.shots.uploads.values()].map((upload) => world.shots.vector(upload));
  const vectors = uploads.map((upload) => updateWords(world.policy, upload).update.slice());
  for (const [device, vector] of vectors.entries()) tell({ kind: 'upload', device, vector });
  tellEvenness(vectors, world.policy.modulus, tell);
  world.shots.inspect();
  const ctx = world.shots.form();
  if (ctx === undefined) throw new Error('the uploads made no batch');
  const verdict = world.shots.close(ctx);
  if (verdict.kind !== 'good') throw new Error('the sum did not open');
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
