/** `npm run lab -- <name>`: what proves and measures BASA. */
import { runProgram } from '@basa/cli/internal/shell/cli.ts';
import type { Program } from '@basa/cli/internal/shell/help.ts';
import { attacks } from './commands/attacks.ts';
import { bench } from './commands/bench.ts';
import { conformanceClient, conformanceServer } from './commands/conformance.ts';
import { experiment, summary } from './commands/experiment.ts';
import { sizes } from './commands/sizes.ts';

/** Groups of programs, each of which reads its own options. */
const GROUPS: Readonly<Record<string, string>> = {
  prove: './proofs/main.ts',
  trial: './trials/main.ts',
  learn: './learn/learn.ts',
};

const LAB: Program = {
  name: 'npm run lab --',
  about: 'what proves and measures BASA',
  commands: [attacks, bench, experiment, summary, conformanceClient, conformanceServer, sizes],
  closing: [
    'Groups, with a list of their own:',
    '  npm run lab -- prove [part]       the long checks of the protocol: explorer, oracle, faults, mutants and more',
    '  npm run lab -- trial <name>       the product as real processes, under load, faults and attack',
    '  npm run lab -- learn <task>       plain FedBuff until the target of the paper',
    '',
    'Every command takes --help and --json.',
  ],
};

const [first = '', ...rest] = process.argv.slice(2);
const group = GROUPS[first];
if (group === undefined) {
  process.exitCode = await runProgram(
    LAB,
    [first, ...rest].filter((word) => word !== ''),
    process.env,
  );
} else {
  const program = new URL(group, import.meta.url);
  process.argv = [process.execPath, program.pathname, ...rest];
  await import(program.href);
}
