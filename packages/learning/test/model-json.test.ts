import { describe, expect, it } from 'vitest';
import {
  conv2d,
  defineModel,
  dense,
  dropout,
  flatten,
  groupNorm,
  manifestText,
  maxPool,
  modelJson,
  readModelJson,
  readNetworkJson,
  relu,
  sigmoid,
  softmax,
} from '../src/index.ts';

const input = { height: 8, width: 8, channels: 2 };
const layers = [
  conv2d(4, 3, { stride: 2, padding: 1, name: 'first' }),
  groupNorm(2, { epsilon: 0.01 }),
  relu,
  maxPool(2),
  flatten,
  dropout(0.5),
  dense(3),
  sigmoid,
  softmax,
];

describe('a network in JSON', () => {
  it('is the network again, with the same manifest', () => {
    const model = defineModel('mine', input, layers);
    const again = readModelJson(JSON.parse(JSON.stringify(modelJson(model))));
    expect(again).toEqual(model);
    expect(manifestText(again)).toBe(manifestText(model));
  });

  it('leaves out what builders leave out: strides, padding, height and width of a vector, its name', () => {
    const short = readModelJson({ input: { channels: 4 }, layers: [{ kind: 'dense', outputs: 3 }] });
    expect(short).toEqual(defineModel('model', { height: 1, width: 1, channels: 4 }, [dense(3)]));
    const pooled = {
      input,
      layers: [{ kind: 'maxPool', window: 2 }, { kind: 'flatten' }, { kind: 'dense', outputs: 2 }],
    };
    expect(readModelJson(pooled)).toEqual(defineModel('model', input, [maxPool(2), flatten, dense(2)]));
  });

  const withLayer = (layer: unknown) => ({ input: { channels: 4 }, layers: [{ kind: 'dense', outputs: 3 }, layer] });
  it.each([
    ['a network must be an object', 7],
    ['a network: there is no "layer"', { input, layer: [] }],
    ['input must be an object', { layers: [] }],
    ['input.channels must be a positive integer', { input: { height: 2 }, layers: [] }],
    ['input: there is no "depth"', { input: { ...input, depth: 1 }, layers: [] }],
    ['layers must be a list', { input }],
    ['name must be a text', { name: 7, input, layers: [] }],
    ['layer 1 must be an object', withLayer('relu')],
    ['layer 1: there is no kind "densee"; choose one of conv2d, dense', withLayer({ kind: 'densee' })],
    ['layer 1: there is no kind "toString"', withLayer({ kind: 'toString' })],
    ['layer 1 (dense): there is no "units"; it takes outputs, name', withLayer({ kind: 'dense', units: 3 })],
    ['layer 1: name must be a text', withLayer({ kind: 'dense', outputs: 3, name: 1 })],
    ['layer 1 (dense) of model: outputs must be a positive integer', withLayer({ kind: 'dense', outputs: '3' })],
    ['layer 1 (dropout) of model: rate', withLayer({ kind: 'dropout' })],
    ['has no parameters', { input, layers: [] }],
  ])('is refused with the place of what is wrong: %s', (problem, value) => {
    expect(() => readModelJson(value)).toThrow(problem);
  });
});

describe('a network without layers', () => {
  const tensors = [
    { name: 'body.weight', shape: [3, 4] },
    { name: 'body.bias', shape: [3] },
  ];
  const given = { name: 'mine', input: { channels: 4 }, architecture: ['{"kind":"torch"}'], tensors };

  it('has its tensors one after the other, and no layers', () => {
    const { dimension, layers: none, manifest } = readNetworkJson(given);
    expect([dimension, none]).toEqual([15, []]);
    expect(manifest.map(({ name, offset, length, fanIn }) => [name, offset, length, fanIn])).toEqual([
      ['body.weight', 0, 12, 4],
      ['body.bias', 12, 3, 1],
    ]);
  });

  it('is one with layers where it names no tensors', () => {
    const json = { input: { channels: 4 }, layers: [{ kind: 'dense', outputs: 3 }] };
    expect(readNetworkJson(json)).toEqual(readModelJson(json));
  });

  it.each([
    [{ ...given, tensors: [] }, /one or more/],
    [{ ...given, tensors: [...tensors, tensors[0]] }, /two tensors have the name body.weight/],
    [{ ...given, tensors: [{ name: 'w', shape: [0] }] }, /the shape of w/],
    [{ ...given, tensors: [{ shape: [1] }] }, /must have a name/],
    [{ ...given, architecture: ['two\nlines'] }, /lines in ASCII/],
    [{ ...given, strange: 1 }, /there is no "strange"/],
  ])('says what is wrong: %#', (json, problem) => {
    expect(() => readNetworkJson(json)).toThrow(problem);
  });
});
