/** `npm run lab -- drill succession`: authorities are lost and replaced while devices work. */
import { runDrill } from './program.ts';

const ABOUT = `Four authorities, of which three are needed: one is killed for good, a new one takes its seat, and the devices go on with the
certificates that they have. Then the same with the only authority of a task, whose successor the recovery key names.`;

await runDrill('succession', ABOUT, async () => {
  const { runSuccession } = await import('./succession.ts');
  return runSuccession;
});
