/** Labelled examples, kept as they came and normalised while a batch is filled. */
import { type Shape, wordsOf } from '../model/model.ts';

/** A byte x means x / 255, and floats are used unchanged. This is plain data, so it can be passed to a worker. */
export interface Dataset {
  readonly name: string;
  readonly shape: Shape;
  /** 1 if labels are numbers. */
  readonly classes: number;
  readonly inputs: Uint8Array | Float32Array;
  /** The class of each example; floats for the loss `mse`, which brings an output close to any number. */
  readonly labels: Uint8Array | Int32Array | Float32Array;
  /** Per channel: inputs become (x - mean) / deviation. */
  readonly normal?: { readonly mean: readonly number[]; readonly deviation: readonly number[] };
}

/** Some examples of a dataset: one client's share, or a part to evaluate on. */
export interface Samples {
  readonly dataset: Dataset;
  readonly indices: Uint32Array;
}

export function allSamples(dataset: Dataset): Samples {
  return { dataset, indices: Uint32Array.from({ length: dataset.labels.length }, (_, index) => index) };
}

/** Writes examples one after the other; made once per dataset, because normalising bytes goes through a table. */
export type BatchWriter = (
  inputs: Float32Array | Float64Array,
  labels: Int32Array | Float32Array,
  indices: Uint32Array,
) => void;

export function batchWriter(dataset: Dataset): BatchWriter {
  const words = wordsOf(dataset.shape);
  const { channels } = dataset.shape;
  const normalise = normaliser(dataset);
  return (inputs, labels, indices) => {
    for (let row = 0; row < indices.length; row++) {
      const index = indices[row] as number;
      if (index >= dataset.labels.length) throw new RangeError(`${dataset.name} has no example ${index}`);
      labels[row] = dataset.labels[index] as number;
      normalise(inputs, row * words, index * words, words, channels);
    }
  };
}

type Normaliser = (to: Float32Array | Float64Array, at: number, from: number, words: number, channels: number) => void;

function normaliser({ inputs, shape, normal }: Dataset): Normaliser {
  const mean = Array.from({ length: shape.channels }, (_, channel) => normal?.mean[channel] ?? 0);
  const deviation = Array.from({ length: shape.channels }, (_, channel) => normal?.deviation[channel] ?? 1);
  if (inputs instanceof Float32Array) {
    return (to, at, from, words, channels) => {
      for (let n = 0; n < words; n++) {
        const channel = n % channels;
        to[at + n] = Math.fround(
          ((inputs[from + n] as number) - (mean[channel] as number)) / (deviation[channel] as number),
        );
      }
    };
  }
  const table = new Float32Array(256 * shape.channels);
  for (let entry = 0; entry < table.length; entry++) {
    const channel = entry % shape.channels;
    const value = Math.floor(entry / shape.channels) / 255;
    table[entry] = (value - (mean[channel] as number)) / (deviation[channel] as number);
  }
  return (to, at, from, words, channels) => {
    for (let n = 0, channel = 0; n < words; n++) {
      to[at + n] = table[(inputs[from + n] as number) * channels + channel] as number;
      if (++channel === channels) channel = 0;
    }
  };
}
