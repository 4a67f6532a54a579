/** The documented exit codes; services have more of their own from 3 on (docs/cli.md). */
export const EXIT_CODE = {
  fine: 0,
  /** The command ran, but did not succeed. */
  failed: 1,
  /** The command line or a setting is wrong. */
  usage: 2,
  /** A service refused, or does not answer. */
  refused: 8,
  interrupted: 130,
  /** The code that shells use for a program whose output pipe was closed. */
  unheard: 141,
} as const;

/** An error that the user can fix; the sentence says how. */
export class CommandError extends Error {
  readonly exitCode: number;
  constructor(sentence: string, exitCode: number = EXIT_CODE.usage) {
    super(sentence);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}
