/** The policy of a one-shot task: the largest number of colluding authorities that keeps sums checked, or the reason why there is none. */

import { partsOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { ENGINE, MAX_BATCH, POLICY_DEFAULTS } from '@basa/protocol/policy';
import { describe, expect, it } from 'vitest';
import { makePolicy, type PolicyChoice } from '../src/operator/policy.ts';
import { tinyModel } from './support/tiny.ts';

function choiceOf(authorities: number, more: Partial<PolicyChoice> = {}): PolicyChoice {
  return {
    name: 'one shot',
    model: tinyModel,
    serverKey: new Uint8Array(32).fill(200),
    authorities: Array.from({ length: authorities }, (_, n) => new Uint8Array(32).fill(n + 1)),
    bufferSize: 10,
    clip: 1,
    training: POLICY_DEFAULTS.training,
    uploadLeaseMs: 60_000,
    ...more,
  };
}

describe('a one-shot task', () => {
  it('has no clip by default, and says how to measure one', async () => {
    const { clip: _, ...without } = choiceOf(1);
    await expect(makePolicy(without)).rejects.toThrow(/clip is missing.*`basa simulate model.ts`/);
    const { clip } = await makePolicy({ ...without, mode: 'paper' });
    expect(clip).toBe(1);
  });

  it('learns the share of clipped updates if it has noise, once, and as the last of 16 metrics at most', async () => {
    const named = async (more: Partial<PolicyChoice>) =>
      (await makePolicy(choiceOf(1, more))).metrics.map(({ name }) => name);
    const loss = { name: 'loss', low: 0, high: 4 };
    expect(await named({})).toEqual(['clipped']);
    expect(await named({ metrics: [loss] })).toEqual(['loss', 'clipped']);
    expect(await named({ metrics: [{ name: 'clipped', low: 0, high: 1 }, loss] })).toEqual(['clipped', 'loss']);
    expect(await named({ noNoise: true })).toEqual([]);
    const many = Array.from({ length: 16 }, (_, n) => ({ ...loss, name: `m${n}` }));
    expect(await named({ metrics: many })).toHaveLength(16);
    // The share of one device would be too small to be drawn.
    const large = await makePolicy(choiceOf(4, { bufferSize: 2000, privacy: { noiseMultiplier: 0.02 } }));
    expect(large.metrics).toEqual([]);
  });

  it.each([
    [1, 1, 0, 1],
    [3, 3, 1, 3],
    [4, 3, 1, 4],
    [5, 4, 1, 5],
    [6, 4, 1, 6],
    [8, 6, 2, 28],
    [7, 5, 2, 21],
  ])('of %i authorities needs %i, withstands %i that collude, and has %i parts', async (count, threshold, f, parts) => {
    const policy = await makePolicy(choiceOf(count, { threshold }));
    expect(policy).toMatchObject({
      engine: ENGINE.oneShot,
      threshold,
      oneShot: { tolerated: f },
    });
    expect(partsOf(count, f).length).toBe(parts);
  });

  it('may have sums of ten thousand updates, and one in paper mode may not', async () => {
    expect((await makePolicy(choiceOf(1, { bufferSize: MAX_BATCH }))).bufferSize).toBe(MAX_BATCH);
    await expect(makePolicy(choiceOf(1, { bufferSize: MAX_BATCH, mode: 'paper' }))).rejects.toThrow(/from 2 to 1024/);
  });

  it('of two authorities is refused, and of seven may withstand only one', async () => {
    await expect(makePolicy(choiceOf(2))).rejects.toThrow(
      /2 of 2 authorities, of which 0 may collude, are not possible/,
    );
    expect((await makePolicy(choiceOf(7, { tolerated: 1 }))).oneShot?.tolerated).toBe(1);
  });

  it('of one authority may leave the noise to it, and a task without noise may not', async () => {
    const privacy = { noiseMultiplier: 4, participations: 3 };
    const [central, devices] = await Promise.all(
      [true, false].map((authorityNoise) => makePolicy(choiceOf(1, { bufferSize: 100, privacy, authorityNoise }))),
    );
    expect(central?.oneShot?.authorityNoise).toBe(true);
    expect(devices?.oneShot?.authorityNoise).toBe(false);
    await expect(makePolicy(choiceOf(4, { privacy, authorityNoise: true }))).rejects.toThrow(/with one authority/);
    await expect(makePolicy(choiceOf(1, { authorityNoise: true, noNoise: true }))).rejects.toThrow(/needs noise/);
  });

  it('has noise by default, of the authority if there is one, and a budget from 1 on', async () => {
    const noiseOf = async (authorities: number, more: Partial<PolicyChoice>) => {
      const { privacy, oneShot } = await makePolicy(choiceOf(authorities, more));
      return [privacy?.noiseMultiplier, privacy?.budget?.participations, oneShot?.authorityNoise];
    };
    expect(await noiseOf(1, { bufferSize: 10 })).toEqual([0.1, undefined, true]);
    expect(await noiseOf(4, { bufferSize: 32 })).toEqual([0.32, undefined, false]);
    expect(await noiseOf(1, { bufferSize: 100 })).toEqual([1, 100, true]);
    expect(await noiseOf(4, { bufferSize: 1000, versions: 7 })).toEqual([1, 7, false]);
    const large = { ...choiceOf(1).model, dimension: 1_000_000 };
    expect(await noiseOf(1, { bufferSize: 100, model: large })).toEqual([0.1, undefined, true]);
    expect(await noiseOf(1, { bufferSize: 5, model: large })).toEqual([0.01, undefined, true]);
    expect(await noiseOf(1, { noNoise: true })).toEqual([undefined, undefined, false]);
    const both = choiceOf(1, { noNoise: true, privacy: { noiseMultiplier: 1 } });
    await expect(makePolicy(both)).rejects.toThrow('exclude each other');
  });

  it('may make a version of several sums', async () => {
    expect((await makePolicy(choiceOf(1))).oneShot?.stepUpdates).toBe(10);
    expect((await makePolicy(choiceOf(1, { stepUpdates: 25, versionMinimum: 3 }))).oneShot).toMatchObject({
      stepUpdates: 25,
      versionMinimum: 3,
      combine: 'mean',
    });
    const trimmed = choiceOf(1, { stepUpdates: 50, combine: 'trimmed' });
    expect((await makePolicy(trimmed)).oneShot).toMatchObject({ stepUpdates: 50, combine: 'trimmed' });
    await expect(makePolicy({ ...trimmed, stepUpdates: 49 })).rejects.toThrow(/from 50 to 640/);
  });

  it('may seal with ML-KEM as well', async () => {
    expect((await makePolicy(choiceOf(1))).oneShot?.sealing).toBe('x25519');
    const hybrid = choiceOf(4, { sealing: 'x25519+mlkem768' });
    expect((await makePolicy(hybrid)).oneShot).toMatchObject({ sealing: 'x25519+mlkem768', tolerated: 1 });
  });
});

describe('a task in paper mode', () => {
  it('uses CP-ABE, mixes versions, and weighs updates by their age', async () => {
    expect(await makePolicy(choiceOf(1, { mode: 'paper' }))).toMatchObject({
      engine: ENGINE.cpAbe,
      oneShot: undefined,
      versions: 'unsafeMixed',
      staleness: { kind: 'polynomial', exponent: 0.5 },
    });
  });

  it.each([
    [{ stepUpdates: 3 }, /stepUpdates needs one-shot mode/],
    [{ sealing: 'x25519' }, /sealing needs one-shot mode/],
    [{ privacy: { noiseMultiplier: 4, participations: 3 } }, /privacy needs one-shot mode/],
  ] as const)('does not have %j', async (more, sentence) => {
    await expect(makePolicy(choiceOf(1, { mode: 'paper', ...more }))).rejects.toThrow(sentence);
  });

  it('has one authority', async () => {
    await expect(makePolicy(choiceOf(4, { mode: 'paper' }))).rejects.toThrow(/has one authority/);
  });
});
