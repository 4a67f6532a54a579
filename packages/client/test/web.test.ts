/** The browser half: the same client over fetch and WebCrypto, a bundle without Node, and a real browser if there is one. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { toHex } from '@basa/masking';
import { build } from 'esbuild';
import { describe, expect, it, vi } from 'vitest';
import { createIdentity, signerOf } from '../src/web/browser-store.ts';
import { BasaClient, inMemoryStoreForTests } from '../src/web/index.ts';
import { createWebTransport } from '../src/web/outside.ts';
import { deltaOf, optionsFor } from './support/connect.ts';
import { accepted, startClient, startServices, temporaryFolder } from './support/setup.ts';

async function bundle(entry: URL): Promise<string> {
  const result = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['@basa/source'],
    logLevel: 'error',
  });
  return result.outputFiles[0]?.text ?? '';
}

describe('the browser client', () => {
  it('contributes over fetch and WebCrypto to the same sum as a Node client', async () => {
    const services = await startServices({ policy: { bufferSize: 2, clip: 10 } });
    const identity = inMemoryStoreForTests(await signerOf(await createIdentity()));
    const web = await BasaClient.connect({ ...optionsFor(services), identity });
    accepted(await web.contribute(deltaOf(0), { trainedOn: (await web.model()).version }));
    accepted(await (await startClient(services)).contribute(deltaOf(1), { trainedOn: 0 }));
    const mean = deltaOf(0).map((x, k) => (x + (deltaOf(1)[k] as number)) / 2);
    const off = (await services.reached(1)).map((x, k) => Math.abs(x + (mean[k] as number)));
    expect(Math.max(...off)).toBeLessThan(1 / 512);
    await web.close();
  });

  it('has a key that WebCrypto does not export', async () => {
    const identity = await createIdentity();
    if (identity.kind !== 'webcrypto') throw new Error('this Node has no Ed25519 in WebCrypto');
    expect(identity.privateKey.extractable).toBe(false);
    for (const format of ['raw', 'pkcs8', 'jwk'] as const)
      await expect(crypto.subtle.exportKey(format, identity.privateKey)).rejects.toThrow();
  });

  it('asks without cookies, cache and referrer, and follows no redirection', async () => {
    const asked: (RequestInit | undefined)[] = [];
    vi.stubGlobal('fetch', async (_: string, init?: RequestInit) => {
      asked.push(init);
      return new Response();
    });
    try {
      const { signal } = new AbortController();
      await createWebTransport().send({ method: 'GET', url: 'https://server.test/', headers: {}, signal });
    } finally {
      vi.unstubAllGlobals();
    }
    const strict = { credentials: 'omit', cache: 'no-store', redirect: 'error', referrerPolicy: 'no-referrer' };
    expect(asked).toMatchObject([strict]);
  });

  it('signs with noble if WebCrypto has no Ed25519', async () => {
    const services = await startServices();
    const identity = inMemoryStoreForTests(await signerOf({ kind: 'noble', secretKey: new Uint8Array(32).fill(7) }));
    const web = await BasaClient.connect({ ...optionsFor(services), identity });
    accepted(await web.contribute(deltaOf(0), { trainedOn: 0 }));
    await web.close();
  });

  it('bundles without a word of Node, below 900 KB', async () => {
    const code = await bundle(new URL('../src/web/index.ts', import.meta.url));
    expect(code).not.toMatch(/["']node:|from ?["']undici|require\(["'](fs|path|crypto)["']\)/);
    expect(gzipSync(code).length).toBeLessThan(300_000);
    expect(code.length).toBeLessThan(900_000);
  });
});

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

describe.skipIf(chromium === undefined)('in a real browser', () => {
  it('a device lives in IndexedDB: locked against a second client, and resumed after an abort with its own key', async () => {
    const script = await bundle(new URL('support/browser-page.ts', import.meta.url));
    const host = await PageHost.open(script);
    const corsOrigins = [host.url];
    const services = await startServices({ server: { corsOrigins }, authority: { corsOrigins } });
    const settings = {
      server: services.serverUrl,
      authority: services.authorityUrl,
      task: services.world.task,
      authorityKey: toHex(services.authorityKey),
      token: services.tokens[0],
      floor: { minimum: 2, noNoise: true },
      delta: [...deltaOf(1)],
    };
    const report = await host.visit(settings);
    expect(report).toEqual({
      keyKind: 'webcrypto',
      second: 'StoreError',
      stopped: 'AbortError',
      isInterrupted: true,
      isSameDevice: true,
      resumed: 'accepted',
      again: 'version-given',
      kinds: [1, 2, 121],
      // A step that fails in its middle leaves nothing of itself, and takes nothing away.
      halves: ['DataCloneError', 'DataCloneError', true],
      older: expect.stringMatching(/^StoreError: .* of BASA 0.3 or older, and version 1.0 starts afresh/),
    });
  });
});

/** Opens a page with the script in a browser of its own, and resolves with what the page reports. */
class PageHost {
  readonly url: string;
  readonly #host: Server;
  #settings: object = {};
  #report: (report: unknown) => void = () => undefined;

  private constructor(host: Server, script: string) {
    this.#host = host;
    this.url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    host.on('request', async (request, response) => {
      if (request.url === '/report') {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        this.#report(JSON.parse(Buffer.concat(chunks).toString()));
      }
      const isScript = request.url === '/page.js';
      const page = `<script>window.settings = ${JSON.stringify(this.#settings)}</script><script type="module" src="/page.js"></script>`;
      response
        .writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
        .end(isScript ? script : page);
    });
  }

  static async open(script: string): Promise<PageHost> {
    const host = createServer();
    await new Promise<void>((ready) => host.listen(0, '127.0.0.1', ready));
    return new PageHost(host, script);
  }

  async visit(settings: object): Promise<unknown> {
    this.#settings = settings;
    const reported = new Promise((resolve) => {
      this.#report = resolve;
    });
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', `--user-data-dir=${temporaryFolder()}`, this.url];
    const browser = execFile(chromium as string, flags);
    try {
      return await reported;
    } finally {
      const gone = new Promise((ended) => browser.once('exit', ended));
      browser.kill();
      await gone;
      this.#host.closeAllConnections();
      this.#host.close();
    }
  }
}
