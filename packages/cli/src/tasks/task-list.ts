/** `basa task ls`: lists the tasks. */

import { SERVER_FLAGS, serverOperator } from '../flags/connection.ts';
import { short } from '../flags/names.ts';
import { type Command, command } from '../shell/command.ts';
import { scoreCell, table } from '../shell/terminal.ts';

export const taskList: Command = command({
  name: 'task ls',
  summary: 'list the tasks of a server',
  flags: SERVER_FLAGS,
  async run(input) {
    const tasks = await (await serverOperator(input)).tasks();
    const rows = tasks.map(({ task, name, state, version, buffers, ...scores }) => [
      short(task),
      name,
      state,
      String(version ?? '-'),
      `${scores.r2 === undefined ? '' : 'R2 '}${scoreCell(scores)}`,
      String(buffers),
    ]);
    input.terminal.line(table([['task', 'name', 'state', 'version', 'score', 'open buffers'], ...rows]));
    return { json: { tasks } };
  },
});
