/** `basa demo`: the paper's system and the one-shot protocol side by side on this machine, each to a trained model. */

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bufferFlag, bufferWithin, FEWEST, MODES } from '../flags/task.ts';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandResult,
  choice,
  command,
  EXIT_CODE,
  text,
  whole,
  within,
  yes,
} from '../shell/command.ts';
import { comparisonOf, jsonOf, lineOf, statusOf, summaryOf } from './report.ts';

const FLAGS = {
  statistics: yes(
    'gather statistics instead of training a model: devices report numbers and choices, the results have error bars',
  ),
  mode: choice(MODES, {
    help: "run only one of the two: paper, the paper's own protocol, or one-shot",
    without: 'both',
  }),
  devices: whole({
    help: 'number of devices in each fleet',
    max: 10_000,
    without: '24, or twice --buffer; 48 with --statistics',
  }),
  buffer: whole({ ...bufferFlag, min: FEWEST, default: 10 }),
  target: whole({ value: 'percent', help: 'accuracy to reach', min: 1, max: 100, default: 88 }),
  further: whole({ help: 'number of buffers to run after the target is reached', max: 1000, default: 5 }),
  buffers: whole({ help: 'stop a run after n buffers', min: 1, default: 100 }),
  seconds: whole({ help: 'stop a run after n seconds', min: 1, default: 600 }),
  drop: whole({
    value: 'percent',
    help: 'one-shot: share of contributions that drop out before their upload',
    max: 90,
    default: 8,
  }),
  seed: whole({ help: 'random seed for data shares, parameters and drop-outs', max: 2 ** 31, default: 1 }),
  folder: text({
    value: 'path',
    help: 'folder for data and logs, which is kept',
    without: 'a temporary folder, removed at the end',
  }),
  keep: yes('keep the temporary folder'),
};

type Input = CommandInput<typeof FLAGS>;

export const demo: Command = command({
  name: 'demo',
  summary: "train MNIST on this machine with the paper's protocol, then with one-shot, and compare them",
  flags: FLAGS,
  notes: [
    "The paper's protocol is UNSAFE and runs only for comparison: its server can learn single updates (docs/threat-model.md).",
  ],
  opening: 'Loading',
  run: (input) => inFolder(input, input.flags.statistics ? statistics : training),
});

/** In a folder without an earlier run. A temporary one is removed at the end. */
async function inFolder(
  input: Input,
  run: (input: Input, folder: string) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { flags, terminal } = input;
  const { folder: given } = flags;
  if (given !== undefined && existsSync(join(given, 'secrets.json')))
    throw new CommandError(
      `${given} already holds the data of an earlier run. Choose another path with --folder, or remove it.`,
    );
  const folder = given ?? (await mkdtemp(join(tmpdir(), 'basa-demo-')));
  const isKept = given !== undefined || flags.keep;
  try {
    const result = await run(input, folder);
    if (isKept) terminal.line(`logs and data: ${folder}`);
    return result;
  } finally {
    if (!isKept) await rm(folder, { recursive: true, force: true });
  }
}

const WINDOWS = 3;
const REPORTERS = 48;

async function statistics({ flags, terminal, signal }: Input, folder: string): Promise<CommandResult> {
  if (flags.mode !== undefined) throw new CommandError('--statistics trains no model; remove --mode');
  const { reportOf, runStatistics, statisticsJson, statusText, windowLine } = await import('./statistics-demo.ts');
  const devices = within(flags.devices ?? REPORTERS, 'devices', { min: 4, max: 1000 });
  const goal = { devices, windows: WINDOWS };
  const result = await runStatistics({
    ...{ ...goal, folder, maxSeconds: flags.seconds, seed: flags.seed, terminal, signal },
    onProgress: (progress) => terminal.status(statusText(progress, goal)),
    onWindow: (window, number) => terminal.line(windowLine(window, number)),
  });
  terminal.line(reportOf(result));
  return { json: statisticsJson(result), exitCode: result.isReached ? EXIT_CODE.fine : EXIT_CODE.failed };
}

async function training({ flags, terminal, signal }: Input, folder: string): Promise<CommandResult> {
  const { further, mode } = flags;
  const modes = mode === undefined ? MODES : [mode];
  for (const one of modes) bufferWithin(flags.buffer, one);
  // A device gives at most one update on a version.
  const usualDevices = Math.max(24, 2 * flags.buffer);
  const goal = { target: flags.target / 100, further };
  let shown = 0;
  const { runDemo } = await import('./run-demo.ts');
  const results = await runDemo({
    folder,
    modes,
    ...goal,
    bufferSize: flags.buffer,
    devices: within(flags.devices ?? usualDevices, 'devices', { min: flags.buffer, max: 10_000 }),
    maxBuffers: flags.buffers,
    maxSeconds: flags.seconds,
    dropShare: flags.drop / 100,
    seed: flags.seed,
    threads: Math.max(1, Math.min(4, availableParallelism())),
    terminal,
    signal,
    onProgress(progress) {
      terminal.status(statusOf(progress, goal));
      if (terminal.isLive || progress.versions.length === shown) return;
      shown = progress.versions.length;
      terminal.line(lineOf(progress, goal));
    },
    onEnd: (result) => terminal.line(summaryOf(result, goal)),
  });
  terminal.line(comparisonOf(results));
  const isReached = results.every(({ ending }) => ending === 'reached');
  return { json: jsonOf(results), exitCode: isReached ? EXIT_CODE.fine : EXIT_CODE.failed };
}
