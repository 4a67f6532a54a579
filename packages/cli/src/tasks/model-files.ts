/** A version of a model as files for other tools. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Model } from '@basa/learning';
import { loadModel } from '../flags/own-model.ts';
import { CommandError } from '../shell/command.ts';

export const MODEL_FORMATS = ['safetensors', 'npz', 'onnx', 'tfjs'] as const;
export type ModelFormat = (typeof MODEL_FORMATS)[number];

export interface OutFile {
  readonly path: string;
  readonly content: Uint8Array | string;
}

/** `described`: the server's description of the network, if it has one. */
export async function modelOf(file: string | undefined, described: unknown): Promise<Model> {
  if (file !== undefined) return (await loadModel(file)).model;
  if (described === undefined)
    throw new CommandError(
      'the server does not know the network of this task; add --model with the file of the network, net.json or model.ts',
    );
  const { readModelJson } = await import('@basa/learning');
  return readModelJson(described);
}

export async function modelFiles(asked: {
  readonly format: ModelFormat;
  readonly out: string;
  readonly model: Model;
  readonly parameters: Float32Array;
  readonly about: Readonly<Record<string, string>>;
}): Promise<readonly OutFile[]> {
  const { format, out: path, model, parameters, about } = asked;
  const { encodeNpz, encodeSafetensors } = await import('@basa/learning');
  const { encodeOnnx, encodeTfjsLayers } = await import('@basa/learning/files');
  try {
    switch (format) {
      case 'safetensors':
        return [{ path, content: encodeSafetensors(model, parameters, about) }];
      case 'npz':
        return [{ path, content: encodeNpz(model, parameters) }];
      case 'onnx':
        return [{ path, content: encodeOnnx(model, parameters, about) }];
      case 'tfjs': {
        const { modelJson, weights } = encodeTfjsLayers(model, parameters);
        return [
          { path: join(path, 'model.json'), content: modelJson },
          { path: join(path, weights.name), content: weights.bytes },
        ];
      }
    }
  } catch (error) {
    if (error instanceof RangeError)
      throw new CommandError(`${model.name} cannot be written as ${format}: ${error.message}`);
    throw error;
  }
}

export async function writeAll(files: readonly OutFile[]): Promise<readonly string[]> {
  for (const { path, content } of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  return files.map(({ path }) => path);
}
