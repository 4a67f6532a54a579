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

export function lastLine(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
}
