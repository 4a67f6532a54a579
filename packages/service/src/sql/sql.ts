/** SQL as both databases speak it, and the format of their tables. */
import { StartError } from '../process/start-error.ts';

// One SQL path for every database: statements with `?`, and the differences between databases as a dialect.

export type SqlValue = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** The column types of bytes, of integers up to 2^53 and of doubles. */
  readonly blob: string;
  readonly integer: string;
  readonly real: string;
  /** Ends a statement that reads a row which the transaction is about to change. */
  readonly forUpdate: string;
  /** Stands before TABLE if its content may be lost in a crash. */
  readonly unlogged: string;
}

export interface SqlSession {
  query(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Milliseconds on the clock that all nodes of the database share; read after a lock, it is the time after the wait. */
  now(): Promise<number>;
}

export interface SqlDatabase {
  readonly dialect: Dialect;
  /**
   * Runs all of the work or nothing; durable when the promise is fulfilled. The work may run again if the database asks
   * for it or the connection was lost, even after a commit whose outcome is not known: it must read the current state
   * before it writes.
   */
  transaction<Result>(
    work: (session: SqlSession) => Promise<Result>,
    options?: {
      /** Its writes may be lost with the machine: the promise does not wait until they are durable. */
      readonly mayBeLost?: boolean;
    },
  ): Promise<Result>;
  /** Runs one statement as a separate transaction. It may be repeated, too. */
  query(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * A SELECT whose rows are used only by a later transaction. It does not wait until the rows are durable, because the later transaction
   * does. Do not answer a client based only on these rows: they could still be lost.
   */
  peek(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Milliseconds on the shared clock, outside any transaction. */
  now(): Promise<number>;
  close(): Promise<void>;
}

/** Callbacks that run after the database has done something. */
export interface SqlWatch {
  /** A transaction that wrote was committed. `seconds` is the duration of its COMMIT. */
  onCommit?(seconds: number): void;
  /** A failed transaction is retried. */
  onRetry?(): void;
}

export function isWrite(statement: string): boolean {
  return !/^\s*SELECT\b/i.test(statement);
}

/** The values of a row, by the types its statement asked for. */
export const column = {
  bytes: (row: Row, name: string): Uint8Array => {
    const value = row[name];
    if (!(value instanceof Uint8Array)) throw new TypeError(`column ${name} holds no bytes`);
    return value;
  },
  text: (row: Row, name: string): string => {
    const value = row[name];
    if (typeof value !== 'string') throw new TypeError(`column ${name} holds no text`);
    return value;
  },
  number: (row: Row, name: string): number => {
    const value = row[name];
    if (typeof value !== 'number') throw new TypeError(`column ${name} holds no number`);
    return value;
  },
  /** Reads a value that may be missing. */
  optional: <T>(row: Row, name: string, read: (row: Row, name: string) => T): T | undefined =>
    row[name] === null || row[name] === undefined ? undefined : read(row, name),
} as const;

// The format of a database: which one this version reads, and the sentences about all others.

export type Application = 'server' | 'authority';

export interface DatabaseOptions {
  readonly application: Application;
  /** The number of the format; at least `FIRST_FORMAT`. Every change of a table makes it one more. */
  readonly format: number;
  /** The SQL that creates the tables. */
  readonly tables: readonly string[];
}

/** Versions before 1.0 wrote formats with smaller numbers. */
export const FIRST_FORMAT = 20;

/** The remedy for data that a version before 1.0 wrote. */
export const OLDER_DATA_ADVICE =
  'it was written by a version before 1.0, and 1.0 starts afresh: export its model with that version, and create a new task from it';

/** Throws if this version cannot read data of this format. 0 means that there is no data yet. */
export function checkFormat(place: string, found: number, { format }: DatabaseOptions): void {
  if (found > format) {
    const sentence = `${place} has format ${found}, but this version knows only formats up to ${format}`;
    throw new StartError('dataFolder', `${sentence}; start the newer version that wrote it`);
  }
  if (found > 0 && found < FIRST_FORMAT)
    throw new StartError('dataFolder', `${place} has format ${found}: ${OLDER_DATA_ADVICE}. Nothing was changed`);
  if (found > 0 && found < format)
    throw new StartError('dataFolder', `${place} has format ${found}, but this version needs ${format}`);
}
