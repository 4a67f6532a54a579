/** A proxy before a PostgreSQL that cuts a connection at the worst moment: the commit is durable, and nobody is told. */
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

export interface CuttingProxy {
  /** The address of the database, by way of this proxy. */
  readonly url: string;
  /** How many answers to a commit will be lost. */
  cutCommits: number;
  close(): void;
}

/** The tag that PostgreSQL answers a commit with. */
const COMMITTED = Buffer.from('COMMIT\0');

export async function cuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => {
      if (proxy.cutCommits > 0 && bytes.includes(COMMITTED)) {
        proxy.cutCommits--;
        near.destroy();
      } else near.write(bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  const proxy: CuttingProxy = {
    url: url.href,
    cutCommits: 0,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return proxy;
}
