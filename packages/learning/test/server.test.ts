import { describe, expect, it } from 'vitest';
import {
  agedWeight,
  createServerStep,
  type FedBuffCheckpoint,
  fedAdamStep,
  fedAvgStep,
  fedBuffStep,
  type PlainFedBuff,
  RunMetrics,
  randomStream,
  runPlainFedBuff,
  type TrainResult,
  WeightedMean,
} from '../src/index.ts';

describe('the weight of an old update', () => {
  it('is the inverse square root of its age, or another power', () => {
    const taus = [0, 1, 3, 8];
    expect(taus.map((tau) => agedWeight(tau))).toEqual(
      [1, 1 / Math.SQRT2, 0.5, 1 / 3].map((w) => expect.closeTo(w, 15)),
    );
    expect(taus.map((tau) => agedWeight(tau, 1))).toEqual([1, 0.5, 0.25, 1 / 9]);
  });
});

describe('server steps', () => {
  it('FedAvg with momentum follows PyTorch: v = mu v + g, w -= rate v', () => {
    const step = fedAvgStep({ rate: 0.5, momentum: 0.9 });
    const w = Float32Array.of(1, 2);
    step.applyInPlace(w, Float64Array.of(1, -1));
    expect([...w]).toEqual([0.5, 2.5]);
    step.applyInPlace(w, Float64Array.of(1, -1)); // v = 1.9
    expect([...w]).toEqual([expect.closeTo(-0.45, 6), expect.closeTo(3.45, 6)]);
  });

  it('FedAdam divides by the root of the mean square', () => {
    const step = fedAdamStep({ rate: 1, beta1: 0, beta2: 0, adaptivity: 1 });
    const w = Float32Array.of(0, 0);
    step.applyInPlace(w, Float64Array.of(3, -1));
    expect([...w]).toEqual([-0.75, 0.5]);
  });

  it('a mean of the wrong length is refused before anything changes', () => {
    const w = Float32Array.of(1);
    expect(() => fedBuffStep(1).applyInPlace(w, new Float64Array(2))).toThrow('a mean of 2');
    expect([...w]).toEqual([1]);
  });
});

describe('the weighted mean', () => {
  it('with equal weights is the mean, for any weight', () => {
    const deltas = [Float32Array.of(1, 2), Float32Array.of(3, -2)];
    const mean = (weight: number | undefined): number[] => {
      const buffer = new WeightedMean(2);
      for (const delta of deltas) buffer.add(delta, weight);
      return [...buffer.take('weights')];
    };
    expect(mean(undefined)).toEqual([2, 0]);
    expect(mean(1)).toEqual(mean(undefined));
    expect(mean(0.25)).toEqual(mean(undefined));
  });

  it('divided by the count, old updates make a shorter step; divided by the weights, equally old ones do not', () => {
    const taken = (divideBy: 'count' | 'weights'): number[] => {
      const buffer = new WeightedMean(1);
      for (const value of [2, 6]) buffer.add(Float32Array.of(value), agedWeight(3));
      return [...buffer.take(divideBy)];
    };
    expect(taken('count')).toEqual([2]);
    expect(taken('weights')).toEqual([4]);
  });

  it('weighs by examples, and starts over when taken', () => {
    const buffer = new WeightedMean(1);
    buffer.add(Float32Array.of(1), 30);
    buffer.add(Float32Array.of(5), 10);
    expect([...buffer.take('weights')]).toEqual([2]);
    expect([buffer.count, buffer.weights]).toEqual([0, 0]);
    expect(() => buffer.take('count')).toThrow('no update');
    expect(() => buffer.add(Float32Array.of(1), 0)).toThrow('positive');
    expect(() => buffer.add(Float32Array.of(1, 2))).toThrow('a delta of 2');
  });
});

/** A user's training that only depends on what it is given: pulls the model towards a point of its own. */
function pull({ user, start }: { user: number; start: Float32Array }): TrainResult {
  const random = randomStream(user, 'home');
  const delta = start.map((w) => 0.3 * (w - random.normal()));
  return { delta, loss: 1, samples: 10 + user };
}

const plain: PlainFedBuff = {
  start: new Float32Array(5).fill(1),
  users: 20,
  concurrency: 6,
  bufferSize: 6,
  versions: 4,
  weightOf: () => 1,
  step: fedBuffStep(0.7),
  seed: 3,
  delay: 0,
  train: pull,
  evaluate: () => ({ loss: 1, accuracy: 0, samples: 1 }),
  evaluateEvery: 1,
};

describe('equivalences', () => {
  it('FedBuff with K = cohort, no delay and no staleness weight is FedAvg', async () => {
    const { parameters, metrics } = await runPlainFedBuff({ ...plain, concurrency: 6, bufferSize: 6 });
    // The first cohort starts together; later trips train on the newest version, so compare versions with FedAvg over
    // the same cohorts and the same downloads.
    const byVersion = Array.from({ length: 4 }, (_, n) => metrics.trips.slice(6 * n, 6 * n + 6));
    const models = [Float32Array.from(plain.start)];
    const fedAvg = fedAvgStep({ rate: 0.7, momentum: 0 });
    for (const cohort of byVersion) {
      const next = Float32Array.from(models.at(-1) as Float32Array);
      const round = new WeightedMean(5);
      for (const { user, version } of cohort) round.add(pull({ user, start: models[version] as Float32Array }).delta);
      fedAvg.applyInPlace(next, round.take('count'));
      models.push(next);
    }
    expect(parameters).toEqual(models.at(-1));
    expect(metrics.trips.slice(0, 6).every(({ staleness }) => staleness === 0)).toBe(true);
  });

  it('FedBuff with K = 1 is asynchronous SGD: each arrival is applied at once to the newest model', async () => {
    const { parameters, metrics } = await runPlainFedBuff({ ...plain, bufferSize: 1, versions: 15, delay: 2 });
    const models = [Float32Array.from(plain.start)];
    for (const { user, version } of metrics.trips) {
      const next = Float32Array.from(models.at(-1) as Float32Array);
      const { delta } = pull({ user, start: models[version] as Float32Array });
      for (let n = 0; n < next.length; n++) next[n] = (next[n] as number) - 0.7 * (delta[n] as number);
      models.push(next);
    }
    expect(parameters).toEqual(models.at(-1));
    expect(Math.max(...metrics.trips.map(({ staleness }) => staleness))).toBeGreaterThan(2);
  });

  it('weighted and unweighted agree when every alpha is 1', async () => {
    const run = (weightOf: PlainFedBuff['weightOf']) =>
      runPlainFedBuff({ ...plain, bufferSize: 3, delay: 3, versions: 8, weightOf });
    const one = await run(() => 1);
    const other = await run((tau) => agedWeight(tau, 0));
    expect(other.parameters).toEqual(one.parameters);
    const third = await run(agedWeight);
    expect(third.parameters).not.toEqual(one.parameters);
  });
});

describe('a plain run', () => {
  it('has a mean staleness of about (C - 1) / K, and the same seed gives the same run', async () => {
    const run = () =>
      runPlainFedBuff({ ...plain, users: 200, concurrency: 32, bufferSize: 10, versions: 300, delay: 3 });
    const [one, two] = [await run(), await run()];
    expect(one.metrics.summary().meanStaleness).toBeGreaterThan(2.7);
    expect(one.metrics.summary().meanStaleness).toBeLessThan(3.4);
    expect(two.parameters).toEqual(one.parameters);
    expect(two.metrics.trips).toEqual(one.metrics.trips);
  });

  it('that was interrupted continues to the same bits and the same records', async () => {
    const long = { ...plain, users: 60, concurrency: 20, bufferSize: 4, versions: 30, delay: 3, evaluateEvery: 2 };
    const momentum = { rate: 0.7, momentum: 0.5 };
    const checkpoints: FedBuffCheckpoint[] = [];
    const onVersion: PlainFedBuff['onVersion'] = (_version, _evaluation, at) => void checkpoints.push(at.checkpoint());
    const run = { ...long, weightOf: agedWeight };
    const whole = await runPlainFedBuff({ ...run, step: fedAvgStep(momentum), onVersion });
    expect(checkpoints.map(({ version }) => version)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
    for (const resume of checkpoints) {
      const step = fedAvgStep(momentum, resume.memory);
      const rest = await runPlainFedBuff({ ...run, step, resume: structuredClone(resume) });
      expect(rest.parameters).toEqual(whole.parameters);
      expect(rest.metrics).toEqual(whole.metrics);
      expect(resume.models.size).toBeLessThanOrEqual(20);
    }
  });

  it('that had reached its target trains no more, and one to fewer versions is refused', async () => {
    let last: FedBuffCheckpoint | undefined;
    const target = { ...plain, target: 0.5, evaluate: () => ({ loss: 1, accuracy: 0.6, samples: 1 }) };
    const { parameters } = await runPlainFedBuff({
      ...target,
      onVersion: (_version, _evaluation, at) => {
        last = at.checkpoint();
      },
    });
    const resume = last as FedBuffCheckpoint;
    const train = (): never => {
      throw new Error('trained');
    };
    const again = await runPlainFedBuff({ ...target, resume, train });
    expect(again.parameters).toEqual(parameters);
    expect(again.metrics.reached(0.5)?.version).toBe(1);
    await expect(runPlainFedBuff({ ...target, versions: 0, resume })).rejects.toThrow('fewer than 1');
  });

  it('leaves updates beyond the staleness limit out', async () => {
    const weightOf = (tau: number): number => (tau > 0 ? 0 : 1);
    const { metrics } = await runPlainFedBuff({ ...plain, bufferSize: 2, delay: 4, versions: 5, weightOf });
    const counted = metrics.trips.filter(({ weight }) => weight > 0);
    expect(counted.every((trip) => trip.staleness === 0)).toBe(true);
    expect(counted.length).toBe(10);
    expect(metrics.trips.length).toBeGreaterThan(10);
  });

  it('counts trips, samples and staleness of each client', () => {
    const metrics = new RunMetrics();
    const trip = { trip: 0, version: 0, weight: 1 };
    metrics.addTrip({ ...trip, user: 4, staleness: 2, loss: 1, samples: 10 });
    metrics.addTrip({ ...trip, user: 1, staleness: 0, loss: 3, samples: 5 });
    metrics.addTrip({ ...trip, user: 4, staleness: 4, loss: 2, samples: 10 });
    expect(metrics.perClient()).toEqual([
      { user: 1, trips: 1, samples: 5, meanStaleness: 0, meanLoss: 3 },
      { user: 4, trips: 2, samples: 20, meanStaleness: 3, meanLoss: 1.5 },
    ]);
    expect(metrics.summary()).toEqual({ trips: 3, samples: 25, meanStaleness: 2, maxStaleness: 4, meanLoss: 2 });
    metrics.addVersion({ version: 1, time: 2, loss: 1, accuracy: 0.7, samples: 100 });
    expect(metrics.reached(0.7)?.version).toBe(1);
    expect(metrics.reached(0.71)).toBeUndefined();
  });

  it('cannot keep more users training than there are', async () => {
    await expect(runPlainFedBuff({ ...plain, users: 5 })).rejects.toThrow('5 users');
  });
});

describe('a server step', () => {
  it.each([
    { kind: 'fedbuff', rate: 0.5 },
    { kind: 'fedavg', rate: 0.5, momentum: 0.9 },
    { kind: 'fedadam', rate: 0.1 },
  ] as const)('$kind goes on from its checkpoint as if it had never stopped', (options) => {
    const means = [Float64Array.of(1, -2, 0.5), Float64Array.of(0.25, 1, -1), Float64Array.of(3, 0, 1)];
    const [whole, resumed] = [Float32Array.of(1, 2, 3), Float32Array.of(1, 2, 3)];
    const unbroken = createServerStep(options);
    for (const mean of means) unbroken.applyInPlace(whole, mean);
    let memory: Float64Array | undefined;
    for (const mean of means) {
      const step = createServerStep(options, memory);
      step.applyInPlace(resumed, mean);
      memory = step.memory();
    }
    expect(resumed).toEqual(whole);
  });
});
