/** The descriptor's field about the keys of a part, by its engine. */
import { DecodeError, unsafeTransparentIssuer, unsafeTransparentSealing } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import {
  allSteps,
  attributeIssuer,
  type BufferSealing,
  type Ctx,
  doSealing,
  ENGINE,
  type Registration,
  type Slot,
  slotKeyIssuer,
} from '../../src/index.ts';
import { epochKeyOf, isSelfName, sealedBytesOf } from '../../src/wire/sealing.ts';
import { type OpenWork, type SealingSteps, sealedBy } from '../../src/wire/sealing-work.ts';
import { isSlotKeyOf } from '../../src/wire/slot-sealing.ts';

describe('the name of a key epoch', () => {
  const sealingKey = Uint8Array.from({ length: 64 }, (_, n) => n);

  it('is the first half of the sealing key with slot keys, and all of it with CP-ABE', () => {
    expect(epochKeyOf({ engine: ENGINE.slotKeys }, { sealingKey })).toEqual(sealingKey.subarray(0, 32));
    expect(epochKeyOf({ engine: ENGINE.cpAbe }, { sealingKey })).toEqual(sealingKey);
  });
});

describe('a sealed seed', () => {
  it('has a length on the wire with the engines that hide something, and with no other', () => {
    expect(sealedBytesOf(ENGINE.cpAbe)).toBe(240);
    expect(sealedBytesOf(ENGINE.slotKeys)).toBeGreaterThan(32);
    expect(sealedBytesOf(ENGINE.slotKeys, 2)).toBeGreaterThan(sealedBytesOf(ENGINE.slotKeys) as number);
    expect(sealedBytesOf(ENGINE.unsafeTransparent)).toBeUndefined();
    expect(sealedBytesOf(99)).toBeUndefined();
  });

  it('is named by a point with slot keys, and has no name with other engines', () => {
    expect(isSelfName({ engine: ENGINE.slotKeys }, new Uint8Array(0))).toBe(false);
    expect(isSelfName({ engine: ENGINE.cpAbe }, new Uint8Array(0))).toBe(true);
    expect(isSelfName({ engine: ENGINE.cpAbe }, new Uint8Array(32))).toBe(false);
  });
});

describe('keys of attributes', () => {
  it('open no self seed with its own name', () => {
    const issuer = attributeIssuer(nodeSuite, unsafeTransparentIssuer(nodeSuite));
    const source = { task: new Uint8Array(32) as never, bufferSize: 4, offer: new Uint8Array(16) };
    const keys = issuer.keysOf({ ctx: new Uint8Array(32) as Ctx, authority: 0, source });
    const registration = new Uint8Array(32) as Registration;
    expect(keys.self(registration, new Uint8Array(0))).toHaveLength(32);
    expect(keys.self(registration, new Uint8Array(1))).toBeUndefined();
  });

  it('that are not keys open nothing, and other errors are not hidden', () => {
    const withOpener = (error: Error) =>
      ({
        edgeOpener: () => {
          throw error;
        },
      }) as unknown as BufferSealing;
    const work = { kind: 'open', keys: [], entries: [] } as unknown as OpenWork;
    expect(doSealing(withOpener(new DecodeError('key', 'no point')), work)).toBeUndefined();
    expect(() => doSealing(withOpener(new RangeError('a fault')), work)).toThrow('a fault');
  });
});

describe('work that is done later', () => {
  it('is requested until the steps have all their inputs', async () => {
    function* steps(): SealingSteps<number> {
      let total = 0;
      for (const n of [1, 2]) total += ((yield { n } as never) as readonly Uint8Array[])[0]?.length ?? 0;
      return total;
    }
    expect(await sealedBy(async (work) => [new Uint8Array((work as never as { n: number }).n)], steps())).toBe(3);
  });
});

describe('slot keys', () => {
  const issuer = slotKeyIssuer(nodeSuite, new Uint8Array(32).fill(3));
  const source = { task: new Uint8Array(32) as never, bufferSize: 4, offer: new Uint8Array(16) };
  const ctx = new Uint8Array(32) as Ctx;
  const slotKeys = allSteps(issuer.slotKeys(source));
  const parts = [{ authority: 2, offer: source.offer, sealingKey: issuer.sealingKey(slotKeys) }];
  const keys = issuer.keysOf({ ctx, authority: 2, source });

  it('are compared with the list of their authority, slot by slot', () => {
    const buffer = { ctx, descriptor: { threshold: 1, parts, bufferSize: 4 }, slotKeys };
    const key = keys.edge(1 as Slot);
    const isOf = (slot: number, authority: number, one = key) =>
      isSlotKeyOf(nodeSuite, buffer, slot as Slot, { authority, key: one });
    expect(isOf(1, 2)).toBe(true);
    expect([isOf(0, 2), isOf(1, 0), isOf(1, 2, key.subarray(1)), isOf(1, 2, new Uint8Array(32))]).toEqual(
      Array(4).fill(false),
    );
    expect(isSlotKeyOf(nodeSuite, { ...buffer, slotKeys: new Uint8Array(0) }, 1 as Slot, { authority: 9, key })).toBe(
      true,
    );
  });

  it('are made of 32 secret bytes', () => {
    expect(() => slotKeyIssuer(nodeSuite, new Uint8Array(31))).toThrow('a secret has 32 bytes, got 31');
  });

  it('make a pad only for a good point in its only encoding', () => {
    const registration = new Uint8Array(32) as Registration;
    const nine = new Uint8Array(32);
    nine[0] = 9;
    // 9 + p names the same point.
    const nineAgain = new Uint8Array(32).fill(0xff);
    nineAgain.set([0xf6]);
    nineAgain.set([0x7f], 31);
    expect(keys.self(registration, nine)).toHaveLength(32);
    expect(keys.self(registration, nineAgain)).toBeUndefined();
    expect(keys.self(registration, new Uint8Array(32))).toBeUndefined();
  });
});

describe('transparent sealing', () => {
  const sealing = unsafeTransparentSealing({ seed: 2, attribute: 3, context: 4 });
  const bytes = (length: number, value = 1) => new Uint8Array(length).fill(value);

  it('takes a seed, an attribute and a context of the lengths it was made for', () => {
    expect(sealing.seal(bytes(2), bytes(3), bytes(4))).toHaveLength(sealing.sealedBytes);
    expect(() => sealing.seal(bytes(1), bytes(3), bytes(4))).toThrow('seed must be 2 bytes, got 1');
    expect(() => sealing.seal(bytes(2), bytes(4), bytes(4))).toThrow('attribute must be 3 bytes');
    expect(() => sealing.seal(bytes(2), bytes(3), bytes(5))).toThrow('context must be 4 bytes');
  });

  it('opens with the attribute and the context it was sealed for, and with no other', () => {
    const sealed = sealing.seal(bytes(2, 7), bytes(3), bytes(4));
    expect(sealing.open(sealed, bytes(3), bytes(4))).toEqual(bytes(2, 7));
    expect(sealing.open(sealed, bytes(3, 2), bytes(4))).toBeUndefined();
    expect(sealing.open(sealed, bytes(3), bytes(4, 2))).toBeUndefined();
    expect(sealing.open(sealed.subarray(1), bytes(3), bytes(4))).toBeUndefined();
  });
});
