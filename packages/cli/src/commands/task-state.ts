/** `basa task pause`, `resume`, `finish` and `delete`: what an operator does with a task that is there. */
import { type Command, CommandError } from '../command.ts';
import { short } from '../names.ts';
import { SERVER_FLAGS, SERVER_USAGE, serverOperator } from './connection.ts';
import { NAMED_TASK_USAGE, namedTask, TASK_USAGE, taskArgument } from './which.ts';

interface Change {
  readonly name: string;
  readonly summary: string;
  readonly state: 'running' | 'paused' | 'finished';
  /** What it means for devices. */
  readonly words: string;
}

function change({ name, summary, state, words }: Change): Command {
  const isFinal = state === 'finished';
  return {
    name: `task ${name}`,
    summary,
    usage: `${isFinal ? NAMED_TASK_USAGE : TASK_USAGE}
  ${words}
${SERVER_USAGE}`,
    flags: SERVER_FLAGS,
    positionals: 1,
    async run(input) {
      const server = await serverOperator(input);
      const asked = await (isFinal ? namedTask : taskArgument)(input, server);
      const task = await server.setState(asked, state);
      input.terminal.line(`${task.name} (${short(task.task)}) is ${task.state}`);
      return { json: task };
    },
  };
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

export const taskDelete: Command = {
  name: 'task delete',
  summary: 'removes a finished task and its models from the server',
  usage: `${NAMED_TASK_USAGE}
  --yes                needed: its models cannot be brought back
  The task must be finished and its buffers must have ended. The authority's log keeps what it knows of it.
${SERVER_USAGE}`,
  flags: { yes: { type: 'boolean', default: false }, ...SERVER_FLAGS },
  positionals: 1,
  async run(input) {
    const server = await serverOperator(input);
    const { task, name, version = 0 } = await server.task(await namedTask(input, server));
    const what = `${name} (${short(task)}), versions 0 to ${version}`;
    if (input.values['yes'] !== true)
      throw new CommandError(
        `this removes ${what}, for good; export what you need (\`basa task export ${short(task)} --out model.safetensors\`), then add --yes`,
      );
    await server.removeTask(task);
    input.terminal.line(`removed: ${what}`);
    return { json: { removed: task } };
  },
};
