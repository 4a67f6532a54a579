/** The commands of the laboratory. */

import type { Program } from '@basa/cli/internal/shell/cli.ts';
import { runProgram } from '@basa/cli/internal/shell/cli.ts';
import type { Streams } from '@basa/cli/internal/shell/terminal.ts';
import { attacks } from './attacks.ts';
import { bench } from './bench.ts';
import { experiment, summary } from './experiment.ts';
import { outside } from './outside.ts';
import { sizes } from './sizes.ts';

const LAB: Program = {
  name: 'npm run lab --',
  about: 'proofs and measurements of BASA',
  commands: [attacks, bench, experiment, summary, outside, sizes],
  closing: [
    'Groups of programs (each prints its own list):',
    '  npm run lab -- prove [part]       long checks of the protocol: the oracle, faults, mutants and more',
    '  npm run lab -- trial <name>       the product as real processes, under load, with faults and under attack',
    '  npm run lab -- python             the Python client: its tests, and sums with Node devices',
    '  npm run lab -- drill <name>       operations under load: restore and rotation without losing data',
    '',
    'Every command accepts --help and --json.',
  ],
};

/** Resolves with the exit code. */
export function runLab(args: readonly string[], streams: Streams = process): Promise<number> {
  return runProgram(LAB, args, process.env, streams);
}
