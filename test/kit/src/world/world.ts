/**
 * The one world of tests and laboratory: the real server, the real authorities and devices of the real SDK in this process, on one clock
 * that the test moves, without sockets. Messages can be lost or read along (`wire`), and services crash and come back from backups.
 */
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AuthorityOptions } from '@basa/authority';
import { connect } from '@basa/client/internal/connect.ts';
import { type BasaClient, inMemoryStoreForTests, nodeOutside, type Outside } from '@basa/client/node';
import type { TaskSpecification } from '@basa/client/operator';
import { kitPolicy, oneShotPolicy } from '@basa/conformance/kit-policy.ts';
import { WHOLE_STEP } from '@basa/conformance/whole-step.ts';
import { fromHex, type Signer, toHex } from '@basa/masking';
import { type Millis, millis, type TaskId } from '@basa/protocol';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { type OneShotPolicy, TaskPolicy } from '@basa/protocol/policy';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { type RunningServer, type ServerOptions, startServer } from '@basa/server';
import { AuthorityParty, NEVER_MS, NO_LIMITS } from './authority-party.ts';
import { asOperator, OPERATORS, operate } from './operator.ts';
import { worldFolder } from './place.ts';
import { Wire } from './wire.ts';

/** The number of authorities, of those that a decision needs, and of those that may lie. */
export interface Shape {
  readonly n: number;
  readonly t: number;
  readonly f: number;
}

export const ALONE: Shape = { n: 1, t: 1, f: 0 };
export const THREE_OF_FOUR: Shape = { n: 4, t: 3, f: 1 };

export interface WorldOptions {
  readonly shape?: Shape;
  readonly policy?: Partial<TaskPolicy>;
  readonly oneShot?: Partial<OneShotPolicy>;
  readonly authority?: Partial<AuthorityOptions>;
  readonly server?: Partial<ServerOptions>;
  readonly specification?: Partial<TaskSpecification>;
  /** A database that several nodes share has a clock of its own. */
  readonly startsAt?: number;
  /** Its clock runs, for clients that have clocks of their own; otherwise only `elapse` moves it. */
  readonly isRunning?: boolean;
}

export interface DeviceOptions {
  /** A device that comes back after a crash brings its store. */
  readonly store?: Parameters<typeof connect>[1];
  readonly outside?: Partial<Outside>;
  /** The task that this one succeeds. */
  readonly predecessor?: string;
  /** Without it, every authority allows the key of the device. */
  readonly isAllowed?: false;
  readonly token?: string;
}

const SERVER = 'server';
const MAX_TURNS = 2000;
const START = 1_800_000_000_000;

export class World {
  readonly folder = worldFolder();
  readonly wire = new Wire();
  readonly shape: Shape;
  readonly authorities: AuthorityParty[] = [];
  server!: RunningServer;
  /** The server's key, for a server that lies. */
  serverSigner!: Signer;
  policy!: TaskPolicy;
  /** The name of the task that was created last. */
  task = '';
  readonly #options: WorldOptions;
  readonly #outside = nodeOutside();
  #elapsedMs = 0;
  #tasks = 0;
  #copies = 0;

  private constructor(options: WorldOptions) {
    this.#options = options;
    this.shape = options.shape ?? ALONE;
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const world = new World(options);
    const { wire, folder, clock } = world;
    const parties = Array.from({ length: world.shape.n }, (_, index) =>
      AuthorityParty.start(index, { wire, folder, clock, more: options.authority ?? {} }),
    );
    world.authorities.push(...(await Promise.all(parties)));
    await world.#startServer();
    await world.createTask();
    return world;
  }

  readonly clock = (): number => {
    const { isRunning = false, startsAt = START } = this.#options;
    return (isRunning ? Date.now() : startsAt) + this.#elapsedMs;
  };

  get now(): Millis {
    return millis(this.clock());
  }

  /** Time passes for everybody. Services notice it at their next `tick`. */
  elapse(ms: number): void {
    this.#elapsedMs += ms;
  }

  /** The periodic work of all services that are there. */
  async tick(): Promise<void> {
    for (const { service } of this.authorities) await service.tick();
    await this.server.tick();
  }

  get taskId(): TaskId {
    return fromHex(this.task) as TaskId;
  }

  async createTask(change: Partial<TaskPolicy> = {}, more: Partial<TaskSpecification> = {}): Promise<string> {
    const { t, f, n } = this.shape;
    const keys = {
      serverKey: this.server.publicKey,
      authorityKeys: this.authorities.map(({ publicKey }) => publicKey),
    };
    this.policy = {
      ...kitPolicy(keys, { name: new TextEncoder().encode(`world ${++this.#tasks}`), dimension: 8 }),
      ...oneShotPolicy(n, { ...this.#options.oneShot, tolerated: f }),
      threshold: t,
      ...this.#options.policy,
      ...change,
    };
    const bytes = TaskPolicy.encode(this.policy);
    for (const party of this.authorities) {
      const answer = await operate(this.wire.fetch, 'POST', new URL(AUTHORITY_PATH.tasks, party.url), bytes);
      ({ task: this.task } = JSON.parse(new TextDecoder().decode(answer)) as { task: string });
    }
    const specification = { policy: toHex(bytes), serverStep: WHOLE_STEP, ...this.#options.specification, ...more };
    await operate(this.wire.fetch, 'POST', new URL(SERVER_PATH.tasks, this.serverUrl), specification);
    return this.task;
  }

  /** The only authority, or the first. */
  get authority(): AuthorityParty {
    return this.authorities[0] as AuthorityParty;
  }

  get serverUrl(): string {
    return `http://${SERVER}`;
  }

  /** False if the authority at this address refuses a task with this policy. */
  async isServed(url: string, policy: TaskPolicy): Promise<boolean> {
    const address = new URL(AUTHORITY_PATH.tasks, url);
    const { status } = await asOperator(this.wire.fetch, 'POST', address, TaskPolicy.encode(policy));
    return status < 400 || status >= 500;
  }

  /** A device of the SDK, enrolled at every authority. */
  async device({
    store = deviceStore(),
    outside = {},
    predecessor,
    isAllowed,
    token,
  }: DeviceOptions = {}): Promise<BasaClient> {
    const deviceKeys = [toHex(store.signer.publicKey)];
    for (const { url } of isAllowed === false ? [] : this.authorities)
      await operate(this.wire.fetch, 'PUT', new URL(AUTHORITY_PATH.allowList(this.task), url), { deviceKeys });
    return connect({ ...this.#outsideOf(), ...outside }, store, {
      server: this.serverUrl,
      authority: this.authorities.map(({ url }) => url).join(','),
      authorityKey: this.authorities.map(({ publicKey }) => toHex(publicKey)).join(','),
      task: this.task,
      unsafeAllowPlainHttp: true,
      floor: { minimum: 2, noNoise: true },
      ...(predecessor !== undefined && { predecessor }),
      ...(token !== undefined && { token }),
    });
  }

  /** Ticks until the server has this version. */
  async reached(version: number, turns = MAX_TURNS): Promise<{ readonly parameters: Float32Array }> {
    const address = new URL(SERVER_PATH.model(this.task, version), this.serverUrl);
    for (let turn = 0; turn < turns; turn++) {
      const response = await asOperator(this.wire.fetch, 'GET', address);
      if (response.ok) return { parameters: new Float32Array(await response.arrayBuffer()) };
      await this.tick();
      await new Promise((resolve) => setTimeout(resolve, 5)); // the server's threads take their time
    }
    throw new Error(`version ${version} was not reached`);
  }

  /** The server's process ends, and starts again from its folder. */
  async restartServer(between: () => void = () => {}): Promise<void> {
    this.wire.put(SERVER, undefined);
    await this.server.close();
    between();
    await this.#startServer();
  }

  /** A copy of the server's folder as it is now, and the way back to it. */
  copiedServer(): () => Promise<void> {
    const copy = join(this.folder, `copy-${this.#copies++}`);
    cpSync(this.#serverFolder, copy, { recursive: true });
    return () =>
      this.restartServer(() => {
        rmSync(this.#serverFolder, { recursive: true });
        cpSync(copy, this.#serverFolder, { recursive: true });
      });
  }

  async close(): Promise<void> {
    await this.server.close();
    await Promise.all(this.authorities.map((party) => party.close()));
    rmSync(this.folder, { recursive: true, force: true });
  }

  get #serverFolder(): string {
    return join(this.folder, SERVER);
  }

  async #startServer(): Promise<void> {
    this.server = await this.node();
    this.wire.put(SERVER, this.server.app);
    const { signingKey } = this.#options.server?.database ?? {};
    const own = () => fromHex(readFileSync(join(this.#serverFolder, 'server.key'), 'utf8').trim()) as Uint8Array;
    this.serverSigner = createNodeSigner(signingKey ?? own());
  }

  /** A further node of the server, in a world whose nodes share a database; the caller closes it. */
  node(): Promise<RunningServer> {
    return startServer({
      dataFolder: this.#serverFolder,
      authorities: this.authorities.map(({ url, publicKey }) => ({ url, publicKey })),
      listen: { host: '127.0.0.1', port: 0 },
      operators: OPERATORS,
      clock: this.clock,
      fetch: this.wire.fetch,
      tickMs: NEVER_MS,
      revocationsMs: NEVER_MS,
      tidyMs: NEVER_MS,
      ...NO_LIMITS,
      ...this.#options.server,
    });
  }

  /** Devices have the world's clock, and never really wait. */
  #outsideOf(): Outside {
    return {
      ...this.#outside,
      transport: this.wire.transport,
      now: () => this.now,
      sleep: async (_, signal) => {
        await new Promise((resolve) => setImmediate(resolve));
        signal.throwIfAborted();
      },
    };
  }
}

export function deviceStore(signer = createNodeSigner(nodeRandomBytes(32))): NonNullable<DeviceOptions['store']> {
  return inMemoryStoreForTests(signer);
}
