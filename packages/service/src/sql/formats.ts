/** The formats of a database: which of them a version reads, and the steps from one to another, forward and back. */
import { StartError } from '../process/start-error.ts';

export type Application = 'server' | 'authority';

export interface DatabaseOptions {
  readonly application: Application;
  /** The first n steps create format n. Each step is SQL. Never change a released step. */
  readonly migrations: readonly string[];
  /** The SQL that takes format n back to n - 1 without losing a record, by n. A format without such SQL cannot be undone. */
  readonly undo?: Readonly<Record<number, string>>;
  /** The oldest format whose programs can go on with these tables, because later steps only add (the newest). PostgreSQL only. */
  readonly serves?: number;
  /** The oldest format whose records this version reads (every one). Older data is refused, and not changed. */
  readonly oldest?: number;
}

export interface MigrationWish {
  /** The newest format by default. */
  readonly to?: number | undefined;
  /** Every step is taken, and then taken back. */
  readonly isDryRun?: boolean;
}

export interface Migrated {
  readonly from: number;
  readonly to: number;
  /** The SQL between them. */
  readonly steps: readonly string[];
}

/** The remedy for data that another version wrote and this one does not read. */
export const OLDER_DATA_ADVICE =
  'start the version that wrote it, or create a new task from its model (docs/guides/upgrade.md)';

/** Throws if this version cannot read data of this format. 0 means that there is no data yet. */
export function checkFormat(place: string, format: number, { migrations, oldest = 0 }: DatabaseOptions): void {
  if (format > migrations.length) {
    const sentence = `${place} has format ${format}, but this version knows only formats up to ${migrations.length}`;
    throw new StartError('dataFolder', `${sentence}; start the newer version that wrote it`);
  }
  if (format > 0 && format < oldest) {
    const sentence = `${place} has format ${format}, but this version reads only formats from ${oldest}`;
    throw new StartError('dataFolder', `${sentence}. Nothing was changed; ${OLDER_DATA_ADVICE}`);
  }
}

/** Throws if this format cannot be converted to the requested format. */
export function planMigration(
  from: number,
  { migrations, undo = {}, oldest = 0 }: DatabaseOptions,
  { to = migrations.length }: MigrationWish = {},
): Migrated {
  if (to > migrations.length || to < Math.max(1, oldest))
    throw noWay(to, `this version has formats ${Math.max(1, oldest)} to ${migrations.length}`);
  if (to >= from) return { from, to, steps: migrations.slice(from, to).filter((step) => step !== '') };
  const steps = Array.from({ length: from - to }, (_, n) => undo[from - n]);
  const stuck = steps.indexOf(undefined);
  if (stuck >= 0) throw noWay(to, `format ${from - stuck} cannot be undone without losing records`);
  return { from, to, steps: steps.filter((step) => step !== undefined) };
}

function noWay(to: number, why: string): StartError {
  return new StartError('configuration', `the database cannot be changed to format ${to}: ${why}. Nothing was changed`);
}
