/** Authorities and server as bundled processes on one folder, to be killed and started again at will, with a task. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuthorityOperator, hashOfToken, ServerOperator, type TaskSpecification } from '@basa/client/operator';
import { ascii, toHex } from '@basa/masking';
import { encodePolicy, type TaskPolicy } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { migrateServer } from '@basa/server';
import { kitPolicy } from '../../../../packages/cli/src/conformance/kit-policy.ts';
import { WHOLE_STEP } from '../../../../packages/cli/src/conformance/whole-step.ts';
import { startProcess, stopProcess } from '../../../../packages/cli/src/service-process.ts';
import { Balancer, type Exchange } from './balancer.ts';
import type { Bundle } from './bundle.ts';

export type Role = 'authority' | 'server';
/** The first one is called as the only one is. */
export type AuthorityName = 'authority' | `authority-${number}`;
/** A process of its own: where there are several nodes, `server` is the balancer before them. */
export type ProcessName = AuthorityName | 'server' | `node-${number}`;

interface NodesOptions {
  readonly count: number;
  readonly databaseUrl: string;
  /** A number below 1. */
  random(): number;
  onExchange?(exchange: Exchange): void;
}

export interface StageServices {
  readonly server: string;
  readonly authority: string;
  readonly authorityKey: string;
  readonly task: string;
}

export interface StageOptions {
  readonly bundle: Bundle;
  readonly policy: Partial<TaskPolicy> & Pick<TaskPolicy, 'dimension'>;
  readonly specification?: Partial<TaskSpecification>;
  readonly server?: object;
  readonly authority?: object;
  /** How many authorities (1); the policy says how many of them are needed. */
  readonly authorities?: number;
  /** Several nodes on a database whose tables are made by this. */
  readonly nodes?: NodesOptions;
}

/** Nothing is limited by default: whoever tests a limit sets it. */
const UNLIMITED = { burst: 1e9, perSecond: 1e9 };
const COMMON = { logLevel: 'warn', deviceLimit: UNLIMITED, addressLimit: UNLIMITED };

export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'basa-stage-'));
  readonly token = toHex(nodeRandomBytes(16));
  readonly urls: Record<Role, string> & Partial<Record<ProcessName, string>> = { authority: '', server: '' };
  readonly children: Partial<Record<ProcessName, ChildProcess>> = {};
  readonly #secrets: Readonly<Record<string, string>>;
  #balancer: Balancer | undefined;
  readonly #options: StageOptions;
  readonly #ending = new AbortController();
  policy!: TaskPolicy;
  task = '';
  /** With commas between them where there are several. */
  authorityKey = '';

  private constructor(options: StageOptions) {
    this.#options = options;
    const { nodes } = options;
    this.#secrets =
      nodes === undefined
        ? {}
        : { BASA_SERVER_DATABASE_URL: nodes.databaseUrl, BASA_SERVER_SIGNING_KEY: toHex(nodeRandomBytes(32)) };
    for (const name of this.authorities)
      writeFileSync(join(this.folder, `${name}.key`), nodeRandomBytes(32), { mode: 0o600 });
  }

  static async open(options: StageOptions): Promise<Stage> {
    const stage = new Stage(options);
    try {
      await Promise.all(stage.authorities.map((name) => stage.start(name)));
      stage.authorityKey = await stage.authority.publicKey();
      await stage.#startServers();
      await stage.#createTask();
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  /** Their processes, in the order of the policy. */
  get authorities(): readonly AuthorityName[] {
    const { authorities = 1 } = this.#options;
    return Array.from({ length: authorities }, (_, n) => (n === 0 ? 'authority' : (`authority-${n + 1}` as const)));
  }

  /** The addresses of all authorities, with commas between them. */
  get authorityUrl(): string {
    return this.authorities.map((name) => this.urls[name] ?? '').join(',');
  }

  /** What a device of the task connects to. */
  get services(): StageServices {
    const { authorityUrl: authority, authorityKey, task } = this;
    return { server: this.urls.server ?? '', authority, authorityKey, task };
  }

  /** The processes that are the server. */
  get servers(): readonly ProcessName[] {
    const { nodes } = this.#options;
    return nodes === undefined ? ['server'] : Array.from({ length: nodes.count }, (_, n) => `node-${n}` as const);
  }

  async #startServers(): Promise<void> {
    const { nodes } = this.#options;
    if (nodes !== undefined) {
      const file = this.#writeConfig('server');
      await migrateServer({ file, environment: { ...process.env, ...this.#secrets } });
    }
    for (const name of this.servers) await this.start(name);
    if (nodes === undefined) return;
    this.#balancer = await Balancer.open({ ...nodes, nodes: () => this.servers.map((name) => this.urls[name] ?? '') });
    this.urls.server = this.#balancer.url;
  }

  get authority(): AuthorityOperator {
    return new AuthorityOperator({ url: this.authorityUrl, token: this.token, signal: this.#ending.signal });
  }

  get server(): ServerOperator {
    return new ServerOperator({ url: this.urls.server, token: this.token, signal: this.#ending.signal });
  }

  /** `preloads` are bundled files; resolves when the service listens, always at the same address. */
  async start(name: ProcessName, environment: Readonly<Record<string, string>> = {}, preloads: readonly string[] = []) {
    const file = this.#writeConfig(name);
    const role = roleOf(name);
    this.urls[name] = await startProcess({
      name,
      command: [...preloads.flatMap((path) => ['--import', path]), this.#options.bundle.file(role), file],
      environment: { ...environment, ...(role === 'server' && this.#secrets) },
      logFile: join(this.folder, `${name}.log`),
      signal: this.#ending.signal,
      onChild: (child) => {
        this.children[name] = child;
      },
    });
  }

  #writeConfig(name: ProcessName): string {
    const file = join(this.folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(this.#config(name)), { mode: 0o600 });
    return file;
  }

  async stop(name: ProcessName): Promise<void> {
    const child = this.children[name];
    if (child !== undefined) await stopProcess(child);
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((name) => this.stop(name)));
    await Promise.all(this.authorities.map((name) => this.stop(name)));
    await this.#balancer?.close();
    this.#ending.abort();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #config(name: ProcessName): object {
    const role = roleOf(name);
    const common = {
      ...COMMON,
      dataFolder: join(this.folder, role === 'server' ? role : name),
      port: Number(new URL(this.urls[name] || 'http://x:0').port),
      operators: [
        { tokenHash: hashOfToken((bytes) => nodeSuite.sha256(bytes), this.token), roles: ['operator', 'auditor'] },
      ],
    };
    if (role === 'authority') {
      const own = { keyFile: join(this.folder, `${name}.key`), keyLimit: UNLIMITED, tickMs: 200 };
      return { ...common, ...own, ...this.#options.authority };
    }
    const { authorityUrl, authorityKey } = this;
    const own = { authorityUrl, authorityKey, tickMs: 100, maxBurntSlots: 1e9 };
    return { ...common, ...own, ...this.#options.server };
  }

  async #createTask(): Promise<void> {
    const { publicKey } = await this.server.about();
    const authorityKeys = (await this.authority.publicKeys()).map((key) => Buffer.from(key, 'hex'));
    this.policy = kitPolicy(
      { serverKey: Buffer.from(publicKey, 'hex'), authorityKeys },
      { name: ascii('under fire'), uploadLeaseMs: 20_000, openMs: 600_000, closeMs: 600_000, ...this.#options.policy },
    );
    this.task = await this.authority.createTask(this.policy);
    await this.server.createTask({
      policy: toHex(encodePolicy(this.policy)),
      serverStep: WHOLE_STEP,
      ...this.#options.specification,
    });
  }
}

function roleOf(name: ProcessName): Role {
  return name.startsWith('authority') ? 'authority' : 'server';
}
