/** `npm run lab -- trial authorities`: kills authorities under load and keeps some of them down. Nothing may be lost. */
import { runTrial, tellMoments } from '../program.ts';

await runTrial(
  {
    name: 'trial authorities',
    usage: '[--kills N]',
    about: `Runs four authorities, of which three are needed, a server and devices, each as a process. First, random authorities are killed and
restarted N times (default: 60). Then one authority stays down while devices continue and other processes are killed. Then a second
authority is down: devices get a clear message, wait, and continue when it is back. Nothing may be lost.
You can add the counts of runs with different seeds.`,
    numbers: { kills: 60 },
  },
  async (input, { kills }) => {
    const { runAuthorities } = await import('./run.ts');
    const { moments, ...report } = await runAuthorities({ ...input, kills });
    tellMoments('authorities died at', moments);
    return report;
  },
);
