/** Files that are complete after a crash or do not exist, and that only their owner can read. */
import { mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Creates the folder if it is missing. From then on its name, and those of the parents made with it, are durable. */
export async function makeFolder(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 });
  const first = made === undefined ? resolve(path) : resolve(made);
  for (let at = resolve(path); ; at = dirname(at)) {
    await syncFolder(dirname(at)).catch((error: unknown) => {
      if (!isCode(error, 'EACCES')) throw error; // a folder of another user, which exists permanently
    });
    if (at === first) return;
  }
}

/** Writes and syncs; the caller renames it to its final name. */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Replaces the content in one step. */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  await writeDurably(newName(path), bytes);
  await rename(newName(path), path);
  await syncFolder(dirname(path));
}

/** The name of new content that is not complete yet. */
export function newName(path: string): string {
  return `${path}.new`;
}

export async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export async function removeIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!isCode(error, 'ENOENT')) throw error;
  });
}

/** Overwrites before it removes: best effort, a disk may keep copies. */
export async function wipeFile(path: string): Promise<void> {
  try {
    const file = await open(path, 'r+');
    const { size } = await file.stat();
    await file.write(new Uint8Array(size), 0, size, 0);
    await file.datasync();
    await file.close();
    await unlink(path);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
}

/** A rename is durable when its folder is flushed. Windows cannot open folders and does not need this. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
