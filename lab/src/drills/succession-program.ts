/** `npm run lab -- drill succession`: authorities are lost and replaced while devices work. */
import { runDrill } from './program.ts';

const ABOUT = `Kills one of four authorities, of which three are needed, for good. A new authority takes its seat, and devices continue with their
existing certificates. Then the only authority of a task is killed. Its successor is named with the recovery key.`;

await runDrill('succession', ABOUT, async () => {
  const { runSuccession } = await import('./succession.ts');
  return runSuccession;
});
