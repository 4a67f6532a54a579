/** Every state the parties can reach together, for buffers of two and three: no promise is broken in any of them. */

import { drawFrom } from '@basa/testkit/core/draw.ts';
import { seededWords } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';
import {
  type explore as Explore,
  explore,
  exploreLogs,
  exploreShots,
  exploreWays,
} from '../../src/proofs/explorer/explore.ts';
import type { SettledFate } from '../../src/proofs/explorer/invariants.ts';
import { CORE_RULES, HOST_RULES, LOG_RULES, LOG_WORLDS } from '../../src/proofs/explorer/missing-rules.ts';
import { SHOT_RULES, SHOT_WORLDS } from '../../src/proofs/explorer/one-shot/worlds.ts';
import { COUNCIL_WORLDS, LARGE_WORLDS, SMALL_WORLDS } from '../../src/proofs/explorer/worlds.ts';
import { importPatched } from '../../src/proofs/patched-core.ts';

const BUDGET = 15_000;

describe('no promise is broken in any state', () => {
  it.each(SMALL_WORLDS)('of $name: all of them are reached, and updates end as $shows', ({ shows, ...world }) => {
    const { complete, counterexample, fates } = explore(world);
    expect(counterexample).toBeUndefined();
    expect(complete).toBe(true);
    expect(Object.keys(fates).filter((fate) => fates[fate as SettledFate] > 0)).toEqual(
      expect.arrayContaining([...shows]),
    );
  });

  it.each(LARGE_WORLDS)(`of $name, as far as ${BUDGET} states go`, (world) => {
    const { counterexample, states } = explore({ ...world, budget: BUDGET });
    expect(counterexample).toBeUndefined();
    expect(states).toBeGreaterThanOrEqual(BUDGET);
  });
});

describe('a rule of the host that is switched off gives a counterexample', () => {
  it.each(HOST_RULES)('where the $name', ({ name, world, problem }) => {
    const { counterexample } = explore({ ...world, broken: name });
    expect(counterexample?.problem).toMatch(problem);
    expect(counterexample?.steps.length).toBeLessThan(16);
  });

  it('that a person can read, and that is the shortest', () => {
    expect(explore({ bufferSize: 2, broken: 'server answers before it writes' }).counterexample?.steps).toEqual([
      'the deposit of user 0 reaches the server; the server writes "deposited" and sends slot',
      'user 0 gets its slot; it writes "slotted" and sends key-request',
      'the key request of user 0 reaches the authority; the authority writes "key-issued" and sends key',
      'user 0 gets its key; it writes "frozen" and sends upload',
      'the upload of user 0 reaches the server; the server sends acknowledgement first, and crashes before it writes',
    ]);
  });
});

describe('a rule of the core that is patched away gives a counterexample', () => {
  it.each(CORE_RULES)('without "$name"', async ({ world, patches = [], problem }) => {
    const patched = await importPatched<{ explore: typeof Explore }>('lab/src/proofs/explorer/explore.ts', patches);
    expect(patched.explore(world).counterexample?.problem).toMatch(problem);
  });

  it('and the same bundle without a patch gives no counterexample', async () => {
    const whole = await importPatched<{ explore: typeof Explore }>('lab/src/proofs/explorer/explore.ts', []);
    expect(whole.explore({ bufferSize: 3, still: true }).counterexample).toBeUndefined();
  });
});

describe('several authorities and a server', () => {
  it.each(COUNCIL_WORLDS)('keep every promise: $name', ({ isSmall, ...world }) => {
    const { complete, counterexample, endings, states } = explore({ ...world, budget: BUDGET });
    expect(counterexample).toBeUndefined();
    expect(complete).toBe(isSmall);
    if (isSmall) expect(endings).toMatchObject({ included: 1 });
    else expect(states).toBeGreaterThanOrEqual(BUDGET);
  });

  it.each(COUNCIL_WORLDS)('keep every promise to the end of random paths: $name', ({ isSmall: _, ...world }) => {
    const { counterexample, endings } = exploreWays(world, 30, drawFrom(seededWords(1)).below);
    expect(counterexample).toBeUndefined();
    expect(endings['included']).toBeGreaterThan(0);
    if (world.still) expect(endings).toEqual({ included: 30 });
  });
});

describe('the one-shot mode', () => {
  it.each(SHOT_WORLDS)('keeps every promise: $name', ({ world, isSmall }) => {
    const { complete, counterexample, states } = exploreShots(world, { budget: isSmall ? BUDGET : 600 });
    expect(counterexample).toBeUndefined();
    expect(complete).toBe(isSmall);
    expect(states).toBeGreaterThan(20);
  });

  it.each(SHOT_WORLDS)('keeps every promise to the end of random paths: $name', ({ world }) => {
    const { below: draw } = drawFrom(seededWords(1));
    expect(exploreShots(world, { ways: 5, draw }).counterexample).toBeUndefined();
  });

  it('includes every update under any crashes, if the server is honest and no authority is restored', () => {
    const { fates } = exploreShots({ bufferSize: 2, minimum: 2, devices: 2, crashes: true });
    expect(fates).toEqual({ included: 12, quarantined: 0, expired: 0, refused: 0, unknown: 0 });
  });

  it.each(SHOT_RULES)('gives a counterexample without "$name"', async ({ world, patches, problem }) => {
    const patched = await importPatched<{ exploreShots: typeof exploreShots }>(
      'lab/src/proofs/explorer/explore.ts',
      patches,
    );
    expect(patched.exploreShots(world, { budget: 3000 }).counterexample?.problem).toMatch(problem);
  });
});

describe('the model logs of several authorities, with a server that asks each of them for another version', () => {
  it.each(LOG_WORLDS)('keep every promise: $threshold of $authorities', ({ isSmall, ...world }) => {
    const { complete, counterexample, states } = exploreLogs(world, { budget: isSmall ? BUDGET : 300 });
    expect(counterexample).toBeUndefined();
    expect(complete).toBe(isSmall);
    expect(states).toBeGreaterThan(10);
  });

  it.each(LOG_RULES)('break without "$name" [$id]', async ({ world, patches = [], problem }) => {
    const patched = await importPatched<{ exploreLogs: typeof exploreLogs }>(
      'lab/src/proofs/explorer/explore.ts',
      patches,
    );
    expect(patched.exploreLogs(world).counterexample?.problem).toMatch(problem);
  });
});
