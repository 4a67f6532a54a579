/** `basa demo`: the paper's system and the one-shot protocol side by side on this machine, each to a trained model. */

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bufferFlag, FEWEST, MODES } from '../flags/task.ts';
import * as flag from '../shell/command.ts';
import { type Command, CommandError, type CommandInput, type CommandResult, command } from '../shell/command.ts';

const FLAGS = {
  statistics: flag.yes(
    'gather statistics instead of training a model: devices report numbers and choices, the results have error bars',
  ),
  mode: flag.choice(MODES, {
    help: "run only one of the two: paper, the paper's own protocol, or one-shot",
    without: 'both',
  }),
  devices: flag.whole({
    help: 'number of devices in each fleet',
    max: 10_000,
    without: '24, or twice --buffer; 48 with --statistics',
  }),
  buffer: flag.whole({ ...bufferFlag, min: FEWEST, default: 10 }),
  target: flag.whole({ value: 'percent', help: 'accuracy to reach', min: 1, max: 100, default: 88 }),
  further: flag.whole({ help: 'number of buffers to run after the target is reached', max: 1000, default: 5 }),
  buffers: flag.whole({ help: 'stop a run after n buffers', min: 1, default: 100 }),
  seconds: flag.whole({ help: 'stop a run after n seconds', min: 1, default: 600 }),
  drop: flag.whole({
    value: 'percent',
    help: 'one-shot: share of contributions that drop out before their upload',
    max: 90,
    default: 8,
  }),
  seed: flag.whole({ help: 'random seed for data shares, parameters and drop-outs', max: 2 ** 31, default: 1 }),
  folder: flag.text({
    value: 'path',
    help: 'folder for data and logs, which is kept',
    without: 'a temporary folder, removed at the end',
  }),
  keep: flag.yes('keep the temporary folder'),
};

export type DemoInput = CommandInput<typeof FLAGS>;

export const demo: Command = command({
  name: 'demo',
  summary: "train MNIST on this machine with the paper's protocol, then with one-shot, and compare them",
  flags: FLAGS,
  notes: [
    "The paper's protocol is UNSAFE and runs only for comparison: its server can learn single updates (docs/threat-model.md).",
  ],
  opening: 'Loading',
  run: (input) =>
    inFolder(input, async (folder) => {
      if (input.flags.statistics) return (await import('./statistics-demo.ts')).statisticsDemo(input, folder);
      return (await import('./training-demo.ts')).trainingDemo(input, folder);
    }),
});

/** In a folder without an earlier run. A temporary one is removed at the end. */
async function inFolder(
  { flags, terminal }: DemoInput,
  run: (folder: string) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { folder: given } = flags;
  if (given !== undefined && existsSync(join(given, 'secrets.json')))
    throw new CommandError(
      `${given} already holds the data of an earlier run. Choose another path with --folder, or remove it.`,
    );
  const folder = given ?? (await mkdtemp(join(tmpdir(), 'basa-demo-')));
  const isKept = given !== undefined || flags.keep;
  try {
    const result = await run(folder);
    if (isKept) terminal.line(`logs and data: ${folder}`);
    return result;
  } finally {
    if (!isKept) await rm(folder, { recursive: true, force: true });
  }
}
