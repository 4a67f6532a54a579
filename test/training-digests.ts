/** Three steps of each model on made-up input, hashed: what the wasm engine must give on every machine. */
import { createHash } from 'node:crypto';
import { femnistCnn, flsimCnn, initialParameters, logisticRegression, type Model, randomStream } from '@basa/learning';
import { wasmEngine } from '@basa/testkit/core/engines.ts';

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
  const engine = wasmEngine(model, 8);
  const random = randomStream(1, 'bits');
  engine.setParameters(initialParameters(model, 1));
  for (let step = 0; step < 3; step++) {
    engine.inputs.forEach((_, n) => {
      engine.inputs[n] = random.unit();
    });
    engine.labels.forEach((_, n) => {
      engine.labels[n] = random.below(model.classes);
    });
    engine.learn(8, random);
    engine.descend({ learningRate: 0.05, momentum: 0.9, weightDecay: 1e-3, clipNorm: 2 });
  }
  const parameters = new Float32Array(model.dimension);
  engine.readParameters(parameters);
  return createHash('sha256').update(new Uint8Array(parameters.buffer)).digest('hex').slice(0, 16);
}
