/** Three steps of each model on made-up input, hashed: what the wasm backend must give on every machine. */
import { createHash } from 'node:crypto';
import { femnistCnn, flsimCnn, initialParameters, logisticRegression, type Model, randomStream } from '@basa/learning';
import { drawExamples, wasmBackend } from '@basa/testkit/core/backends.ts';

export const FROZEN_DIGESTS: Readonly<Record<string, string>> = {
  'logistic regression': 'ea733b19574b0a77',
  'FLSim CNN': 'e303c37bcfabdf53',
  'FEMNIST CNN': 'f3e49c6b7e71a4ad',
};

export function trainingDigests(): Record<string, string> {
  return {
    'logistic regression': trainingDigest(logisticRegression()),
    'FLSim CNN': trainingDigest(flsimCnn()),
    'FEMNIST CNN': trainingDigest(femnistCnn()),
  };
}

function trainingDigest(model: Model): string {
  const backend = wasmBackend(model, 8);
  const random = randomStream(1, 'bits');
  backend.setParameters(initialParameters(model, 1));
  for (let step = 0; step < 3; step++) {
    drawExamples(backend, random);
    backend.learn(8, random);
    backend.descend({ learningRate: 0.05, momentum: 0.9, weightDecay: 1e-3, clipNorm: 2 });
  }
  const parameters = new Float32Array(model.dimension);
  backend.readParameters(parameters);
  return createHash('sha256').update(new Uint8Array(parameters.buffer)).digest('hex').slice(0, 16);
}
