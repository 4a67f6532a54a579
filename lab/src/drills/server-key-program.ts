/** `npm run lab -- drill server-key`: the key of a server is replaced while devices work. */
import { runDrill } from './program.ts';

const ABOUT = `Replaces the key of a server with the signatures of its authorities, and removes the old key. First there is one server with one
authority, which needs the recovery key; then three nodes on PostgreSQL with four authorities, of which three sign. Devices continue with their
existing certificates.`;

await runDrill('server-key', ABOUT, async () => {
  const { runServerKey } = await import('./server-key.ts');
  return runServerKey;
});
