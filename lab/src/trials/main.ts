/**
 * `npm run lab -- trial <name>`: runs the product as real processes, under load, with faults and under attack. The tests run short
 * versions.
 */
import { runNamed } from '@basa/testkit/programs/named.ts';

await runNamed('lab -- trial', {
  crash: {
    about: 'kills processes with kill -9, 200 times, under load; nothing may be lost',
    program: at('crash/main.ts'),
  },
  authorities: {
    about: 'four authorities, three of them needed: each killed in turn, one down for a whole phase, then two down',
    program: at('authorities/main.ts'),
  },
  powercut: {
    about: 'power cuts under load: data that was not flushed is removed, and nothing acknowledged may be lost',
    program: at('powercut/main.ts'),
  },
  soak: {
    about: '1000 batches with drop-outs, liars and restarts, and the memory and disk that they use',
    program: at('soak/main.ts'),
  },
  overload: {
    about:
      'ten times as many arrivals as the server can serve: devices are told when to come back, and nothing accepted is lost',
    program: at('overload/main.ts'),
  },
  hostile: { about: '10^5 hostile requests to the routes of both services', program: at('hostile/main.ts') },
  large: {
    about: 'one batch of 10,000 updates, or of a few with 50 million parameters; the sum must be exact',
    program: at('large/main.ts'),
  },
  s3: { about: "the blob store against a real S3 server, Ceph's gateway", program: at('s3/main.ts'), isPlain: true },
  tests: { about: 'the slow tests that npm test leaves out', program: at('tests/main.ts') },
});

function at(file: string): URL {
  return new URL(file, import.meta.url);
}
