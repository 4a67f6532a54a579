/** The format of a database: which one this version reads, and the sentences about all others. */
import { StartError } from '../process/start-error.ts';

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
