/** Listens at an address, with a sentence if that fails, and ends the connections that nobody uses. */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { StartError } from '../process/start-error.ts';

export interface Address {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/**
 * The queue of connections that the system holds until they are accepted; it may hold fewer (`net.core.somaxconn` of
 * Linux). Node asks for 511, and connections of a burst above that are cut off without an answer.
 */
const MAX_WAITING = 4096;

/** Returns the address as a URL. */
export async function listen(app: FastifyInstance, { host, port }: Address): Promise<string> {
  try {
    return await app.listen({ host, port, backlog: MAX_WAITING });
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === 'EADDRINUSE') {
      throw new StartError(
        'address',
        `port ${port} of ${host} is in use; stop the program that uses it, or choose another port (basa dev: --server-port, --authority-port)`,
      );
    }
    if (code === 'EACCES') {
      throw new StartError('address', `you are not permitted to use port ${port} of ${host}; choose a port above 1023`);
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new StartError('address', `${host} is not an address of this machine; check the setting host`);
    }
    throw error;
  }
}

// Connections that never carried a request, because browsers open some ahead. Node does not count them as idle, so a stop would wait for
// them.

/** Returns a function that ends them. */
export function unusedConnections({ server }: FastifyInstance, isTls: boolean): () => void {
  const unused = new Set<Socket>();
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage) => unused.delete(socket));
  return () => {
    for (const socket of unused) socket.destroy();
  };
}
