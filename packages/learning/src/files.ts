/** Models and curves as files of other tools. An entry of its own: whoever only trains need not load it. */
export type { CsvRow } from './formats/csv.ts';
export { csvOf } from './formats/csv.ts';
export { encodeOnnx } from './formats/onnx.ts';
export type { CurvePoint } from './formats/tensorboard.ts';
export { encodeTensorboard } from './formats/tensorboard.ts';
export type { TfjsFiles } from './formats/tfjs-layers.ts';
export { encodeTfjsLayers } from './formats/tfjs-layers.ts';
