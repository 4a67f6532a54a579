/** The flags that allow authorities of a task to be replaced. */
import { readFile } from 'node:fs/promises';
import type { TaskSettings } from '@basa/client/operator';
import type { Line, TaskPolicy } from '@basa/protocol';
import { CommandError } from '../shell/command-error.ts';
import { parsed, text } from '../shell/flag.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** 7d, 12h, 30m or 20s, in milliseconds. */
export function durationOf(given: string): number | undefined {
  const [, count, unit = ''] = /^([1-9][0-9]{0,6})([smhd])$/.exec(given) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS[unit] as number);
}

export const TAKES_DURATION = 'a number of days, hours, minutes or seconds, like 7d or 12h';

export const SUCCESSION_FLAGS = {
  'succession-wait': parsed<number>(
    {
      value: 'time',
      help: 'allow authorities to be replaced without enrolling devices again; a replacement takes effect no earlier than this time after it is signed, for example 7d',
      without: 'authorities cannot be replaced',
    },
    TAKES_DURATION,
    durationOf,
  ),
  'recovery-key': text({
    value: 'file',
    help: 'public recovery key, written by `basa succession key`; required if the task needs every authority',
  }),
};

export async function successionOf(flags: {
  readonly 'succession-wait': number | undefined;
  readonly 'recovery-key': string | undefined;
}): Promise<Pick<TaskSettings, 'succession'>> {
  const { 'succession-wait': waitMs, 'recovery-key': file } = flags;
  if (waitMs === undefined && file === undefined) return {};
  if (waitMs === undefined) throw new CommandError('--recovery-key needs --succession-wait, for example 7d');
  const key = file === undefined ? undefined : await keyIn(file, 'recovery-key', 'public');
  if (key === undefined) return { succession: { waitMs, recoveryHash: undefined } };
  const { nodeSuite } = await import('@basa/runtime/node');
  return { succession: { waitMs, recoveryHash: nodeSuite.sha256(key) } };
}

/** The policies of a task, one for each term. */
export async function policiesOf(line: Line): Promise<readonly TaskPolicy[]> {
  const { followLine, isRefused } = await import('@basa/protocol');
  const { nodeSuite } = await import('@basa/runtime/node');
  const policies = followLine(nodeSuite, line);
  if (!isRefused(policies)) return policies;
  throw new CommandError(`the terms from the server do not follow each other: ${policies.detail}`);
}

/** 32 bytes in hexadecimal. Only the name tells a public key from a secret one, and a mix-up would be noticed too late. */
export async function keyIn(file: string, flag: string, kind: 'public' | 'secret'): Promise<Uint8Array> {
  if (file.endsWith('.pub') !== (kind === 'public'))
    throw new CommandError(
      `--${flag} takes the ${kind} key, got ${file}; \`basa succession key\` wrote the public key into the file that ends with .pub`,
    );
  const { fromHex } = await import('@basa/masking');
  const words = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandError(`--${flag} ${file}: ${(error as Error).message}`);
  });
  const key = fromHex(words.trim());
  if (key?.length !== 32)
    throw new CommandError(
      `--${flag} ${file}: the file does not contain 64 hexadecimal digits; use a file that \`basa succession key\` wrote`,
    );
  return key;
}
