/** A user's own pictures: a folder per class with PNG files of one size in it. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dataset } from '@basa/learning';
import { DataError } from './data-error.ts';
import { type Image, readPng } from './png.ts';

export interface ImageDataset {
  readonly dataset: Dataset;
  /** Folder names, sorted: class n is the n-th. */
  readonly classNames: readonly string[];
}

export async function loadImages(folder: string): Promise<ImageDataset> {
  const entries = await readdir(folder, { withFileTypes: true });
  const classNames = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  const images: Image[] = [];
  const labels: number[] = [];
  for (const [label, name] of classNames.entries()) {
    const files = (await readdir(join(folder, name))).filter((file) => file.endsWith('.png')).sort();
    if (files.length === 0) throw new DataError(join(folder, name), 0, 'a class without PNG files');
    for (const file of files) {
      const path = join(folder, name, file);
      const image = readPng(await readFile(path), path);
      checkSize(image, images[0] ?? image, path);
      images.push(image);
      labels.push(label);
    }
  }
  const [first] = images;
  if (first === undefined) throw new DataError(folder, 0, 'no folder with images: one folder per class is expected');
  const inputs = Buffer.concat(images.map(({ pixels }) => pixels));
  const shape = { height: first.height, width: first.width, channels: first.channels };
  const dataset = { name: folder, shape, classes: classNames.length, inputs, labels: Int32Array.from(labels) };
  return { dataset, classNames };
}

function checkSize(image: Image, first: Image, path: string): void {
  const size = ({ height, width, channels }: Image): string => `${height}x${width}x${channels}`;
  if (size(image) !== size(first)) throw new DataError(path, 16, `is ${size(image)}, the first one ${size(first)}`);
}
