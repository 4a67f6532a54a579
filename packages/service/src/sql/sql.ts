/** One SQL path for every database: statements with `?`, and what differs between databases as a dialect. */
export type SqlValue = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** The column types of bytes, of integers up to 2^53 and of doubles. */
  readonly blob: string;
  readonly integer: string;
  readonly real: string;
  /** Ends the statement that reads a row which the transaction is about to change. */
  readonly forUpdate: string;
  /** Makes transactions that name the same text wait for each other. Empty where transactions run one at a time. */
  readonly lockName: string;
  /** Stands before TABLE where what it holds may be lost in a crash. */
  readonly unlogged: string;
}

export interface SqlSession {
  query(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Milliseconds on the clock that every node of the database shares; asked for after a lock, it is the time after the wait. */
  now(): Promise<number>;
}

export interface SqlDatabase {
  readonly dialect: Dialect;
  /**
   * All of the work or none of it; durable when the promise is fulfilled. The work may be run again where the database asks
   * for it or was lost, also after a commit whose outcome is not known: it must find out what is there, and only then write.
   */
  transaction<Result>(
    work: (session: SqlSession) => Promise<Result>,
    options?: {
      /** What it writes may be lost with the machine: nobody waits until it is durable. */
      readonly mayBeLost?: boolean;
    },
  ): Promise<Result>;
  /** One statement as a transaction of its own. It may be run again as well. */
  query(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * A SELECT whose rows only lead to a later transaction, which waits for everything before it: it does not wait itself until what it
   * saw of others is durable. Whatever is answered to a client by such a row alone could be lost.
   */
  peek(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Milliseconds on the shared clock, outside of any transaction. */
  now(): Promise<number>;
  close(): Promise<void>;
}

/** Told of what a database does, after it was done. */
export interface SqlWatch {
  /** A transaction that wrote was committed. `seconds` is how long its COMMIT took. */
  onCommit?(seconds: number): void;
  /** A transaction that could not be done is tried again. */
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
  /** What may be missing. */
  optional: <T>(row: Row, name: string, read: (row: Row, name: string) => T): T | undefined =>
    row[name] === null || row[name] === undefined ? undefined : read(row, name),
} as const;
