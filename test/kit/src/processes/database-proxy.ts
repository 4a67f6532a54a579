/** A proxy before a PostgreSQL. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface DatabaseProxy {
  /** The address of the database, by way of this proxy. */
  readonly url: string;
  /** Ends all connections. */
  cut(): void;
  close(): void;
}

/** `target` is asked at each connection, and `carry` moves its bytes. */
export async function databaseProxy(
  target: () => URL,
  carry: (near: Socket, far: Socket) => void,
): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const { port, hostname } = target();
    const far = connect(Number(port), hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
    }
    carry(near, far);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target());
  url.port = String((server.address() as AddressInfo).port);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut,
    close() {
      server.close();
      cut();
    },
  };
}
