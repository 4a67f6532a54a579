/** `npm run lab -- drill restore`: both services from their backups, in other folders and at other ports. */
import { runDrill } from './program.ts';

await runDrill(
  'restore',
  `Moves server and authority to other folders and ports by backup and restore, with devices that go on. Then loses both, restores
older backups, and goes on in a new task that begins with the newest model that was saved.`,
  async () => (await import('./restore.ts')).runRestore,
);
