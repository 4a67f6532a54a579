/** `npm run lab -- drill upgrade`: a rolling upgrade, and the way back. */
import { runDrill } from './program.ts';

await runDrill(
  'upgrade',
  `Migrates the tables of three nodes on PostgreSQL to a newer format while devices work, starts the nodes and the authority with
the newer version one after the other, and takes the server back to the version before.`,
  async () => (await import('./upgrade.ts')).runUpgrade,
);
