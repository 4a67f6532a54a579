/** `basa demo`: the whole system on this machine, from nothing to a trained model. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, CommandError, EXIT_CODE, numberFlag, textFlag, textFlags } from '../command.ts';
import { jsonOf, lineOf, statusOf, summaryOf } from '../demo/report.ts';
import { engineOf } from '../engines.ts';

export const demo: Command = {
  name: 'demo',
  summary: 'server, authority and a fleet of devices on this machine train MNIST with sealed updates',
  usage: `  --devices <n>        devices in the fleet (24)
  --buffer <n>         K, positions of a buffer (10)
  --engine <name>      how seeds are sealed: cp-abe, as in the paper, or slot-keys, as new tasks do (cp-abe)
  --target <percent>   the accuracy to reach (88)
  --further <n>        buffers after the target, to show that it stays (5)
  --buffers <n>        give up after n buffers (100)
  --seconds <n>        give up after n seconds (600)
  --drop <percent>     contributions that are given up after the deposit (8)
  --seed <n>           (1)
  --folder <path>      where to put data and logs; kept (a temporary folder, removed at the end)
  --keep               keep the temporary folder`,
  flags: {
    ...textFlags('devices', 'buffer', 'engine', 'target', 'further', 'buffers', 'seconds', 'drop', 'seed', 'folder'),
    keep: { type: 'boolean', default: false },
  },
  opening: 'loading MNIST',
  async run(input) {
    const { terminal, signal } = input;
    const target = numberFlag(input, 'target', { min: 1, max: 100, fallback: 88 }) / 100;
    const goal = { target, further: numberFlag(input, 'further', { max: 1000, fallback: 5 }) };
    const bufferSize = numberFlag(input, 'buffer', { min: 2, max: 1024, fallback: 10 });
    const given = textFlag(input, 'folder');
    if (given !== undefined && existsSync(join(given, 'secrets.json')))
      throw new CommandError(
        `${given} holds the data of an earlier run, which would be counted again: give --folder another path, or remove it`,
      );
    const folder = given ?? (await mkdtemp(join(tmpdir(), 'basa-demo-')));
    const isKept = given !== undefined || input.values['keep'] === true;
    let shown = 0;
    const { runDemo } = await import('../demo/run-demo.ts');
    try {
      const result = await runDemo({
        folder,
        ...goal,
        bufferSize,
        engine: engineOf(textFlag(input, 'engine') ?? 'cp-abe'),
        devices: numberFlag(input, 'devices', {
          min: bufferSize,
          max: 10_000,
          fallback: Math.max(24, 2 * bufferSize),
        }),
        maxBuffers: numberFlag(input, 'buffers', { min: 1, fallback: 100 }),
        maxSeconds: numberFlag(input, 'seconds', { min: 1, fallback: 600 }),
        dropShare: numberFlag(input, 'drop', { max: 90, fallback: 8 }) / 100,
        seed: numberFlag(input, 'seed', { max: 2 ** 31, fallback: 1 }),
        threads: Math.max(1, Math.min(4, availableParallelism())),
        terminal,
        signal,
        onProgress(progress) {
          terminal.status(statusOf(progress, goal));
          if (terminal.isLive || progress.versions.length === shown) return;
          shown = progress.versions.length;
          terminal.line(lineOf(progress, goal));
        },
      });
      terminal.line(summaryOf(result, goal));
      if (isKept) terminal.line(`logs and data: ${folder}`);
      const isReached = result.ending === 'reached';
      return { json: jsonOf(result), exitCode: isReached ? EXIT_CODE.fine : EXIT_CODE.failed };
    } finally {
      if (!isKept) await rm(folder, { recursive: true, force: true });
    }
  },
};
