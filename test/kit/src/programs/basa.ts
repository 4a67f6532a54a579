/** Runs `basa` in this process, which is quick to start, and captures its output. */
import { runCli } from '@basa/cli';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

export async function basaHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  let [out, errors] = ['', ''];
  const stdout = {
    write: (text: string) => {
      out += text;
    },
  };
  const stderr = {
    write: (text: string) => {
      errors += text;
    },
  };
  const code = await runCli(args, environment, { stdout, stderr });
  return { code, out, errors };
}

/** Makes tokens as an application does, and registers them as the owners of the authorities do. `folder` must not exist yet. */
export async function enrolHere(
  environment: Readonly<Record<string, string>>,
  { task, count = 1, folder }: { readonly task: string; readonly count?: number; readonly folder: string },
): Promise<readonly string[]> {
  const made = await basaHere(['keys', 'make', '--count', String(count), '--out', folder, '--json'], environment);
  const enrolled = await basaHere(['keys', 'enroll', '--task', task, '--hashes', folder], environment);
  if (made.code !== 0 || enrolled.code !== 0) throw new Error(`${made.errors}\n${enrolled.errors}`);
  return (lastLine(made.out) as { tokens: readonly string[] }).tokens;
}

export function lastLine(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
}
