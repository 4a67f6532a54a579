/** A project that installs some tarballs and nothing else: how many packages and bytes that is. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closureOf } from './closure.ts';
import type { Tarball } from './pack.ts';

export interface Installed {
  /** Names of all packages, ours and others'. */
  readonly names: readonly string[];
  readonly bytes: number;
}

/** As a person does it: the tarballs in one line. */
export function install(project: string, tarballs: readonly Tarball[]): void {
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const flags = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', [...flags, ...tarballs.map(({ file }) => file)], {
    cwd: project,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export function installedIn(project: string): Installed {
  const lock = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: object;
  };
  const names = Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, ''));
  const files = readdirSync(join(project, 'node_modules'), { recursive: true, withFileTypes: true });
  const bytes = files
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  return { names, bytes };
}

/** Names that a device has no use for: databases and what serves HTTP. */
const NOT_FOR_DEVICES = /sqlite|^pg|fastify|prom-client|opentelemetry|@basa\/(server|service|authority|cli)$/;

/** Only the client, in its own project; both of its entries load there. */
export function tryClient(tarballs: readonly Tarball[]): Installed {
  const project = mkdtempSync(join(tmpdir(), 'basa-client-alone-'));
  try {
    install(project, closureOf('@basa/client', tarballs));
    const program =
      "await import('@basa/client/node'); await import('@basa/client/web'); await import('@basa/learning')";
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: project, stdio: 'inherit' });
    const found = installedIn(project);
    const wrong = found.names.filter((name) => NOT_FOR_DEVICES.test(name));
    if (wrong.length > 0) throw new Error(`@basa/client brings ${wrong.join(', ')} along`);
    return found;
  } finally {
    rmSync(project, { recursive: true });
  }
}
