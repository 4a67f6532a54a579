/** `basa task ls`. */
import type { Command } from '../command.ts';
import { short } from '../names.ts';
import { percent, table } from '../terminal.ts';
import { SERVER_FLAGS, SERVER_USAGE, serverOperator } from './connection.ts';

export const taskList: Command = {
  name: 'task ls',
  summary: 'lists the tasks of a server',
  usage: SERVER_USAGE,
  flags: SERVER_FLAGS,
  async run(input) {
    const tasks = await (await serverOperator(input)).tasks();
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
