/** SQLite as the services know it, which tells of every commit that wrote something, and into which tables. */
import { type DatabaseSyncInstance, DatabaseSync as RealDatabase } from '@photostructure/sqlite';
import { passMoment } from './pass.ts';

/** The tables that the open transaction has written to. */
const written = new Set<string>();
type Statement = ReturnType<DatabaseSyncInstance['prepare']>;

export class DatabaseSync extends RealDatabase {
  override prepare(text: string): Statement {
    const statement = super.prepare(text);
    const [, table] = /^\s*(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+(\w+)/i.exec(text) ?? [];
    if (table === undefined) return statement;
    for (const name of ['run', 'all', 'get'] as const) {
      const real = statement[name].bind(statement) as (...values: readonly unknown[]) => unknown;
      const value = (...values: readonly unknown[]): unknown => {
        written.add(table);
        return real(...values);
      };
      Object.defineProperty(statement, name, { value });
    }
    return statement;
  }

  override exec(text: string): void {
    if (text.startsWith('BEGIN')) written.clear();
    const label = text === 'COMMIT' && written.size > 0 ? `commit ${[...written].sort().join('+')}` : undefined;
    if (label !== undefined) passMoment(`before ${label}`);
    super.exec(text);
    if (label !== undefined) passMoment(`after ${label}`);
  }
}
