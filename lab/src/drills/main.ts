/** `npm run lab -- drill <name>`: practises the work of operators while devices contribute. Nothing may be lost. */
import { runNamed } from '@basa/testkit/programs/named.ts';

await runNamed('lab -- drill', {
  upgrade: {
    about: 'upgrade three nodes on PostgreSQL and their authority to a newer format, one after the other',
    program: at('upgrade-program.ts'),
  },
  restore: {
    about: 'restore server and authority from backups, in other folders and on other ports',
    program: at('restore-program.ts'),
  },
  alerts: {
    about: 'cause problems in both services, and check that the alerts of a real Prometheus fire',
    program: at('alerts-program.ts'),
  },
  succession: {
    about:
      'lose and replace one of several authorities, and the only authority of a task, without enrolling devices again',
    program: at('succession-program.ts'),
  },
  'server-key': {
    about: 'replace the key of one server, and of three nodes on PostgreSQL, without enrolling devices again',
    program: at('server-key-program.ts'),
  },
  rotation: {
    about: 'replace certificates, the secret of the vault and epoch keys under load',
    program: at('rotation-program.ts'),
  },
});

function at(file: string): URL {
  return new URL(file, import.meta.url);
}
