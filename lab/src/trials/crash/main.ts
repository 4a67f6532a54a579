/** `npm run lab -- trial crash`: kills processes with kill -9 under load. Nothing may be lost. */
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { runTrial, tellMoments } from '../program.ts';

await runTrial(
  {
    name: 'trial crash',
    usage: '[--store postgres] [--kills N] [--sums N]',
    about: `Kills server, authority and devices N times (default: 200), at random moments and when they make data durable. Nothing may be lost.
With --store postgres, the server has three nodes on one database. Nodes are then also stopped for longer than their leases, and the
database is killed too. With --sums N, a version is made of N batches (default: 1). You can add the counts of runs with different seeds.`,
    numbers: { kills: 200, sums: 1 },
    words: ['store'],
  },
  async ({ seed, onLine }, { kills, sums }, { store = 'embedded' }) => {
    if (store !== 'embedded' && store !== 'postgres') throw new MissingError('--store takes embedded or postgres');
    const { runCrashes } = await import('./run.ts');
    const { moments, ...report } = await runCrashes({ kills, seed, store, sums, onKill: onLine });
    for (const [role, deaths] of Object.entries(moments)) tellMoments(`${role} died at`, deaths);
    return { ...report, store };
  },
);
