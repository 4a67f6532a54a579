/** `npm run lab -- trial powercut`: simulates power cuts under load. Nothing acknowledged may be lost. */
import { runTrial } from '../program.ts';

await runTrial(
  {
    name: 'trial powercut',
    usage: '[--cuts N]',
    about: `Simulates N power cuts of server, authority and devices (default: 100), at random moments and when they make data durable. Each time the
process is killed, and all or some of its data that was not flushed is removed, including names of files. Needs Linux and gcc.
You can add the counts of runs with different seeds.`,
    numbers: { cuts: 100 },
  },
  async ({ seed, onLine }, { cuts }) => {
    const { runCrashes } = await import('../crash/run.ts');
    const report = await runCrashes({ kills: cuts, seed, isPowerCut: true, onKill: onLine });
    const { moments: _, kills: __, powerCuts, ...counts } = report;
    return { ...powerCuts, ...counts };
  },
);
