/** Files and folders for their owner alone, also where they were made before with other rights. */
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';

export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  keepPrivate(path);
}

/** SQLite would make it as the umask allows, and its log and shared memory like the file they belong to. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  keepPrivate(path);
}

/** Takes away what others than the owner may do with it, where it is there and ours. */
export function keepPrivate(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error; // its owner is another
  }
}
