/**
 * No subnormal number reaches a kernel, forwards or backwards, whatever data and model are: some processors handle them many times slower,
 * and the time of a training would tell of both.
 */
import {
  conv2d,
  createKernelBackend,
  createReferenceBackend,
  createTrainer,
  type Dataset,
  defineModel,
  dense,
  flatten,
  groupNorm,
  relu,
  sigmoid,
  type TrainingKernel,
} from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';

const SHAPE = { height: 4, width: 4, channels: 2 };
const MODEL = defineModel('small', SHAPE, [
  conv2d(4, 3, { padding: 1 }),
  groupNorm(2),
  sigmoid,
  flatten,
  dense(8),
  relu,
  dense(1),
]);
const LEAST_NORMAL = 2 ** -126;

const isSubnormal = (value: number): boolean => value !== 0 && Math.abs(value) < LEAST_NORMAL;

/** Numbers of one sign around a size, some of them zero. */
function around(size: number, length: number): Float32Array {
  return Float32Array.from({ length }, (_, n) => (n % 7 === 0 ? 0 : size * (1 + (n % 5))));
}

function dataOf(inputs: Float32Array): Dataset {
  const count = inputs.length / 32;
  return { name: 'hostile', shape: SHAPE, inputs, labels: new Float32Array(count).fill(1), classes: 1 };
}

/** A kernel that counts the subnormal words in its memory before each call, and the calls. */
function counting(flushes: boolean) {
  const kernel = createTrainingKernel() as TrainingKernel;
  const met = { subnormal: 0, calls: 0 };
  let memory = new Float32Array();
  const watched = new Proxy(kernel, {
    get(target, name: keyof TrainingKernel) {
      if (name === 'reserve')
        return (bytes: number) => {
          const buffer = target.reserve(bytes);
          memory = new Float32Array(buffer, target.start, Math.floor(bytes / 4));
          return buffer;
        };
      if (name === 'flush') return flushes ? target.flush : () => {};
      const value = target[name] as unknown;
      if (typeof value !== 'function') return value;
      return (...numbers: number[]) => {
        met.calls++;
        for (const word of memory) if (isSubnormal(word)) met.subnormal++;
        return value(...numbers);
      };
    },
  });
  return { kernel: watched, met };
}

const HOSTILE: readonly (readonly [parameters: number, inputs: number])[] = [
  [1e-42, 1],
  [1, 1e-42],
  [1e-22, 1e-20],
  [1e-12, 1e-12],
  [0.3, 0.5],
  [1e10, 1e-30],
];

function trained(kernel: TrainingKernel, [parameters, inputs]: readonly [number, number]): Float32Array {
  const backend = createKernelBackend(MODEL, kernel, { loss: 'mse' });
  const dataset = dataOf(around(inputs, 5 * 32));
  const request = { samples: { dataset, indices: Uint32Array.of(0, 1, 2, 3, 4) }, batchSize: 2, learningRate: 1e-3 };
  const start = around(parameters, MODEL.dimension);
  return createTrainer(backend).train({ ...request, start, momentum: 0.5, epochs: 2, seed: 1 }).delta;
}

describe('a training with the numbers of a hostile model', () => {
  it.each(HOSTILE)('of size %d on data of size %d meets no subnormal number', (...sizes) => {
    const { kernel, met } = counting(true);
    trained(kernel, sizes);
    expect(met.calls).toBeGreaterThan(100);
    expect(met.subnormal).toBe(0);
  });

  it('would meet them if layers did not flush', () => {
    const { kernel, met } = counting(false);
    trained(kernel, [1e-22, 1e-20]);
    expect(met.subnormal).toBeGreaterThan(0);
  });
});

describe('flushing', () => {
  it('makes zeros of values below 1e-18 only, of both signs, and lets NaN stay', () => {
    const kernel = createTrainingKernel() as TrainingKernel;
    const least = Math.fround(1e-18);
    const below = Math.fround(least * (1 - 2 ** -23));
    const words = new Float32Array(kernel.reserve(64), kernel.start, 8);
    words.set([least, -least, below, -below, 1e-42, Number.NaN, -1, Number.NEGATIVE_INFINITY]);
    kernel.flush(kernel.start, 8);
    expect([...words]).toEqual([least, -least, 0, 0, 0, Number.NaN, -1, Number.NEGATIVE_INFINITY]);
  });

  it('is the same in the reference: a network of values around 1e-18 has the same zeros', () => {
    const kernel = createKernelBackend(MODEL, createTrainingKernel() as TrainingKernel, { loss: 'mse' });
    const reference = createReferenceBackend(MODEL, { loss: 'mse' });
    const given = Float32Array.from({ length: MODEL.dimension }, (_, n) => 1e-18 * (0.9 + (n % 3) / 10));
    const kept = [kernel, reference].map((backend) => {
      const parameters = new Float32Array(MODEL.dimension);
      backend.setParameters(given);
      backend.readParameters(parameters);
      return [...parameters];
    });
    expect(kept[0]).toEqual(kept[1]);
    expect(kept[0]).toContain(0);
    expect(kept[0]?.some((value) => value !== 0)).toBe(true);
  });
});
