/**
 * Web pages from a folder, unchanged, under a policy that lets them load and call only this server and the authorities. The folder is read
 * once, and other addresses are never looked up on disk.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { type PageSettings, SERVER_PATH } from '@basa/protocol';
import { StartError } from '@basa/service';
import type { RouteContext } from './context.ts';

export interface PageOptions {
  /** Holds index.html and everything it needs. */
  readonly folder: string;
  /** Holds shares of data (safetensors) that a page may train on, served below /shares/. */
  readonly sharesFolder?: string;
  /** The addresses of the authorities for pages, if they differ from the server's; in the same order. */
  readonly authorityUrls?: readonly string[];
  /** Holds enrolment tokens that are handed out to visitors of a page (page-tokens.ts). */
  readonly tokensFolder?: string;
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

export function mountPages(context: RouteContext, pages: PageOptions, serverSideUrls: readonly string[]): void {
  const { app, requireRole } = context.service;
  const authorities = (pages.authorityUrls ?? serverSideUrls).map((url) => new URL(url).origin);
  const headers = securityHeaders(authorities);
  const own = filesBelow(pages.folder, '/');
  const shared = pages.sharesFolder === undefined ? [] : filesBelow(pages.sharesFolder, SHARES);
  const settings: PageSettings = {
    authority: authorities.join(','),
    shares: shared.map(({ address }) => address),
    handsOutTokens: pages.tokensFolder !== undefined,
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
function securityHeaders(authorities: readonly string[]): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'self'",
    "script-src 'self' 'wasm-unsafe-eval'",
    `connect-src 'self' ${authorities.join(' ')}`,
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
