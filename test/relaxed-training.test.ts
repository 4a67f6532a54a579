import { setFlagsFromString } from 'node:v8';
import { createKernelBackend, femnistCnn, flsimCnn, initialParameters, randomStream } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';
import { drawExamples } from '@basa/testkit/core/backends.ts';
import { expect, it } from 'vitest';

// Node 20 has relaxed SIMD behind a flag; newer ones have it anyway, and do not know the flag.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd');

it.each([femnistCnn(), flsimCnn()])('fused products train $name as plain ones do, to the last bits', (model) => {
  const [plain, fused] = [true, false].map((equalBits) => {
    const kernel = createTrainingKernel({ equalBits });
    if (kernel === undefined) throw new Error('this Node has no wasm SIMD');
    const backend = createKernelBackend(model, kernel, { batchCapacity: 5 });
    const random = randomStream(1, 'fused');
    backend.setParameters(initialParameters(model, 1));
    drawExamples(backend, random);
    backend.learn(5, random);
    backend.descend({ learningRate: 0.1, momentum: 0, weightDecay: 0 });
    const trained = new Float32Array(model.dimension);
    backend.readParameters(trained);
    return trained;
  }) as [Float32Array, Float32Array];
  const before = initialParameters(model, 1);
  const norm = (of: (n: number) => number): number =>
    Math.sqrt(before.reduce((sum: number, _, n) => sum + of(n) ** 2, 0));
  const moved = norm((n) => (plain[n] as number) - (before[n] as number));
  const apart = norm((n) => (plain[n] as number) - (fused[n] as number));
  expect(moved).toBeGreaterThan(0);
  expect(apart / moved).toBeLessThan(1e-4);
  expect(apart).toBeGreaterThan(0);
});
