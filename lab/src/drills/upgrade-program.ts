/** `npm run lab -- drill upgrade`: a rolling upgrade, and the way back. */
import { runDrill } from './program.ts';

await runDrill(
  'upgrade',
  `Migrates the tables of three nodes on PostgreSQL to a newer format while devices contribute. Restarts the nodes and the authority with
the newer version, one after the other. Then takes the server back to the previous version.`,
  async () => (await import('./upgrade.ts')).runUpgrade,
);
