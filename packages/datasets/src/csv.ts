/** A user's own table: one example a line, numbers and one label column. */
import { readFile } from 'node:fs/promises';
import { type Dataset, type Shape, wordsOf } from '@basa/learning';
import { checkInput, checkLabel, DataError } from './data-error.ts';

export interface CsvOptions {
  readonly shape: Shape;
  readonly classes: number;
  /** Where the label stands: the first column unless said otherwise. */
  readonly label?: 'first' | 'last';
  /** Whether the first line holds names. */
  readonly header?: boolean;
  readonly separator?: string;
  /** What a value is divided by: 255 for bytes. */
  readonly scale?: number;
}

export async function loadCsv(path: string, options: CsvOptions): Promise<Dataset> {
  return readCsv(await readFile(path, 'utf8'), path, options);
}

export function readCsv(text: string, file: string, options: CsvOptions): Dataset {
  const { shape, classes, label = 'first', header = false, separator = ',', scale = 1 } = options;
  const words = wordsOf(shape);
  const inputs: number[] = [];
  const labels: number[] = [];
  let offset = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const start = offset;
    offset += Buffer.byteLength(line) + 1;
    if ((header && index === 0) || line.trim() === '') continue;
    const place = `line ${index + 1} (byte ${start})`;
    const fields = line.split(separator);
    if (fields.length !== words + 1) {
      throw new DataError(file, place, `${fields.length} columns, not ${words} and a label`);
    }
    const name = label === 'first' ? fields.shift() : fields.pop();
    labels.push(checkLabel(readNumber(name), classes, file, place));
    for (const [n, field] of fields.entries()) {
      inputs.push(checkInput(readNumber(field), file, `${place}, value ${n + 1}`) / scale);
    }
  }
  if (labels.length === 0) throw new DataError(file, 0, 'no example at all');
  return { name: file, shape, classes, inputs: Float32Array.from(inputs), labels: Int32Array.from(labels) };
}

/** NaN for an empty field, which Number would take for 0. */
function readNumber(field: string | undefined): number {
  return field === undefined || field.trim() === '' ? Number.NaN : Number(field);
}
