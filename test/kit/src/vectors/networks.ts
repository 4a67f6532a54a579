/** Networks as JSON, with the tensors and the manifest hash that every client finds in them. */
import { createHash } from 'node:crypto';
import {
  conv2d,
  defineModel,
  dense,
  dropout,
  fedmlCifarCnn,
  femnistCnn,
  flatten,
  groupNorm,
  logisticRegression,
  type Model,
  manifestText,
  maxPool,
  modelJson,
  relu,
} from '@basa/learning';

const SMALL = { height: 9, width: 7, channels: 2 };

export function networkVectors(): object {
  const networks = [
    logisticRegression(),
    femnistCnn(),
    fedmlCifarCnn(),
    defineModel('windows', SMALL, [
      conv2d(4, 3, { stride: 2, padding: 1 }),
      groupNorm(2, { epsilon: 1e-7 }),
      relu,
      maxPool(2),
      flatten,
      dropout(0.1),
      dense(3),
    ]),
    defineModel('shared', { height: 1, width: 1, channels: 5 }, [
      dense(5, { name: 'größe' }),
      relu,
      dense(5, { name: 'größe' }),
    ]),
  ];
  return {
    about: 'Written by `npm run write -- vectors`; a client that names tensors finds these in the networks.',
    networks: networks.map(vectorOf),
  };
}

function vectorOf(model: Model): object {
  const manifestHash = createHash('sha256')
    .update(new TextEncoder().encode(manifestText(model)))
    .digest('hex');
  return { network: modelJson(model), tensors: model.manifest.map(({ name, shape }) => [name, shape]), manifestHash };
}
