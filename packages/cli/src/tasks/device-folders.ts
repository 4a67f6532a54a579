/** The folders of devices on this machine, by the keys of the devices. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

const KEY_FILE = 'identity.key';
const KEY_BYTES = 32;
/** `devices/<task>/<n>` of a new project is three levels down. */
const MAX_DEPTH = 4;

/** Looks below `root`; returns the folder of each device key, relative to the current folder. */
export async function deviceFolders(root: string): Promise<ReadonlyMap<string, string>> {
  const { createNodeSigner } = await import('@basa/runtime/node');
  const { toHex } = await import('@basa/masking');
  const found = new Map<string, string>();
  for (const folder of await foldersBelow(resolve(root), MAX_DEPTH)) {
    const secretKey = await readFile(join(folder, KEY_FILE)).catch(() => undefined);
    if (secretKey?.length !== KEY_BYTES) continue;
    const { publicKey } = createNodeSigner(secretKey);
    secretKey.fill(0);
    found.set(toHex(publicKey), relative('.', folder) || '.');
  }
  return found;
}

/** Folders with a device key; unreadable folders are left out. */
async function foldersBelow(folder: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  if (entries.some(({ name }) => name === KEY_FILE)) return [folder];
  if (depth === 0) return [];
  const inner = entries.filter(
    (entry) => entry.isDirectory() && entry.name !== 'node_modules' && entry.name !== '.git',
  );
  return (await Promise.all(inner.map(({ name }) => foldersBelow(join(folder, name), depth - 1)))).flat();
}
