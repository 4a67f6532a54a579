/** `npm run lab -- trial crash`: kills processes with kill -9 under load. Nothing may be lost. */
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { runTrial, tellMoments } from '../program.ts';

await runTrial(
  {
    name: 'trial crash',
    usage: '[--store postgres] [--kills N] [--updates N]',
    about: `Kills server, authority and devices N times (default: 200), at random moments and when they make data durable. Nothing may be lost.
With --store postgres, the server has three nodes on one database. Nodes are then also stopped for longer than their leases, and the
database is killed too. With --updates N, a step takes N updates (default: those of one batch). You can add the counts of runs with different seeds.`,
    numbers: { kills: 200, updates: 1 },
    words: ['store'],
  },
  async ({ seed, onLine }, { kills, updates }, { store = 'embedded' }) => {
    if (store !== 'embedded' && store !== 'postgres') throw new MissingError('--store takes embedded or postgres');
    const { runCrashes } = await import('./run.ts');
    const { moments, ...report } = await runCrashes({ kills, seed, store, updates, onKill: onLine });
    for (const [role, deaths] of Object.entries(moments)) tellMoments(`${role} died at`, deaths);
    return { ...report, store };
  },
);
