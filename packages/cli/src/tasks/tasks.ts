/** `basa task ...`: lists, shows, changes, deletes and exports tasks. */

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerOperator, ServerTask, VersionState } from '@basa/client/operator';
import type { Model } from '@basa/learning';
import type { Live } from '@basa/protocol/http';
import { loadModel } from '../flags/models.ts';
import * as operators from '../flags/services.ts';
import * as flag from '../shell/command.ts';
import { type Command, CommandError, type CommandInput, type CommandResult, command } from '../shell/command.ts';
import { counted, scoreCell, table } from '../shell/terminal.ts';

export const taskList: Command = command({
  name: 'task ls',
  summary: 'list the tasks of a server',
  flags: operators.SERVER_FLAGS,
  async run(input) {
    const tasks = await (await operators.serverOperator(input)).tasks();
    const rows = tasks.map(({ task, name, state, version, batches, ...scores }) => [
      operators.short(task),
      name,
      state,
      String(version ?? '-'),
      namedScore(scores),
      String(batches),
    ]);
    input.terminal.line(table([['task', 'name', 'state', 'version', 'score', 'open batches'], ...rows]));
    return { json: { tasks } };
  },
});

/** Of an accuracy, the name goes without saying. */
function namedScore(scores: Live.VersionScores): string {
  const { accuracy, r2, evaluation } = scores;
  const name = r2 !== undefined ? 'R2 ' : accuracy === undefined && evaluation ? `${evaluation.name} ` : '';
  return `${name}${scoreCell(scores)}`;
}

const LOOK_MS = 1000;
const headings = (score: string): string[] => [
  'version',
  'made at',
  'updates',
  'dropped',
  'mean age',
  score,
  'buffer',
  'mean metrics',
];

export const taskShow: Command = command({
  name: 'task show',
  summary: 'show a task and the newest versions of its model, or the newest windows of its statistics',
  takes: operators.TAKES_TASK,
  flags: {
    last: flag.parsed<number>(
      { value: 'n', help: 'number of versions or windows to show, or all', default: 10 },
      'a whole number of at least 1, or all',
      (given) => {
        const last = given === 'all' ? Number.MAX_SAFE_INTEGER : Number(given);
        return Number.isSafeInteger(last) && last >= 1 ? last : undefined;
      },
    ),
    follow: flag.yes('print each new version until the task is finished, or until Ctrl-C'),
    ...operators.SERVER_FLAGS,
  },
  async run(input) {
    const server = await operators.serverOperator(input);
    const task = await server.task(await operators.taskArgument(input, server));
    const { Privacy, TaskPolicy } = await import('@basa/protocol/policy');
    const { Live: live } = await import('@basa/protocol/http');
    const policy = TaskPolicy.decode(Buffer.from(task.policy, 'hex'));
    const noise = Privacy.noiseWords(policy).sentence;
    if (policy.statistics !== undefined) return showWindows(input, server, task, ['noise', noise], policy.minimum);
    const versions = (await server.versions(task.task)).slice(-input.flags.last);
    // The score that versions have, or the one that the loss determines.
    const known = versions.map(live.shownScore).find((one) => one !== undefined);
    const name = known?.name ?? live.SCORE_OF_LOSS[policy.training.loss];
    const score = name === 'r2' ? 'R2' : name;
    const next = task.state === 'finished' ? '-' : await gatheringWords(task, policy.minimum);
    input.terminal.line(table([...linesOf(task, score, next), ['noise', noise]]));
    input.terminal.line(`\n${table([headings(score), ...versions.map(rowOf)])}`);
    if (!input.flags.follow) return { json: { ...task, versions } };
    const seen = versions.at(-1)?.version ?? -1;
    const newer = await follow(input, server, task.task, seen);
    return { json: { ...(await server.task(task.task)), versions: [...versions, ...newer] } };
  },
});

async function showWindows(
  { terminal, flags }: { readonly terminal: CommandInput['terminal']; readonly flags: { readonly last: number } },
  server: ServerOperator,
  task: ServerTask,
  noise: readonly string[],
  minimum: number,
): Promise<CommandResult> {
  const { WINDOW_HEADINGS, windowRow } = await import('./statistics.ts');
  const windows = (await server.statistics(task.task)).slice(-flags.last);
  const { task: name, state, why } = task;
  const lines = [
    ['task', name],
    ['name', task.name],
    ['state', why === undefined ? state : `${state}: ${why}`],
    ['next window', `needs ${minimum} reports`],
    noise,
  ];
  terminal.line(table(lines));
  terminal.line(`\n${table([WINDOW_HEADINGS, ...windows.map(windowRow)])}`);
  return { json: { ...task, windows } };
}

/** Prints a version once it was evaluated, or once the next one exists. */
async function follow(
  { terminal, signal }: Pick<CommandInput, 'terminal' | 'signal'>,
  server: ServerOperator,
  task: string,
  seen: number,
): Promise<readonly VersionState[]> {
  const told: VersionState[] = [];
  let last = seen;
  for (;;) {
    const { state, why, version: newest = 0, model } = await server.task(task);
    const versions = await server.versions(task);
    const isOver = state === 'finished';
    const ready = versions.filter(
      ({ version, loss }) =>
        version > last && (model === undefined || loss !== undefined || version < newest || isOver),
    );
    for (const version of ready) terminal.line(rowOf(version).join('  '));
    told.push(...ready);
    last = ready.at(-1)?.version ?? last;
    if (isOver) terminal.line(`finished: ${why ?? ''}`);
    if (isOver) return told;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function rowOf({ version, at, accepted, dropped, meanAge, sums, metrics, ...scores }: VersionState): string[] {
  return [
    String(version),
    new Date(at).toISOString(),
    String(accepted),
    String(dropped),
    meanAge?.toFixed(2) ?? '-',
    scoreCell(scores),
    sums.length === 0 ? '-' : sums.map(operators.short).join(' '),
    meansOf(metrics),
  ];
}

/** `loss 0.512, examples 60`; a dash if the task names no metric. */
function meansOf(metrics: VersionState['metrics'] = {}): string {
  const means = Object.entries(metrics).map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`);
  return means.length === 0 ? '-' : means.join(', ');
}

/** Why there is no newer version yet, in the words of devices and pages, and how many devices may end that. */
export async function gatheringWords(
  { admission, gathered, version = 0 }: Pick<ServerTask, 'admission' | 'gathered' | 'version'>,
  minimum: number,
): Promise<string> {
  const { gatheringText } = await import('@basa/protocol/http');
  const { underWay } = admission;
  const text = gatheringText({ have: gathered, least: minimum, version: version + 1 });
  return underWay === 0 ? text : `${text} (${counted(underWay, 'device')} at work)`;
}

function linesOf(described: ServerTask, score: string, next: string): string[][] {
  const { task, name, mode, state, why, version, evaluation, batches, admission, meanAge } = described;
  const { loss = evaluation?.loss } = described;
  const { places, used, waiting, waitingBatches } = admission;
  return [
    ['task', task],
    ['name', name],
    ['mode', mode],
    ['state', why === undefined ? state : `${state}: ${why}`],
    ['version', String(version ?? '-')],
    [score, scoreCell(described)],
    ['loss', loss === undefined ? '-' : loss.toFixed(4)],
    ['next version', next],
    ['open batches', `${batches}, ${waitingBatches} of them waiting to be opened`],
    ['places', `${used} of ${places} taken, ${counted(waiting, 'device')} waiting`],
    ['mean age', `${meanAge?.toFixed(2) ?? '-'} versions`],
  ];
}

/** `words`: the meaning for devices. */
function change(
  name: string,
  state: 'running' | 'paused' | 'finished',
  { summary, words }: { readonly summary: string; readonly words: string },
): Command {
  const isFinal = state === 'finished';
  return command({
    name: `task ${name}`,
    summary,
    takes: isFinal ? operators.TAKES_NAMED_TASK : operators.TAKES_TASK,
    flags: operators.SERVER_FLAGS,
    notes: [words],
    async run(input) {
      const server = await operators.serverOperator(input);
      const asked = await (isFinal ? operators.namedTask : operators.taskArgument)(input, server);
      const task = await server.setState(asked, state);
      input.terminal.line(`${task.name} (${operators.short(task.task)}) is ${task.state}`);
      return { json: task };
    },
  });
}

export const taskPause: Command = change('pause', 'paused', {
  summary: 'pause a task: devices wait until `basa task resume`',
  words: 'Devices are told to ask again later. Open batches continue, and may still become a version.',
});
export const taskResume: Command = change('resume', 'running', {
  summary: 'let devices take part again after a pause',
  words: 'You cannot resume a finished task. Create a new one from its newest version with --initial.',
});
export const taskFinish: Command = change('finish', 'finished', {
  summary: 'end a task permanently; its models are kept',
  words: 'Devices are told that the task is finished. Open batches continue, and may still become a version.',
});

export const taskDelete: Command = command({
  name: 'task delete',
  summary: 'delete a finished task and its models from the server',
  takes: operators.TAKES_NAMED_TASK,
  flags: { yes: flag.yes('confirm the deletion; the models cannot be recovered'), ...operators.SERVER_FLAGS },
  notes: [
    'The task must be finished and its batches must have ended. The command lists the deleted rows, and the server overwrites them in its data folder.',
    'Backups and the authority still contain the task: its policy, the keys of its devices and the hashes of its uploads, but no updates.',
  ],
  async run(input) {
    const server = await operators.serverOperator(input);
    const { task, name, version = 0 } = await server.task(await operators.namedTask(input, server));
    const what = `${name} (${operators.short(task)}), versions 0 to ${version}`;
    if (!input.flags.yes)
      throw new CommandError(
        `this would delete ${what} permanently; export what you need (\`basa task export ${operators.short(task)} --out model.safetensors\`), then add --yes`,
      );
    const rows = await server.removeTask(task);
    input.terminal.line(`deleted ${what}`);
    for (const [table, count] of Object.entries(rows))
      input.terminal.line(`  ${table.padEnd(20)}${counted(count, 'row')}`);
    return { json: { removed: task, rows } };
  },
});

const FORMATS = ['safetensors', 'onnx', 'csv'] as const;
type Format = (typeof FORMATS)[number];

export const taskExport: Command = command({
  name: 'task export',
  summary: 'write a version of the model, or the training curves of a task, in a format for other tools',
  takes: operators.TAKES_TASK,
  flags: {
    out: flag.needed({ value: 'path', help: 'file to write' }),
    format: flag.choice(FORMATS, {
      help: 'safetensors or onnx for the model; csv for the curves',
      without: 'the extension of --out: .safetensors, .onnx or .csv',
    }),
    version: flag.whole({ help: 'version of the model', without: 'the newest' }),
    model: flag.text({
      value: 'file',
      help: 'file with the network, net.json or model.ts, if the server does not know it',
    }),
    ...operators.SERVER_FLAGS,
  },
  async run(input) {
    const { flags } = input;
    const { out } = flags;
    const format = flags.format ?? formatOf(out);
    const server = await operators.serverOperator(input);
    const task = await server.task(await operators.taskArgument(input, server));
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
    await write(out, await modelFile(format, model, parameters, about));
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

async function modelFile(
  format: 'safetensors' | 'onnx',
  model: Model,
  parameters: Float32Array,
  about: Readonly<Record<string, string>>,
): Promise<Uint8Array> {
  const { encodeSafetensors } = await import('@basa/learning');
  const { encodeOnnx } = await import('@basa/learning/files');
  try {
    return (format === 'onnx' ? encodeOnnx : encodeSafetensors)(model, parameters, about);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CommandError(`${model.name} cannot be written as ${format}: ${error.message}`);
  }
}

async function curvesAsCsv(versions: readonly VersionState[]): Promise<string> {
  const { csvOf } = await import('@basa/learning/files');
  return csvOf(
    versions.map(({ version, at, accepted, dropped, meanAge, accuracy, r2, loss, metrics, evaluation }) => ({
      version,
      at: new Date(at).toISOString(),
      ...(r2 === undefined ? { accuracy } : { r2 }),
      ...(evaluation !== undefined && { score: evaluation.score, scoreName: evaluation.name }),
      loss: loss ?? evaluation?.loss,
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
