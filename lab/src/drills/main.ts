/** `npm run lab -- drill <name>`: practises the work of operators while devices contribute. Nothing may be lost. */
import { type Named, runNamed } from '@basa/testkit/programs/named.ts';
import { runTrial, type TrialRun } from '../trials/program.ts';

await runNamed('lab -- drill', {
  restore: drill(
    'restore',
    'restore server and authority from backups, in other folders and on other ports',
    `Moves server and authority to other folders and ports with backup and restore, while devices continue. Then loses both, restores
older backups, and continues in a new task that starts from the newest saved model.`,
    async () => (await import('./restore.ts')).runRestore,
  ),
  rotation: {
    about: 'replace certificates, the secret of the vault and epoch keys under load',
    program: new URL('rotation-program.ts', import.meta.url),
  },
});

/** `about` is its line in the list, and `help` its help, in sentences. */
function drill(name: string, about: string, help: string, load: () => Promise<TrialRun>): Named {
  const program = { name: `drill ${name}`, about: help } as const;
  return { about, program: () => runTrial(program, async (input) => (await load())(input)) };
}
