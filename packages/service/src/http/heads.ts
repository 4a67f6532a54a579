/** Heads of requests: the hosts, origins and networks that they name, and heads that are refused. */

import { isIP, isIPv6 } from 'node:net';
import { Network } from '@basa/protocol/http';
import type { FastifyInstance } from 'fastify';
import { PROBES } from './probes.ts';
import { fail } from './problems.ts';

// Rejects requests whose head a proxy and this service might read differently, or whose head is only meant to waste time.

/** Browsers send about 20 lines, and proxies add a few. Beyond 2000 Node silently drops lines. */
const MAX_HEADER_LINES = 100;

export function refuseOddHeads(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { rawHeaders, url = '' } }) => {
    if (rawHeaders.length > 2 * MAX_HEADER_LINES)
      fail('malformed', { detail: `more than ${MAX_HEADER_LINES} header lines; send fewer` });
    const hosts = rawHeaders.filter((text, n) => n % 2 === 0 && text.toLowerCase() === 'host');
    if (hosts.length > 1) fail('malformed', { detail: 'more than one Host header; send one' });
    if (!url.startsWith('/')) fail('malformed', { detail: 'the target is not a path; send one that begins with /' });
  });
}

// The host names that the service answers to. A web page can let its own name point at this address (DNS rebinding): its requests then
// count as same-origin, but they carry its name.

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
    if (known.has(name) || Network.isLoopback(name) || (isAnyAddress && isIP(name) !== 0)) return;
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

// The web pages that may send requests: those of the service itself and of the listed origins. Other programs send no origin.

/** Must be mounted before CORS, which would keep the answer from the page but not the request from the service. */
export function refuseOtherOrigins(app: FastifyInstance, allowed: readonly string[]): void {
  app.addHook('onRequest', async ({ headers }) => {
    const { origin, host } = headers;
    if (origin === undefined || allowed.includes(origin) || (host !== undefined && hostOf(origin) === host)) return;
    fail('origin-refused', { detail: origin.slice(0, 200) });
  });
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

// The network that a sender counts as: the owner of one IPv6 address has the 2^64 addresses of its /64 as well.

/** Returns an IPv4 address as it is, even if it is written as IPv6; of an IPv6 address the first 64 bits. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) {
    const [high = 0, low = 0] = groups.slice(6);
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

const GROUPS = 8;

/** Returns the eight numbers of an address. `::` replaces zeros, and the last two numbers may be written as IPv4. */
function groupsOf(address: string): readonly number[] {
  const [bare = ''] = address.split('%');
  const [before = '', after] = bare.split('::');
  const [first, last] = [numbersOf(before), numbersOf(after ?? '')];
  const missing = Array.from({ length: GROUPS - first.length - last.length }, () => 0);
  return [...first, ...missing, ...last];
}

function numbersOf(groups: string): readonly number[] {
  if (groups === '') return [];
  return groups.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

// The methods that an address accepts, so that a wrong method is distinguished from a wrong address.

/** Watches routes as they are added; the returned function returns the methods of a path. */
export function allowedMethods(app: FastifyInstance): (path: string) => readonly string[] {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:[^/]+/g, '[^/]+')}$`);
    routes.push({ pattern, methods: typeof method === 'string' ? [method] : method });
  });
  return (path) => routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods);
}
