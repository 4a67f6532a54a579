/** The way this process was started, so that a person can paste a hint unchanged. */
import { join, sep } from 'node:path';

export interface Started {
  /** The file that Node runs. */
  readonly script: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Returns the command that starts `basa` in the same way again. */
export function programName({ script, folder, environment }: Started): string {
  if (script.endsWith('.ts')) return 'npm run basa --';
  const isInProject = script.startsWith(join(folder, 'node_modules') + sep);
  return environment['npm_command'] === 'exec' || isInProject ? 'npx basa' : 'basa';
}

/** All hints are written as `basa ...` in backticks; here they become the command that this person has to type. */
export function fitted(text: string, program: string): string {
  return text.replaceAll(/`basa (?=[a-z<-])/g, `\`${program} `);
}

/** A path as one word of a command line, for sh and for cmd. */
export function quoted(path: string): string {
  return /[^\w./:\\@+-]/.test(path) ? `"${path}"` : path;
}
