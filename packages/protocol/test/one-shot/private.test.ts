/** A private task of the one-shot mode: who adds the noise, and how often a device may be in a sum. */
import { addNoiseInPlace, applyMasksInPlace, ascii, noiseTable, RING_32, Secret } from '@basa/masking';
import { type Ctx, granted } from '@basa/protocol';
import { addAuthorityNoise } from '@basa/protocol/internal/one-shot/parts.ts';
import { sumRules } from '@basa/protocol/internal/wire/input.ts';
import { oneShotOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { taskNoise } from '@basa/protocol/internal/wire/privacy.ts';
import { buildInput } from '@basa/protocol/one-shot';
import { policyProblem } from '@basa/protocol/policy';
import type { ShotDevice } from '@basa/simulator';
import { reasonOf } from '@basa/simulator';
import { type ShotOptions, ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { plainTools } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { inspected, verdicts, voted } from './scene.ts';

const PRIVATE: ShotOptions = {
  count: 1,
  level: 64,
  privacy: { noiseMultiplier: 1, colluders: 1, budget: { delta: 1e-6, participations: 1 } },
};
const CENTRAL: ShotOptions = { ...PRIVATE, shot: { authorityNoise: true } };
const PREFIX = 5;
/** Of the secret and the batch below: authorities of another make must draw the same. */
const NOISE = [29, 65, 48, 67, 41, 34, -15, -9];

describe('noise that the authority adds', () => {
  const tools = plainTools();
  const { suite } = tools;
  const { policy } = new ShotWorld(CENTRAL);
  const [secret, ctx] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2) as Ctx];
  const noiseOf = (task = policy, keys = [secret], of = ctx) => {
    const sum = new Uint32Array(PREFIX + 12);
    addAuthorityNoise(sum, { suite, tools }, task, keys, of);
    return [...sum];
  };

  it('is the same for every request, and differs in another batch or epoch', () => {
    expect(noiseOf()).toEqual(noiseOf());
    expect(noiseOf().some((word) => word !== 0)).toBe(true);
    expect(noiseOf(policy, [new Uint8Array(32).fill(3)])).not.toEqual(noiseOf());
    expect(noiseOf(policy, [secret], new Uint8Array(32).fill(3) as Ctx)).not.toEqual(noiseOf());
  });

  it('comes from HKDF of the secret, with the batch as the salt and "noise" as the purpose', () => {
    const asked: Parameters<typeof suite.hkdf>[0][] = [];
    const hkdf: typeof suite.hkdf = (input) => {
      asked.push(input);
      return suite.hkdf(input);
    };
    const sum = new Uint32Array(PREFIX + 8);
    addAuthorityNoise(sum, { suite: { ...suite, hkdf }, tools }, policy, [secret], ctx);
    expect(asked[0]).toMatchObject({ salt: ctx, info: ascii('noise'), length: 32 });
    expect([...sum.subarray(PREFIX)].map((word) => word | 0)).toEqual(NOISE);
  });

  it('takes the words of one stream, one stretch after the other', () => {
    const draws = 3 * 4096;
    const sum = new Uint32Array(PREFIX + draws);
    const large = { ...policy, dimension: draws };
    addAuthorityNoise(sum, { suite, tools }, large, [secret], ctx);
    const stream = new Uint32Array(4 * draws);
    const seed = new Secret(suite.hkdf({ secret, salt: ctx, info: ascii('noise'), length: 32 }));
    applyMasksInPlace(stream, { modulus: RING_32, salt: ctx, terms: [{ seed, sign: 1 }] }, tools);
    const wanted = new Uint32Array(draws);
    let at = 0;
    addNoiseInPlace(wanted, noiseTable(taskNoise(large)?.variance ?? 0), policy.modulus, (words) => {
      words.set(stream.subarray(at, at + words.length));
      at += words.length;
    });
    expect(sum.subarray(PREFIX)).toEqual(wanted);
  });

  it('is on no word around the update, and on no word if devices add it', () => {
    expect(noiseOf().slice(0, PREFIX)).toEqual([0, 0, 0, 0, 0]);
    expect(noiseOf().slice(PREFIX + 8)).toEqual([0, 0, 0, 0]);
    expect(noiseOf(new ShotWorld(PRIVATE).policy)).toEqual(Array(PREFIX + 12).fill(0));
    expect(noiseOf(new ShotWorld({ count: 1 }).policy)).toEqual(Array(PREFIX + 12).fill(0));
  });

  it('comes from one party, and inputs of devices have no noise', () => {
    const devices = new ShotWorld(PRIVATE).policy;
    expect(taskNoise(policy)).toMatchObject({ honest: 1, isCentral: true });
    expect(taskNoise(devices)).toMatchObject({ honest: devices.minimum - 1, isCentral: false });
    const zero = {
      delta: new Float32Array(8),
      trainedOn: 0,
      randomWords: (words: Uint32Array) => words.fill(0xf7777777),
    };
    const wordsOf = (task: typeof policy) => [
      ...granted(buildInput(sumRules(task, 0), zero)).vector.subarray(PREFIX, -4),
    ];
    expect(wordsOf(policy)).toEqual(Array(8).fill(0));
    expect(wordsOf(devices)).not.toEqual(Array(8).fill(0));
  });

  it('is allowed only with one authority in a task with noise', () => {
    expect(policyProblem({ ...policy, privacy: undefined })).toContain('authorityNoise needs noise');
    const four = new ShotWorld({ ...PRIVATE, count: 4 }).policy;
    const oneShot = { ...oneShotOf(four), authorityNoise: true };
    expect(policyProblem({ ...four, oneShot })).toContain('authorityNoise');
  });
});

describe('a device of a private task', () => {
  it('is in as many sums as it has participations, and each sum counts once', () => {
    const { world, batch, votes, devices, shots } = voted({ ...PRIVATE, count: 4 });
    const { server } = world;
    for (const index of world.indices) granted(server.releaseBy(index, batch, { votes }));
    // Inspected again, its uploads are in their batch.
    expect(verdicts(server.inspectBy(0, shots))).toEqual(Array(3).fill('used'));
    world.nextVersion();
    const [device] = devices as [ShotDevice];
    device.own.newUpdate();
    expect(device.contribute()).toEqual({ kind: 'refused', reason: 'budget-spent' });
    // A device that lost its ledger is refused by the authorities.
    device.own.ledgerRecords = [];
    device.own.restart();
    expect(device.contribute()).toEqual({ kind: 'accepted' });
    expect(verdicts(server.inspectBy(0, server.shots.slice(-1)))).toEqual(['bad: budget-spent']);
  });

  it('with two participations is in a second sum', () => {
    const privacy = { noiseMultiplier: 1, colluders: 1, budget: { delta: 1e-6, participations: 2 } };
    const { world, batch, votes, devices } = voted({ ...PRIVATE, count: 4, privacy });
    const { server } = world;
    for (const index of world.indices) granted(server.releaseBy(index, batch, { votes }));
    world.nextVersion();
    for (const device of devices) {
      device.own.newUpdate();
      expect(device.contribute()).toEqual({ kind: 'accepted' });
    }
    const second = server.shots.slice(-3);
    expect(verdicts(server.inspectBy(0, second))).toEqual(Array(3).fill('good'));
    granted(server.voteBy(0, server.batch(second)));
  });

  it('whose sum was refused for another reason keeps its participation', () => {
    const { world, batch } = inspected({ ...PRIVATE, count: 4 });
    const { server } = world;
    const two = { ...batch, uploads: batch.uploads.slice(0, 2) };
    expect(reasonOf(server.voteBy(0, two))).toBe('too-few');
    granted(server.voteBy(0, batch));
  });
});
