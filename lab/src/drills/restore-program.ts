/** `npm run lab -- drill restore`: both services from their backups, in other folders and at other ports. */
import { runDrill } from './program.ts';

await runDrill(
  'restore',
  `Moves server and authority to other folders and ports with backup and restore, while devices continue. Then loses both, restores
older backups, and continues in a new task that starts from the newest saved model.`,
  async () => (await import('./restore.ts')).runRestore,
);
