/** Models and curves as files of other tools. An entry of its own: whoever only trains need not load it. */
export type { CsvRow } from './csv.ts';
export { csvOf } from './csv.ts';
export { encodeOnnx } from './onnx.ts';
export type { CurvePoint } from './tensorboard.ts';
export { encodeTensorboard } from './tensorboard.ts';
export type { TfjsFiles } from './tfjs-layers.ts';
export { encodeTfjsLayers } from './tfjs-layers.ts';
