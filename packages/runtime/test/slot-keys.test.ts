/** Seeds sealed to published keys of slots: who opens them, who does not, and which lists of keys are refused. */

import {
  isSlotKey,
  SLOT_KEY_BYTES,
  type SlotBinding,
  type SlotKeySource,
  type Suite,
  slotKeyList,
  slotKeyListProblem,
  slotKeyOf,
  slotSealedBytes,
  slotSecret,
} from '@basa/masking';
import {
  boundAlone,
  openedWithPads,
  openedWithSecrets,
  padFor,
  sealedSeed,
  setsOf,
} from '@basa/testkit/core/slot-seals.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeSuite } from '../src/node/index.ts';
import { webSuite } from '../src/web/index.ts';

const filled = (byte: number, length = 32): Uint8Array => new Uint8Array(length).fill(byte);
const source = { master: filled(1), task: filled(2), offer: filled(3, 16) };
const SLOTS = 4;
const list = listOf(nodeSuite, source);
const seed = Uint8Array.from({ length: 32 }, (_, n) => 7 * n + 1);
const binding = boundAlone(slotKeyOf(list, 2), { salt: filled(4), context: filled(5, 9) });
const secret = slotSecret(nodeSuite, source, 2);
const SEALED_BYTES = slotSealedBytes(1);
const sealed = sealedSeed(nodeSuite, seed, binding);
const opened = (bytes: Uint8Array, bound: SlotBinding = binding, key = secret) =>
  openedWithSecrets(nodeSuite, bytes, [key], bound);

describe('a sealed seed', () => {
  it('is opened by the secret of its slot, and by its own pad, in Node and in browsers alike', () => {
    expect(sealed).toHaveLength(SEALED_BYTES);
    expect(sealedSeed(webSuite, seed, binding)).toEqual(sealed);
    for (const suite of [nodeSuite, webSuite]) {
      expect(openedWithSecrets(suite, sealed, [secret], binding)).toEqual(seed);
      const pad = padFor(suite, sealed, secret, binding);
      expect(openedWithPads(suite, sealed, [pad], binding)).toEqual(seed);
    }
  });

  it('is opened by no other key, pad, buffer, context or authority', () => {
    const pad = padFor(nodeSuite, sealed, secret, binding) as Uint8Array;
    expect(opened(sealed, binding, slotSecret(nodeSuite, source, 1))).toBeUndefined();
    for (const changed of [
      { ...binding, salt: filled(9) },
      { ...binding, context: filled(6, 9) },
      boundAlone(slotKeyOf(list, 2), binding, 1),
      boundAlone(slotKeyOf(list, 1), binding),
    ]) {
      expect(opened(sealed, changed)).toBeUndefined();
    }
    const padded = (key: Uint8Array, bound = binding) => openedWithPads(nodeSuite, sealed, [key], bound);
    expect(padded(pad, { ...binding, context: filled(6, 9) })).toBeUndefined();
    expect(padded(filled(0))).toBeUndefined();
    expect(padded(pad.subarray(1))).toBeUndefined();
  });

  it('with any bit changed, or another length, opens for nobody', () => {
    const changes = fc.record({ at: fc.nat(SEALED_BYTES - 1), bit: fc.nat(7) });
    fc.assert(
      fc.property(changes, ({ at, bit }) => {
        const changed = sealed.slice();
        changed[at] = (changed[at] as number) ^ (1 << bit);
        expect(opened(changed)).toBeUndefined();
      }),
    );
    expect(opened(sealed.subarray(1))).toBeUndefined();
    expect(opened(new Uint8Array())).toBeUndefined();
  });

  it('whose R is not made of its seed opens for nobody: whether it is good is the same for all', () => {
    const pair = nodeSuite.x25519(filled(8));
    const own = padFor(nodeSuite, pair.publicKey, secret, binding) as Uint8Array;
    const padded = own.map((byte, i) => byte ^ (seed[i] as number));
    expect(opened(Uint8Array.of(...pair.publicKey, ...padded))).toBeUndefined();
  });

  it('sealed to several is opened for nobody with a pad of another length, or a part that is a point of small order', () => {
    const second = slotKeyOf(list, 3);
    const bound = (other: Uint8Array): SlotBinding => ({
      ...binding,
      parts: [...binding.parts, { authority: 1, publicKey: other }],
    });
    const both = sealedSeed(nodeSuite, seed, bound(second));
    const withPad = (of: SlotBinding) => {
      const pad = padFor(nodeSuite, both, secret, binding);
      return openedWithPads(nodeSuite, both, [pad, undefined], of);
    };
    expect(withPad(bound(second))).toEqual(seed);
    // One of its pads is longer than a share.
    const pads = [secret, slotSecret(nodeSuite, source, 3)].map((key, place) =>
      padFor(nodeSuite, both, key, bound(second), place),
    );
    const [pad, longer] = [pads[0], Uint8Array.of(...(pads[1] ?? []), 0)];
    expect(openedWithPads(nodeSuite, both, pads, bound(second))).toEqual(seed);
    expect(openedWithPads(nodeSuite, both, [pad, longer], bound(second))).toBeUndefined();
    expect(withPad(bound(new Uint8Array(32)))).toBeUndefined();
  });

  it('is not made for a key of small order, nor of a seed of another length', () => {
    const smallOrder = boundAlone(new Uint8Array(32), binding);
    expect(() => sealedSeed(nodeSuite, seed, smallOrder)).toThrow('were not checked');
    expect(() => sealedSeed(nodeSuite, seed.subarray(1), binding)).toThrow('32 bytes');
  });

  it('under two contexts shares nothing that can be seen', () => {
    const twice = sealedSeed(nodeSuite, seed, { ...binding, context: filled(6, 9) });
    expect(twice.subarray(0, 32)).not.toEqual(sealed.subarray(0, 32));
    expect(twice.subarray(32)).not.toEqual(sealed.subarray(32));
  });
});

describe('a seed sealed to four authorities of which three are needed', () => {
  const AUTHORITIES = [0, 1, 2, 3];
  const sources = AUTHORITIES.map((n) => ({ ...source, offer: filled(40 + n, 16) }));
  const secrets = sources.map((from) => slotSecret(nodeSuite, from, 2));
  const parts = secrets.map((own, authority) => ({ authority, publicKey: nodeSuite.x25519(own).publicKey }));
  const bound: SlotBinding = { parts, threshold: 3, salt: filled(4), context: filled(5, 9) };
  const dealt = sealedSeed(nodeSuite, seed, bound);
  const only = <Item>(items: readonly Item[], places: readonly number[]) =>
    items.map((item, n) => (places.includes(n) ? item : undefined));
  const pads = secrets.map((own, place) => padFor(nodeSuite, dealt, own, bound, place));
  const both = (bytes: Uint8Array, places: readonly number[]) => {
    const own = secrets.map((one, place) => padFor(nodeSuite, bytes, one, bound, place));
    return [
      openedWithSecrets(nodeSuite, bytes, only(secrets, places), bound),
      openedWithPads(nodeSuite, bytes, only(own, places), bound),
    ];
  };

  it('is opened by any three of them and by all, to the same seed, in Node and in browsers alike', () => {
    expect(dealt).toHaveLength(32 + 4 * 32);
    expect(sealedSeed(webSuite, seed, bound)).toEqual(dealt);
    for (const places of [...setsOf(AUTHORITIES, 3), AUTHORITIES]) {
      expect(both(dealt, places)).toEqual([seed, seed]);
      expect(openedWithSecrets(webSuite, dealt, only(secrets, places), bound)).toEqual(seed);
    }
  });

  it('is opened by no two', () => {
    for (const places of setsOf(AUTHORITIES, 2)) expect(both(dealt, places)).toEqual([undefined, undefined]);
  });

  it('with any one share or R spoilt is refused by every set, whether the share is one of theirs or not', () => {
    for (let at = 0; at < dealt.length; at += 5) {
      const spoilt = dealt.map((byte, n) => (n === at ? byte ^ 0x40 : byte));
      for (const places of [...setsOf(AUTHORITIES, 3), AUTHORITIES])
        expect(both(spoilt, places)).toEqual([undefined, undefined]);
    }
  });

  it('with shares of another polynomial, each good by itself, is refused by every set', () => {
    const other = sealedSeed(nodeSuite, filled(9), { ...bound, threshold: 2 });
    for (const place of AUTHORITIES) {
      const mixed = dealt.slice();
      const [start, end] = [32 + 32 * place, 64 + 32 * place];
      mixed.set(other.subarray(start, end), start);
      for (const places of setsOf(AUTHORITIES, 3)) expect(both(mixed, places)).toEqual([undefined, undefined]);
    }
  });

  it("opens past a secret that is not its part's where enough others are left, and not where they are not", () => {
    const lying = secrets.map((own, n) => (n === 0 ? filled(7) : own));
    expect(openedWithSecrets(nodeSuite, dealt, lying, bound)).toEqual(seed);
    expect(openedWithSecrets(nodeSuite, dealt, only(lying, [0, 1, 2]), bound)).toBeUndefined();
    const lyingPads = pads.map((pad, n) => (n === 3 ? filled(7) : pad));
    expect(openedWithPads(nodeSuite, dealt, only(lyingPads, [0, 1, 2]), bound)).toEqual(seed);
    expect(openedWithPads(nodeSuite, dealt, lyingPads, bound)).toBeUndefined();
  });

  it('is bound to the places of its parts: a part under another index opens nothing', () => {
    const moved = { ...bound, parts: parts.map((part) => ({ ...part, authority: part.authority + 1 })) };
    expect(openedWithSecrets(nodeSuite, dealt, secrets, moved)).toBeUndefined();
    const three = { ...bound, parts: [0, 1, 3].map((n) => parts[n] as (typeof parts)[number]) };
    const ofThree = sealedSeed(nodeSuite, seed, three);
    expect(ofThree).toHaveLength(32 + 3 * 32);
    expect(openedWithSecrets(nodeSuite, ofThree, only(secrets, [0, 1, 3]).filter(Boolean), three)).toEqual(seed);
    const renamed = { ...three, parts: three.parts.map((part, authority) => ({ ...part, authority })) };
    expect(openedWithSecrets(nodeSuite, ofThree, only(secrets, [0, 1, 3]).filter(Boolean), renamed)).toBeUndefined();
  });
});

describe('the keys of a buffer', () => {
  const hash = nodeSuite.sha256(list);
  const problem = (bytes: Uint8Array, of = nodeSuite.sha256(bytes)) =>
    slotKeyListProblem(nodeSuite, bytes, { slots: SLOTS, hash: of });
  const withKey = (place: number, key: Uint8Array): Uint8Array => {
    const changed = list.slice();
    changed.set(key, SLOT_KEY_BYTES * place);
    return changed;
  };

  it('differ by role, slot, buffer, task and master, and are the same again', () => {
    const lists = [source, { ...source, offer: filled(9, 16) }, { ...source, task: filled(9) }]
      .concat({ ...source, master: filled(9) })
      .map((from) => listOf(nodeSuite, from));
    const keys = lists.flatMap((bytes) =>
      Array.from({ length: SLOTS + 1 }, (_, n) => Buffer.from(bytes.subarray(32 * n, 32 * (n + 1))).toString('hex')),
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(listOf(webSuite, source)).toEqual(list);
  });

  it('are refused with another hash or length, with a key of small order, outside the field, or twice', () => {
    expect(slotKeyListProblem(nodeSuite, list, { slots: SLOTS, hash })).toBeUndefined();
    expect(problem(list, filled(0))).toContain('another hash');
    expect(problem(list.subarray(32))).toContain('has 160 bytes, got 128');
    const prime = Uint8Array.of(0xed, ...filled(0xff, 30), 0x7f);
    const smallOrder = [
      new Uint8Array(32),
      Uint8Array.of(1, ...filled(0, 31)),
      Buffer.from('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800', 'hex'),
      Buffer.from('5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157', 'hex'),
      Uint8Array.of(0xec, ...filled(0xff, 30), 0x7f),
      prime,
      Uint8Array.of(0xee, ...filled(0xff, 30), 0x7f),
      Uint8Array.of(...list.subarray(0, 31), (list[31] as number) | 0x80),
    ];
    for (const bad of smallOrder)
      expect(problem(withKey(3, bad))).toBe("key 3 is no point of the curve's large subgroup");
    expect(problem(withKey(3, list.subarray(32, 64)))).toBe('key 3 is there twice');
  });

  it('just below the prime are taken, whatever their lowest byte', () => {
    expect(isSlotKey(Uint8Array.of(0xeb, ...filled(0xff, 30), 0x7f))).toBe(true);
    expect(isSlotKey(Uint8Array.of(0xff, ...filled(0xff, 29), 0xfe, 0x7f))).toBe(true);
    expect(isSlotKey(Uint8Array.of(0xff, 0xfe, ...filled(0xff, 29), 0x7f))).toBe(true);
    expect(isSlotKey(Uint8Array.of(0xed, ...filled(0xff, 30), 0x7f))).toBe(false);
  });

  it('of small order are those that X25519 itself refuses', () => {
    const pair = nodeSuite.x25519(filled(8));
    for (const hex of [
      'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
      '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
    ])
      expect(pair.agree(Buffer.from(hex, 'hex'))).toBeUndefined();
  });
});

function listOf(suite: Suite, from: SlotKeySource): Uint8Array {
  const steps = slotKeyList(suite, from, SLOTS);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
