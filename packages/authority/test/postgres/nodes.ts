/** Several nodes of one authority on one PostgreSQL: how they start, what lies behind their back, what their log says. */

import { AUTHORITY_PATH } from '@basa/protocol';
import { openPostgres, type SqlDatabase } from '@basa/service';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { type Authority, type LogReport, verifyLog } from '../../src/index.ts';
import { AUTHORITY_DATABASE } from '../../src/store/store.ts';
import { ask } from '../asking.ts';
import { AUDITOR, authorityPostgres, cleanUp, type Home, nodeOf, start } from '../homes.ts';

type Postgres = Awaited<ReturnType<typeof authorityPostgres>>;

export interface AuthorityNodes {
  postgres(): Postgres;
  /** The database behind the back of its nodes. */
  backdoor(home: Home): Promise<SqlDatabase>;
  /** Runs after the test. */
  atEnd(end: () => unknown): void;
}

/** A PostgreSQL for the tests of a file, and what ends with each of them. */
export function authorityNodes(): AuthorityNodes {
  let postgres: Postgres | undefined;
  beforeAll(async () => {
    postgres = await authorityPostgres();
  });
  afterAll(() => postgres?.remove());
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    vi.restoreAllMocks();
    await cleanUp();
    for (const end of ends.splice(0)) await end();
  });
  return {
    postgres() {
      if (postgres === undefined) throw new Error('PostgreSQL has not started');
      return postgres;
    },
    async backdoor({ databaseUrl: url = '' }) {
      const database = await openPostgres({ url, ...AUTHORITY_DATABASE });
      ends.push(() => database.close());
      return database;
    },
    atEnd: (end) => void ends.push(end),
  };
}

export async function startNodes(home: Home, count: number): Promise<readonly [Authority, Authority, ...Authority[]]> {
  const nodes = await Promise.all(Array.from({ length: count }, (_, n) => start(nodeOf(home, `node-${n}`))));
  return nodes as unknown as readonly [Authority, Authority, ...Authority[]];
}

export async function logOf(node: Authority): Promise<LogReport> {
  const log = await ask(node, AUTHORITY_PATH.log, { token: AUDITOR });
  return verifyLog(log.bytes, node.publicKey);
}
