/** The charges of protocols, counted by hand from costs of a millisecond each. */

import { Charges } from '@basa/simulator/virtual-time';
import { describe, expect, it } from 'vitest';
import { COSTS, K, LARGE, SMALL } from './declared-costs.ts';

it('a whole run of SecAgg is charged each vector once: its server unpacks, adds and unmasks one of every user', () => {
  const { user, server } = new Charges(COSTS, LARGE, 1, 'field').totals('SecAgg', K);
  expect(server).toBeCloseTo((K * 3) / 1000, 9);
  // Ten masks, then packed and copied.
  expect(user).toBeCloseTo((K + 2) / 1000, 9);
});

describe('the one-shot mode', () => {
  const charged = (dimension: number, openers: number) =>
    new Charges(COSTS, dimension, openers).oneShot('BASA one-shot', K);
  const oneShot = charged(SMALL, 4);

  it('charges a device one mask, whatever K', () => {
    // 3 ms of messages and sealing; quantised, masked, copied twice, packed, hashed.
    expect(oneShot.deviceSeconds).toBeCloseTo(0.003 + 0.006, 9);
  });

  it('charges a device a long mask on two threads, to which the vector is copied and back', () => {
    expect(charged(LARGE, 4).deviceSeconds).toBeCloseTo(0.003 + 0.0055 + 0.002, 9);
  });

  it('charges the authority one examination per upload, and one mask per update of the batch', () => {
    expect(oneShot.inspectSeconds).toBeCloseTo(0.001, 9);
    expect(oneShot.releaseSeconds(K)).toBeCloseTo(0.01 + K / 1000 + 0.002, 9);
    expect(oneShot.releaseSeconds(K / 2)).toBeCloseTo(0.005 + K / 2000 + 0.002, 9);
  });

  it('charges four authorities their shares at the same time, and the server a vector of masks for each of four parts', () => {
    const several = new Charges(COSTS, SMALL, 4).oneShot('BASA one-shot (3 of 4)', K);
    expect(several.inspectSeconds).toBeCloseTo(0.001 / 4, 9);
    // Each part's sum is made by two of them, packed and hashed.
    expect(several.releaseSeconds(K)).toBeCloseTo((0.01 + K / 1000 + 8 * 0.002) / 4, 9);
    expect(several.openSeconds(K)).toBeCloseTo(0.01 + (K + 4) / 1000 + 0.002, 9);
  });

  it('charges the server a body on arrival, then one addition per update and one vector of masks', () => {
    expect(oneShot.intakeSeconds).toBeCloseTo(0.002 + 0.002, 9);
    expect(oneShot.openSeconds(K)).toBeCloseTo(0.01 + (K + 1) / 1000 + 0.002, 9);
  });

  it('four workers open a large sum together in shards; a small sum is one shard', () => {
    expect(charged(LARGE, 1).openSeconds(K)).toBeCloseTo(0.01 + 0.013, 9);
    expect(charged(LARGE, 4).openSeconds(K)).toBeCloseTo(0.01 + 0.013 / 4, 9);
    expect(charged(SMALL, 4).openSeconds(K)).toBeCloseTo(0.01 + 0.013, 9);
  });
});
