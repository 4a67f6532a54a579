/** `basa task show`: a task, its last versions, and with --follow the next ones. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerOperator, ServerTask, VersionState } from '@basa/client/operator';
import type { TaskPolicy } from '@basa/protocol/policy';
import { SERVER_FLAGS, serverOperator } from '../flags/connection.ts';
import { short } from '../flags/names.ts';
import { TAKES_TASK, taskArgument } from '../flags/which.ts';
import { type Command, type CommandInput, type CommandResult, command } from '../shell/command.ts';
import { parsed, yes } from '../shell/flag.ts';
import { counted, scoreCell, table } from '../shell/terminal.ts';
import { WINDOW_HEADINGS, windowRow } from './statistics-words.ts';

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
  takes: TAKES_TASK,
  flags: {
    last: parsed<number>(
      { value: 'n', help: 'number of versions or windows to show, or all', default: 10 },
      'a whole number of at least 1, or all',
      lastOf,
    ),
    follow: yes('print each new version until the task is finished, or until Ctrl-C'),
    ...SERVER_FLAGS,
  },
  async run(input) {
    const server = await serverOperator(input);
    const task = await server.task(await taskArgument(input, server));
    if (await isStatistics(task)) return showWindows(input, server, task);
    const versions = (await server.versions(task.task)).slice(-input.flags.last);
    const [score, noise] = await policyWords(task);
    input.terminal.line(table(linesOf(task, score, noise)));
    input.terminal.line(`\n${table([headings(score), ...versions.map(rowOf)])}`);
    if (!input.flags.follow) return { json: { ...task, versions } };
    const seen = versions.at(-1)?.version ?? -1;
    const newer = await follow(input, server, task.task, seen);
    return { json: { ...(await server.task(task.task)), versions: [...versions, ...newer] } };
  },
});

async function isStatistics({ policy }: ServerTask): Promise<boolean> {
  return (await policyOf(policy)).statistics !== undefined;
}

async function showWindows(
  { terminal, flags }: { readonly terminal: CommandInput['terminal']; readonly flags: { readonly last: number } },
  server: ServerOperator,
  task: ServerTask,
): Promise<CommandResult> {
  const windows = (await server.statistics(task.task)).slice(-flags.last);
  const { task: name, state, why } = task;
  const [, noise] = await policyWords(task);
  const lines = [
    ['task', name],
    ['name', task.name],
    ['state', why === undefined ? state : `${state}: ${why}`],
    ['noise', noise],
  ];
  terminal.line(table(lines));
  terminal.line(`\n${table([WINDOW_HEADINGS, ...windows.map(windowRow)])}`);
  return { json: { ...task, windows } };
}

function lastOf(given: string): number | undefined {
  const last = given === 'all' ? Number.MAX_SAFE_INTEGER : Number(given);
  return Number.isSafeInteger(last) && last >= 1 ? last : undefined;
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
    sums.length === 0 ? '-' : sums.map(short).join(' '),
    meansOf(metrics),
  ];
}

/** `loss 0.512, examples 60`; a dash if the task names no metric. */
function meansOf(metrics: VersionState['metrics'] = {}): string {
  const means = Object.entries(metrics).map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`);
  return means.length === 0 ? '-' : means.join(', ');
}

/** Of the task's policy: the name of the score, which its loss determines, and the noise. */
async function policyWords({ policy }: ServerTask): Promise<readonly [score: string, noise: string]> {
  const { noiseWords } = await import('@basa/protocol/policy');
  const { SCORE_OF_LOSS } = await import('@basa/protocol/http');
  const decoded = await policyOf(policy);
  return [SCORE_OF_LOSS[decoded.training.loss] === 'r2' ? 'R2' : 'accuracy', noiseWords(decoded).sentence];
}

async function policyOf(hex: string): Promise<TaskPolicy> {
  const { decodePolicy } = await import('@basa/protocol/policy');
  const { fromHex } = await import('@basa/masking');
  return decodePolicy(fromHex(hex) ?? new Uint8Array());
}

function linesOf(described: ServerTask, score: string, noise: string): string[][] {
  const { task, name, mode, state, why, version, loss, buffers, admission, meanAge } = described;
  const { places, used, waiting, waitingBuffers } = admission;
  return [
    ['task', task],
    ['name', name],
    ['mode', mode],
    ['state', why === undefined ? state : `${state}: ${why}`],
    ['version', String(version ?? '-')],
    [score, scoreCell(described)],
    ['loss', loss === undefined ? '-' : loss.toFixed(4)],
    ['open buffers', `${buffers}, ${waitingBuffers} of them waiting to be opened`],
    ['places', `${used} of ${places} taken, ${counted(waiting, 'device')} waiting`],
    ['mean age', `${meanAge?.toFixed(2) ?? '-'} versions`],
    ['noise', noise],
  ];
}
