/** vectors/slot-keys.json comes out with the suites of Node and of browsers, and what it says is refused is refused by both. */
import { readFileSync } from 'node:fs';
import type { SlotBinding } from '@basa/masking';
import {
  isSlotKey,
  openWithPad,
  openWithSlotKey,
  SLOT_KEY_BYTES,
  sealToSlot,
  slotKeyListProblem,
  slotPad,
  slotSecret,
} from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { webSuite } from '@basa/runtime/web';
import type { RefusedSeal, SealedToSlot } from '@basa/testkit/vectors/slot-key-negatives.ts';
import type { SlotKeyVectors } from '@basa/testkit/vectors/slot-keys.ts';
import { describe, expect, it } from 'vitest';

const vectors = JSON.parse(
  readFileSync(new URL('../vectors/slot-keys.json', import.meta.url), 'utf8'),
) as SlotKeyVectors;

describe.each([
  ['node', nodeSuite],
  ['web', webSuite],
])('with the %s suite', (_, suite) => {
  it('every secret and its key are made as they are committed', () => {
    for (const { master, task, bufferId, role, secret, key } of vectors.secrets) {
      const source = { master: bytes(master), task: bytes(task), bufferId: bytes(bufferId) };
      expect(slotSecret(suite, source, role)).toEqual(bytes(secret));
      expect(suite.x25519(bytes(secret)).publicKey).toEqual(bytes(key));
    }
  });

  it('every seed is sealed as it is committed, and opens with the secret and with the pad', () => {
    for (const vector of vectors.seals) {
      const [sealed, key, seed] = [bytes(vector.sealed), suite.x25519(bytes(vector.secret)), bytes(vector.seed)];
      expect(sealToSlot(suite, seed, bindingOf(vector))).toEqual(sealed);
      expect(openWithSlotKey(suite, sealed, key, bindingOf(vector))).toEqual(seed);
      const pad = slotPad(suite, sealed.subarray(0, SLOT_KEY_BYTES), key, bindingOf(vector));
      expect(pad).toEqual(bytes(vector.pad));
      expect(openWithPad(suite, sealed, bytes(vector.pad), bindingOf(vector))).toEqual(seed);
    }
  });

  it('a list is good with its own hash alone', () => {
    for (const { slots, list, hash } of vectors.lists) {
      expect(slotKeyListProblem(suite, bytes(list), { slots, hash: bytes(hash) })).toBeUndefined();
    }
    const refused = vectors.refusedLists.filter(
      ({ list, hash }) => slotKeyListProblem(suite, bytes(list), { slots: 3, hash: bytes(hash) }) !== undefined,
    );
    expect(refused).toEqual(vectors.refusedLists);
  });

  it('no seed that must be refused opens', () => {
    const opened = vectors.refusedSeals.filter((vector) => {
      const { secret, pad = '' } = vector;
      const sealed = bytes(vector.sealed);
      const seed =
        secret === undefined
          ? openWithPad(suite, sealed, bytes(pad), bindingOf(vector))
          : openWithSlotKey(suite, sealed, suite.x25519(bytes(secret)), bindingOf(vector));
      return seed !== undefined;
    });
    expect(opened).toEqual([]);
  });
});

it('no key that must be refused is a key', () => {
  expect(vectors.refusedKeys.filter(({ key }) => isSlotKey(bytes(key)))).toEqual([]);
  expect(vectors.secrets.every(({ key }) => isSlotKey(bytes(key)))).toBe(true);
});

function bindingOf({ ctx, context, key }: SealedToSlot | RefusedSeal): SlotBinding {
  return { publicKey: bytes(key), salt: bytes(ctx), context: bytes(context), authority: 0 };
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}
