/** The tools that the tests of this package share: backends, a suite, and randomness that a seed reproduces. */
import { createMclGroup, type Group } from '@basa/abe';
import { ascii, ByteWriter, concatBytes, type RandomBytes, type Suite } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';

export const suite: Suite = nodeSuite;

/** Deterministic: the bytes of one seed are always the same. */
export function seededBytes(seed: string): RandomBytes {
  let count = 0;
  return (length) =>
    suite.hkdf({
      secret: ascii(seed),
      salt: new Uint8Array(0),
      info: concatBytes(ascii('test'), new ByteWriter().u32(count++).finish()),
      length,
    });
}

export interface TestTools {
  readonly group: Group;
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
}

export async function mclTools(seed: string): Promise<TestTools> {
  return { group: await createMclGroup(), suite, randomBytes: seededBytes(seed) };
}

/** A copy with one bit flipped. */
export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = bytes.slice();
  flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
  return flipped;
}
