/**
 * The host names that the service answers to. A web page can let its own name point at this address (DNS rebinding):
 * its requests then count as same-origin, but they carry its name.
 */
import { isIP } from 'node:net';
import { isLoopback } from '@basa/protocol';
import type { FastifyInstance } from 'fastify';
import { PROBES } from './probes.ts';
import { fail } from './problem.ts';

/** Listening at one of these means listening at every address of the machine. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

/** Must be mounted before anything is read or counted. Returns a function that takes the address at which the service listens. */
export function refuseOtherHosts(app: FastifyInstance, hosts: readonly string[]): (listensAt: string) => void {
  const known = new Set(hosts.map(nameOf));
  let isAnyAddress = false;
  app.addHook('onRequest', async ({ headers: { host }, routeOptions }) => {
    if (host === undefined || PROBES.has(routeOptions.url ?? '')) return;
    const name = nameOf(host);
    // A name can be pointed elsewhere; an IP address cannot.
    if (known.has(name) || isLoopback(name) || (isAnyAddress && isIP(name) !== 0)) return;
    fail('host-refused', {
      detail: `${JSON.stringify(name.slice(0, 200))} is not a known host name; add it to \`hosts\` in the configuration of the service`,
    });
  });
  return (listensAt) => {
    known.add(nameOf(listensAt));
    isAnyAddress = EVERY_ADDRESS.has(listensAt);
  };
}

/** Returns the host of `name`, `name:port`, `[address]` or `[address]:port`, normalised for comparison. */
function nameOf(host: string): string {
  const [, address, name] = /^(?:\[(.*)\]|([^:]*|.*:.*:.*))(?::\d*)?$/.exec(host) ?? [];
  return (address ?? name ?? host).toLowerCase().replace(/\.$/, '');
}
