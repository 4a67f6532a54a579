/** What a descriptor says of the keys of a part, by its engine. */
import { describe, expect, it } from 'vitest';
import { ENGINE } from '../../src/index.ts';
import { epochKeyOf, isSelfName, sealedBytesOf } from '../../src/wire/sealing.ts';

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

  it('is named by a point with slot keys, and by nothing else with the others', () => {
    expect(isSelfName({ engine: ENGINE.slotKeys }, new Uint8Array(0))).toBe(false);
    expect(isSelfName({ engine: ENGINE.cpAbe }, new Uint8Array(0))).toBe(true);
    expect(isSelfName({ engine: ENGINE.cpAbe }, new Uint8Array(32))).toBe(false);
  });
});
