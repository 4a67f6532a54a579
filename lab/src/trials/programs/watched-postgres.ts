/** Changes the driver of PostgreSQL in a bundle so that it tells of every commit that wrote something, and into which tables. */
import pg from 'pg';
import { passMoment } from './pass.ts';

type Query = (this: object, text: unknown, ...more: readonly unknown[]) => unknown;

/** The tables that the open transaction of a connection has written to. */
const open = new WeakMap<object, Set<string>>();
const real = pg.Client.prototype.query as unknown as Query;

const watched: Query = function (text, ...more) {
  const label = typeof text === 'string' ? commitOf(this, text) : undefined;
  if (label === undefined) return real.call(this, text, ...more);
  passMoment(`before ${label}`);
  const result = real.call(this, text, ...more);
  if (result instanceof Promise)
    result.then(
      () => passMoment(`after ${label}`),
      () => {},
    );
  return result;
};
Object.assign(pg.Client.prototype, { query: watched });

/** Returns the tables that the statement makes durable, if any. */
function commitOf(connection: object, text: string): string | undefined {
  if (text === 'BEGIN') open.set(connection, new Set());
  const written = open.get(connection);
  if (text === 'COMMIT' || text === 'ROLLBACK') open.delete(connection);
  if (text === 'COMMIT') return written?.size ? `commit ${[...written].sort().join('+')}` : undefined;
  const [, table] = /^\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)/i.exec(text) ?? [];
  if (table === undefined) return undefined;
  if (written === undefined) return `commit ${table}`;
  written.add(table);
  return undefined;
}
