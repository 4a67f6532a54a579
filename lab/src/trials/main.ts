/**
 * `npm run lab -- trial <name>`: runs the product as real processes, under load, with faults and under attack. The tests run short
 * versions.
 */
import { writeFileSync } from 'node:fs';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { runNamed } from '@basa/testkit/programs/named.ts';
import { newSeed, program, tellMoments } from '../program.ts';

const ADD = 'You can add the counts of runs with different seeds (--seed N).';

await runNamed('lab -- trial', {
  crash: program('trial crash', {
    about: 'kills processes with kill -9, 200 times, under load; nothing may be lost',
    help: `Kills server, authority and devices N times (--kills, default: 200), at random moments and when they make data durable. Nothing may be
lost. With --store postgres, the server has three nodes on one database. Nodes are then also stopped for longer than their leases, and the
database is killed too. With --updates N, a step takes N updates (default: those of one batch). ${ADD}`,
    numbers: { kills: 200, updates: 1, seed: newSeed() },
    words: ['store'],
    async run({ store = 'embedded', ...options }, onLine) {
      if (store !== 'embedded' && store !== 'postgres') throw new MissingError('--store takes embedded or postgres');
      const { runCrashes } = await import('./crash.ts');
      const { moments, ...report } = await runCrashes({ ...options, store, onLine });
      for (const [role, deaths] of Object.entries(moments)) tellMoments(`${role} died at`, deaths);
      return { ...report, store };
    },
  }),
  authorities: program('trial authorities', {
    about: 'four authorities, three of them needed: each killed in turn, one down for a whole phase, then two down',
    help: `Runs four authorities, of which three are needed, a server and devices, each as a process. First, random authorities are killed and
restarted (--kills N, default: 60). Then one authority stays down while devices continue and other processes are killed. Then a second
authority is down: devices get a clear message, wait, and continue when it is back. Nothing may be lost. ${ADD}`,
    numbers: { kills: 60, seed: newSeed() },
    async run(options, onLine) {
      const { runAuthorities } = await import('./authorities.ts');
      const { moments, ...report } = await runAuthorities({ ...options, onLine });
      tellMoments('authorities died at', moments);
      return report;
    },
  }),
  powercut: program('trial powercut', {
    about: 'power cuts under load: data that was not flushed is removed, and nothing acknowledged may be lost',
    help: `Simulates power cuts of server, authority and devices (--cuts N, default: 100), at random moments and when they make data durable.
Each time the process is killed, and all or some of its data that was not flushed is removed, including names of files. Needs Linux and gcc.
${ADD}`,
    numbers: { cuts: 100, seed: newSeed() },
    async run({ cuts, seed }, onLine) {
      const { runCrashes } = await import('./crash.ts');
      const report = await runCrashes({ kills: cuts, seed, isPowerCut: true, onLine });
      const { moments: _, kills: __, powerCuts, ...counts } = report;
      return { ...powerCuts, ...counts };
    },
  }),
  soak: program('trial soak', {
    about: '1000 batches with drop-outs, liars and restarts, and the memory and disk that they use',
    help: `Runs batches (--buffers N, default: 1000) of --buffer-size updates (4) from --devices (10) with drop-outs, duplicates, --liars (1) and
up to 8 restarts (--restarts), and measures memory and disk. --plot file.svg draws them.`,
    numbers: { buffers: 1000, restarts: 8, devices: 10, liars: 1, 'buffer-size': 4, seed: newSeed() },
    words: ['plot'],
    async run({ 'buffer-size': bufferSize, plot, ...numbers }, tell) {
      if (numbers.devices < bufferSize || bufferSize < 2)
        throw new MissingError('--buffer-size is at least 2, and there are at least as many --devices');
      const { plotOf, runSoak } = await import('./soak.ts');
      const onSample = ({ buffers, ...one }: Parameters<typeof plotOf>[0][number]): void => {
        const values = Object.entries(one).map(([name, value]) => `${name} ${value.toFixed(1)}`);
        tell(`${String(buffers).padStart(5)}  ${values.join('  ')}`);
      };
      const { samples, lives, ...report } = await runSoak({ ...numbers, bufferSize, onSample });
      for (const { role, fromBuffer, toBuffer, kilobytesPerBuffer } of lives)
        tell(`${role}: ${kilobytesPerBuffer.toFixed(1)} kB a batch in the longest life, ${fromBuffer} to ${toBuffer}`);
      if (plot !== undefined) writeFileSync(plot, plotOf(samples));
      return { ...report, details: { lives, samples } };
    },
  }),
  overload: program('trial overload', {
    about:
      'ten times as many arrivals as the server can serve: devices are told when to come back, and nothing accepted is lost',
    help: `Measures how many contributions per second the server can serve, then lets many more devices ask for places: --times as many
(default: 10), for --seconds (default: 120). Shows the answers that devices got, the memory of the server, the outcome of accepted updates,
and the time until the server was back to normal.`,
    numbers: { seconds: 120, times: 10 },
    async run({ seconds, times }, tell) {
      if (seconds < 1 || times < 1) throw new MissingError('--seconds and --times are at least 1');
      return (await import('./overload.ts')).runOverload(seconds, times, tell);
    },
  }),
  hostile: program('trial hostile', {
    about: '10^5 hostile requests to the routes of both services',
    help: 'Sends hostile requests (--requests N, default: 10^5) to every route of server and authority, from their OpenAPI documents.',
    numbers: { requests: 100_000, seed: newSeed() },
    async run({ requests, seed }, tell) {
      const { fuzzHttp } = await import('@basa/testkit/fuzz/services.ts');
      const { statuses, failures } = await fuzzHttp(requests, seed, (done) => {
        if (done % 20_000 === 0) tell(`${done} requests`);
      });
      return { statuses, problems: failures };
    },
  }),
  large: program('trial large', {
    about: 'one batch of 10,000 updates, or of a few with 50 million parameters; the sum must be exact',
    help: `Measures the time of each step and the peak memory of server and authority for one batch of --users vectors (default: 10,000) with
--dimension numbers (default: 7,850), of --at-once devices at the same time (8) and with --workers threads (2), and checks that the sum is
exact. Vectors may be long: --dimension 50000000 --users 10 --at-once 1.`,
    numbers: { dimension: 7850, users: 10_000, workers: 2, 'at-once': 8 },
    async run({ 'at-once': atOnce, ...size }, tell) {
      if (size.users < 3 || Math.min(size.dimension, size.workers, atOnce) < 1)
        throw new MissingError('--users is at least 3; --dimension, --workers and --at-once are at least 1');
      return (await import('./large.ts')).runOneBatch({ ...size, atOnce }, tell);
    },
  }),
  s3: {
    about: "the blob store against a real S3 server, Ceph's gateway",
    program: new URL('s3.ts', import.meta.url),
    isPlain: true,
  },
  tests: { about: 'the slow tests that npm test leaves out', program: new URL('tests.ts', import.meta.url) },
});
