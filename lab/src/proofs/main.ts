/** `npm run lab -- prove <name>`: runs the long checks of the protocol. docs/evidence.md explains the result of each. */
import { availableParallelism } from 'node:os';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { runNamed } from '@basa/testkit/programs/named.ts';
import { program } from '../program.ts';

// Options without a name apply to all parts: `npm run lab -- prove --quick --json`.
const given = process.argv.slice(2);
if (given.some((word) => ['--quick', '--json'].includes(word)) && given.every((word) => word.startsWith('--'))) {
  process.argv.splice(2, 0, 'all');
}
/** They do not change the results. */
const workers = availableParallelism();

await runNamed('lab -- prove', {
  all: {
    about:
      'the attacks and the next four parts, one after the other (hours; minutes with --quick, which leaves out the mutants)',
    program: new URL('all.ts', import.meta.url),
  },
  mutants: program('prove mutants', {
    about: 'a list of cores that each lack a rule, with the attack that then succeeds',
    help: `Removes one rule at a time from the code, runs the attack that this rule stops, and prints the information that the attack reveals.

  --only TEXT     only the rules whose id contains TEXT
  --schedules N   also run up to N generated schedules against each mutant, until one leaks (default: 0)`,
    numbers: { schedules: 0 },
    words: ['only'],
    run: async (options, tell) => (await import('./mutants.ts')).proveMutants(options, tell),
  }),
  shots: program('prove shots', {
    about: 'the one-shot mode: every short sequence of steps, generated schedules, and faults',
    help: `Checks the one-shot mode in four parts, the last three on the real services and the real SDK, in one process and on one clock. First: every
course of three devices over the functions of the protocol. Second: every course of some steps with one authority (batches of any uploads,
restores, starts, clocks, time). Third: generated schedules with one authority, and with three and four of which one colludes with the
server. In these parts, everything except sums of enough devices on one model is a leak. Fourth: runs with an honest server, lost messages,
starts and restores, after which every acknowledged update has one end.

  --schedules N   generated schedules of each set of authorities (default: 2000)
  --shape S       only one set of authorities: 1,1,0 or 3,3,1 or 4,3,1
  --steps N       steps of a course (default: 2; with 0, no courses and no first part)
  --states N      states of each set of authorities in the first part (default: 0, which is all; with four authorities, that takes hours)
  --faults N      runs with faults (default: 100)
  --seed S        number of the first schedule and of the first run (default: 1). To continue, give the number that the run printed
  --workers N     number of worker threads (default: one per core)`,
    numbers: { schedules: 2000, steps: 2, states: 0, faults: 100, seed: 1, workers },
    words: ['shape'],
    run: async (options, tell) => (await import('./shots.ts')).proveShots(options, tell),
  }),
  decoders: program('prove decoders', {
    about: '10^7 hostile inputs for the decoder of each message',
    help: `Gives N mutated inputs to the decoder of every message. The decoder must throw a DecodeError, or return a value that encodes to the same
bytes. The program stops at the first input that does neither.

  --runs N      number of inputs for each message (default: 10000000)
  --seed S      first seed (default: 1); every 100000 inputs use the next one. To continue a run, give its nextSeed
  --only TEXT   test only the messages whose name contains TEXT
  --workers N   number of worker threads (default: one per core)`,
    numbers: { runs: 10_000_000, seed: 1, workers },
    words: ['only'],
    async run(options, tell) {
      if (options.runs < 1 || options.workers < 1) throw new MissingError('--runs and --workers are at least 1');
      return (await import('./decoders.ts')).proveDecoders(options, tell);
    },
  }),
  uniformity: program('prove uniformity', {
    about: 'statistical tests that stored uploads look like noise, with many seeds',
    help: `Tests whether stored uploads are uniformly distributed. It fills a buffer N times in each mode and group, tests each upload and each pair
of uploads, and compares uploads of fixed updates with uploads of random updates. The program fails if the smallest p-value, multiplied by
the number of tests, is below 10^-6.

  --runs N   number of buffers for each mode and group (default: 100)
  --seed S   first seed (default: 1); run n uses the seeds S + 2n and S + 2n + 1

The exact part, which enumerates every mask, is a test: npx vitest run lab/test/proofs/exact-uniformity.test.ts`,
    numbers: { runs: 100, seed: 1 },
    async run(options, tell) {
      if (options.runs < 1) throw new MissingError('--runs is at least 1');
      return (await import('./uniformity.ts')).proveUniformity(options, tell);
    },
  }),
});
