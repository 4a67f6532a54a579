/** A lie about age damps a step no more than the server's own knowledge allows, and honest ages stay as they are. */
import type { Ctx, UserId } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { VersionsSeen } from '../../src/admission/versions-seen.ts';
import { boundedAge } from '../../src/closing/bounded-age.ts';
import { bytes, userOf } from '../support/store-samples.ts';

describe('the mean age of a sum', () => {
  const scene = { now: 100, floor: 85 };
  const known = { oldest: 98, newest: 99 };

  it('is no more than the places of its devices allow, and no less than their deposits do', () => {
    const ranges = Array(10).fill(known);
    expect([0, 1, 1.5, 2, 14].map((told) => boundedAge(told, { ...scene, ranges }))).toEqual([1, 1, 1.5, 2, 2]);
  });

  it('may be larger by M of each device that came without a place, and by no more', () => {
    const ranges = [...Array(9).fill(known), { newest: 99 }];
    expect(boundedAge(14, { ...scene, ranges })).toBeCloseTo((9 * 2 + 15) / 10);
  });

  it('is the reported age if the server knows nothing about the updates', () => {
    const ranges = Array(10).fill({});
    for (const told of [0, 3.7, 15]) expect(boundedAge(told, { ...scene, ranges })).toBe(told);
  });

  it('is never negative, nor older than any update of the buffer may be', () => {
    expect(boundedAge(0, { ...scene, ranges: [{ oldest: 101, newest: 102 }] })).toBe(0);
    expect(boundedAge(50, { ...scene, ranges: [{ oldest: 3 }] })).toBe(15);
  });
});

describe('the versions that an update may be trained on', () => {
  const [ctx, user] = [bytes(1) as Ctx, userOf(1) as UserId];

  it('are those from the place to the deposit, and one version that this node may not know yet', () => {
    const seen = new VersionsSeen();
    seen.asked(user, 5);
    seen.asked(user, 6); // the same place, asked for again
    seen.deposited(user, ctx, 8);
    expect(seen.of(user, ctx)).toEqual({ oldest: 5, newest: 9 });
    expect(seen.of(user, bytes(2) as Ctx)).toEqual({});
  });

  it('are not bounded below for a device that came without a place, as it does after its deposit', () => {
    const seen = new VersionsSeen();
    seen.asked(user, 5);
    seen.deposited(user, ctx, 8);
    seen.deposited(user, bytes(2) as Ctx, 9);
    expect(seen.of(user, bytes(2) as Ctx)).toEqual({ oldest: undefined, newest: 10 });
  });

  it('start again with the next training', () => {
    const seen = new VersionsSeen();
    seen.asked(user, 5);
    seen.forget(user);
    seen.asked(user, 7);
    seen.deposited(user, ctx, 8);
    expect(seen.of(user, ctx)).toEqual({ oldest: 7, newest: 9 });
  });
});
