/** `npm run lab -- drill <name>`: what operators do in the life of a service, with devices at work; nothing may be lost. */
import { runNamed } from '@basa/testkit/programs/named.ts';

await runNamed('lab -- drill', {
  upgrade: {
    about: 'three nodes on PostgreSQL and their authority get a version with a newer format, one after the other',
    program: at('upgrade-program.ts'),
  },
  restore: {
    about: 'server and authority go on in other folders and at other ports, from their backups',
    program: at('restore-program.ts'),
  },
  alerts: {
    about: 'a real Prometheus over both services: their trouble is provoked, and its alert fires',
    program: at('alerts-program.ts'),
  },
  succession: {
    about: 'an authority of several, and the only one of a task, are lost and replaced; devices are not enrolled again',
    program: at('succession-program.ts'),
  },
  rotation: {
    about: 'certificates, the secret of the vault and epoch keys change under load',
    program: at('rotation-program.ts'),
  },
});

function at(file: string): URL {
  return new URL(file, import.meta.url);
}
