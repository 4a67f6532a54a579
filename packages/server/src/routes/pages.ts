/** Web pages, their stream of events, and their enrolment tokens. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, unlink } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { type Live, SERVER_PATH } from '@basa/protocol/http';
import { fail, networkOf, StartError } from '@basa/service';
import { MAX_STREAMS_OF_NETWORK, StreamPlaces, streamEvents } from '../live/event-stream.ts';
import { foundTask, type Readers, type RouteContext, taskParams } from './context.ts';

export interface PageOptions {
  /** Holds index.html and everything it needs. */
  readonly folder: string;
  /** Holds shares of data (safetensors) that a page may train on, served below /shares/. */
  readonly sharesFolder?: string | undefined;
  /** The addresses of the authorities for pages, if they differ from the server's; in the same order. */
  readonly authorityUrls?: readonly string[] | undefined;
  /** Holds enrolment tokens that are handed out to visitors of a page (page-tokens.ts). */
  readonly tokensFolder?: string | undefined;
  /** The provider at which operators sign in from the page. */
  readonly signIn?: Live.PageSettings['signIn'] | undefined;
  /** Those of its endpoints that pages may ask, besides that of the issuer. */
  readonly signInOrigins?: readonly string[];
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.safetensors': 'application/octet-stream',
};
const SHARES = '/shares/';
/** Pages are not part of the API. */
const schema = { hide: true, response: {} };

/**
 * Web pages from a folder, unchanged, under a policy that lets them load and call only this server, the authorities and the provider of sign-ins. The folder is read
 * once, and other addresses are never looked up on disk.
 */
export function mountPages(context: RouteContext, pages: PageOptions): void {
  const { app, requireRole } = context.service;
  const authorities = (pages.authorityUrls ?? context.links.map(({ url }) => url)).map((url) => new URL(url).origin);
  const { signIn, signInOrigins = [] } = pages;
  const providers = signIn === undefined ? [] : [signIn.issuer, ...signInOrigins];
  const headers = securityHeaders([...authorities, ...providers.map((url) => new URL(url).origin)]);
  const own = filesBelow(pages.folder, '/');
  const shared = pages.sharesFolder === undefined ? [] : filesBelow(pages.sharesFolder, SHARES);
  const settings: Live.PageSettings = {
    authority: authorities.join(','),
    shares: shared.map(({ address }) => address),
    handsOutTokens: pages.tokensFolder !== undefined,
    ...(signIn !== undefined && { signIn }),
  };
  app.get(SERVER_PATH.page, { schema }, async () => settings);
  app.get(SERVER_PATH.pageLogin, { schema, onRequest: requireRole('operator', 'auditor') }, async () => ({}));
  for (const { address, path, type } of [...own, ...shared]) {
    const body = readFileSync(path);
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
    const addresses = address === '/index.html' ? ['/', address] : [address];
    for (const url of addresses) {
      app.get(url, { schema }, async (request, reply) => {
        reply.headers({ ...headers, etag, 'cache-control': 'no-cache' });
        if (request.headers['if-none-match'] === etag) return reply.code(304).send(new Uint8Array());
        return reply.type(type).send(body);
      });
    }
  }
}

/** `wasm-unsafe-eval` lets WebAssembly compile; nothing else that could run text as code is allowed. */
function securityHeaders(others: readonly string[]): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'self'",
    "script-src 'self' 'wasm-unsafe-eval'",
    `connect-src 'self' ${others.join(' ')}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}

interface PageFile {
  readonly address: string;
  readonly path: string;
  readonly type: string;
}

function filesBelow(folder: string, base: string): readonly PageFile[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch (error) {
    throw new StartError('configuration', `configuration: the pages cannot be read: ${(error as Error).message}`);
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    const type = MEDIA_TYPES[extname(name)];
    return type === undefined ? [] : [{ address: base + relative(folder, path).split(sep).join('/'), path, type }];
  });
}

/**
 * Enrolment tokens for visitors of a page, so that trying things out takes one click. A token is an empty file in a folder named after its
 * task. Removing the file assigns the token to only one page, even with several nodes.
 */
export function mountPageTokens({ service }: RouteContext, folder: string): void {
  const schema = { params: taskParams, hide: true, response: {} };
  service.app.post(SERVER_PATH.pageTokens(':task'), { schema }, async ({ params }) => ({
    token: (await takeToken(join(folder, params.task))) ?? fail('not-found', { detail: 'no enrolment token is left' }),
  }));
}

async function takeToken(folder: string): Promise<string | undefined> {
  for (const token of await readdir(folder).catch(() => [])) {
    const isOurs = await unlink(join(folder, token)).then(
      () => true,
      () => false,
    );
    if (isOurs) return token;
  }
  return undefined;
}

const ASK_AGAIN_MS = 10_000;
const NO_ROOM = {
  'network-full': `${MAX_STREAMS_OF_NETWORK} event streams from this address are open; close some pages. If the server is behind a proxy, set \`trustedProxies\` in its configuration`,
  'all-full': 'the server cannot open another event stream now; try again later',
} as const;

/** The event stream of a task, for its readers. */
export function mountEvents(context: RouteContext, { require: onRequest }: Readers): void {
  const { service, live } = context;
  const { app } = service;
  const places = new StreamPlaces();
  app.addHook('preClose', async () => places.endAll());
  const schema = { params: taskParams, hide: true };
  app.get(SERVER_PATH.events(':task'), { onRequest, schema }, async ({ params, ip, method }, reply) => {
    const task = await foundTask(context, params.task);
    if (method === 'HEAD') return reply.type('text/event-stream').header('cache-control', 'no-store').send('');
    const { raw } = reply;
    if (raw.destroyed) return reply.hijack(); // the listener has already left, and no further event would report it
    const network = networkOf(ip);
    const room = places.makeRoom(network);
    if (room !== 'free') fail('rate-limited', { detail: NO_ROOM[room], retryAfterMs: ASK_AGAIN_MS });
    reply.hijack();
    const end = streamEvents(raw, {
      live,
      versions: (from) => live.versions(task, from),
      state: (versions) => live.state(task, versions),
    });
    raw.once('close', places.take(network, end));
  });
}
