/** FEMNIST as LEAF writes it, brought by the user: JSON with a list of images per writer, white = 1. */
import { readFile } from 'node:fs/promises';
import { type Dataset, type Partition, partitionByWriter } from '@basa/learning';
import { checkLabel, DataError } from '@basa/learning/files';

export interface WriterDataset {
  readonly dataset: Dataset;
  readonly users: Partition;
  readonly userNames: readonly string[];
}

const SIDE = 28;
const WORDS = SIDE * SIDE;
const CLASSES = 62;

/** Several files (LEAF splits them) become one dataset, one user per writer, ink = 1. */
export async function loadLeafFemnist(paths: readonly string[]): Promise<WriterDataset> {
  const inputs: number[][] = [];
  const labels: number[] = [];
  const writers: number[] = [];
  const userNames: string[] = [];
  for (const path of paths) {
    for (const { name, images, list } of readUsers(path, await readFile(path, 'utf8'))) {
      for (const [n, image] of images.entries()) {
        inputs.push(readImage(image, path, `user_data.${name}.x[${n}]`));
        labels.push(checkLabel(Number(list[n]), CLASSES, path, `user_data.${name}.y[${n}]`));
        writers.push(userNames.length);
      }
      userNames.push(name);
    }
  }
  if (inputs.length === 0) throw new DataError(paths.join(', '), 0, 'no example at all');
  const words = new Float32Array(inputs.length * WORDS);
  for (const [n, image] of inputs.entries()) words.set(image, n * WORDS);
  const shape = { height: SIDE, width: SIDE, channels: 1 };
  const dataset = { name: 'FEMNIST', shape, classes: CLASSES, inputs: words, labels: Uint8Array.from(labels) };
  return { dataset, users: partitionByWriter(writers), userNames };
}

interface UserData {
  readonly name: string;
  readonly images: readonly unknown[];
  readonly list: readonly unknown[];
}

function readUsers(path: string, text: string): readonly UserData[] {
  const file = parse(path, text);
  const { users, user_data: data } = file as { users?: unknown; user_data?: unknown };
  if (!Array.isArray(users) || typeof data !== 'object' || data === null) {
    throw new DataError(path, 0, 'has no users with user_data: is it from LEAF?');
  }
  return users.map((name) => {
    const entry = (data as Readonly<Record<string, { x?: unknown; y?: unknown } | undefined>>)[String(name)];
    const place = `user_data.${String(name)}`;
    if (!Array.isArray(entry?.x) || !Array.isArray(entry.y)) throw new DataError(path, place, 'has no lists x and y');
    if (entry.x.length === 0) throw new DataError(path, place, 'a client without examples');
    if (entry.x.length !== entry.y.length) {
      throw new DataError(path, place, `${entry.x.length} images and ${entry.y.length} labels`);
    }
    return { name: String(name), images: entry.x, list: entry.y };
  });
}

function parse(path: string, text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    const offset = /position (\d+)/.exec(String(error))?.[1] ?? text.length;
    throw new DataError(path, Number(offset), 'is not JSON, or is truncated');
  }
  throw new DataError(path, 0, 'is not a JSON object');
}

function readImage(image: unknown, path: string, place: string): number[] {
  if (!Array.isArray(image) || image.length !== WORDS) throw new DataError(path, place, `is not ${WORDS} numbers`);
  return image.map((value, n) => 1 - checkInput(value, path, `${place}[${n}]`));
}

/** Returns an input value; throws a DataError if it is not a finite number. */
function checkInput(value: unknown, file: string, place: number | string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new DataError(file, place, `${String(value)} is not a finite number`);
  }
  return value;
}
