/** Sockets in a folder as claims: one that a process listens on, and the question whether anybody does. */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../errors.ts';
import { isCode } from './durable-file.ts';

export interface Claim {
  say(state: 'claims' | 'holds'): void;
  /** Removes the socket. */
  close(): Promise<void>;
}

export type Said = 'nobody' | { readonly isHeld: boolean; readonly who: string };

/** The shortest of the systems' limits; longer paths are cut off without a word. */
const LONGEST_PATH_BYTES = 100;
/** A process may be busy or stopped: that it listens is the kernel's word, and its own only for the message. */
const PATIENCE_MS = 300;

export async function listenFor(folder: string, name: string): Promise<Claim> {
  let state = 'claims';
  const { path, handle } = await reach(folder, name);
  const server = createServer((asking) => {
    asking.on('error', () => undefined); // whoever asked has gone
    asking.end(`${state} process ${process.pid} on ${hostname()}`, () => asking.destroy());
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
    throw new StoreError(`no lock can be made in ${folder}; use a folder on a disk of this machine`, { cause: error });
  }
  return {
    say(next) {
      state = next;
    },
    async close() {
      await new Promise((resolve) => server.close(resolve));
      await handle?.close();
    },
  };
}

/** Whether anybody listens on a claim. In doubt somebody does. */
export async function askClaim(folder: string, name: string): Promise<Said> {
  const { path, handle } = await reach(folder, name);
  const socket = connect(path);
  try {
    const words = await answerOf(socket);
    return words === undefined ? 'nobody' : { isHeld: !words.startsWith('claims '), who: whoOf(words) };
  } finally {
    socket.destroy();
    await handle?.close();
  }
}

/** What it says; undefined where the kernel says that nobody listens, or the socket is gone. */
function answerOf(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    let words = '';
    socket.setEncoding('utf8').setTimeout(PATIENCE_MS);
    socket.on('data', (part) => {
      words += part;
    });
    socket.on('end', () => resolve(words));
    socket.on('timeout', () => resolve(words));
    socket.on('error', (error) => {
      resolve(isCode(error, 'ECONNREFUSED') || isCode(error, 'ENOENT') ? undefined : words);
    });
  });
}

function whoOf(words: string): string {
  return words.includes(' ') ? words.slice(words.indexOf(' ') + 1) : 'another process';
}

/** A path that fits into the address of a socket: through an open folder where the whole is too long. */
async function reach(folder: string, name: string): Promise<{ readonly path: string; readonly handle?: FileHandle }> {
  const path = folder === '' ? name : join(folder, name);
  if (folder === '' || Buffer.byteLength(path) <= LONGEST_PATH_BYTES) return { path };
  if (process.platform !== 'linux')
    throw new StoreError(`the path ${folder} is too long for a lock; use a shorter one`);
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${handle.fd}/${name}`, handle };
}
