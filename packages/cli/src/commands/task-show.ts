/** `basa task show`: a task, its last versions, and with --follow those to come. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerOperator, ServerTask, TaskPrivacy, VersionState } from '@basa/client/operator';
import { type Command, type CommandInput, numberFlag, textFlag } from '../command.ts';
import { short } from '../names.ts';
import { percent, table } from '../terminal.ts';
import { SERVER_FLAGS, SERVER_USAGE, serverOperator } from './connection.ts';
import { TASK_USAGE, taskArgument } from './which.ts';

const LAST = 10;
const LOOK_MS = 1000;
const HEADINGS = ['version', 'made at', 'updates', 'dropped', 'mean age', 'accuracy', 'buffer', 'means of the devices'];

export const taskShow: Command = {
  name: 'task show',
  summary: 'shows a task and the last versions of its model',
  usage: `${TASK_USAGE}
  --last <n>           how many versions, or all (${LAST})
  --follow             print each new version, until the task is finished or Ctrl-C
${SERVER_USAGE}`,
  flags: { last: { type: 'string' }, follow: { type: 'boolean', default: false }, ...SERVER_FLAGS },
  positionals: 1,
  async run(input) {
    const server = await serverOperator(input);
    const task = await server.task(await taskArgument(input, server));
    const versions = (await server.versions(task.task)).slice(-lastOf(input));
    input.terminal.line(table(linesOf(task)));
    input.terminal.line(`\n${table([HEADINGS, ...versions.map(rowOf)])}`);
    if (input.values['follow'] !== true) return { json: { ...task, versions } };
    const seen = versions.at(-1)?.version ?? -1;
    const newer = await follow(input, server, task.task, seen);
    return { json: { ...(await server.task(task.task)), versions: [...versions, ...newer] } };
  },
};

function lastOf(input: CommandInput): number {
  if (textFlag(input, 'last') === 'all') return Number.MAX_SAFE_INTEGER;
  return numberFlag(input, 'last', { min: 1, fallback: LAST });
}

/** Prints a version once it was evaluated, or once the next one is there. */
async function follow(
  { terminal, signal }: CommandInput,
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
      ({ version, accuracy }) =>
        version > last && (model === undefined || accuracy !== undefined || version < newest || isOver),
    );
    for (const version of ready) terminal.line(rowOf(version).join('  '));
    told.push(...ready);
    last = ready.at(-1)?.version ?? last;
    if (isOver) terminal.line(`finished: ${why ?? ''}`);
    if (isOver) return told;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function rowOf({ version, at, accepted, dropped, meanAge, accuracy, ctx, metrics }: VersionState): string[] {
  return [
    String(version),
    new Date(at).toISOString(),
    String(accepted),
    String(dropped),
    meanAge?.toFixed(2) ?? '-',
    percent(accuracy),
    version === 0 ? '-' : short(ctx),
    meansOf(metrics),
  ];
}

/** `loss 0.512, examples 60`; a dash where the task names no metric. */
function meansOf(metrics: VersionState['metrics'] = {}): string {
  const means = Object.entries(metrics).map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`);
  return means.length === 0 ? '-' : means.join(', ');
}

function linesOf(described: ServerTask): string[][] {
  const { task, name, mode, state, why, version, accuracy, loss, buffers, admission, meanAge, privacy } = described;
  const { places, used, waiting, waitingBuffers, targetAge } = admission;
  return [
    ['task', task],
    ['name', name],
    ['mode', mode],
    ['state', why === undefined ? state : `${state}: ${why}`],
    ['version', String(version ?? '-')],
    ['accuracy', percent(accuracy)],
    ['loss', loss === undefined ? '-' : loss.toFixed(4)],
    ['open buffers', `${buffers}, of which ${waitingBuffers} wait to be opened`],
    ['places', `${used} of ${places} taken, ${waiting} devices wait`],
    ['mean age', `${meanAge?.toFixed(2) ?? '-'} versions (auto aims at ${targetAge})`],
    ...(privacy === undefined ? [] : [['privacy', privacyText(privacy)]]),
  ];
}

function privacyText({ epsilon, delta, participations, noiseMultiplier, colluders }: TaskPrivacy): string {
  return `epsilon ${epsilon.toFixed(2)} at delta ${delta} after ${participations} participations of a device (noise ${noiseMultiplier}, ${colluders} colluders)`;
}
