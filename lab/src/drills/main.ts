/** `npm run lab -- drill <name>`: practises the work of operators while devices contribute. Nothing may be lost. */
import { type Named, runNamed } from '@basa/testkit/programs/named.ts';
import { ANY_ENGINE, runTrial, type TrialRun } from '../trials/program.ts';

await runNamed('lab -- drill', {
  upgrade: drill(
    'upgrade',
    'upgrade three nodes on PostgreSQL and their authority to a newer format, one after the other',
    `Migrates the tables of three nodes on PostgreSQL to a newer format while devices contribute. Restarts the nodes and the authority with
the newer version, one after the other. Then takes the server back to the previous version.`,
    async () => (await import('./upgrade.ts')).runUpgrade,
  ),
  restore: drill(
    'restore',
    'restore server and authority from backups, in other folders and on other ports',
    `Moves server and authority to other folders and ports with backup and restore, while devices continue. Then loses both, restores
older backups, and continues in a new task that starts from the newest saved model.`,
    async () => (await import('./restore.ts')).runRestore,
  ),
  alerts: drill(
    'alerts',
    'cause problems in both services, and check that the alerts of a real Prometheus fire',
    `Starts Prometheus (package prometheus) for both services, with the rules of deploy/prometheus and shorter times. It then causes problems,
and waits for the alerts. Rules about a full disk or a slow database are tested only with promtool (deploy/prometheus/alerts.test.yml).`,
    async () => (await import('./alerts.ts')).runAlerts,
  ),
  succession: drill(
    'succession',
    'lose and replace one of several authorities, and the only authority of a task, without enrolling devices again',
    `Kills one of four authorities, of which three are needed, for good. A new authority takes its seat, and devices continue with their
existing certificates. Then the only authority of a task is killed. Its successor is named with the recovery key.`,
    async () => (await import('./succession.ts')).runSuccession,
  ),
  'server-key': drill(
    'server-key',
    'replace the key of one server, and of three nodes on PostgreSQL, without enrolling devices again',
    `Replaces the key of a server with the signatures of its authorities, and removes the old key. First there is one server with one
authority, which needs the recovery key; then three nodes on PostgreSQL with four authorities, of which three sign. Devices continue with their
existing certificates.`,
    async () => (await import('./server-key.ts')).runServerKey,
  ),
  rotation: {
    about: 'replace certificates, the secret of the vault and epoch keys under load',
    program: new URL('rotation-program.ts', import.meta.url),
  },
});

/** `about` is its line in the list, and `help` its help, in sentences. */
function drill(name: string, about: string, help: string, load: () => Promise<TrialRun>): Named {
  const program = { name: `drill ${name}`, usage: ANY_ENGINE, about: help } as const;
  return { about, program: () => runTrial(program, async (input) => (await load())(input)) };
}
