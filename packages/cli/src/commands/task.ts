/** `basa task ...`: what an operator does with tasks. */
import type { ServerTask } from '@basa/client/operator';
import type { Command, CommandInput } from '../command.ts';
import { CommandError } from '../command.ts';
import { table } from '../terminal.ts';
import { SERVER_FLAGS, SERVER_USAGE, serverOperator } from './connection.ts';

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
    const rows = versions.map(({ version, at, accepted, dropped, meanAge, accuracy }) => [
      String(version),
      new Date(at).toISOString(),
      String(accepted),
      String(dropped),
      meanAge?.toFixed(2) ?? '-',
      percent(accuracy),
    ]);
    input.terminal.line(`\n${table([['version', 'made at', 'updates', 'dropped', 'mean age', 'accuracy'], ...rows])}`);
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

export function taskName(input: CommandInput): string {
  const [name] = input.positionals;
  if (name !== undefined && /^[0-9a-f]{64}$/.test(name)) return name;
  throw new CommandError(
    `the name of a task is 64 hexadecimal digits, got "${name ?? ''}"; \`basa task ls\` shows them`,
  );
}

function linesOf(described: ServerTask): string[][] {
  const { task, name, mode, state, why, version, accuracy, loss, buffers, admission, meanAge } = described;
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
  ];
}

function percent(share: number | undefined): string {
  return share === undefined ? '-' : `${(100 * share).toFixed(2)} %`;
}
