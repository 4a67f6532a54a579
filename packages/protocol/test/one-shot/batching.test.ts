/** The uploads that the server puts into a batch, the time to vote for them, and a batch that is lost. */
import type { UserId } from '@basa/protocol';
import { pickBatch, refusedPositions, type Voters, voteWindow } from '@basa/protocol/internal/one-shot/batching.ts';
import { oneShotOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import type { ShotHeader, ShotUpload } from '@basa/protocol/wire';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

const { policy } = new ShotWorld();
const bytes = (value: number): Uint8Array => new Uint8Array(32).fill(value);

const ALL = 0b1111;
const WILLING: Voters = { good: 0b111111, isDoubted: false };

function shotOf(at: number, change: Partial<ShotHeader> = {}, named = [0, 1, 2, 3], voters = WILLING) {
  const epochs = named.map((authority) => ({ authority, statement: bytes(authority) }));
  const header = { user: bytes(at) as UserId, model: bytes(7), epochs, ...change } as ShotHeader;
  return { at, voters, upload: { header } as ShotUpload };
}

describe('a batch', () => {
  it('has at most K uploads of distinct devices, in the order in which they came', () => {
    const shots = [shotOf(1), shotOf(2), shotOf(9, { user: bytes(1) as UserId }), shotOf(3), shotOf(4), shotOf(5)];
    expect(pickBatch(policy, shots).map(({ at }) => at)).toEqual([1, 2, 3, 4]);
  });

  it('is not made of fewer than Kmin', () => {
    expect(pickBatch(policy, [shotOf(1), shotOf(2)])).toEqual([]);
    expect(pickBatch(policy, [shotOf(1), shotOf(2), shotOf(3)])).toHaveLength(3);
  });

  it('mixes versions with enough uploads each, if the policy lets it, and otherwise takes the version with the most', () => {
    const shots = [2, 2, 2, 1, 1, 3].map((model, at) => shotOf(at, { model: bytes(model) }));
    expect(pickBatch(policy, shots).map(({ at }) => at)).toEqual([0, 1, 2]);
    const mixing = (versionMinimum: number, bufferSize = 5) => {
      const oneShot = { ...oneShotOf(policy), versionMinimum };
      return pickBatch({ ...policy, bufferSize, oneShot }, shots).map(({ at }) => at);
    };
    expect(mixing(2)).toEqual([0, 1, 2, 3, 4]);
    expect(mixing(1, 6)).toEqual([0, 1, 2, 3, 4, 5]);
    // Cut at K in the order of arrival, a version would have too few.
    expect(mixing(2, 4)).toEqual([0, 1, 3, 4]);
  });

  it('is found whenever versions with enough uploads fill it, in whatever order these came', () => {
    const oneShot = { ...oneShotOf(policy), versionMinimum: 5 };
    const shots = Array.from({ length: 15 }, (_, at) => shotOf(at, { model: bytes(at % 3) }));
    const picked = pickBatch({ ...policy, minimum: 8, bufferSize: 10, oneShot }, shots);
    expect(picked.map(({ at }) => at % 3).sort()).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
  });

  it('is of another version, if the largest has no authorities in common', () => {
    const apart = [
      [0, 1, 2],
      [1, 2, 3],
      [0, 1, 3],
      [0, 2, 3],
    ].map((named, at) => shotOf(at, {}, named));
    const older = [5, 6, 7].map((at) => shotOf(at, { model: bytes(1) }));
    expect(pickBatch(policy, [...apart, ...older]).map(({ at }) => at)).toEqual([5, 6, 7]);
  });

  it('leaves out uploads without which enough authorities are named by all', () => {
    const shots = [shotOf(1, {}, [0, 1, 2]), shotOf(2, {}, [1, 2, 3]), shotOf(3), shotOf(4, {}, [0, 1, 2])];
    expect(pickBatch(policy, shots).map(({ at }) => at)).toEqual([1, 3, 4]);
  });

  it('is made without the oldest upload, if that one names other authorities than the rest', () => {
    const shots = [shotOf(1, {}, [0, 1, 2]), shotOf(2), ...[3, 4].map((at) => shotOf(at, {}, [1, 2, 3]))];
    expect(pickBatch(policy, shots).map(({ at }) => at)).toEqual([2, 3, 4]);
  });

  it('is not made smaller by an early upload that names other authorities than most', () => {
    const rest = [4, 5, 6, 7].map((at) => shotOf(at, {}, [1, 2, 3]));
    const early = [shotOf(1, {}, [0, 1, 2]), shotOf(2), shotOf(3)];
    expect(pickBatch(policy, [...early, ...rest]).map(({ at }) => at)).toEqual([2, 3, 4, 5]);
    // Several uploads of one device count once.
    const user = bytes(1) as UserId;
    const many = [11, 12, 13, 14, 15].map((at) => shotOf(at, { user }, [0, 1, 2]));
    expect(pickBatch(policy, [...many, ...rest.slice(1)]).map(({ at }) => at)).toEqual([5, 6, 7]);
  });

  /** One authority refuses it. */
  const doubted = (at: number, refusing: number) =>
    shotOf(at, {}, undefined, { good: ALL & ~(1 << refusing), isDoubted: true });

  it('holds only uploads for which the same t authorities would vote, and the others wait for another one', () => {
    const honest = [3, 4].map((at) => shotOf(at));
    const shots = [doubted(1, 0), doubted(2, 1), ...honest];
    expect(pickBatch(policy, shots).map(({ at }) => at)).toEqual([3, 4, 1]);
    const alike = [doubted(5, 1), doubted(6, 1)];
    expect(pickBatch(policy, [doubted(1, 0), doubted(2, 1), ...alike]).map(({ at }) => at)).toEqual([2, 5, 6]);
    expect(pickBatch(policy, [doubted(1, 0), doubted(2, 1), doubted(3, 2)])).toEqual([]);
  });

  it('takes uploads that an authority refuses last, however early they come', () => {
    const honest = [3, 4, 5, 6].map((at) => shotOf(at));
    expect(pickBatch(policy, [doubted(1, 0), doubted(2, 1), ...honest]).map(({ at }) => at)).toEqual([3, 4, 5, 6]);
    const unnamed = shotOf(1, {}, [0, 1, 2]);
    expect(pickBatch(policy, [unnamed, doubted(2, 3), ...honest]).map(({ at }) => at)).toEqual([1, 3, 4, 5]);
  });

  it('counts no authority that an upload does not name', () => {
    const shots = [
      [0, 1, 2],
      [1, 2, 3],
      [0, 1, 2],
    ].map((named, n) => shotOf(n, {}, named));
    expect(pickBatch(policy, shots)).toEqual([]);
  });

  it('is the largest one, also if the set that most devices name is too small for one', () => {
    const wide = {
      ...policy,
      minimum: 3,
      bufferSize: 9,
      threshold: 4,
      authorities: Array.from({ length: 6 }, (_, n) => bytes(n)),
    };
    const shots = [
      ...[1, 2].map((at) => shotOf(at, {}, [0, 1, 2, 3])),
      shotOf(3, {}, [1, 2, 3, 4, 5]),
      shotOf(4, {}, [2, 3, 4, 5]),
      shotOf(5, {}, [0, 2, 3, 4, 5]),
    ];
    expect(pickBatch(wide, shots).map(({ at }) => at)).toEqual([3, 4, 5]);
  });

  it('is voted for until the authorities stop that its uploads name; an unknown epoch is over', () => {
    const closes = (statement: Uint8Array) => ({ closes: 1000 * ((statement[0] as number) + 1) }) as never;
    const { header } = shotOf(1).upload;
    expect(voteWindow(header, { epochMs: 500, epoch: closes })).toEqual({ first: 1500, last: 4500 });
    expect(voteWindow(header, { epochMs: 500, epoch: () => undefined })).toEqual({ first: 500, last: 500 });
  });

  it('is made again without uploads that more authorities refuse than may lie', () => {
    const [one, two, three] = [{ uploads: [0, 0, 1] }, { uploads: [1, 2] }, { uploads: [2] }];
    expect(refusedPositions(policy, [one, two, three])).toEqual(
      new Map([
        [1, one],
        [2, two],
      ]),
    );
    expect(refusedPositions(policy, [])).toEqual(new Map());
  });
});
