/** The process that uses a data folder, for the message to the next one. The lock itself is the system's (sql/database.ts). */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

const FILE = 'basa.pid';

/** Called with the lock held. Errors of a full or read-only disk are ignored: later writes report them. */
export function nameHolder(folder: string): void {
  try {
    writeFileSync(join(folder, FILE), JSON.stringify({ pid: process.pid, host: hostname() }), { mode: 0o600 });
  } catch {}
}

export function forgetHolder(folder: string): void {
  rmSync(join(folder, FILE), { force: true });
}

/** The sentence for the process that comes second. */
export function inUseBy(folder: string): string {
  const { pid, host } = read(folder) ?? {};
  if (pid === undefined) return `${folder} is in use by another process; stop it, or use another folder`;
  if (pid === process.pid && host === hostname()) return `${folder} is already in use by this process`;
  const isHere = host === hostname();
  const who = isHere ? `process ${pid}` : `process ${pid} on ${host}`;
  const stop = isHere && process.platform !== 'win32' ? `stop it (kill ${pid})` : 'stop it there';
  return `${folder} is in use by ${who}; ${stop}, or use another folder`;
}

/** Undefined if it was not written yet, or if it is left from a process of this machine that was killed. */
function read(folder: string): { readonly pid: number; readonly host: string } | undefined {
  try {
    const { pid, host } = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as { pid?: unknown; host?: unknown };
    if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
    return host !== hostname() || isAlive(pid) ? { pid, host } : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // the process belongs to another user
  }
}
