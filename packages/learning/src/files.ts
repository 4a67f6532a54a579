/** Tables that are read, and models and curves in the file formats of other tools. A separate entry, so that programs that only train need not load it. */
export { type CsvOptions, readCsv } from './data/csv.ts';
export { checkLabel, DataError } from './data/data-error.ts';
export { type CsvRow, csvOf, csvRows } from './formats/csv.ts';
export { encodeOnnx } from './formats/onnx.ts';
