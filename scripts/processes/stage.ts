/** Both services as bundled processes on one folder, to be killed and started again at will, with a task. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RING_32, toHex } from '@basa/masking';
import type { TaskPolicy } from '@basa/protocol';
import { ENGINE, encodePolicy } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { AuthorityOperator, hashOfToken, ServerOperator } from '../../packages/cli/src/operator.ts';
import { startProcess, stopProcess } from '../../packages/cli/src/service-process.ts';
import type { Bundle } from './bundle.ts';

export type Role = 'authority' | 'server';

export interface StageOptions {
  readonly bundle: Bundle;
  readonly policy: Partial<TaskPolicy> & Pick<TaskPolicy, 'dimension'>;
  readonly specification?: object;
  readonly server?: object;
  readonly authority?: object;
}

/** Nothing is limited by default: whoever tests a limit sets it. */
const UNLIMITED = { burst: 1e9, perSecond: 1e9 };
const COMMON = { logLevel: 'warn', deviceLimit: UNLIMITED, addressLimit: UNLIMITED };

export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'basa-stage-'));
  readonly token = toHex(nodeRandomBytes(16));
  readonly urls: Record<Role, string> = { authority: '', server: '' };
  readonly children: Partial<Record<Role, ChildProcess>> = {};
  readonly #options: StageOptions;
  readonly #ending = new AbortController();
  policy!: TaskPolicy;
  task = '';
  authorityKey = '';

  private constructor(options: StageOptions) {
    this.#options = options;
    writeFileSync(join(this.folder, 'authority.key'), nodeRandomBytes(32), { mode: 0o600 });
  }

  static async open(options: StageOptions): Promise<Stage> {
    const stage = new Stage(options);
    try {
      await stage.start('authority');
      stage.authorityKey = await stage.authority.publicKey();
      await stage.start('server');
      await stage.#createTask();
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  get authority(): AuthorityOperator {
    return new AuthorityOperator({ url: this.urls.authority, token: this.token, signal: this.#ending.signal });
  }

  get server(): ServerOperator {
    return new ServerOperator({ url: this.urls.server, token: this.token, signal: this.#ending.signal });
  }

  /** `preloads` are bundled files; resolves when the service listens, always at the same address. */
  async start(role: Role, environment: Readonly<Record<string, string>> = {}, preloads: readonly string[] = []) {
    const file = join(this.folder, `${role}.json`);
    writeFileSync(file, JSON.stringify(this.#config(role)), { mode: 0o600 });
    this.urls[role] = await startProcess({
      name: role,
      command: [...preloads.flatMap((path) => ['--import', path]), this.#options.bundle.file(role), file],
      environment,
      logFile: join(this.folder, `${role}.log`),
      signal: this.#ending.signal,
      onChild: (child) => {
        this.children[role] = child;
      },
    });
  }

  async stop(role: Role): Promise<void> {
    const child = this.children[role];
    if (child !== undefined) await stopProcess(child);
  }

  async close(): Promise<void> {
    await this.stop('server');
    await this.stop('authority');
    this.#ending.abort();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #config(role: Role): object {
    const common = {
      ...COMMON,
      dataFolder: join(this.folder, role),
      port: Number(new URL(this.urls[role] || 'http://x:0').port),
      operators: [
        { tokenHash: hashOfToken((bytes) => nodeSuite.sha256(bytes), this.token), roles: ['operator', 'auditor'] },
      ],
    };
    if (role === 'authority') {
      const own = { keyFile: join(this.folder, 'authority.key'), keyLimit: UNLIMITED, tickMs: 200 };
      return { ...common, ...own, ...this.#options.authority };
    }
    const { authority } = this.urls;
    const own = { authorityUrl: authority, authorityKey: this.authorityKey, tickMs: 100, mostBurntSlots: 1e9 };
    return { ...common, ...own, ...this.#options.server };
  }

  async #createTask(): Promise<void> {
    const { publicKey } = await this.server.about();
    this.policy = { ...BASE_POLICY, serverKey: Buffer.from(publicKey, 'hex'), ...this.#options.policy };
    this.task = await this.authority.createTask(this.policy);
    await this.server.createTask({ policy: toHex(encodePolicy(this.policy)), ...this.#options.specification });
  }
}

const BASE_POLICY: Omit<TaskPolicy, 'serverKey' | 'dimension'> = {
  name: new TextEncoder().encode('under fire'),
  engine: ENGINE.cpAbe,
  bufferSize: 3,
  minimum: 2,
  modulus: RING_32,
  level: 2 ** 16,
  clip: 1,
  staleness: { kind: 'constant' },
  maxStaleness: 1_000_000,
  manifestHash: new Uint8Array(32),
  uploadLeaseMs: 20_000,
  openMs: 600_000,
  closeMs: 600_000,
};
