/** A user's own table: one example a line, numbers and one label column, which holds a class or any number. */
import { type Shape, wordsOf } from '../model/model.ts';
import { checkLabel, DataError } from './data-error.ts';
import type { Dataset } from './samples.ts';

export interface CsvOptions {
  readonly shape: Shape;
  /** The number of classes. Without it, labels are any numbers, as in a regression (loss `mse`). */
  readonly classes?: number;
  /** The position of the label column; the first column by default. */
  readonly label?: 'first' | 'last';
  /** True if the first line holds names. */
  readonly header?: boolean;
  readonly separator?: string;
  /** The divisor of each value: 255 for bytes. */
  readonly scale?: number;
}

export function readCsv(text: string, file: string, options: CsvOptions): Dataset {
  const { shape, classes, label = 'first', header = false, separator = ',', scale = 1 } = options;
  const words = wordsOf(shape);
  const names = header ? (text.split('\n', 1)[0] ?? '').trim().split(separator) : [];
  const first = label === 'first' ? 1 : 0;
  const inputs: number[] = [];
  const labels: number[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if ((header && index === 0) || line.trim() === '') continue;
    const place = `line ${index + 1}`;
    const fields = line.split(separator);
    if (fields.length !== words + 1) {
      throw new DataError(file, place, `${fields.length} columns, not ${words} and a label`);
    }
    const column = (n: number): string => `${place}, column ${n + 1}${names[n] === undefined ? '' : ` (${names[n]})`}`;
    const labelAt = first === 1 ? 0 : words;
    const [given] = fields.splice(labelAt, 1);
    labels.push(
      classes === undefined
        ? readNumber(given, file, column(labelAt))
        : checkLabel(readNumber(given, file, column(labelAt)), classes, file, column(labelAt)),
    );
    for (const [n, field] of fields.entries()) inputs.push(readNumber(field, file, column(n + first)) / scale);
  }
  if (labels.length === 0) throw new DataError(file, 0, 'no example at all');
  const examples = { name: file, shape, inputs: Float32Array.from(inputs) };
  return classes === undefined
    ? { ...examples, classes: 1, labels: Float32Array.from(labels) }
    : { ...examples, classes, labels: Int32Array.from(labels) };
}

/** Rejects an empty field, although `Number` would read it as 0. */
function readNumber(field: string | undefined, file: string, place: string): number {
  const text = field?.trim() ?? '';
  const value = text === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new DataError(file, place, `"${text}" is not a finite number; correct it, or remove the line`);
}
