/** The reason why a service cannot start, for people: one sentence and an exit code, no stack. */

export const EXIT = {
  /** Stopped on request. */
  stopped: 0,
  /** A fault of the program. */
  fault: 1,
  /** The configuration is wrong. */
  configuration: 2,
  /** The data folder cannot be used: not readable, made by another program or in another format, or damaged. */
  dataFolder: 3,
  /** Another process uses the data folder. */
  inUse: 4,
  /** The passphrase or key file does not open the keys. */
  keys: 5,
  /** The address cannot be listened at: taken, or not permitted. */
  address: 6,
  /** No space is left. */
  storageFull: 7,
} as const;

export type ExitReason = keyof typeof EXIT;

export class StartError extends Error {
  readonly reason: ExitReason;

  constructor(reason: ExitReason, sentence: string) {
    super(sentence);
    this.name = 'StartError';
    this.reason = reason;
  }

  get exitCode(): number {
    return EXIT[this.reason];
  }
}

export function wrongConfiguration(sentence: string): StartError {
  return new StartError('configuration', `configuration: ${sentence}`);
}

// Recognises errors of the system or of SQLite that mean that the disk is full.

const SYSTEM_CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT'];
const SQLITE_FULL = 13;

export function isStorageFull(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  // The low byte of SQLite's extended code is the primary one.
  return SYSTEM_CODES.includes(code) || (typeof errcode === 'number' && (errcode & 0xff) === SQLITE_FULL);
}
