/** Both services in this process, in their own folder, with a task and devices: the starting point of service tests. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authority, type AuthorityOptions, createAuthority } from '@basa/authority';
import { connect } from '@basa/client/internal/connect.ts';
import { type BasaClient, type NodeConnectOptions, nodeOutside, openFolderStore } from '@basa/client/node';
import { enrolmentHashes, newEnrolmentTokens, type TaskSpecification } from '@basa/client/operator';
import { kitPolicy } from '@basa/conformance/kit-policy.ts';
import { ServiceProxy } from '@basa/conformance/service-proxy.ts';
import { until } from '@basa/conformance/until.ts';
import { WHOLE_STEP } from '@basa/conformance/whole-step.ts';
import { toHex } from '@basa/masking';
import { type Millis, millis } from '@basa/protocol';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { ENGINE, TaskPolicy } from '@basa/protocol/policy';
import { nodeRandomBytes } from '@basa/runtime/node';
import { type RunningServer, type ServerOptions, startServer } from '@basa/server';
import { OPERATOR_TOKEN, OPERATORS, operate as operateBytes } from '../world/operator.ts';

export { until };

/** The header of a reader of every task. */
export const READER = { authorization: `Bearer ${OPERATOR_TOKEN}` };

/** Tests move the clocks, and what is under way was signed before. */
const ANY_SKEW = 10 ** 12;
/** The service is never overloaded, even on a slow machine. */
export const NEVER_LATE = (): number => 0;

export interface TestServicesOptions {
  readonly policy?: Partial<TaskPolicy>;
  readonly specification?: Partial<TaskSpecification>;
  readonly server?: Partial<ServerOptions>;
  readonly authority?: Partial<AuthorityOptions>;
  /** The number of authorities that the server has; 1 by default. `createTask` uses the first of them only. */
  readonly count?: number;
}

/** A task in the paper's mode. */
export const PAPER = {
  policy: { engine: ENGINE.cpAbe, oneShot: undefined },
  server: { unsafePaperMode: true },
  authority: { unsafePaperMode: true },
  specification: { mode: 'paper' },
} as const satisfies TestServicesOptions;

export interface TaskState {
  readonly version?: number;
  readonly state: string;
  readonly why?: string;
  readonly batches: number;
  readonly accuracy?: number;
}

export interface BatchState {
  readonly status: string;
  readonly users: readonly string[];
}

/** The status of an upload, its batch, and the version that it is in. */
export interface UploadFate {
  readonly fate: string;
  readonly ctx?: string;
  readonly version?: number;
  readonly reason?: string;
}

export class TestServices {
  readonly folder = mkdtempSync(join(tmpdir(), 'basa-services-'));
  readonly options: TestServicesOptions;
  authority!: Authority;
  /** Behind the first. */
  readonly others: Authority[] = [];
  server!: RunningServer;
  task = '';
  policy!: TaskPolicy;
  /** The lead of all clocks over the machine's. */
  #aheadMs = 0;
  #authorityPort = 0;
  #serverPort = 0;
  #tasks = 0;
  readonly #clients: BasaClient[] = [];
  readonly #proxies: ServiceProxy[] = [];

  private constructor(options: TestServicesOptions) {
    this.options = options;
    writeFileSync(join(this.folder, 'authority.key'), nodeRandomBytes(32));
  }

  static async open(options: TestServicesOptions = {}): Promise<TestServices> {
    const services = new TestServices(options);
    await services.startAuthority();
    for (let n = 0; n + 1 < (options.count ?? 1); n++) await services.startOther(n);
    await services.startServer();
    await services.createTask();
    return services;
  }

  readonly clock = (): number => Date.now() + this.#aheadMs;

  get keys(): Parameters<typeof kitPolicy>[0] {
    return { serverKey: this.server.publicKey, authorityKeys: [this.authority.publicKey] };
  }

  /** Lets time pass for services and devices: leases end without waiting. */
  elapse(ms: number): void {
    this.#aheadMs += ms;
  }

  async startAuthority(): Promise<void> {
    this.authority = await this.furtherAuthority('authority', this.#authorityPort);
    this.#authorityPort = Number(new URL(this.authority.url).port);
  }

  /** Starts one of the authorities behind the first, at the address that it had before. */
  async startOther(n: number): Promise<void> {
    const port = this.others[n] === undefined ? 0 : Number(new URL(this.others[n].url).port);
    this.others[n] = await this.furtherAuthority(`authority-${n}`, port);
  }

  get authorities(): readonly Authority[] {
    return [this.authority, ...this.others];
  }

  /** The addresses and the keys of all authorities, comma-separated. */
  get authorityPins(): { readonly authority: string; readonly authorityKey: string } {
    const { authorities } = this;
    return {
      authority: authorities.map(({ url }) => url).join(),
      authorityKey: authorities.map(({ publicKey }) => toHex(publicKey)).join(),
    };
  }

  /** Starts a further authority in its own folder; the caller closes it. */
  furtherAuthority(name: string, port = 0, operators: AuthorityOptions['operators'] = OPERATORS): Promise<Authority> {
    return createAuthority({
      dataFolder: join(this.folder, name),
      secret: { keyFile: join(this.folder, 'authority.key') },
      listen: { host: '127.0.0.1', port },
      operators,
      keyLimit: { burst: 1000, perSecond: 1000 },
      workers: 1, // there are up to four authorities, and each thread takes a tenth of a second to start
      clock: this.clock,
      maxSkewMs: ANY_SKEW,
      lateMs: NEVER_LATE,
      ...this.options.authority,
    });
  }

  /** Stops and starts the server, with other options if there are any. */
  async restartServer(more: Partial<ServerOptions> = {}): Promise<void> {
    await this.server.close();
    await this.startServer(more);
  }

  async startServer(more: Partial<ServerOptions> = {}): Promise<void> {
    this.server = await startServer({
      dataFolder: join(this.folder, 'server'),
      authorities: this.authorities.map(({ url, publicKey }) => ({ url, publicKey })),
      listen: { host: '127.0.0.1', port: this.#serverPort },
      operators: OPERATORS,
      maxSkewMs: ANY_SKEW,
      lateMs: NEVER_LATE,
      clock: this.clock,
      tickMs: 50,
      ...this.options.server,
      ...more,
    });
    this.#serverPort = Number(new URL(this.server.url).port);
  }

  /** Creates another task; from now on `task` and `policy` are its own. */
  async createTask(change: Partial<TaskPolicy> = {}, more: Partial<TaskSpecification> = {}): Promise<string> {
    const name = new TextEncoder().encode(`test ${++this.#tasks}`);
    this.policy = { ...testPolicy(this.keys), name, ...this.options.policy, ...change };
    const bytes = TaskPolicy.encode(this.policy);
    const { task } = await operate<{ task: string }>(this.authority.url, 'POST', AUTHORITY_PATH.tasks, bytes);
    const specification = { policy: toHex(bytes), serverStep: WHOLE_STEP, ...this.options.specification, ...more };
    await operate(this.server.url, 'POST', SERVER_PATH.tasks, specification);
    this.task = task;
    return task;
  }

  async token(task = this.task): Promise<string> {
    return newToken(this.authority, task, this.clock());
  }

  /** A device with its own folder; the same name is the same device, of the same task. */
  async client(name: string, options: Partial<NodeConnectOptions> = {}): Promise<BasaClient> {
    const folder = join(this.folder, 'devices', `${name}-${(options.task ?? this.task).slice(0, 8)}`);
    const { identity = folder, tls, ...more } = options;
    const store = typeof identity === 'string' ? await openFolderStore(identity) : identity;
    const now = (): Millis => millis(this.clock());
    const client = await connect({ ...nodeOutside(tls), now }, store, {
      server: this.server.url,
      authority: this.authority.url,
      authorityKey: toHex(this.authority.publicKey),
      task: this.task,
      token: await this.token(options.task),
      ...more,
      floor: { minimum: 2, noNoise: true, ...more.floor },
    });
    this.#clients.push(client);
    return client;
  }

  /** A proxy between devices and a service, which can be told to lie. */
  async proxy(which: 'server' | 'authority' = 'server'): Promise<ServiceProxy> {
    const proxy = await ServiceProxy.before(() => this[which].url);
    this.#proxies.push(proxy);
    return proxy;
  }

  /** The same, of these services. */
  readonly operate = operate;

  taskState(task = this.task): Promise<TaskState> {
    return operate(this.server.url, 'GET', SERVER_PATH.task(task));
  }

  batchState(ctx: string): Promise<BatchState> {
    return operate(this.server.url, 'GET', SERVER_PATH.batch(ctx));
  }

  fate(upload: string, task = this.task): Promise<UploadFate> {
    return operate(this.server.url, 'GET', SERVER_PATH.shotFate(task, upload));
  }

  /** Waits until an upload has ended so, or waits. */
  async fateIs(upload: string, fate: string, task = this.task): Promise<UploadFate> {
    await until(async () => (await this.fate(upload, task)).fate === fate);
    return this.fate(upload, task);
  }

  /** Waits until the newest version is this one. */
  async reached(version: number, task = this.task): Promise<Float32Array> {
    await until(async () => ((await this.taskState(task)).version ?? -1) >= version);
    const response = await fetch(new URL(SERVER_PATH.model(task, version), this.server.url), { headers: READER });
    return new Float32Array(await response.arrayBuffer());
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients, ...this.#proxies].map((each) => each.close()));
    await this.server.close();
    await Promise.all(this.authorities.map((authority) => authority.close()));
  }
}

/** A token of one device, which the authority lets in. */
export async function newToken(
  { url, publicKey }: Pick<Authority, 'url' | 'publicKey'>,
  task: string,
  now = Date.now(),
): Promise<string> {
  const [token = ''] = newEnrolmentTokens(1);
  const body = { hashes: enrolmentHashes([token], toHex(publicKey)), endsAt: now + 3_600_000 };
  await operate(url, 'POST', AUTHORITY_PATH.tokens(task), body);
  return token;
}

/** Sends a request of an operator to either service. */
export async function operate<Answer>(url: string, method: string, path: string, body?: object): Promise<Answer> {
  const answer = await operateBytes(fetch, method, new URL(path, url), body);
  return JSON.parse(Buffer.from(answer).toString()) as Answer;
}

/** Reads `/metrics` as an operator: values by names with their labels. */
export async function scraped(url: string): Promise<ReadonlyMap<string, number>> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const text = await (await fetch(new URL('/metrics', url), { headers })).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

export function testPolicy(keys: Parameters<typeof kitPolicy>[0]): TaskPolicy {
  return kitPolicy(keys, { name: new TextEncoder().encode('a test'), dimension: 8 });
}

/** The effect of a sum of one-hot updates on a model of zeros: -1 if an update counted once, for this many accepted updates. */
export function countsOf(model: Float32Array, accepted: number): number[] {
  return Array.from(model, (value) => Math.round(-value * accepted) + 0);
}

/** A device's update: 1 at one place. The sum is its own witness. */
export function oneHot(place: number, dimension = 8): Float32Array {
  const delta = new Float32Array(dimension);
  delta[place] = 1;
  return delta;
}
