/** A small balancer in front of nodes on this machine, for development: each request goes to the next node that answers. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

/** The time for which a node that did not answer is skipped. */
const PAUSE_MS = 1_000;

export async function startBalancer(targets: readonly string[], port: number): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  const silentUntil = new Map<string, number>();
  let turn = 0;
  const next = (): string => {
    const awake = targets.filter((target) => (silentUntil.get(target) ?? 0) <= Date.now());
    const choice = awake.length > 0 ? awake : targets;
    return choice[turn++ % choice.length] as string;
  };
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const target = next();
    const onward = request(new URL(incoming.url ?? '/', target), {
      agent,
      method: incoming.method,
      headers: { ...incoming.headers, 'x-forwarded-for': incoming.socket.remoteAddress },
    });
    onward.on('continue', () => outgoing.writeContinue());
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => {
      silentUntil.set(target, Date.now() + PAUSE_MS);
      // The node may have processed the request. Clients repeat it themselves, with the same bytes.
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(503, { 'retry-after': '1' }).end();
    });
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  };
  const server = createServer(pass).on('checkContinue', pass);
  server.requestTimeout = 0;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      agent.destroy();
    },
  };
}
