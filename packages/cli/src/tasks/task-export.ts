/** `basa task export`: a version of the model, or the curves of a task, as a file for other tools. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { VersionState } from '@basa/client/operator';
import type { Model } from '@basa/learning';
import { SERVER_FLAGS, serverOperator } from '../flags/connection.ts';
import { loadModel } from '../flags/own-model.ts';
import { TAKES_TASK, taskArgument } from '../flags/which.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { choice, needed, text, whole } from '../shell/flag.ts';
import { counted } from '../shell/terminal.ts';

const FORMATS = ['safetensors', 'onnx', 'csv'] as const;
type Format = (typeof FORMATS)[number];

export const taskExport: Command = command({
  name: 'task export',
  summary: 'write a version of the model, or the training curves of a task, in a format for other tools',
  takes: TAKES_TASK,
  flags: {
    out: needed({ value: 'path', help: 'file to write' }),
    format: choice(FORMATS, {
      help: 'safetensors or onnx for the model; csv for the curves',
      without: 'the extension of --out: .safetensors, .onnx or .csv',
    }),
    version: whole({ help: 'version of the model', without: 'the newest' }),
    model: text({ value: 'file', help: 'file with the network, net.json or model.ts, if the server does not know it' }),
    ...SERVER_FLAGS,
  },
  async run(input) {
    const { flags } = input;
    const { out } = flags;
    const format = flags.format ?? formatOf(out);
    const server = await serverOperator(input);
    const task = await server.task(await taskArgument(input, server));
    if (format === 'csv') {
      const versions = await server.versions(task.task);
      await write(out, await curvesAsCsv(versions));
      input.terminal.line(`wrote ${counted(versions.length, 'version')} of ${task.name} to ${out}`);
      return { json: { task: task.task, format, versions: versions.length, file: out } };
    }
    const model = await modelOf(flags.model, task.model);
    const version = flags.version ?? task.version ?? 0;
    const parameters = await server.parameters(task.task, version);
    const about = { task: task.task, version: String(version) };
    await write(out, await modelFile({ format, model, parameters, about }));
    input.terminal.line(`wrote version ${version} (${parameters.length} parameters) to ${out}`);
    return { json: { task: task.task, format, version, parameters: parameters.length, file: out } };
  },
});

function formatOf(out: string): Format {
  const byName = FORMATS.find((format) => out.endsWith(`.${format}`));
  if (byName !== undefined) return byName;
  throw new CommandError(
    `the format does not follow from --out ${out}; end it with .safetensors, .onnx or .csv, or add --format`,
  );
}

/** `described`: the server's description of the network, if it has one. */
async function modelOf(file: string | undefined, described: unknown): Promise<Model> {
  if (file !== undefined) return (await loadModel(file)).model;
  if (described === undefined)
    throw new CommandError(
      'the server does not know the network of this task; add --model with the file of the network, net.json or model.ts',
    );
  const { readModelJson } = await import('@basa/learning');
  return readModelJson(described);
}

async function modelFile({
  format,
  model,
  parameters,
  about,
}: {
  readonly format: 'safetensors' | 'onnx';
  readonly model: Model;
  readonly parameters: Float32Array;
  readonly about: Readonly<Record<string, string>>;
}): Promise<Uint8Array> {
  const { encodeSafetensors } = await import('@basa/learning');
  const { encodeOnnx } = await import('@basa/learning/files');
  try {
    return (format === 'onnx' ? encodeOnnx : encodeSafetensors)(model, parameters, about);
  } catch (error) {
    if (error instanceof RangeError)
      throw new CommandError(`${model.name} cannot be written as ${format}: ${error.message}`);
    throw error;
  }
}

async function curvesAsCsv(versions: readonly VersionState[]): Promise<string> {
  const { csvOf } = await import('@basa/learning/files');
  return csvOf(
    versions.map(({ version, at, accepted, dropped, meanAge, accuracy, r2, loss, metrics }) => ({
      version,
      at: new Date(at).toISOString(),
      ...(r2 === undefined ? { accuracy } : { r2 }),
      loss,
      updates: accepted,
      dropped,
      meanAge,
      ...metrics,
    })),
  );
}

async function write(path: string, content: Uint8Array | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
