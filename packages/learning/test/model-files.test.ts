import { describe, expect, it } from 'vitest';
import { utf8, utf8Text } from '../src/formats/text.ts';
import {
  type Dataset,
  decodeDataset,
  decodeSafetensors,
  encodeDataset,
  encodeSafetensors,
  initialParameters,
  logisticRegression,
} from '../src/index.ts';

const model = logisticRegression();
const parameters = initialParameters(model, 1);

describe('safetensors', () => {
  const bytes = encodeSafetensors(model, parameters, { note: 'für d = 7,850' });

  it('are read back bit for bit', () => {
    expect(decodeSafetensors(model, bytes)).toEqual(parameters);
  });

  it('start with a header of a multiple of 8 bytes that any reader understands', () => {
    const length = new DataView(bytes.buffer).getUint32(0, true);
    expect(length % 8).toBe(0);
    const header = JSON.parse(utf8Text(bytes.subarray(8, 8 + length)));
    expect(header).toEqual({
      __metadata__: { format: 'pt', note: 'für d = 7,850' },
      'linear.weight': { dtype: 'F32', shape: [10, 784], data_offsets: [0, 31_360] },
      'linear.bias': { dtype: 'F32', shape: [10], data_offsets: [31_360, 31_400] },
    });
    expect(bytes.length).toBe(8 + length + 4 * 7850);
  });

  it('in another order are read as well', () => {
    const swapped = withHeader({
      'linear.bias': { dtype: 'F32', shape: [10], data_offsets: [0, 40] },
      'linear.weight': { dtype: 'F32', shape: [10, 784], data_offsets: [40, 31_400] },
    });
    expect([...decodeSafetensors(model, swapped).subarray(7840)]).toEqual([...parameters.subarray(0, 10)]);
  });

  it.each([
    ['too few', () => bytes.subarray(0, 5)],
    ['does not fit', () => Uint8Array.from(bytes, (byte, n) => (n === 3 ? 255 : byte))],
    ['not a JSON object', () => Uint8Array.from(bytes, (byte, n) => (n === 8 ? 0x5b : byte))],
    ['is not 10 words', () => bytes.subarray(0, bytes.length - 4)],
    [
      'linear.bias is missing',
      () => withHeader({ 'linear.weight': { dtype: 'F32', shape: [10, 784], data_offsets: [0, 31_360] } }),
    ],
    [
      'is F16, not F32',
      () => withHeader({ 'linear.weight': { dtype: 'F16', shape: [10, 784], data_offsets: [0, 15_680] } }),
    ],
    [
      'not [10,784]',
      () => withHeader({ 'linear.weight': { dtype: 'F32', shape: [784, 10], data_offsets: [0, 31_360] } }),
    ],
    ['no data_offsets', () => withHeader({ 'linear.weight': { dtype: 'F32', shape: [10, 784] } })],
    [
      'is not 7840 words',
      () => withHeader({ 'linear.weight': { dtype: 'F32', shape: [10, 784], data_offsets: [-4, 31_356] } }),
    ],
  ])('that are damaged are refused: %s', (problem, damage) => {
    expect(() => decodeSafetensors(model, damage())).toThrow(problem);
  });

  function withHeader(header: object): Uint8Array {
    const json = utf8(JSON.stringify(header));
    const file = new Uint8Array(8 + json.length + 4 * 7850);
    new DataView(file.buffer).setUint32(0, json.length, true);
    file.set(json, 8);
    file.set(new Uint8Array(parameters.buffer), 8 + json.length);
    return file;
  }
});

it('vectors of another length are refused by the writer', () => {
  expect(() => encodeSafetensors(model, new Float32Array(3))).toThrow('7850 parameters, got 3');
});

it('text survives UTF-8 both ways', () => {
  for (const text of ['plain', 'für', '汉字', '𝔸 end']) {
    expect(Buffer.from(utf8(text)).toString()).toBe(text);
    expect(utf8Text(utf8(text))).toBe(text);
  }
});

describe('a file of examples', () => {
  const dataset: Dataset = {
    name: 'two',
    shape: { height: 2, width: 1, channels: 1 },
    classes: 3,
    inputs: Uint8Array.of(1, 2, 3, 4),
    labels: Uint8Array.of(2, 0),
    normal: { mean: [0.5], deviation: [2] },
  };
  it('is read back unchanged', () => {
    expect(decodeDataset(encodeDataset(dataset))).toEqual({ ...dataset, labels: Int32Array.of(2, 0) });
    const floats = { ...dataset, inputs: Float32Array.of(0.5, 1, 2, 3) };
    expect(decodeDataset(encodeDataset(floats)).inputs).toEqual(floats.inputs);
  });
  it('is read back from a Buffer inside a larger one', () => {
    const pool = Buffer.concat([Buffer.alloc(13), encodeDataset(dataset), Buffer.alloc(9)]);
    const labels = decodeDataset(pool.subarray(13, -9)).labels;
    expect(labels).toEqual(Int32Array.of(2, 0));
  });
  it('with a label beyond the classes is refused by its number', () => {
    const file = encodeDataset({ ...dataset, labels: Uint8Array.of(2, 3) });
    expect(() => decodeDataset(file)).toThrow('example 1 has the label 3 of 3 classes');
  });
  it('that ends early is refused by name', () => {
    expect(() => decodeDataset(encodeDataset(dataset).slice(0, -1))).toThrow('labels at bytes 4 to 12');
  });
});
