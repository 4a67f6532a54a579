/** `basa task pause`, `resume`, `finish` and `delete`: an operator's actions on an existing task. */

import { SERVER_FLAGS, serverOperator } from '../flags/connection.ts';
import { short } from '../flags/names.ts';
import { namedTask, TAKES_NAMED_TASK, TAKES_TASK, taskArgument } from '../flags/which.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { yes } from '../shell/flag.ts';
import { counted } from '../shell/terminal.ts';

interface Change {
  readonly name: string;
  readonly summary: string;
  readonly state: 'running' | 'paused' | 'finished';
  /** The meaning for devices. */
  readonly words: string;
}

function change({ name, summary, state, words }: Change): Command {
  const isFinal = state === 'finished';
  return command({
    name: `task ${name}`,
    summary,
    takes: isFinal ? TAKES_NAMED_TASK : TAKES_TASK,
    flags: SERVER_FLAGS,
    notes: [words],
    async run(input) {
      const server = await serverOperator(input);
      const asked = await (isFinal ? namedTask : taskArgument)(input, server);
      const task = await server.setState(asked, state);
      input.terminal.line(`${task.name} (${short(task.task)}) is ${task.state}`);
      return { json: task };
    },
  });
}

export const taskPause: Command = change({
  name: 'pause',
  summary: 'gives no more seats; `basa task resume` goes on',
  state: 'paused',
  words: 'Devices are told to ask again later. Buffers that are open go on, and may still become a version.',
});
export const taskResume: Command = change({
  name: 'resume',
  summary: 'gives seats again after a pause',
  state: 'running',
  words: 'A task that is finished cannot be resumed: create one with --initial from its newest version.',
});
export const taskFinish: Command = change({
  name: 'finish',
  summary: 'ends a task for good; its models stay',
  state: 'finished',
  words: 'Devices are told that it is over. Buffers that are open go on, and may still become a version.',
});

export const taskDelete: Command = command({
  name: 'task delete',
  summary: 'removes a finished task and its models from the server',
  takes: TAKES_NAMED_TASK,
  flags: { yes: yes('needed: its models cannot be brought back'), ...SERVER_FLAGS },
  notes: [
    'The task must be finished and its buffers must have ended. What was deleted is listed, and is overwritten in the data folder.',
    "Backups keep the task, and so does the authority's log: names, keys and hashes, never an update.",
  ],
  async run(input) {
    const server = await serverOperator(input);
    const { task, name, version = 0 } = await server.task(await namedTask(input, server));
    const what = `${name} (${short(task)}), versions 0 to ${version}`;
    if (!input.flags.yes)
      throw new CommandError(
        `this removes ${what}, for good; export what you need (\`basa task export ${short(task)} --out model.safetensors\`), then add --yes`,
      );
    const rows = await server.removeTask(task);
    input.terminal.line(`removed: ${what}`);
    for (const [table, count] of Object.entries(rows))
      input.terminal.line(`  ${table.padEnd(20)}${counted(count, 'row')}`);
    return { json: { removed: task, rows } };
  },
});
