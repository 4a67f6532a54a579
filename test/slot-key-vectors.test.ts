/** vectors/slot-keys.json comes out with the suites of Node and of browsers, and what it says is refused is refused by both. */
import { readFileSync } from 'node:fs';
import { isSlotKey, type SlotBinding, slotKeyListProblem, slotSecret } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { webSuite } from '@basa/runtime/web';
import {
  boundAlone,
  openedWithPads,
  openedWithSecrets,
  padFor,
  sealedSeed,
  setsOf,
} from '@basa/testkit/core/slot-seals.ts';
import type { DealtSeed, RefusedDealt } from '@basa/testkit/vectors/dealt-seeds.ts';
import type { RefusedSeal, SealedToSlot } from '@basa/testkit/vectors/slot-key-negatives.ts';
import type { SlotKeyVectors } from '@basa/testkit/vectors/slot-keys.ts';
import { describe, expect, it } from 'vitest';

const vectors = JSON.parse(
  readFileSync(new URL('../conformance/vectors/slot-keys.json', import.meta.url), 'utf8'),
) as SlotKeyVectors;

describe.each([
  ['node', nodeSuite],
  ['web', webSuite],
])('with the %s suite', (_, suite) => {
  it('every secret and its key are made as they are committed', () => {
    for (const { master, task, offer, role, secret, key } of vectors.secrets) {
      const source = { master: bytes(master), task: bytes(task), offer: bytes(offer) };
      expect(slotSecret(suite, source, role)).toEqual(bytes(secret));
      expect(suite.x25519(bytes(secret)).publicKey).toEqual(bytes(key));
    }
  });

  it('every seed is sealed as it is committed, and opens with the secret and with the pad', () => {
    for (const vector of vectors.seals) {
      const [sealed, secret, seed] = [bytes(vector.sealed), bytes(vector.secret), bytes(vector.seed)];
      expect(sealedSeed(suite, seed, bindingOf(vector))).toEqual(sealed);
      expect(openedWithSecrets(suite, sealed, [secret], bindingOf(vector))).toEqual(seed);
      const pad = padFor(suite, sealed, secret, bindingOf(vector));
      expect(pad).toEqual(bytes(vector.pad));
      expect(openedWithPads(suite, sealed, [bytes(vector.pad)], bindingOf(vector))).toEqual(seed);
    }
  });

  it('every dealt seed opens to every set of as many authorities as are needed, with secrets and with pads', () => {
    for (const vector of vectors.dealt) {
      const [binding, sealed, seed] = [dealtBinding(vector), bytes(vector.sealed), bytes(vector.seed)];
      expect(sealedSeed(suite, seed, binding)).toEqual(sealed);
      for (const set of setsOf(vector.parts, vector.threshold)) {
        const only = (name: 'secret' | 'pad') =>
          vector.parts.map((part) => (set.includes(part) ? bytes(part[name]) : undefined));
        expect(openedWithSecrets(suite, sealed, only('secret'), binding)).toEqual(seed);
        expect(openedWithPads(suite, sealed, only('pad'), binding)).toEqual(seed);
      }
    }
  });

  it('no dealt seed that must be refused opens to any set', () => {
    const opened = vectors.refusedDealt.filter((vector) => {
      const [binding, sealed] = [dealtBinding(vector), bytes(vector.sealed)];
      return setsOf(vector.parts, vector.threshold).some((set) => {
        const secrets = vector.parts.map((part) => (set.includes(part) ? bytes(part.secret) : undefined));
        const pads = secrets.map((secret, place) => secret && padFor(suite, sealed, secret, binding, place));
        return (
          openedWithSecrets(suite, sealed, secrets, binding) !== undefined ||
          openedWithPads(suite, sealed, pads, binding) !== undefined
        );
      });
    });
    expect(opened).toEqual([]);
  });

  it('a list is good only with its own hash', () => {
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
          ? openedWithPads(suite, sealed, [bytes(pad)], bindingOf(vector))
          : openedWithSecrets(suite, sealed, [bytes(secret)], bindingOf(vector));
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
  return boundAlone(bytes(key), { salt: bytes(ctx), context: bytes(context) });
}

function dealtBinding({ threshold, ctx, context, parts }: DealtSeed | RefusedDealt): SlotBinding {
  return {
    parts: parts.map(({ authority, key }) => ({ authority, publicKey: bytes(key) })),
    threshold,
    salt: bytes(ctx),
    context: bytes(context),
  };
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}
