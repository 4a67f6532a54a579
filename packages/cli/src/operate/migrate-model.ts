/** `basa migrate model`: the model of an older data folder, for a new task. */
import { type Command, command } from '../shell/command.ts';
import { choice, needed, text, whole } from '../shell/flag.ts';
import { MODEL_FORMATS, type ModelFormat, modelFiles, modelOf, writeAll } from '../tasks/model-files.ts';

export const migrateModel: Command = command({
  name: 'migrate model',
  summary: 'write the model of a stopped server (version 0.2 or later) to a file',
  flags: {
    from: needed({ value: 'folder', help: 'data folder of the server; it is not changed' }),
    out: needed({ value: 'path', help: 'file to write; a folder for tfjs' }),
    format: choice<ModelFormat>(MODEL_FORMATS, {
      help: `format of the file: ${MODEL_FORMATS.join(', ')}`,
      default: 'safetensors',
    }),
    task: text({ value: 'digits', help: 'first digits of the task, if the folder has several' }),
    version: whole({ help: 'version of the model', without: 'the newest' }),
    model: text({ value: 'file', help: 'file with the network, net.json or model.ts, if the server does not know it' }),
  },
  notes: [
    'Start a new task with the file: `basa task create --initial <file>`. Tasks and devices of version 0.2 are not migrated.',
  ],
  async run({ flags, terminal }) {
    const { from, out, format, task: wanted, version: number } = flags;
    const { readSavedModel } = await import('@basa/server');
    const saved = await readSavedModel(from, {
      ...(wanted !== undefined && { task: wanted }),
      ...(number !== undefined && { version: number }),
    });
    const { task, version, parameters, specification } = saved;
    const model = await modelOf(flags.model, (specification as { readonly model?: unknown }).model);
    const about = { task, version: String(version) };
    const files = await writeAll(await modelFiles({ format, out, model, parameters, about }));
    terminal.line(
      `wrote version ${version} of task ${task.slice(0, 8)} (${parameters.length} parameters) to ${files.join(', ')}`,
    );
    return { json: { task, version, parameters: parameters.length, format, files } };
  },
});
