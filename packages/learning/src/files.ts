/** Models and curves in the file formats of other tools. A separate entry, so that programs that only train need not load it. */
export { type CsvRow, csvOf, csvRows } from './formats/csv.ts';
export { encodeOnnx } from './formats/onnx.ts';
