/** `npm run lab -- prove <name>`: the long checks of the protocol; docs/evidence.md says what each of them shows. */
import { runNamed } from '@basa/testkit/programs/named.ts';

// Options without a name are for all of them: `npm run lab -- prove --quick --json`.
const given = process.argv.slice(2);
if (given.some((word) => ['--quick', '--json'].includes(word)) && given.every((word) => word.startsWith('--'))) {
  process.argv.splice(2, 0, 'all');
}

await runNamed('lab -- prove', {
  all: {
    about: 'the attacks and the next seven, one after the other (hours; --quick for minutes)',
    program: at('prove/all.ts'),
  },
  mutants: { about: 'every wrong core of a list, and what the oracle says of it', program: at('prove/mutants.ts') },
  rules: { about: 'the rules alone, as a small model, and each of them left out', program: at('prove/rules.ts') },
  explorer: { about: 'every state of small worlds', program: at('prove/explorer.ts') },
  faults: { about: 'the fault simulation, over thousands of buffers', program: at('prove/faults.ts') },
  oracle: {
    about: 'what server and colluders can compute, over 10^7 schedules',
    program: at('prove/oracle.ts'),
  },
  councils: {
    about: 'what a server computes with some of the authorities, over 10^5 schedules',
    program: at('prove/councils.ts'),
  },
  shots: {
    about: 'the one-shot mode: every short course, generated schedules, faults',
    program: at('prove/shots.ts'),
  },
  decoders: { about: '10^7 hostile inputs at the decoder of every message', program: at('prove/decoders.ts') },
  uniformity: { about: 'what a server stores, against noise, over many seeds', program: at('prove/uniformity.ts') },
  mutation: { about: 'small wrong changes of the core, and what the tests notice', program: at('mutation/main.ts') },
});

function at(file: string): URL {
  return new URL(file, import.meta.url);
}
