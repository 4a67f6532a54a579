/** One npm script for many programs: the first word says which; without a word, or with `--help`, they are listed. */
import { fileURLToPath } from 'node:url';
import { commentAtTop } from './comment-at-top.ts';
import { sayingWhatIsMissing } from './missing.ts';

export interface Named {
  readonly about: string;
  /** A module that is run when it is imported, or a function. */
  readonly program: URL | (() => Promise<void>);
  /** It takes no options: its help is the comment at its top, and it need not be loaded for that. */
  readonly isPlain?: boolean;
}

/** Lists the programs that `npm run <script>` knows, one line each. */
export function listOf(script: string, programs: Readonly<Record<string, { readonly about: string }>>): string {
  const width = Math.max(...Object.keys(programs).map((name) => name.length));
  const lines = Object.entries(programs).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}`);
  const typed = `npm run ${script}${script.includes(' -- ') ? '' : ' --'} <name>`;
  return `${typed} [options]\n\n${lines.join('\n')}\n\n${typed} --help lists the options of one.`;
}

/** Runs the program that the first word names, in this process, with its own options in their usual place. */
export async function runNamed(script: string, programs: Readonly<Record<string, Named>>): Promise<void> {
  const [name, ...options] = process.argv.slice(2);
  const named = name === undefined ? undefined : programs[name];
  if (named !== undefined) {
    const { program, isPlain = false } = named;
    const isFile = program instanceof URL;
    process.argv = [process.execPath, isFile ? fileURLToPath(program) : (process.argv[1] ?? ''), ...options];
    if (isFile && isPlain && options.includes('--help')) console.log(commentAtTop(fileURLToPath(program)));
    else await sayingWhatIsMissing(() => (isFile ? import(program.href) : program()));
  } else if (name === undefined || name === '--help') {
    console.log(listOf(script, programs));
  } else {
    console.error(`"${name}" is not one of these:\n\n${listOf(script, programs)}`);
    process.exitCode = 2;
  }
}
