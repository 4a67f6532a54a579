/**
 * Which host names the service answers to. A web page can have its own name point at this address (DNS rebinding): its requests
 * count as its own origin then, but they carry its name.
 */
import { isIP } from 'node:net';
import { isLoopback } from '@basa/protocol';
import type { FastifyInstance } from 'fastify';
import { PROBES } from './probes.ts';
import { fail } from './problem.ts';

/** Listening at one of these is listening at every address of the machine. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

/** Must be mounted before anything is read or counted. Returns a function that takes the address at which the service listens. */
export function refuseOtherHosts(app: FastifyInstance, hosts: readonly string[]): (listensAt: string) => void {
  const known = new Set(hosts.map(nameOf));
  let isAnyAddress = false;
  app.addHook('onRequest', async ({ headers: { host }, routeOptions }) => {
    if (host === undefined || PROBES.has(routeOptions.url ?? '')) return;
    const name = nameOf(host);
    // Nobody can point an address elsewhere, as they can a name.
    if (known.has(name) || isLoopback(name) || (isAnyAddress && isIP(name) !== 0)) return;
    fail('host-refused', {
      detail: `${JSON.stringify(name.slice(0, 200))} is not known here; name it in \`hosts\` of this service's configuration`,
    });
  });
  return (listensAt) => {
    known.add(nameOf(listensAt));
    isAnyAddress = EVERY_ADDRESS.has(listensAt);
  };
}

/** The host of `name`, `name:port`, `[address]` or `[address]:port`, as names are compared. */
function nameOf(host: string): string {
  const [, address, name] = /^(?:\[(.*)\]|([^:]*|.*:.*:.*))(?::\d*)?$/.exec(host) ?? [];
  return (address ?? name ?? host).toLowerCase().replace(/\.$/, '');
}
