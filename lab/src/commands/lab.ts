/** The program of the laboratory: its commands. */
import { runProgram, type Streams } from '@basa/cli/internal/shell/cli.ts';
import type { Program } from '@basa/cli/internal/shell/help.ts';
import { attacks } from './attacks.ts';
import { bench } from './bench.ts';
import { conformanceClient, conformanceServer } from './conformance.ts';
import { experiment, summary } from './experiment.ts';
import { sizes } from './sizes.ts';

const LAB: Program = {
  name: 'npm run lab --',
  about: 'what proves and measures BASA',
  commands: [attacks, bench, experiment, summary, conformanceClient, conformanceServer, sizes],
  closing: [
    'Groups, with a list of their own:',
    '  npm run lab -- prove [part]       the long checks of the protocol: explorer, oracle, faults, mutants and more',
    '  npm run lab -- trial <name>       the product as real processes, under load, faults and attack',
    '  npm run lab -- python             the client in Python: its tests, beside Node devices, and before the kit',
    '  npm run lab -- drill <name>       day two: upgrade, restore and rotation under load; nothing may be lost',
    '',
    'Every command takes --help and --json.',
  ],
};

/** Resolves with the exit code. */
export function runLab(args: readonly string[], streams: Streams = process): Promise<number> {
  return runProgram(LAB, args, process.env, streams);
}
