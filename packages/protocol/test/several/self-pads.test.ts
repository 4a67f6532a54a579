/** Self seeds of several authorities, one of which lies about what opens them. */
import { concatBytes } from '@basa/masking';
import {
  allSteps,
  type Ctx,
  ENGINE,
  type PartKey,
  type Registration,
  type SealedBuffer,
  slotKeyIssuer,
  slotSealing,
  type TaskId,
} from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';

const [AUTHORITIES, THRESHOLD, SLOTS] = [7, 5, 6];

function scene() {
  const issuers = Array.from({ length: AUTHORITIES }, () => slotKeyIssuer(nodeSuite, nodeRandomBytes(32)));
  const source = { task: nodeRandomBytes(32) as TaskId, bufferSize: SLOTS, offer: nodeRandomBytes(32) };
  const lists = issuers.map((issuer) => allSteps(issuer.slotKeys(source)));
  const parts = issuers.map((issuer, authority) => ({
    authority,
    engine: ENGINE.slotKeys,
    offer: source.offer,
    sealingKey: issuer.sealingKey(lists[authority] as Uint8Array),
  }));
  const buffer: SealedBuffer = {
    ctx: nodeRandomBytes(32) as Ctx,
    descriptor: { threshold: THRESHOLD, parts, bufferSize: SLOTS },
    slotKeys: concatBytes(...lists),
  };
  let tried = 0;
  // A set of pads is judged by the key that its seed gives.
  const counted = {
    ...nodeSuite,
    x25519(secret: Uint8Array) {
      tried++;
      return nodeSuite.x25519(secret);
    },
  };
  const sealing = slotSealing(counted, AUTHORITIES);
  /** A seed that comes back, with pads of which the liars' are made up; how many sets were tried for it. */
  const tries = (liars: readonly number[]): number => {
    const [seed, registration] = [nodeRandomBytes(32), nodeRandomBytes(32) as Registration];
    const sealed = sealing.sealSelf(buffer, registration, seed);
    const released = issuers.map((issuer, authority): PartKey => {
      const pad = issuer.keysOf({ ctx: buffer.ctx, authority, source }).self(registration, sealed.subarray(0, 32));
      return { authority, key: liars.includes(authority) ? nodeRandomBytes(32) : (pad as Uint8Array) };
    });
    tried = 0;
    expect(sealing.openSelf(buffer, registration, sealed, released)).toEqual(seed);
    return tried;
  };
  return { tries };
}

describe('an authority that lies about self seeds', () => {
  it('costs one search among the sets of the others, and none for the slots after it', () => {
    const { tries } = scene();
    expect(tries([])).toBe(1);
    expect(tries([0])).toBe(16); // all sets with it come first
    expect(tries([0])).toBe(1);
    expect(tries([0, 1])).toBeGreaterThan(1);
    expect(tries([0, 1])).toBe(1);
  });
});
