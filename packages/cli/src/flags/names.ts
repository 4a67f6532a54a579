/** Names of 64 hexadecimal digits in short form: a task by its own name, and anything by the first digits that no other has. */
import { CommandError } from '../shell/command.ts';

/** Shown if a whole name is not needed: here, on the pages and in metrics. */
const SHORT_DIGITS = 8;
const MIN_DIGITS = 4;

export function short(hex: string): string {
  return hex.slice(0, SHORT_DIGITS);
}

export interface Named {
  readonly hex: string;
  /** The name that people use, if there is one. */
  readonly name?: string;
}

export interface Kind {
  /** The kind of thing that is looked for: "task". */
  readonly kind: string;
  /** The command that lists them, in backticks. */
  readonly listed: string;
}

/** Returns a whole name as it is, without a request. */
export async function wholeName(
  text: string,
  { kind, listed }: Kind,
  list: () => Promise<readonly Named[]>,
): Promise<string> {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  const all = await list();
  const called = all.filter(({ name }) => name === text);
  const isPrefix = text.length >= MIN_DIGITS && /^[0-9a-f]{4,63}$/.test(text);
  const found = called.length > 0 ? called : isPrefix ? all.filter(({ hex }) => hex.startsWith(text)) : [];
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only.hex;
  if (only === undefined)
    throw new CommandError(
      `there is no ${kind} "${text}"; give its name or at least its first ${MIN_DIGITS} digits; ${listed} lists them`,
    );
  const shown = found
    .slice(0, 5)
    .map(({ hex, name }) => (name === undefined ? hex.slice(0, 16) : `${hex.slice(0, 16)} (${name})`));
  throw new CommandError(`"${text}" matches ${found.length} ${kind}s: ${shown.join(', ')}; give more digits`);
}
