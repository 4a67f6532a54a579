/** `npm run lab -- prove <name>`: runs the long checks of the protocol. docs/evidence.md explains the result of each. */
import { runNamed } from '@basa/testkit/programs/named.ts';

// Options without a name apply to all parts: `npm run lab -- prove --quick --json`.
const given = process.argv.slice(2);
if (given.some((word) => ['--quick', '--json'].includes(word)) && given.every((word) => word.startsWith('--'))) {
  process.argv.splice(2, 0, 'all');
}

await runNamed('lab -- prove', {
  all: {
    about: 'the attacks and the next seven parts, one after the other (hours; minutes with --quick)',
    program: at('prove/all.ts'),
  },
  mutants: {
    about: 'a list of cores that each lack a rule, with the verdict of the oracle',
    program: at('prove/mutants.ts'),
  },
  rules: { about: 'the rules as a small model, complete and with each rule left out', program: at('prove/rules.ts') },
  explorer: { about: 'every reachable state of small worlds', program: at('prove/explorer.ts') },
  faults: { about: 'simulated faults in thousands of buffers', program: at('prove/faults.ts') },
  oracle: {
    about: 'everything that the server and colluders can compute, in 10^7 schedules',
    program: at('prove/oracle.ts'),
  },
  councils: {
    about: 'everything that a server can compute with colluding authorities, in 10^5 schedules',
    program: at('prove/councils.ts'),
  },
  shots: {
    about: 'the one-shot mode: every short sequence of steps, generated schedules, and faults',
    program: at('prove/shots.ts'),
  },
  decoders: { about: '10^7 hostile inputs for the decoder of each message', program: at('prove/decoders.ts') },
  uniformity: {
    about: 'statistical tests that stored uploads look like noise, with many seeds',
    program: at('prove/uniformity.ts'),
  },
  mutation: {
    about: 'small wrong changes to the core, and the share that the tests notice',
    program: at('mutation/main.ts'),
  },
});

function at(file: string): URL {
  return new URL(file, import.meta.url);
}
