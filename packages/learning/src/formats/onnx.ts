/** A model as an ONNX file (onnx.ai): it takes `input`, examples in the layout of our data, and returns `output`. */

import { checkFits, checkLayersKnown } from '../model/fits.ts';
import type { Model } from '../model/model.ts';
import { f32, joinBytes } from './bytes.ts';
import { type OnnxAttribute, type OnnxConstant, type OnnxNode, onnxGraph } from './onnx-graph.ts';
import { bytesField, floatField, intField, textField } from './protobuf.ts';

/** IR and operators of ONNX 1.8 (2020): every runtime in use reads them. */
const IR_VERSION = 7;
const OPSET = 13;
/** Of `TensorProto.DataType` and `AttributeProto.AttributeType`. */
const DATA = { float: 1, int64: 7 } as const;
const ATTRIBUTE = { float: 1, int: 2, ints: 7 } as const;

/** The numbers are fields of onnx.proto3. */
export function encodeOnnx(
  model: Model,
  parameters: Float32Array,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  checkFits(model, parameters);
  checkLayersKnown(model);
  const { nodes, constants, inputShape } = onnxGraph(model, parameters);
  const graph = bytesField(
    7,
    ...nodes.map(node),
    textField(2, model.name),
    ...constants.map(constant),
    bytesField(11, value('input', inputShape)),
    bytesField(12, value('output', [model.classes])),
  );
  return joinBytes([
    intField(1, IR_VERSION),
    textField(2, 'basa'),
    graph,
    bytesField(8, textField(1, ''), intField(2, OPSET)),
    ...Object.entries(metadata).map(([key, text]) => bytesField(14, textField(1, key), textField(2, text))),
  ]);
}

function node({ operator, inputs, output, attributes }: OnnxNode): Uint8Array {
  return bytesField(
    1,
    ...inputs.map((name) => textField(1, name)),
    textField(2, output),
    textField(3, `${operator} to ${output}`),
    textField(4, operator),
    ...Object.entries(attributes).map(([name, set]) => bytesField(5, textField(1, name), attribute(set))),
  );
}

function attribute(set: OnnxAttribute): Uint8Array {
  if (typeof set === 'number') return joinBytes([intField(3, set), intField(20, ATTRIBUTE.int)]);
  if ('float' in set) return joinBytes([floatField(2, set.float), intField(20, ATTRIBUTE.float)]);
  return joinBytes([...set.map((entry) => intField(8, entry)), intField(20, ATTRIBUTE.ints)]);
}

function constant({ name, shape, values }: OnnxConstant): Uint8Array {
  const isFloats = values instanceof Float32Array;
  return bytesField(
    5,
    ...shape.map((size) => intField(1, size)),
    intField(2, isFloats ? DATA.float : DATA.int64),
    textField(8, name),
    bytesField(9, isFloats ? f32(values) : int64(values)),
  );
}

/** Encodes signed numbers that fit 32 bits. */
function int64(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(8 * values.length);
  const view = new DataView(bytes.buffer);
  for (const [n, entry] of values.entries()) {
    view.setInt32(8 * n, entry, true);
    view.setInt32(8 * n + 4, entry < 0 ? -1 : 0, true);
  }
  return bytes;
}

/** Floats of this shape, with any number of examples at a time. */
function value(name: string, shape: readonly number[]): Uint8Array {
  const sizes = shape.map((size) => bytesField(1, intField(1, size)));
  const dimensions = bytesField(2, bytesField(1, textField(2, 'examples')), ...sizes);
  const type = bytesField(2, bytesField(1, intField(1, DATA.float), dimensions));
  return joinBytes([textField(1, name), type]);
}
