/** `npm run lab -- <name>`: runs the proofs and measurements of BASA. */
import { type Named, runNamed } from '@basa/testkit/programs/named.ts';

/** Groups of programs. Each program reads its own options. */
const GROUPS: Readonly<Record<string, string>> = {
  prove: './proofs/main.ts',
  trial: './trials/main.ts',
  drill: './drills/main.ts',
};

/** Programs without options. */
const PROGRAMS: Readonly<Record<string, Named>> = {
  python: {
    about: 'the Python client: its tests, and sums with Node devices',
    program: new URL('./python/main.ts', import.meta.url),
    isPlain: true,
  },
};

const words = process.argv.slice(2);
const group = GROUPS[words[0] ?? ''];
if (Object.hasOwn(PROGRAMS, words[0] ?? '')) {
  await runNamed('lab', PROGRAMS);
} else if (group === undefined) {
  // Loaded only here, because these modules load the whole command line.
  const { runInProcess } = await import('@basa/cli/internal/shell/process.ts');
  const { runLab } = await import('./commands/lab.ts');
  await runInProcess((streams) => runLab(words, streams));
} else {
  const program = new URL(group, import.meta.url);
  process.argv = [process.execPath, program.pathname, ...words.slice(1)];
  await import(program.href);
}
