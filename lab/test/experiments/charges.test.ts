/** The charges of protocols, counted by hand from costs of a millisecond each. */

import { Charges } from '@basa/virtual-time';
import { describe, expect, it } from 'vitest';
import { COSTS, K, LARGE, SMALL } from './declared-costs.ts';

const sealed = (dimension: number, openers: number) =>
  new Charges(COSTS, dimension).sealed('BASA sealed (slot keys)', K, openers);

it('four workers open a large sum together: seeds in shares, the vector in shards', () => {
  // 40 ms of seeds; 10 masks, 10 bodies added as they are unpacked, the range judged, the mean taken.
  expect(sealed(LARGE, 1).openSeconds(K, 0)).toBeCloseTo(0.04 + 0.022, 9);
  expect(sealed(LARGE, 4).openSeconds(K, 0)).toBeCloseTo((0.04 + 0.022) / 4, 9);
});

it('a small sum is one shard: more workers share only its seeds', () => {
  expect(sealed(SMALL, 4).openSeconds(K, 0)).toBeCloseTo(0.04 / 4 + 0.022, 9);
});

it('a body of a ring is copied and hashed on arrival, and not unpacked', () => {
  expect(sealed(LARGE, 4).bodySeconds).toBeCloseTo(0.002, 9);
});

it('the thread that answers is charged its messages: half of a deposit and an upload each', () => {
  expect(sealed(LARGE, 4).serverSeconds).toBeCloseTo(0.03 / K / 2, 9);
});

it('an upload of slot keys is its message at a tiny dimension, with 20 bits for each parameter', () => {
  expect(sealed(LARGE, 4).uploadBytes(0)).toBe(1000 - 4 * 64 + (20 * LARGE) / 8);
});

it('a whole run of SecAgg is charged each vector once: its server unpacks, adds and unmasks one of every user', () => {
  const { user, server } = new Charges(COSTS, LARGE, 'field').totals('SecAgg', K);
  expect(server).toBeCloseTo((K * 3) / 1000, 9);
  // Ten masks, then packed and copied.
  expect(user).toBeCloseTo((K + 2) / 1000, 9);
});

it('a device expands long masks on two threads, to which the vector is copied and back; short ones on one', () => {
  // 3 ms of messages, then the digest checked, two copies, packed, hashed.
  expect(sealed(SMALL, 4).maskSeconds(0)).toBeCloseTo(0.003 + K / 1000 + 0.005, 9);
  expect(sealed(LARGE, 4).maskSeconds(0)).toBeCloseTo(0.003 + K / 2000 + 0.002 + 0.005, 9);
});

describe('the one-shot mode', () => {
  const oneShot = new Charges(COSTS, SMALL).oneShot('BASA one-shot', K, 4);

  it('charges a device one mask, whatever K', () => {
    // 3 ms of messages and sealing; quantised, masked, copied twice, packed, hashed.
    expect(oneShot.deviceSeconds).toBeCloseTo(0.003 + 0.006, 9);
  });

  it('charges the authority one examination per upload, and one mask per update of the batch', () => {
    expect(oneShot.inspectSeconds).toBeCloseTo(0.001, 9);
    expect(oneShot.releaseSeconds(K)).toBeCloseTo(0.01 + K / 1000 + 0.002, 9);
    expect(oneShot.releaseSeconds(K / 2)).toBeCloseTo(0.005 + K / 2000 + 0.002, 9);
  });

  it('charges four authorities their shares at the same time, and the server a vector of masks for each of four parts', () => {
    const several = new Charges(COSTS, SMALL).oneShot('BASA one-shot (3 of 4)', K, 4);
    expect(several.inspectSeconds).toBeCloseTo(0.001 / 4, 9);
    // Each part's sum is made by two of them, packed and hashed.
    expect(several.releaseSeconds(K)).toBeCloseTo((0.01 + K / 1000 + 8 * 0.002) / 4, 9);
    expect(several.openSeconds(K)).toBeCloseTo(0.01 + (K + 4) / 1000 + 0.002, 9);
  });

  it('charges the server a body on arrival, then one addition per update and one vector of masks', () => {
    expect(oneShot.intakeSeconds).toBeCloseTo(0.002 + 0.002, 9);
    expect(oneShot.openSeconds(K)).toBeCloseTo(0.01 + (K + 1) / 1000 + 0.002, 9);
  });
});
