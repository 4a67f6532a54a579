/** Models and curves in the file formats of other tools. A separate entry, so that programs that only train need not load it. */
export type { CsvRow } from './formats/csv.ts';
export { csvOf } from './formats/csv.ts';
export { encodeOnnx } from './formats/onnx.ts';
export type { CurvePoint } from './formats/tensorboard.ts';
export { encodeTensorboard } from './formats/tensorboard.ts';
export type { TfjsFiles } from './formats/tfjs-layers.ts';
export { encodeTfjsLayers } from './formats/tfjs-layers.ts';
