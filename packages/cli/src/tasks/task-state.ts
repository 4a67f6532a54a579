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
  summary: 'pause a task: devices wait until `basa task resume`',
  state: 'paused',
  words: 'Devices are told to ask again later. Open buffers continue, and may still become a version.',
});
export const taskResume: Command = change({
  name: 'resume',
  summary: 'let devices take part again after a pause',
  state: 'running',
  words: 'You cannot resume a finished task. Create a new one from its newest version with --initial.',
});
export const taskFinish: Command = change({
  name: 'finish',
  summary: 'end a task permanently; its models are kept',
  state: 'finished',
  words: 'Devices are told that the task is finished. Open buffers continue, and may still become a version.',
});

export const taskDelete: Command = command({
  name: 'task delete',
  summary: 'delete a finished task and its models from the server',
  takes: TAKES_NAMED_TASK,
  flags: { yes: yes('confirm the deletion; the models cannot be recovered'), ...SERVER_FLAGS },
  notes: [
    'The task must be finished and its buffers must have ended. The command lists the deleted rows, and the server overwrites them in its data folder.',
    'Backups and the authority still contain the task: its policy, the keys of its devices and the hashes of its uploads, but no updates.',
  ],
  async run(input) {
    const server = await serverOperator(input);
    const { task, name, version = 0 } = await server.task(await namedTask(input, server));
    const what = `${name} (${short(task)}), versions 0 to ${version}`;
    if (!input.flags.yes)
      throw new CommandError(
        `this would delete ${what} permanently; export what you need (\`basa task export ${short(task)} --out model.safetensors\`), then add --yes`,
      );
    const rows = await server.removeTask(task);
    input.terminal.line(`deleted ${what}`);
    for (const [table, count] of Object.entries(rows))
      input.terminal.line(`  ${table.padEnd(20)}${counted(count, 'row')}`);
    return { json: { removed: task, rows } };
  },
});
