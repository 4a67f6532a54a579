/** One process a device: a lock file that names its holder, and is taken over where the holder is gone. */
import { readFileSync } from 'node:fs';
import { link, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../errors.ts';
import { isCode } from './durable-file.ts';

/** Folders this very process holds: a crashed one may have had the same process id. */
const held = new Set<string>();
const TRIES = 10;
/** Others that saw the same dead holder may be about to take over as well: the last one has it. */
const SETTLE_MS = 50;

/** Resolves with what gives the lock back; rejects where another living process has it. */
export async function lockDevice(folder: string): Promise<() => Promise<void>> {
  if (held.has(folder)) throw busy(folder, process.pid);
  held.add(folder);
  try {
    return await take(folder);
  } catch (error) {
    held.delete(folder);
    throw error;
  }
}

async function take(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'lock');
  const mine = `${path}.${process.pid}`;
  await writeFile(mine, nameOf(process.pid), { mode: 0o600 });
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        await link(mine, path); // fails where the lock exists: one of many wins
        if (tries > 0) await settle(folder, path);
        return async () => {
          held.delete(folder);
          await unlink(path);
        };
      } catch (error) {
        if (!isCode(error, 'EEXIST')) throw error;
      }
      const holder = await readFile(path, 'utf8').catch(() => '');
      const pid = Number(holder.split(' ')[0]);
      const isAlive = pid !== process.pid && holder !== '' && nameOf(pid) === holder;
      if (isAlive) throw busy(folder, pid);
      await unlink(path).catch(() => undefined);
    }
    throw busy(folder, 0);
  } finally {
    await unlink(mine);
  }
}

async function settle(folder: string, path: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const holder = await readFile(path, 'utf8').catch(() => '');
  if (holder !== nameOf(process.pid)) throw busy(folder, Number(holder.split(' ')[0]));
}

/** The process id with when it started, where the system tells: ids are used again. Empty for one that is gone. */
function nameOf(pid: number): string {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!isCode(error, 'EPERM')) return '';
  }
  return `${pid} ${startOf(pid)}`;
}

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function busy(folder: string, pid: number): StoreError {
  return new StoreError(
    `the device in ${folder} is in use by process ${pid}; a device runs once at a time, so give each client its own folder`,
  );
}
