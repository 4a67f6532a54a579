/** A version after this one, made of the same sources: the tables of both services have one step more, and the code does not know of it. */
import { readFileSync } from 'node:fs';
import { EMBEDDED_DATABASE } from '@basa/authority/internal/store/store.ts';
import { SERVER_DATABASE } from '@basa/server/internal/store/schema.ts';
import type { DatabaseOptions } from '@basa/service';
import { bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import type { TestProcessesOptions } from '@basa/testkit/processes/test-processes.ts';

/** Both services write to a table of this name with every step they take. */
const STEP = 'ALTER TABLE records ADD COLUMN of_the_next_version TEXT';
const UNDO = 'ALTER TABLE records DROP COLUMN of_the_next_version';
const FILES = /(?:server\/src\/store\/schema|authority\/src\/store\/store)\.ts$/;
const MIGRATIONS = /migrations: (migrationsFor\(\w+\))/g;

/** The tables of nodes of the server, and of an authority on its folder, in that version. */
export const NEXT_SERVER: DatabaseOptions = nextOf(SERVER_DATABASE);
export const NEXT_AUTHORITY: DatabaseOptions = nextOf(EMBEDDED_DATABASE);

function nextOf(now: DatabaseOptions): DatabaseOptions {
  const format = now.migrations.length;
  return { ...now, migrations: [...now.migrations, STEP], serves: format, undo: { ...now.undo, [format + 1]: UNDO } };
}

export function bundleNextVersion(): Promise<TestProcessesOptions['bundle']> {
  return bundleProcesses({
    changed: {
      name: 'next-version',
      plugin: {
        name: 'next-version',
        setup(bundling) {
          bundling.onLoad({ filter: FILES }, ({ path }) => {
            const text = readFileSync(path, 'utf8');
            const contents = text.replace(MIGRATIONS, `migrations: [...$1, '${STEP}']`);
            if (contents === text) throw new Error(`${path} names no migrations: the next version would be this one`);
            return { loader: 'ts', contents };
          });
        },
      },
    },
  });
}
