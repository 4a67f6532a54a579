/** `basa task ls` and `basa task export`. */
import { writeFile } from 'node:fs/promises';
import type { Layer, Model, Shape } from '@basa/learning';
import { defineModel, encodeNpz, encodeSafetensors } from '@basa/learning';
import type { Command } from '../command.ts';
import { CommandError, needed, numberFlag } from '../command.ts';
import { short } from '../names.ts';
import { percent, table } from '../terminal.ts';
import { SERVER_FLAGS, SERVER_USAGE, serverOperator } from './connection.ts';
import { TASK_USAGE, taskArgument } from './which.ts';

export const taskList: Command = {
  name: 'task ls',
  summary: 'lists the tasks of a server',
  usage: SERVER_USAGE,
  flags: SERVER_FLAGS,
  async run(input) {
    const tasks = await serverOperator(input).tasks();
    const rows = tasks.map(({ task, name, state, version, accuracy, buffers }) => [
      short(task),
      name,
      state,
      String(version ?? '-'),
      percent(accuracy),
      String(buffers),
    ]);
    input.terminal.line(table([['task', 'name', 'state', 'version', 'accuracy', 'open buffers'], ...rows]));
    return { json: { tasks } };
  },
};

export const taskExport: Command = {
  name: 'task export',
  summary: 'writes a version of the model to a file',
  usage: `${TASK_USAGE}
  --version <n>        (the newest)
  --out <file>         ends in .safetensors or .npz
${SERVER_USAGE}`,
  flags: { version: { type: 'string' }, out: { type: 'string' }, ...SERVER_FLAGS },
  positionals: 1,
  async run(input) {
    const server = serverOperator(input);
    const task = await server.task(await taskArgument(input, server));
    const out = needed(input, 'out');
    if (task.model === undefined) throw new CommandError('the task has no model to name the parameters of the file');
    const { name = 'model', input: shape, layers } = task.model as { name?: string; input: Shape; layers: Layer[] };
    const model = defineModel(name, shape, layers);
    const version = numberFlag(input, 'version', { fallback: task.version ?? 0 });
    const parameters = await server.parameters(task.task, version);
    const bytes = encoded(out, model, parameters, { task: task.task, version: String(version) });
    await writeFile(out, bytes);
    input.terminal.line(`version ${version}: ${parameters.length} parameters in ${out}, ${bytes.length} bytes`);
    return { json: { task: task.task, version, parameters: parameters.length, file: out, bytes: bytes.length } };
  },
};

function encoded(
  out: string,
  model: Model,
  parameters: Float32Array,
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  if (out.endsWith('.safetensors')) return encodeSafetensors(model, parameters, metadata);
  if (out.endsWith('.npz')) return encodeNpz(model, parameters);
  throw new CommandError(`--out ${out}: the name must end in .safetensors or .npz`);
}
