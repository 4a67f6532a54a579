/** The server's store for one full buffer, for tests that look for a pattern in it: both modes, three groups. */

import { FIELD, type Modulus, RING_32, ring } from '@basa/masking';
import type { UserId } from '@basa/protocol';
import { type Environment, Federation, type FederationDevice, granted, PaperFederation } from '@basa/simulator';
import { nodeEnvironment, seededWords } from '@basa/virtual-time/simulation';

const K = 3;
const DIMENSION = 1 << 16;

export interface UploadsOf {
  readonly environment?: Environment;
  readonly modulus?: Modulus;
  /** Updates that are the same number throughout, or random ones. */
  readonly isFixed?: boolean;
  readonly seed?: number;
  readonly makeDevice?: (world: Federation, number: number) => FederationDevice;
}

export const MODES = [
  ['sealed', sealedUploads],
  ['paper', paperUploads],
] as const;
export const GROUPS: readonly Modulus[] = [RING_32, ring(20), FIELD];

export function userNumbered(n: number): UserId {
  return new Uint8Array(32).fill(n + 1) as UserId;
}

/** A level so large that updates use every bit of the group. */
function levelOf(modulus: Modulus): number {
  return modulus.kind === 'field' ? 2 ** 29 : 2 ** (modulus.bits - 3);
}

export function deltaOf(isFixed: boolean, number: number): Float32Array {
  const words = new Uint32Array(DIMENSION);
  seededWords(500 + number)(words);
  return Float32Array.from(words, (word) => (isFixed ? (number + 1) / 8 : word / 2 ** 31 - 1));
}

export function sealedUploads({ modulus = RING_32, isFixed = true, seed = 11, ...run }: UploadsOf): Uint32Array[] {
  const options = { bufferSize: K, dimension: DIMENSION, modulus, level: levelOf(modulus), seed };
  const world = new Federation(run.environment ?? nodeEnvironment, options);
  const devices = Array.from({ length: K }, (_, n) => run.makeDevice?.(world, n) ?? world.device());
  for (const [n, device] of devices.entries()) granted(device.contribute('upload', deltaOf(isFixed, n)));
  return devices.map((device, l) => world.server.vector(device.ctx, l as never));
}

function paperUploads({ modulus = RING_32, isFixed = true, seed = 11, ...run }: UploadsOf): Uint32Array[] {
  const options = { bufferSize: K, dimension: DIMENSION, modulus, level: levelOf(modulus), seed };
  const world = new PaperFederation(run.environment ?? nodeEnvironment, options);
  return Array.from({ length: K }, (_, k) => {
    const prepared = world.prepare(userNumbered(k), deltaOf(isFixed, k));
    granted(world.upload(userNumbered(k), prepared));
    return prepared.y;
  });
}
