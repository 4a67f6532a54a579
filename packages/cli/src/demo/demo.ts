/** `basa demo`: the paper's system and the one-shot protocol side by side on this machine, each to a trained model. */

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, CommandError, type CommandResult, command } from '../shell/command.ts';
import { DEMO_FLAGS, type DemoInput } from './demo-flags.ts';

export const demo: Command = command({
  name: 'demo',
  summary: "train MNIST on this machine with the paper's protocol, then with one-shot, and compare them",
  flags: DEMO_FLAGS,
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
