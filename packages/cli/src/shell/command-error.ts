/** The documented exit codes; services have more of their own from 3 on (docs/cli.md). */
export const EXIT_CODE = {
  fine: 0,
  /** It ran, and what it was asked for did not come about. */
  failed: 1,
  /** The command line or a setting is wrong. */
  usage: 2,
  /** A service refused, or does not answer. */
  refused: 8,
  interrupted: 130,
  /** As a shell says of a program that writes to a pipe nobody reads any more. */
  unheard: 141,
} as const;

/** Something the person at the keyboard can mend; the sentence says how. */
export class CommandError extends Error {
  readonly exitCode: number;
  constructor(sentence: string, exitCode: number = EXIT_CODE.usage) {
    super(sentence);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}
