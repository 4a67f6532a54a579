/** `npm run lab -- trial <name>`: the product as real processes, under load, faults and attack; the tests run short versions. */
import { runNamed } from '@basa/testkit/programs/named.ts';

await runNamed('lab -- trial', {
  crash: {
    about: 'kill -9 of every process, 200 times, under load; nothing may be lost',
    program: at('crash/main.ts'),
  },
  authorities: {
    about: 'four authorities of which three are needed: killed one at a time, one down for all of a phase, two down',
    program: at('authorities/main.ts'),
  },
  powercut: {
    about: 'power cuts of every process under load: what was not flushed vanishes, nothing acknowledged may be lost',
    program: at('powercut/main.ts'),
  },
  soak: { about: '1000 buffers with drop-outs, liars and restarts, and what they leave', program: at('soak/main.ts') },
  suspicion: {
    about: 'the rule of suspicion alone: fleets of several sizes against liars of several kinds',
    program: at('suspicion/main.ts'),
  },
  overload: {
    about: 'ten times the arrivals that the server carries: put off with a time, nothing accepted is lost',
    program: at('overload/main.ts'),
  },
  hostile: { about: '10^5 hostile requests at every route of both services', program: at('hostile/main.ts') },
  large: {
    about: 'one buffer of 50 million parameters, or with --mode one-shot one batch of 10,000 updates; exact',
    program: at('large/main.ts'),
  },
  s3: { about: "the blob store against a real S3 server, Ceph's gateway", program: at('s3/main.ts'), isPlain: true },
  tests: { about: 'the tests that npm test leaves out because they take long', program: at('tests/main.ts') },
});

function at(file: string): URL {
  return new URL(file, import.meta.url);
}
