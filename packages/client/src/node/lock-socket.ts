/** Sockets in a folder as claims: listens on one, and asks whether a process listens on another. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../errors.ts';
import { isCode } from './durable-file.ts';

export interface Claim {
  /** Removes the socket. */
  close(): Promise<void>;
}

/** The shortest of the systems' limits; longer paths are cut off silently. */
const LONGEST_PATH_BYTES = 100;
/** A process may be busy or stopped: the kernel tells that it listens; its own name is only for the message. */
const PATIENCE_MS = 300;

/** A process that connects gets the identity of this process. */
export async function listenFor(folder: string, name: string): Promise<Claim> {
  const { path, handle } = await reach(folder, name);
  const server = createServer((asking) => {
    asking.on('error', () => undefined); // the process that asked has gone
    asking.end(`process ${process.pid} on ${hostname()}`, () => asking.destroy());
  });
  server.unref();
  try {
    await new Promise<void>((resolve, reject) => {
      // Exclusive: in a worker of node:cluster the socket would otherwise be the primary's, and outlive the worker.
      server.once('error', reject).listen({ path, exclusive: true }, resolve);
    });
  } catch (error) {
    await handle?.close();
    if (isCode(error, 'EADDRINUSE') || folder === '') throw error;
    throw new StoreError(`a lock cannot be created in ${folder}; use a folder on a local disk`, { cause: error });
  }
  return {
    async close() {
      await new Promise((resolve) => server.close(resolve));
      await handle?.close();
    },
  };
}

/** True if a process listens on a claim. In doubt returns true. */
export async function isListening(folder: string, name: string): Promise<boolean> {
  return (await ask(folder, name, 'connect')) !== undefined;
}

/** Returns the name of the process that listens on a claim, if it tells. */
export async function nameOf(folder: string, name: string): Promise<string> {
  return (await ask(folder, name, 'end')) || 'another process';
}

/** Returns the text received until then; undefined if the kernel says that no process listens, or the socket is gone. */
async function ask(folder: string, name: string, until: 'connect' | 'end'): Promise<string | undefined> {
  const { path, handle } = await reach(folder, name);
  const socket = connect(path);
  try {
    return await new Promise((resolve) => {
      let words = '';
      socket.setEncoding('utf8').setTimeout(PATIENCE_MS);
      socket.on('data', (part) => {
        words += part;
      });
      socket.on(until, () => resolve(words));
      socket.on('timeout', () => resolve(words));
      socket.on('error', (error) => {
        resolve(isCode(error, 'ECONNREFUSED') || isCode(error, 'ENOENT') ? undefined : words);
      });
    });
  } finally {
    socket.destroy();
    await handle?.close();
  }
}

/** A path that fits into the address of a socket: through an open folder if the whole path is too long. */
async function reach(folder: string, name: string): Promise<{ readonly path: string; readonly handle?: FileHandle }> {
  const path = folder === '' ? name : join(folder, name);
  if (folder === '' || Buffer.byteLength(path) <= LONGEST_PATH_BYTES) return { path };
  if (process.platform !== 'linux')
    throw new StoreError(`the path ${folder} is too long for a lock; use a shorter path`);
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${handle.fd}/${name}`, handle };
}
