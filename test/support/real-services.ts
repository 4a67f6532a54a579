/** Both services as they are, in this process, on folders of their own: what clients are tested against end to end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Authority } from '@basa/authority';
import { createAuthority } from '@basa/authority';
import type { Model } from '@basa/learning';
import { manifestText } from '@basa/learning';
import { ascii, RING_32, toHex } from '@basa/masking';
import type { TaskPolicy } from '@basa/protocol';
import { AUTHORITY_PATH, ENGINE, encodePolicy, SERVER_PATH, taskIdOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { RunningServer } from '@basa/server';
import { startServer } from '@basa/server';

const TOKEN = 'operator-of-this-test';
const operators = [{ tokenHash: toHex(nodeSuite.sha256(ascii(TOKEN))), roles: ['operator' as const] }];
const PASSPHRASE = 'only for this test';

export interface RealOptions {
  readonly bufferSize?: number;
  readonly minimum?: number;
  readonly mode?: 'sealed' | 'paper';
  readonly uploadLeaseMs?: number;
  readonly corsOrigins?: readonly string[];
  readonly stallMs?: number;
}

export class RealServices {
  readonly folder = mkdtempSync(join(tmpdir(), 'basa-services-'));
  readonly #model: Model;
  readonly #options: RealOptions;
  #authority: Authority | undefined;
  #server: RunningServer | undefined;
  #ports = { authority: 0, server: 0 };
  task = '';

  constructor(model: Model, options: RealOptions = {}) {
    this.#model = model;
    this.#options = options;
  }

  get authority(): Authority {
    if (this.#authority === undefined) throw new Error('the authority is down');
    return this.#authority;
  }

  get server(): RunningServer {
    if (this.#server === undefined) throw new Error('the server is down');
    return this.#server;
  }

  async start(): Promise<this> {
    await this.startAuthority();
    await this.startServer();
    const policy = encodePolicy(this.#policy());
    await this.ask(this.authority.url, AUTHORITY_PATH.tasks, policy);
    const model = {
      name: this.#model.name,
      input: this.#model.input,
      layers: this.#model.layers.map(({ layer }) => layer),
    };
    const { mode = 'sealed', stallMs = 60_000 } = this.#options;
    const training = { epochs: 1, batch: 4, rate: 0.05 };
    const specification = { policy: toHex(policy), mode, model, initial: { seed: 1 }, training, stallMs };
    await this.ask(this.server.url, SERVER_PATH.tasks, specification);
    return this;
  }

  async startAuthority(): Promise<void> {
    this.#authority = await createAuthority({
      dataFolder: join(this.folder, 'authority'),
      secret: { passphrase: PASSPHRASE },
      listen: { host: '127.0.0.1', port: this.#ports.authority },
      unsafePaperMode: true,
      operators,
      corsOrigins: this.#options.corsOrigins ?? [],
    });
    this.#ports = { ...this.#ports, authority: Number(new URL(this.#authority.url).port) };
  }

  async startServer(): Promise<void> {
    const { url, publicKey } = this.authority;
    this.#server = await startServer({
      dataFolder: join(this.folder, 'server'),
      authority: { url, publicKey },
      listen: { host: '127.0.0.1', port: this.#ports.server },
      operators,
      corsOrigins: this.#options.corsOrigins ?? [],
      unsafePaperMode: true,
      tickMs: 100,
    });
    this.#ports = { ...this.#ports, server: Number(new URL(this.#server.url).port) };
  }

  async stopServer(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
  }

  async stopAuthority(): Promise<void> {
    await this.#authority?.close();
    this.#authority = undefined;
  }

  async stop(): Promise<void> {
    await this.stopServer();
    await this.stopAuthority();
    rmSync(this.folder, { recursive: true });
  }

  /** What a new device needs to connect. */
  async invitation() {
    const asked = { count: 1, endsAt: Date.now() + 60_000 };
    const { tokens } = (await this.ask(this.authority.url, AUTHORITY_PATH.tokens(this.task), asked)) as {
      tokens: string[];
    };
    const [server, authority] = [this.server.url, this.authority.url];
    const authorityKey = toHex(this.authority.publicKey);
    return { server, authority, task: this.task, authorityKey, token: tokens[0] ?? '' };
  }

  /** As the operator. */
  async ask(url: string, path: string, body: object | Uint8Array): Promise<unknown> {
    const isBytes = body instanceof Uint8Array;
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': isBytes ? 'application/octet-stream' : 'application/json',
      },
      body: isBytes ? Buffer.from(body) : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  }

  #policy(): TaskPolicy {
    const { bufferSize = 3, minimum = 2, uploadLeaseMs = 30_000 } = this.#options;
    const policy: TaskPolicy = {
      name: ascii('real services'),
      engine: ENGINE.cpAbe,
      bufferSize,
      minimum,
      dimension: this.#model.dimension,
      modulus: RING_32,
      level: 65_536,
      clip: 4,
      staleness: { kind: 'polynomial', exponent: 0.5 },
      maxStaleness: 10,
      manifestHash: nodeSuite.sha256(ascii(manifestText(this.#model))),
      serverKey: this.server.publicKey,
      uploadLeaseMs,
      openMs: 60_000,
      closeMs: 60_000,
    };
    this.task = toHex(taskIdOf(nodeSuite, policy));
    return policy;
  }
}
