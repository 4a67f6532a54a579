/** `npm run lab -- prove <name>`: runs the long checks of the protocol. docs/evidence.md explains the result of each. */
import { runNamed } from '@basa/testkit/programs/named.ts';

// Options without a name apply to all parts: `npm run lab -- prove --quick --json`.
const given = process.argv.slice(2);
if (given.some((word) => ['--quick', '--json'].includes(word)) && given.every((word) => word.startsWith('--'))) {
  process.argv.splice(2, 0, 'all');
}

await runNamed('lab -- prove', {
  all: {
    about:
      'the attacks and the next four parts, one after the other (hours; minutes with --quick, which leaves out the mutants)',
    program: at('prove/all.ts'),
  },
  mutants: {
    about: 'a list of cores that each lack a rule, with the attack that then succeeds',
    program: at('prove/mutants.ts'),
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
});

function at(file: string): URL {
  return new URL(file, import.meta.url);
}
