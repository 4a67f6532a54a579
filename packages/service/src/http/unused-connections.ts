/** Connections that never carried a request, because browsers open some ahead. Node does not count them as idle, so a stop would wait for them. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

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
