/** `basa task export`: a version of the model, or the curves of a task, as files for other tools. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { VersionState } from '@basa/client/operator';
import type { Model } from '@basa/learning';
import { SERVER_FLAGS, serverOperator } from '../flags/connection.ts';
import { loadModel } from '../flags/own-model.ts';
import { TAKES_TASK, taskArgument } from '../flags/which.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { choice, needed, text, whole } from '../shell/flag.ts';

const FORMATS = ['safetensors', 'npz', 'onnx', 'tfjs', 'csv', 'tensorboard'] as const;
type Format = (typeof FORMATS)[number];

interface OutFile {
  readonly path: string;
  readonly content: Uint8Array | string;
}

export const taskExport: Command = command({
  name: 'task export',
  summary: 'writes a version of the model, or the curves of the task, for other tools',
  takes: TAKES_TASK,
  flags: {
    out: needed({ value: 'path', help: 'a file, or a folder for tfjs and tensorboard' }),
    format: choice(FORMATS, {
      help: 'of the model: safetensors, npz, onnx, tfjs; of the curves: csv, tensorboard',
      without: 'as --out ends: .safetensors, .npz, .onnx, .csv',
    }),
    version: whole({ help: 'of the model', without: 'the newest' }),
    model: text({ value: 'file', help: 'net.json or model.ts, where the server does not hold the network' }),
    ...SERVER_FLAGS,
  },
  async run(input) {
    const { flags } = input;
    const { out } = flags;
    const format = flags.format ?? formatOf(out);
    const server = await serverOperator(input);
    const task = await server.task(await taskArgument(input, server));
    if (format === 'csv' || format === 'tensorboard') {
      const versions = await server.versions(task.task);
      const file = await (format === 'csv' ? curvesAsCsv(versions, out) : curvesAsEvents(versions, out));
      const files = await writeAll([file]);
      input.terminal.line(`versions of ${task.name}: ${versions.length}, in ${files.join(', ')}`);
      return { json: { task: task.task, format, versions: versions.length, files } };
    }
    const model = await modelOf(flags.model, task.model);
    const version = flags.version ?? task.version ?? 0;
    const parameters = await server.parameters(task.task, version);
    const about = { task: task.task, version: String(version) };
    const files = await writeAll(await modelFiles({ format, out, model, parameters, about }));
    input.terminal.line(`version ${version}: ${parameters.length} parameters in ${files.join(', ')}`);
    return { json: { task: task.task, format, version, parameters: parameters.length, files } };
  },
});

function formatOf(out: string): Format {
  const byName = FORMATS.find((format) => out.endsWith(`.${format}`));
  if (byName !== undefined) return byName;
  throw new CommandError(`--out ${out}: end the name in .safetensors, .npz, .onnx or .csv, or give --format`);
}

async function modelOf(file: string | undefined, described: unknown): Promise<Model> {
  if (file !== undefined) return (await loadModel(file)).model;
  if (described === undefined)
    throw new CommandError(
      'the server does not hold the network of this task; give it with --model net.json or model.ts',
    );
  const { readModelJson } = await import('@basa/learning');
  return readModelJson(described);
}

async function modelFiles(asked: {
  readonly format: Exclude<Format, 'csv' | 'tensorboard'>;
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
    if (error instanceof RangeError) throw new CommandError(`${format} of ${model.name}: ${error.message}`);
    throw error;
  }
}

async function curvesAsCsv(versions: readonly VersionState[], path: string): Promise<OutFile> {
  const { csvOf } = await import('@basa/learning/files');
  const rows = versions.map(({ version, at, accepted, dropped, meanAge, accuracy, r2, loss, metrics }) => ({
    version,
    at: new Date(at).toISOString(),
    ...(r2 === undefined ? { accuracy } : { r2 }),
    loss,
    updates: accepted,
    dropped,
    meanAge,
    ...metrics,
  }));
  return { path, content: csvOf(rows) };
}

/** TensorBoard finds the file by its name in its folder. The same task always has the same name. */
async function curvesAsEvents(versions: readonly VersionState[], folder: string): Promise<OutFile> {
  const { encodeTensorboard } = await import('@basa/learning/files');
  const points = versions.map(({ version, at, accepted, dropped, meanAge, accuracy, r2, loss, metrics = {} }) => {
    const told = { accuracy, r2, loss, 'task/updates': accepted, 'task/dropped': dropped, 'task/mean age': meanAge };
    const sums = Object.entries(metrics).map(([metric, value]) => [`metrics/${metric}`, value] as const);
    const known = Object.entries(told).filter((entry): entry is [string, number] => entry[1] !== undefined);
    return { step: version, atMs: at, values: Object.fromEntries([...known, ...sums]) };
  });
  const startedSeconds = Math.floor((points[0]?.atMs ?? 0) / 1000);
  return { path: join(folder, `events.out.tfevents.${startedSeconds}.basa`), content: encodeTensorboard(points) };
}

async function writeAll(files: readonly OutFile[]): Promise<readonly string[]> {
  for (const { path, content } of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  return files.map(({ path }) => path);
}
