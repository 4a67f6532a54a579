/** `basa task export`: a version of the model, or the curves of a task, as files for other tools. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { VersionState } from '@basa/client/operator';
import type { Model } from '@basa/learning';
import { type Command, CommandError, type CommandInput, needed, numberFlag, textFlag, textFlags } from '../command.ts';
import { loadModel } from '../own-model.ts';
import { SERVER_FLAGS, SERVER_USAGE, serverOperator } from './connection.ts';
import { TASK_USAGE, taskArgument } from './which.ts';

const FORMATS = ['safetensors', 'npz', 'onnx', 'tfjs', 'csv', 'tensorboard'] as const;
type Format = (typeof FORMATS)[number];

interface OutFile {
  readonly path: string;
  readonly content: Uint8Array | string;
}

export const taskExport: Command = {
  name: 'task export',
  summary: 'writes a version of the model, or the curves of the task, for other tools',
  usage: `${TASK_USAGE}
  --out <path>         a file, or a folder for tfjs and tensorboard
  --format <name>      of the model: safetensors, npz, onnx, tfjs; of the curves: csv, tensorboard
                       (as --out ends: .safetensors, .npz, .onnx, .csv)
  --version <n>        of the model (the newest)
  --model <file>       net.json or model.ts, where the server does not hold the network
${SERVER_USAGE}`,
  flags: {
    ...textFlags('out', 'format', 'version', 'model'),
    ...SERVER_FLAGS,
  },
  positionals: 1,
  async run(input) {
    const out = needed(input, 'out');
    const format = formatOf(input, out);
    const server = await serverOperator(input);
    const task = await server.task(await taskArgument(input, server));
    if (format === 'csv' || format === 'tensorboard') {
      const versions = await server.versions(task.task);
      const file = await (format === 'csv' ? curvesAsCsv(versions, out) : curvesAsEvents(versions, out));
      const files = await writeAll([file]);
      input.terminal.line(`versions of ${task.name}: ${versions.length}, in ${files.join(', ')}`);
      return { json: { task: task.task, format, versions: versions.length, files } };
    }
    const model = await modelOf(input, task.model);
    const version = numberFlag(input, 'version', { fallback: task.version ?? 0 });
    const parameters = await server.parameters(task.task, version);
    const about = { task: task.task, version: String(version) };
    const files = await writeAll(await modelFiles({ format, out, model, parameters, about }));
    input.terminal.line(`version ${version}: ${parameters.length} parameters in ${files.join(', ')}`);
    return { json: { task: task.task, format, version, parameters: parameters.length, files } };
  },
};

function formatOf(input: CommandInput, out: string): Format {
  const said = textFlag(input, 'format');
  const byName = FORMATS.find((format) => said === format || (said === undefined && out.endsWith(`.${format}`)));
  if (byName !== undefined) return byName;
  if (said !== undefined) throw new CommandError(`--format takes ${FORMATS.join(', ')}, got "${said}"`);
  throw new CommandError(`--out ${out}: end the name in .safetensors, .npz, .onnx or .csv, or give --format`);
}

async function modelOf(input: CommandInput, described: unknown): Promise<Model> {
  const file = textFlag(input, 'model');
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
  const rows = versions.map(({ version, at, accepted, dropped, meanAge, accuracy, loss, metrics }) => ({
    version,
    at: new Date(at).toISOString(),
    accuracy,
    loss,
    updates: accepted,
    dropped,
    meanAge,
    ...metrics,
  }));
  return { path, content: csvOf(rows) };
}

/** TensorBoard finds the file by its name in the folder it is given. The same task again is the same name. */
async function curvesAsEvents(versions: readonly VersionState[], folder: string): Promise<OutFile> {
  const { encodeTensorboard } = await import('@basa/learning/files');
  const points = versions.map(({ version, at, accepted, dropped, meanAge, accuracy, loss, metrics = {} }) => {
    const told = { accuracy, loss, 'task/updates': accepted, 'task/dropped': dropped, 'task/mean age': meanAge };
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
