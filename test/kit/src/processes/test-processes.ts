/** Authorities and server as bundled processes on one folder, to be killed and restarted at will, with a task. */
import type { ChildProcess } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authorityNames, type Role, ServiceProcesses } from '@basa/cli/internal/local/service-process.ts';
import { AuthorityOperator, ServerOperator, type TaskSpecification, tokenForAll } from '@basa/client/operator';
import { kitPolicy } from '@basa/conformance/kit-policy.ts';
import { WHOLE_STEP } from '@basa/conformance/whole-step.ts';
import { ascii, toHex } from '@basa/masking';
import { TaskPolicy } from '@basa/protocol/policy';
import { nodeRandomBytes } from '@basa/runtime/node';
import { createServerTables } from '@basa/server';
import { Balancer, type Exchange } from './balancer.ts';
import type { Bundle } from './bundle.ts';

/** The first one has the name of a single authority. */
export type AuthorityName = 'authority' | `authority-${number}`;
/** A separate process: if there are several nodes, `server` is the balancer in front of them. */
export type ProcessName = AuthorityName | 'server' | `node-${number}`;

interface NodesOptions {
  readonly count: number;
  readonly databaseUrl: string;
  /** A number below 1. */
  random(): number;
  onExchange?(exchange: Exchange): void;
}

export interface DeviceServices {
  readonly server: string;
  readonly authority: string;
  readonly authorityKey: string;
  readonly task: string;
}

export interface TestProcessesOptions {
  readonly bundle: Bundle;
  readonly policy: Partial<TaskPolicy> & Pick<TaskPolicy, 'dimension'>;
  readonly specification?: Partial<TaskSpecification>;
  readonly server?: object;
  readonly authority?: object;
  /** The number of authorities (1); the policy sets how many of them are needed. */
  readonly authorities?: number;
  /** Several nodes on a database whose tables are made by this. */
  readonly nodes?: NodesOptions;
}

/** There are no limits by default: a test of a limit sets it. */
const UNLIMITED = { burst: 1e9, perSecond: 1e9 };
const COMMON = { logLevel: 'warn', deviceLimit: UNLIMITED, addressLimit: UNLIMITED };

export class TestProcesses {
  readonly folder = mkdtempSync(join(tmpdir(), 'basa-processes-'));
  readonly token = toHex(nodeRandomBytes(16));
  readonly urls: Record<Role, string> & Partial<Record<ProcessName, string>> = { authority: '', server: '' };
  readonly #processes: ServiceProcesses;
  readonly #secrets: Readonly<Record<string, string>>;
  #balancer: Balancer | undefined;
  #options: TestProcessesOptions;
  readonly #ending = new AbortController();
  policy!: TaskPolicy;
  task = '';
  /** Comma-separated if there are several. */
  authorityKey = '';

  private constructor(options: TestProcessesOptions) {
    this.#options = options;
    const { nodes } = options;
    setMaxListeners(0, this.#ending.signal); // one for each process that was started
    this.#processes = new ServiceProcesses({
      folder: this.folder,
      operatorToken: this.token,
      signal: this.#ending.signal,
      command: (role, file) => [this.#options.bundle.file(role), file],
    });
    this.#secrets =
      nodes === undefined
        ? {}
        : { BASA_SERVER_DATABASE_URL: nodes.databaseUrl, BASA_SERVER_SIGNING_KEY: toHex(nodeRandomBytes(32)) };
    for (const name of this.authorities)
      writeFileSync(join(this.folder, `${name}.key`), nodeRandomBytes(32), { mode: 0o600 });
  }

  static async open(options: TestProcessesOptions): Promise<TestProcesses> {
    const opened = new TestProcesses(options);
    try {
      await Promise.all(opened.authorities.map((name) => opened.start(name)));
      opened.authorityKey = await opened.authority.publicKey();
      await opened.#startServers();
      await opened.createTask();
    } catch (error) {
      await opened.close();
      throw error;
    }
    return opened;
  }

  /** Their processes, in the order of the policy. */
  get authorities(): readonly AuthorityName[] {
    return authorityNames(this.#options.authorities ?? 1) as readonly AuthorityName[];
  }

  /** The addresses of all authorities, comma-separated. */
  get authorityUrl(): string {
    return this.authorities.map((name) => this.urls[name] ?? '').join(',');
  }

  /** The services that a device of the task connects to. */
  get services(): DeviceServices {
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
    if (nodes !== undefined) await createServerTables(this.placesOf('server'));
    for (const name of this.servers) await this.start(name);
    if (nodes === undefined) return;
    this.#balancer = await Balancer.open({ ...nodes, nodes: () => this.servers.map((name) => this.urls[name] ?? '') });
    this.urls.server = this.#balancer.url;
  }

  get authority(): AuthorityOperator {
    const token = tokenForAll(this.authorityUrl, this.token);
    return new AuthorityOperator({ url: this.authorityUrl, token, signal: this.#ending.signal });
  }

  get server(): ServerOperator {
    return new ServerOperator({ url: this.urls.server, token: this.token, signal: this.#ending.signal });
  }

  /** `preloads` are bundled files; resolves when the service listens, always at the same address. */
  async start(name: ProcessName, environment: Readonly<Record<string, string>> = {}, preloads: readonly string[] = []) {
    const role = roleOf(name);
    this.urls[name] = await this.#processes.start(name, {
      role,
      config: this.#config(name),
      environment: { ...environment, ...(role === 'server' && this.#secrets) },
      preloads,
    });
  }

  /** The settings with which services are started from now on: another version of the program, other keys of the configuration. */
  change(change: Partial<Pick<TestProcessesOptions, 'bundle' | 'server' | 'authority'>>): void {
    const { server, authority } = this.#options;
    this.#options = {
      ...this.#options,
      ...change,
      server: { ...server, ...change.server },
      authority: { ...authority, ...change.authority },
    };
  }

  /** Writes the configuration that a process would be started with: for commands about its service. */
  placesOf(name: ProcessName): { readonly file: string; readonly environment: NodeJS.ProcessEnv } {
    const file = this.#processes.configure(name, roleOf(name), this.#config(name));
    return { file, environment: { ...process.env, ...this.#secrets } };
  }

  get children(): ReadonlyMap<string, ChildProcess> {
    return this.#processes.children;
  }

  async stop(name: ProcessName): Promise<void> {
    await this.#processes.stop(name);
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((name) => this.stop(name)));
    await Promise.all([...this.children.keys()].map((name) => this.stop(name as ProcessName)));
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
    };
    if (role === 'authority') {
      const own = { keyFile: join(this.folder, `${name}.key`), keyLimit: UNLIMITED, tickMs: 200 };
      return { ...common, ...own, ...this.#options.authority };
    }
    const { authorityUrl, authorityKey } = this;
    const own = { authorityUrl, authorityKey, tickMs: 100 };
    return { ...common, ...own, ...this.#options.server };
  }

  /** The task that devices take part in from now on. */
  async createTask(name = 'under fire', specification: Partial<TaskSpecification> = {}): Promise<void> {
    const { publicKey } = await this.server.about();
    const authorityKeys = (await this.authority.publicKeys()).map((key) => Buffer.from(key, 'hex'));
    this.policy = kitPolicy(
      { serverKey: Buffer.from(publicKey, 'hex'), authorityKeys },
      { name: ascii(name), uploadLeaseMs: 20_000, ...this.#options.policy },
    );
    this.task = await this.authority.createTask(this.policy);
    await this.server.createTask({
      policy: toHex(TaskPolicy.encode(this.policy)),
      serverStep: WHOLE_STEP,
      ...this.#options.specification,
      ...specification,
    });
  }
}

function roleOf(name: ProcessName): Role {
  return name.startsWith('authority') ? 'authority' : 'server';
}
