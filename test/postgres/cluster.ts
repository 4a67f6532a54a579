/** Several server nodes in this process on one real PostgreSQL, an authority, and devices whose requests go to any node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authority, createAuthority } from '@basa/authority';
import { type BasaClient, BasaClient as Clients, type NodeConnectOptions } from '@basa/client/node';
import { WHOLE_STEP } from '@basa/conformance/whole-step.ts';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import { nodeRandomBytes } from '@basa/runtime/node';
import { createServerTables, type RunningServer, type ServerOptions, startServer } from '@basa/server';
import { SERVER_DATABASE } from '@basa/server/internal/store/schema.ts';
import { openPostgres } from '@basa/service';
import { Balancer } from '@basa/testkit/processes/balancer.ts';
import type { LocalPostgres } from '@basa/testkit/processes/local-postgres.ts';
import { NEVER_LATE, newToken, oneHot, operate, READER, testPolicy } from '@basa/testkit/services/test-services.ts';
import { OPERATORS } from '@basa/testkit/world/operator.ts';

const UNLIMITED = { burst: 1e9, perSecond: 1e9 };
/** However slow the machine is. */
const LONG_MS = 900_000;
const retry = { attempts: 60, firstWaitMs: 20, longestWaitMs: 1000 };

export interface ClusterOptions {
  readonly postgres: LocalPostgres;
  /** The name of its database. */
  readonly name: string;
  readonly nodes: number;
  readonly policy?: Partial<TaskPolicy>;
  readonly specification?: object;
  /** Options of each node. */
  onNode?(n: number): Partial<ServerOptions>;
}

export class Cluster {
  readonly folder = mkdtempSync(join(tmpdir(), 'basa-cluster-'));
  readonly nodes: RunningServer[] = [];
  authority!: Authority;
  databaseUrl = '';
  policy!: TaskPolicy;
  task = '';
  readonly #options: ClusterOptions;
  readonly #signingKey = nodeRandomBytes(32);
  readonly #clients: BasaClient[] = [];
  /** The log of the nodes. */
  readonly #words: string[] = [];
  /** The number of requests of devices that were answered. */
  answered = 0;
  #balancer!: Balancer;

  private constructor(options: ClusterOptions) {
    this.#options = options;
  }

  static async open(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options);
    try {
      await cluster.#open();
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  async #open(): Promise<void> {
    const { postgres, name, nodes } = this.#options;
    const keyFile = join(this.folder, 'authority.key');
    writeFileSync(keyFile, nodeRandomBytes(32));
    this.authority = await createAuthority({
      dataFolder: join(this.folder, 'authority'),
      secret: { keyFile },
      listen: { host: '127.0.0.1', port: 0 },
      operators: OPERATORS,
      lateMs: NEVER_LATE,
      keyLimit: UNLIMITED,
      addressLimit: UNLIMITED,
      deviceLimit: UNLIMITED,
    });
    this.databaseUrl = await postgres.database(name);
    await createServerTables({
      environment: {
        BASA_SERVER_DATABASE_URL: this.databaseUrl,
        BASA_SERVER_SIGNING_KEY: toHex(this.#signingKey),
        BASA_SERVER_DATA_FOLDER: join(this.folder, 'blobs'),
        BASA_SERVER_PORT: '0',
        BASA_SERVER_AUTHORITY_URL: this.authority.url,
        BASA_SERVER_AUTHORITY_KEY: toHex(this.authority.publicKey),
      },
    });
    for (let n = 0; n < nodes; n++) await this.startNode(n);
    this.#balancer = await Balancer.open({
      nodes: () => this.nodes.map(({ url }) => url),
      random: Math.random,
      onExchange: ({ answer }) => void (answer && this.answered++),
    });
    await this.#createTask();
  }

  async startNode(n: number, more: Partial<ServerOptions> = {}): Promise<RunningServer> {
    const node = await startServer({
      dataFolder: join(this.folder, 'blobs'),
      database: { url: this.databaseUrl, signingKey: this.#signingKey, leaseMs: 1000, connections: 4 },
      authorities: [{ url: this.authority.url, publicKey: this.authority.publicKey, timeoutMs: LONG_MS }],
      listen: { host: '127.0.0.1', port: 0 },
      operators: OPERATORS,
      lateMs: NEVER_LATE,
      tickMs: 100,
      addressLimit: UNLIMITED,
      deviceLimit: UNLIMITED,
      log: { level: 'warn', stream: { write: (line) => void this.#words.push(line) } },
      ...this.#options.onNode?.(n),
      ...more,
    });
    this.nodes[n] = node;
    return node;
  }

  /** A device: each of its requests goes to some node. */
  async client(name: string, options: Partial<NodeConnectOptions> = {}): Promise<BasaClient> {
    const client = await Clients.connect({
      server: this.#balancer.url,
      authority: this.authority.url,
      authorityKey: toHex(this.authority.publicKey),
      task: this.task,
      identity: join(this.folder, 'devices', name),
      token: await newToken(this.authority, this.task),
      retry,
      floor: { minimum: 2, noNoise: true },
      ...options,
    });
    this.#clients.push(client);
    return client;
  }

  clients(count: number, options: Partial<NodeConnectOptions> = {}): Promise<BasaClient[]> {
    return Promise.all(Array.from({ length: count }, (_, n) => this.client(`device ${n}`, options)));
  }

  /** The number of writes of a node that were refused because another had taken its lease. */
  get leasesLost(): number {
    return this.#words.filter((line) => line.includes('LeaseLost')).length;
  }

  /** Asks the database itself. */
  async query(statement: string): Promise<void> {
    const database = await openPostgres({ url: this.databaseUrl, ...SERVER_DATABASE });
    await database.query(statement);
    await database.close();
  }

  /** By an operator, at this node. */
  async setState(n: number, state: 'running' | 'paused'): Promise<void> {
    await operate(this.nodes[n]?.url ?? '', 'PUT', SERVER_PATH.taskState(this.task), { state });
  }

  /** Of all updates that went into versions: how often each coordinate was counted. */
  async counts(): Promise<number[]> {
    const total = new Array<number>(this.policy.dimension).fill(0);
    let before = new Float32Array(this.policy.dimension);
    for (const { version, accepted } of await this.versions()) {
      const response = await fetch(new URL(SERVER_PATH.model(this.task, version), this.#anyNode().url), {
        headers: READER,
      });
      const after = new Float32Array(await response.arrayBuffer());
      for (const [place, value] of after.entries())
        total[place] = (total[place] ?? 0) + Math.round(((before[place] ?? 0) - value) * accepted);
      before = after;
    }
    return total;
  }

  /**
   * The number of times that each of the first `count` coordinates was counted; devices are added until each of them
   * was, at the next coordinate.
   */
  async countsOfFirst(count: number): Promise<readonly number[]> {
    for (let more = 0; ; more++) {
      const counts = (await this.counts()).slice(0, count);
      if (counts.every((times) => times > 0)) return counts;
      const last = await this.client(`more ${more}`);
      const { version: trainedOn } = await last.model();
      await last.contribute(oneHot(count, count + 1), { trainedOn });
    }
  }

  async versions(): Promise<readonly { readonly version: number; readonly accepted: number }[]> {
    const path = SERVER_PATH.taskMetrics(this.task);
    const { versions } = await operate<{ versions: { version: number; accepted: number }[] }>(
      this.#anyNode().url,
      'GET',
      path,
    );
    return versions.filter(({ version }) => version > 0);
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.#balancer?.close();
    await Promise.all(this.nodes.map((node) => node.close()));
    await this.authority?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #anyNode(): RunningServer {
    return this.nodes[Math.floor(Math.random() * this.nodes.length)] as RunningServer;
  }

  async #createTask(): Promise<void> {
    const [first] = this.nodes;
    this.policy = {
      ...testPolicy({ serverKey: (first as RunningServer).publicKey, authorityKeys: [this.authority.publicKey] }),
      ...this.#options.policy,
    };
    const bytes = TaskPolicy.encode(this.policy);
    const { task } = await operate<{ task: string }>(this.authority.url, 'POST', AUTHORITY_PATH.tasks, bytes);
    this.task = task;
    const specification = { policy: toHex(bytes), serverStep: WHOLE_STEP, ...this.#options.specification };
    await operate((first as RunningServer).url, 'POST', SERVER_PATH.tasks, specification);
  }
}
