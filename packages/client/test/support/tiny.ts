/** A model of eight classes and examples for it, as small as they may be. */
import { type Dataset, defineModel, dense } from '@basa/learning';

const EXAMPLES = 16;

export const tinyModel = defineModel('tiny', { height: 1, width: 1, channels: 4 }, [dense(8)]);

export const tinyDataset: Dataset = {
  name: 'tiny',
  shape: tinyModel.input,
  classes: 8,
  inputs: Float32Array.from({ length: 4 * EXAMPLES }, (_, n) => Math.cos(n)),
  labels: Uint8Array.from({ length: EXAMPLES }, (_, n) => n % 8),
};
