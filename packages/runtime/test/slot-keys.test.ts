/** Seeds sealed to published keys of slots: who opens them, who does not, and which lists of keys are refused. */

import type { SlotBinding, SlotKeySource, Suite } from '@basa/masking';
import {
  openWithPad,
  openWithSlotKey,
  SLOT_KEY_BYTES,
  SLOT_SEALED_BYTES,
  sealToSlot,
  slotKeyList,
  slotKeyListProblem,
  slotKeyOf,
  slotPad,
  slotSecret,
} from '@basa/masking';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeSuite } from '../src/node/index.ts';
import { webSuite } from '../src/web/index.ts';

const filled = (byte: number, length = 32): Uint8Array => new Uint8Array(length).fill(byte);
const source = { master: filled(1), task: filled(2), bufferId: filled(3, 16) };
const SLOTS = 4;
const list = listOf(nodeSuite, source);
const seed = Uint8Array.from({ length: 32 }, (_, n) => 7 * n + 1);
const binding: SlotBinding = {
  publicKey: slotKeyOf(list, 2),
  salt: filled(4),
  context: filled(5, 9),
  authority: 0,
};
const secret = slotSecret(nodeSuite, source, 2);
const key = nodeSuite.x25519(secret);
const sealed = sealToSlot(nodeSuite, seed, binding) as Uint8Array;

describe('a sealed seed', () => {
  it('is opened by the secret of its slot, and by its own pad, in Node and in browsers alike', () => {
    expect(sealed).toHaveLength(SLOT_SEALED_BYTES);
    expect(sealToSlot(webSuite, seed, binding)).toEqual(sealed);
    for (const suite of [nodeSuite, webSuite]) {
      const own = suite.x25519(secret);
      expect(openWithSlotKey(suite, sealed, own, binding)).toEqual(seed);
      const pad = slotPad(suite, sealed.subarray(0, SLOT_KEY_BYTES), own, binding) as Uint8Array;
      expect(openWithPad(suite, sealed, pad, binding)).toEqual(seed);
    }
  });

  it('is opened by no other key, pad, buffer, context or authority', () => {
    const pad = slotPad(nodeSuite, sealed.subarray(0, SLOT_KEY_BYTES), key, binding) as Uint8Array;
    const other = nodeSuite.x25519(slotSecret(nodeSuite, source, 1));
    expect(openWithSlotKey(nodeSuite, sealed, other, binding)).toBeUndefined();
    for (const change of [
      { salt: filled(9) },
      { context: filled(6, 9) },
      { authority: 1 },
      { publicKey: slotKeyOf(list, 1) },
    ]) {
      expect(openWithSlotKey(nodeSuite, sealed, key, { ...binding, ...change })).toBeUndefined();
    }
    expect(openWithPad(nodeSuite, sealed, pad, { ...binding, context: filled(6, 9) })).toBeUndefined();
    expect(openWithPad(nodeSuite, sealed, filled(0), binding)).toBeUndefined();
    expect(openWithPad(nodeSuite, sealed, pad.subarray(1), binding)).toBeUndefined();
  });

  it('with any bit changed, or another length, opens for nobody', () => {
    const changes = fc.record({ at: fc.nat(SLOT_SEALED_BYTES - 1), bit: fc.nat(7) });
    fc.assert(
      fc.property(changes, ({ at, bit }) => {
        const changed = sealed.slice();
        changed[at] = (changed[at] as number) ^ (1 << bit);
        expect(openWithSlotKey(nodeSuite, changed, key, binding)).toBeUndefined();
      }),
    );
    expect(openWithSlotKey(nodeSuite, sealed.subarray(1), key, binding)).toBeUndefined();
    expect(openWithSlotKey(nodeSuite, new Uint8Array(), key, binding)).toBeUndefined();
  });

  it('whose R is not made of its seed opens for nobody: whether it is good is the same for all', () => {
    const pair = nodeSuite.x25519(filled(8));
    const shared = pair.agree(binding.publicKey) as Uint8Array;
    const own = slotPad(nodeSuite, pair.publicKey, key, binding) as Uint8Array;
    const padded = own.map((byte, i) => byte ^ (seed[i] as number));
    expect(shared).toHaveLength(32);
    expect(openWithSlotKey(nodeSuite, Uint8Array.of(...pair.publicKey, ...padded), key, binding)).toBeUndefined();
  });

  it('is not made for a key of small order, nor of a seed of another length', () => {
    expect(sealToSlot(nodeSuite, seed, { ...binding, publicKey: new Uint8Array(32) })).toBeUndefined();
    expect(() => sealToSlot(nodeSuite, seed.subarray(1), binding)).toThrow('32 bytes');
  });

  it('under two contexts shares nothing that can be seen', () => {
    const twice = sealToSlot(nodeSuite, seed, { ...binding, context: filled(6, 9) }) as Uint8Array;
    expect(twice.subarray(0, 32)).not.toEqual(sealed.subarray(0, 32));
    expect(twice.subarray(32)).not.toEqual(sealed.subarray(32));
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
    const lists = [source, { ...source, bufferId: filled(9, 16) }, { ...source, task: filled(9) }]
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
