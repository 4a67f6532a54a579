/** The signing key of a server, made at its first start: policies name its public half. */
import { chmod, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fromHex, toHex } from '@basa/masking';
import { nodeRandomBytes } from '@basa/runtime/node';
import { StartError } from '@basa/service';
import { flushNames } from '@basa/service/durable-names';

export const KEY_FILE = 'server.key';
const KEY_BYTES = 32;

/** `mayMake`: a folder that holds tasks must already have its key. */
export async function serverKey(folder: string, { mayMake }: { readonly mayMake: boolean }): Promise<Uint8Array> {
  const path = join(folder, KEY_FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined && mayMake) return makeKey(path);
  const secret = fromHex((text ?? '').trim());
  if (secret?.length !== KEY_BYTES)
    throw new StartError('keys', `${path} is missing or is not a key; restore it from a backup`);
  await chmod(path, 0o600);
  return secret;
}

/** Writes the key completely or not at all, even if the process is killed. */
async function makeKey(path: string): Promise<Uint8Array> {
  const secret = nodeRandomBytes(KEY_BYTES);
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${toHex(secret)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  flushNames(dirname(path));
  return secret;
}
