/** `basa task ...`: what an operator does with tasks. */
import { readFile, writeFile } from 'node:fs/promises';
import type { Layer, Model, Shape } from '@basa/learning';
import { decodeSafetensors, defineModel, encodeDataset, encodeNpz, encodeSafetensors } from '@basa/learning';
import { fromHex, toHex } from '@basa/masking';
import { encodePolicy } from '@basa/protocol';
import type { Command, CommandInput } from '../command.ts';
import { CommandError, needed, numberFlag, textFlag } from '../command.ts';
import { knownModel, MODEL_NAMES } from '../models.ts';
import type { ServerTask } from '../operator.ts';
import { makePolicy, modelOptions } from '../policy.ts';
import { table } from '../terminal.ts';
import { AUTHORITY_FLAGS, authorityOperator, SERVER_FLAGS, SERVER_USAGE, serverOperator } from './connection.ts';

export const taskCreate: Command = {
  name: 'task create',
  summary: 'creates a task at the authority and at the server',
  usage: `  --name <text>        what people call it
  --model <name>       ${MODEL_NAMES.join(', ')} (mnist)
  --buffer <n>         K, positions of a buffer (10)
  --minimum <n>        Kmin, updates a sum holds at least (80 % of K)
  --engine <name>      cp-abe or identity (cp-abe)
  --target <percent>   stop at this accuracy; mnist brings its test set for it
  --versions <n>       stop after so many versions
  --lease <seconds>    from deposit to upload (600)
  --open <seconds>     how long a buffer takes users (3600)
  --stall <seconds>    close a buffer with enough updates when none came for so long (60)
  --rate <x>           server's learning rate (1)
  --seed <n>           of the first parameters (1)
  --initial <file>     or take them from a safetensors file
  --unsafe-paper       the paper's own mode, which is not safe; both services must allow it
${SERVER_USAGE}
  --authority <url>    the authority (BASA_AUTHORITY)`,
  flags: {
    name: { type: 'string' },
    model: { type: 'string' },
    buffer: { type: 'string' },
    minimum: { type: 'string' },
    engine: { type: 'string' },
    target: { type: 'string' },
    versions: { type: 'string' },
    lease: { type: 'string' },
    open: { type: 'string' },
    stall: { type: 'string' },
    rate: { type: 'string' },
    seed: { type: 'string' },
    initial: { type: 'string' },
    'unsafe-paper': { type: 'boolean', default: false },
    ...SERVER_FLAGS,
    ...AUTHORITY_FLAGS,
  },
  async run(input) {
    const { terminal } = input;
    const server = serverOperator(input);
    const modelName = textFlag(input, 'model') ?? 'mnist';
    const { model, training } = knownModel(modelName);
    const { publicKey } = await server.about();
    const bufferSize = numberFlag(input, 'buffer', { least: 2, most: 1024, fallback: 10 });
    const target = numberFlag(input, 'target', { least: 1, most: 100, fallback: 0 }) / 100;
    if (target > 0 && modelName !== 'mnist')
      throw new CommandError('--target needs a test set at the server, which only mnist brings; use --versions');
    const openMs = 1000 * numberFlag(input, 'open', { least: 1, fallback: 3600 });
    const minimum = textFlag(input, 'minimum');
    const policy = makePolicy({
      name: textFlag(input, 'name') ?? modelName,
      model,
      serverKey: fromHex(publicKey) ?? new Uint8Array(),
      bufferSize,
      engine: engineOf(textFlag(input, 'engine') ?? 'cp-abe'),
      ...(minimum !== undefined && {
        minimum: numberFlag(input, 'minimum', { least: 2, most: bufferSize, fallback: 0 }),
      }),
      uploadLeaseMs: 1000 * numberFlag(input, 'lease', { least: 1, fallback: 600 }),
      openMs,
      closeMs: openMs,
    });
    const task = await authorityOperator(input).createTask(policy);
    const versions = numberFlag(input, 'versions', { least: 1, fallback: 0 });
    await server.createTask({
      policy: toHex(encodePolicy(policy)),
      model: modelOptions(model),
      ...(input.values['unsafe-paper'] === true && { mode: 'paper' }),
      initial: await initialOf(input, model),
      serverStep: { kind: 'fedbuff', rate: rateOf(input) },
      training,
      stop: { ...(target > 0 && { accuracy: target }), ...(versions > 0 && { version: versions }) },
      stallMs: 1000 * numberFlag(input, 'stall', { least: 1, fallback: 60 }),
    });
    if (modelName === 'mnist') {
      const { loadMnist } = await import('@basa/datasets');
      await server.setExamples(task, encodeDataset((await loadMnist()).test));
    }
    terminal.line(`task ${task}`);
    terminal.line(`enrol devices: basa keys enroll --task ${task} --count 10`);
    return { json: { task } };
  },
};

export const taskList: Command = {
  name: 'task ls',
  summary: 'lists the tasks of a server',
  usage: SERVER_USAGE,
  flags: SERVER_FLAGS,
  async run(input) {
    const tasks = await serverOperator(input).tasks();
    const rows = tasks.map(({ task, name, state, version, accuracy, buffers }) => [
      task,
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

export const taskShow: Command = {
  name: 'task show',
  summary: 'shows a task and the versions of its model',
  usage: `  <task>               its name, 64 hexadecimal digits\n${SERVER_USAGE}`,
  flags: SERVER_FLAGS,
  positionals: 1,
  async run(input) {
    const server = serverOperator(input);
    const task = await server.task(taskName(input));
    const versions = await server.versions(task.task);
    input.terminal.line(table(linesOf(task)));
    const rows = versions.map(({ version, at, accepted, dropped, accuracy }) => [
      String(version),
      new Date(at).toISOString(),
      String(accepted),
      String(dropped),
      percent(accuracy),
    ]);
    input.terminal.line(`\n${table([['version', 'made at', 'updates', 'dropped', 'accuracy'], ...rows])}`);
    return { json: { ...task, versions } };
  },
};

export const taskPause: Command = {
  name: 'task pause',
  summary: 'stops giving seats, or goes on with --resume',
  usage: `  <task>               its name, 64 hexadecimal digits
  --resume             gives seats again
${SERVER_USAGE}`,
  flags: { resume: { type: 'boolean', default: false }, ...SERVER_FLAGS },
  positionals: 1,
  async run(input) {
    const task = await serverOperator(input).setState(
      taskName(input),
      input.values['resume'] === true ? 'running' : 'paused',
    );
    input.terminal.line(`${task.name} is ${task.state}`);
    return { json: task };
  },
};

export const taskExport: Command = {
  name: 'task export',
  summary: 'writes a version of the model to a file',
  usage: `  <task>               its name, 64 hexadecimal digits
  --version <n>        (the newest)
  --out <file>         ends in .safetensors or .npz
${SERVER_USAGE}`,
  flags: { version: { type: 'string' }, out: { type: 'string' }, ...SERVER_FLAGS },
  positionals: 1,
  async run(input) {
    const server = serverOperator(input);
    const task = await server.task(taskName(input));
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

/** The first parameters: from a file, or drawn with a seed. */
async function initialOf(input: CommandInput, model: Model): Promise<object> {
  const file = textFlag(input, 'initial');
  if (file === undefined) return { seed: numberFlag(input, 'seed', { fallback: 1 }) };
  try {
    const parameters = decodeSafetensors(model, await readFile(file));
    return { parameters: Buffer.from(parameters.buffer).toString('hex') };
  } catch (error) {
    throw new CommandError(`--initial ${file}: ${(error as Error).message}`);
  }
}

function engineOf(name: string): 'cp-abe' | 'identity' {
  if (name === 'cp-abe' || name === 'identity') return name;
  throw new CommandError(`--engine takes cp-abe or identity, got "${name}"`);
}

function rateOf(input: CommandInput): number {
  const rate = Number(textFlag(input, 'rate') ?? 1);
  if (!(rate > 0 && rate < Number.POSITIVE_INFINITY)) throw new CommandError('--rate takes a positive number');
  return rate;
}

function taskName(input: CommandInput): string {
  const [name] = input.positionals;
  if (name !== undefined && /^[0-9a-f]{64}$/.test(name)) return name;
  throw new CommandError(
    `the name of a task is 64 hexadecimal digits, got "${name ?? ''}"; \`basa task ls\` shows them`,
  );
}

function linesOf({ task, name, mode, state, why, version, accuracy, loss, buffers }: ServerTask): string[][] {
  return [
    ['task', task],
    ['name', name],
    ['mode', mode],
    ['state', why === undefined ? state : `${state}: ${why}`],
    ['version', String(version ?? '-')],
    ['accuracy', percent(accuracy)],
    ['loss', loss === undefined ? '-' : loss.toFixed(4)],
    ['open buffers', String(buffers)],
  ];
}

function percent(share: number | undefined): string {
  return share === undefined ? '-' : `${(100 * share).toFixed(2)} %`;
}
