/** `basa task export`: a version of the model, or the curves of a task, as files for other tools. */
import { join } from 'node:path';
import type { VersionState } from '@basa/client/operator';
import { SERVER_FLAGS, serverOperator } from '../flags/connection.ts';
import { TAKES_TASK, taskArgument } from '../flags/which.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { choice, needed, text, whole } from '../shell/flag.ts';
import { counted } from '../shell/terminal.ts';
import { MODEL_FORMATS, modelFiles, modelOf, type OutFile, writeAll } from './model-files.ts';

const FORMATS = [...MODEL_FORMATS, 'csv', 'tensorboard'] as const;
type Format = (typeof FORMATS)[number];

export const taskExport: Command = command({
  name: 'task export',
  summary: 'write a version of the model, or the training curves of a task, in a format for other tools',
  takes: TAKES_TASK,
  flags: {
    out: needed({ value: 'path', help: 'file to write; a folder for tfjs and tensorboard' }),
    format: choice(FORMATS, {
      help: 'safetensors, npz, onnx or tfjs for the model; csv or tensorboard for the curves',
      without: 'the extension of --out: .safetensors, .npz, .onnx or .csv',
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
    if (format === 'csv' || format === 'tensorboard') {
      const versions = await server.versions(task.task);
      const file = await (format === 'csv' ? curvesAsCsv(versions, out) : curvesAsEvents(versions, out));
      const files = await writeAll([file]);
      input.terminal.line(`wrote ${counted(versions.length, 'version')} of ${task.name} to ${files.join(', ')}`);
      return { json: { task: task.task, format, versions: versions.length, files } };
    }
    const model = await modelOf(flags.model, task.model);
    const version = flags.version ?? task.version ?? 0;
    const parameters = await server.parameters(task.task, version);
    const about = { task: task.task, version: String(version) };
    const files = await writeAll(await modelFiles({ format, out, model, parameters, about }));
    input.terminal.line(`wrote version ${version} (${parameters.length} parameters) to ${files.join(', ')}`);
    return { json: { task: task.task, format, version, parameters: parameters.length, files } };
  },
});

function formatOf(out: string): Format {
  const byName = FORMATS.find((format) => out.endsWith(`.${format}`));
  if (byName !== undefined) return byName;
  throw new CommandError(
    `the format does not follow from --out ${out}; end it with .safetensors, .npz, .onnx or .csv, or add --format`,
  );
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
