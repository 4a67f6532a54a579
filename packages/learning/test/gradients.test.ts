import { readFileSync } from 'node:fs';
import { BACKENDS, wasmBackend } from '@basa/testkit/core/backends.ts';
import { describe, expect, it } from 'vitest';
import {
  type Backend,
  createReferenceBackend,
  dropout,
  fedmlCifarCnn,
  femnistCnn,
  flsimCnn,
  logisticRegression,
  randomStream,
} from '../src/index.ts';
import {
  type GoldenCase,
  goldenCases,
  goldenInputs,
  goldenLabels,
  goldenParameters,
  hashed,
  modelOf,
} from './golden/cases.ts';

interface Golden extends GoldenCase {
  readonly dimension: number;
  readonly loss: number;
  readonly tensors: readonly { name: string; norm: number; places: readonly number[]; entries: readonly number[] }[];
}

const { cases } = JSON.parse(readFileSync(new URL('golden/gradients.json', import.meta.url), 'utf8')) as {
  cases: readonly Golden[];
};

/** Largest error of an entry, relative to the largest possible one: the norm of its tensor. */
const TOLERANCE: Readonly<Record<string, number>> = { wasm: 2e-6, reference: 1e-12 };

it('the golden gradients are of the networks the tests build', () => {
  expect(cases.map(({ spec, batch }) => ({ spec, batch }))).toEqual(JSON.parse(JSON.stringify(goldenCases())));
});

it('d is 7,850, 1,206,590, 1,756,426 and 31,594', () => {
  const models = [logisticRegression(), femnistCnn(), fedmlCifarCnn(), flsimCnn()];
  expect(models.map(({ dimension }) => dimension)).toEqual([7_850, 1_206_590, 1_756_426, 31_594]);
  expect(femnistCnn({ classes: 10 }).dimension).toBe(1_199_882);
  expect(flsimCnn({ classes: 2 }).dimension).toBe(29_282);
  expect(flsimCnn({ input: { height: 28, width: 28, channels: 1 }, classes: 62 }).dimension).toBe(46_046);
});

describe.each(Object.keys(BACKENDS))('the %s backend has the gradients PyTorch has in double precision', (name) => {
  // The reference backend is slow, and every kind of layer is in a small network.
  const some = cases.filter(({ dimension }) => name === 'wasm' || dimension < 1_000_000);
  it.each(some.map((golden) => [golden.spec.name, golden] as const))('%s', (_, golden) => {
    const model = modelOf(golden);
    expect(model.dimension).toBe(golden.dimension);
    const backend = (BACKENDS[name] as (typeof BACKENDS)[string])(model, golden.batch);
    const { gradients, loss } = learnOnce(backend, golden);
    const tolerance = TOLERANCE[name] as number;
    const total = Math.hypot(...golden.tensors.map(({ norm }) => norm));
    expect(Math.abs(loss / golden.batch - golden.loss)).toBeLessThan(tolerance * golden.loss);
    for (const { name: tensorName, norm, places, entries } of golden.tensors) {
      const tensor = model.manifest.find((candidate) => candidate.name === tensorName);
      const own = gradients.subarray(tensor?.offset, (tensor?.offset ?? 0) + (tensor?.length ?? 0));
      // A bias before a norm of its own channel has no gradient at all: there the whole one is the measure.
      const bound = tolerance * (norm > 1e-9 * total ? norm : total);
      expect(Math.abs(Math.hypot(...chunkNorms(own)) - norm), tensorName).toBeLessThanOrEqual(bound);
      for (const [n, place] of places.entries()) {
        const error = Math.abs((own[place] as number) - (entries[n] as number));
        expect(error, `${tensorName}[${place}]`).toBeLessThanOrEqual(bound);
      }
    }
  });
});

it('the reference backend agrees with central differences to 1e-5 relative, in every layer', () => {
  for (const golden of cases.filter(({ dimension }) => dimension < 5000)) {
    const backend = createReferenceBackend(modelOf(golden), { batchCapacity: golden.batch });
    const { gradients } = learnOnce(backend, golden);
    const parameters = Float64Array.from(goldenParameters(backend.model));
    const norm = Math.hypot(...gradients);
    for (let n = 0; n < parameters.length; n += 101) {
      const there = parameters[n] as number;
      const lossAt = (value: number): number => {
        parameters[n] = value;
        backend.setParameters(parameters);
        return backend.run(golden.batch) / golden.batch;
      };
      const step = 1e-5;
      const slope = (lossAt(there + step) - lossAt(there - step)) / (2 * step);
      parameters[n] = there;
      const error = Math.abs(slope - (gradients[n] as number));
      expect(error, `${golden.spec.name}, parameter ${n}`).toBeLessThan(1e-5 * Math.max(Math.abs(slope), norm));
    }
  }
});

it('the two backends draw the same dropout and agree to single precision, step after step', () => {
  const golden: GoldenCase = {
    spec: {
      name: 'with dropout',
      input: { height: 9, width: 9, channels: 2 },
      layers: (cases[4] as Golden).spec.layers.flatMap((layer) =>
        layer.kind === 'relu' ? [layer, dropout(0.4)] : layer,
      ),
    },
    batch: 5,
  };
  const model = modelOf(golden);
  const results = [wasmBackend(model, 5), createReferenceBackend(model, { batchCapacity: 5 })].map((backend) => {
    prepare(backend, golden);
    const random = randomStream(3, 'dropout');
    for (let step = 0; step < 5; step++) {
      backend.learn(golden.batch, random);
      backend.descend({ learningRate: 0.1, momentum: 0.9, weightDecay: 0.01, clipNorm: 0.5 });
    }
    const parameters = new Float64Array(model.dimension);
    backend.readParameters(parameters);
    return parameters;
  });
  const [fast, slow] = results as [Float64Array, Float64Array];
  const worst = fast.reduce((most, value, n) => Math.max(most, Math.abs(value - (slow[n] as number))), 0);
  expect(worst).toBeLessThan(2e-6);
  expect(Math.hypot(...slow.map((value, n) => value - (goldenParameters(model)[n] as number)))).toBeGreaterThan(0.05);
});

function prepare(backend: Backend, { batch }: GoldenCase): void {
  backend.setParameters(goldenParameters(backend.model));
  backend.inputs.set(goldenInputs(backend.model, batch));
  backend.labels.set(goldenLabels(backend.model, batch));
}

function learnOnce(backend: Backend, golden: GoldenCase): { gradients: Float64Array; loss: number } {
  prepare(backend, golden);
  const loss = backend.learn(golden.batch, randomStream(0));
  const gradients = new Float64Array(backend.model.dimension);
  backend.readGradients(gradients);
  return { gradients, loss };
}

/** Norms of pieces, because Math.hypot takes no million arguments. */
function chunkNorms(vector: Float64Array): number[] {
  return Array.from({ length: Math.ceil(vector.length / 1000) }, (_, n) =>
    Math.hypot(...vector.subarray(1000 * n, 1000 * (n + 1))),
  );
}

it('hashed numbers stay in their range and differ', () => {
  const numbers = hashed(1000, 1);
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(-0.5);
  expect(Math.max(...numbers)).toBeLessThan(0.5);
  expect(new Set(numbers).size).toBeGreaterThan(990);
});
