/** `npm run lab -- drill <name>`: practises the work of operators while devices contribute. Nothing may be lost. */
import { runNamed } from '@basa/testkit/programs/named.ts';
import { program } from '../program.ts';

await runNamed('lab -- drill', {
  restore: program('drill restore', {
    about: 'restore server and authority from backups, in other folders and on other ports',
    help: `Moves server and authority to other folders and ports with backup and restore, while devices continue. Then loses both, restores
older backups, and continues in a new task that starts from the newest saved model.`,
    run: async (_, tell) => (await import('./restore.ts')).runRestore(tell),
  }),
  rotation: program('drill rotation', {
    about: 'replace certificates, the secret of the vault and epoch keys under load',
    help: `Gives both services new certificates and the authority's vault a new secret, and lets key epochs pass, while devices contribute
over TLS. The certificates are made with openssl.`,
    run: async (_, tell) => (await import('./rotation.ts')).runRotation(tell),
  }),
});
