/** Homes of authorities in these tests: a folder each; all is removed at the end. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { type Authority, type AuthorityOptions, createAuthority } from '../src/index.ts';

export const OPERATOR = 'operator-token';
export const AUDITOR = 'auditor-token';
const tokenHash = (token: string): string => toHex(nodeSuite.sha256(Buffer.from(token)));
export const OPERATORS = [
  { tokenHash: tokenHash(OPERATOR), roles: ['tasks', 'enrol', 'revoke', 'admin'] },
  { tokenHash: tokenHash(AUDITOR), roles: ['metrics'] },
] as const;

/** The hand of the clock in these tests. */
export const time = { now: 1_800_000_000_000 };

export interface Home {
  readonly root: string;
  readonly dataFolder: string;
  readonly keyFile: string;
}

/** A home for one authority that has none yet. */
export type NewHome = () => Promise<Home>;

/** A folder for one authority: its data, its key file. */
export function freshHome(): Home {
  const root = mkdtempSync(join(tmpdir(), 'basa-authority-'));
  homes.push(root);
  const keyFile = join(root, 'key');
  writeFileSync(keyFile, nodeRandomBytes(32), { mode: 0o600 });
  return { root, dataFolder: join(root, 'data'), keyFile };
}
const homes: string[] = [];
const running = new Set<Authority>();

export async function start(home: Omit<Home, 'root'>, more: Partial<AuthorityOptions> = {}): Promise<Authority> {
  const authority = await createAuthority({
    dataFolder: home.dataFolder,
    secret: { keyFile: home.keyFile },
    clock: () => time.now,
    tickMs: 1e9,
    workers: 1,
    keyLimit: { burst: 1000, perSecond: 1000 },
    operators: OPERATORS,
    ...more,
  });
  running.add(authority);
  return authority;
}

export async function stop(authority: Authority): Promise<void> {
  running.delete(authority);
  await authority.close();
}

export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop));
}

export async function cleanUp(): Promise<void> {
  await stopAll();
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
}
