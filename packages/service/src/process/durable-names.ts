/** `@basa/service/durable-names`: makes files durable and private, for threads that load nothing else of a service. */
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

// One flush for many callers. Callers that ask during a flush share the next flush, which starts after all their writes.

export function groupFlush(flush: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    const flushing = flush().finally(() => {
      if (running === flushing) running = undefined;
    });
    running = flushing;
    return flushing;
  };
  return () => {
    if (next !== undefined) return next;
    if (running === undefined) return begin();
    next = running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  };
}

// Files and folders that only their owner can access, even if they were made before with other rights.

/** Its name, and those of the parents made with it, survive a power cut from then on. */
export function makePrivateFolder(path: string): void {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 });
  keepPrivate(path);
  const first = resolve(made ?? path);
  for (let at = resolve(path); ; at = dirname(at)) {
    flushNames(dirname(at));
    if (at === first) return;
  }
}

/** Makes creations, renames and removals in the folder survive a power cut. Windows cannot open folders and does not need this. */
export function flushNames(folder: string): void {
  if (process.platform === 'win32') return;
  let opened: number;
  try {
    opened = openSync(folder, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return; // belongs to others and already exists
    throw error;
  }
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** SQLite would make it as the umask allows, and its log and shared memory like the file they belong to. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  keepPrivate(path);
}

/** Removes the access of everyone but the owner, if the file exists and is ours. */
export function keepPrivate(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error; // it belongs to another user
  }
}
