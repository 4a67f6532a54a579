/** Where a client is tested: real services, a task for each scene, proxies before them, and real devices beside it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BasaClient, inMemoryStoreForTests } from '@basa/client/node';
import type { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import type { Signer } from '@basa/masking';
import { fromHex, toHex } from '@basa/masking';
import type { TaskPolicy } from '@basa/protocol';
import { encodePolicy } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { firstDifference, updateOf } from '../exact-updates.ts';
import { kitPolicy, PIECE_BYTES } from '../kit-policy.ts';
import { ServiceProxy } from '../service-proxy.ts';
import { until } from '../until.ts';
import { WHOLE_STEP } from '../whole-step.ts';
import type { ClientEnd, RunningClient, StartClient } from './client-under-test.ts';

export interface StageServices {
  readonly serverUrl: string;
  readonly authorityUrl: string;
  /** In hex. */
  readonly authorityKey: string;
  /** With it the kit signs a server's lies. */
  readonly serverSigner: Signer;
  readonly server: ServerOperator;
  readonly authority: AuthorityOperator;
}

/** Which participant of `exact-updates` the client under test is. */
export const ITSELF = 1;

/** A full buffer is closed and opened in moments; only a hang takes so long. */
const MAX_CLOSING_MS = 600_000;

export class Stage {
  readonly services: StageServices;
  readonly #folder: string;
  readonly #start: StartClient;
  /** Guards every wait of a scene. */
  readonly signal: AbortSignal;
  #scenes = 0;

  constructor(services: StageServices, folder: string, start: StartClient, signal: AbortSignal) {
    this.services = services;
    this.#folder = folder;
    this.#start = start;
    this.signal = signal;
  }

  /** A new task with a client that nobody knows yet; everything is stopped when the scene is over. */
  async scene(change: Partial<TaskPolicy>, play: (scene: Scene) => Promise<void>): Promise<void> {
    const { services } = this;
    const authorityKey = fromHex(services.authorityKey) ?? new Uint8Array();
    const policy = kitPolicy({ serverKey: services.serverSigner.publicKey, authorityKey }, change);
    const task = await services.authority.createTask(policy);
    await services.server.createTask({ policy: toHex(encodePolicy(policy)), serverStep: WHOLE_STEP });
    const folder = join(this.#folder, `client-${++this.#scenes}`);
    await mkdir(folder, { recursive: true });
    const update = join(folder, 'update.f32');
    await writeFile(update, new Uint8Array(updateOf(ITSELF, policy).buffer));
    const server = await ServiceProxy.before(() => services.serverUrl);
    const authority = await ServiceProxy.before(() => services.authorityUrl);
    const scene = new Scene(this, { task, policy, server, authority, folder, update }, this.#start);
    try {
      await play(scene);
    } finally {
      await scene.close();
    }
  }

  async token(task: string): Promise<string> {
    const [token = ''] = await this.services.authority.tokens(task, 1, Date.now() + 3_600_000);
    return token;
  }
}

interface Props {
  readonly task: string;
  readonly policy: TaskPolicy;
  readonly server: ServiceProxy;
  readonly authority: ServiceProxy;
  readonly folder: string;
  readonly update: string;
}

export class Scene {
  readonly stage: Stage;
  readonly task: string;
  readonly policy: TaskPolicy;
  /** Between the client under test and the services. */
  readonly server: ServiceProxy;
  readonly authority: ServiceProxy;
  readonly #props: Props;
  readonly #start: StartClient;
  readonly #peers: BasaClient[] = [];
  #token: string | undefined;

  constructor(stage: Stage, props: Props, start: StartClient) {
    this.stage = stage;
    this.task = props.task;
    this.policy = props.policy;
    this.server = props.server;
    this.authority = props.authority;
    this.#props = props;
    this.#start = start;
  }

  /** Every request of the client under test that was answered, in its order at each service. */
  get asked() {
    return [...this.server.passed, ...this.authority.passed].map(({ asked }) => asked);
  }

  /** Starts the client; the same device and token each time. `more` takes the place of its settings. */
  async start(more: Readonly<Record<string, string>> = {}): Promise<RunningClient> {
    const { folder, task, update } = this.#props;
    this.#token ??= await this.stage.token(task);
    return this.#start({
      BASA_SERVER: this.server.url,
      BASA_AUTHORITY: this.authority.url,
      BASA_AUTHORITY_KEY: this.stage.services.authorityKey,
      BASA_TASK: task,
      BASA_ENROLMENT_TOKEN: this.#token,
      BASA_IDENTITY: join(folder, 'identity'),
      BASA_UPDATE: update,
      BASA_PIECE_BYTES: String(PIECE_BYTES),
      ...more,
    });
  }

  async run(more?: Readonly<Record<string, string>>): Promise<ClientEnd> {
    return (await this.start(more)).ended;
  }

  get token(): string {
    return this.#token ?? '';
  }

  /** A real device contributes its update, by default past the proxies. */
  async peer(participant: number, serverUrl = this.stage.services.serverUrl): Promise<void> {
    const { authorityKey, authorityUrl } = this.stage.services;
    const identity = inMemoryStoreForTests(createNodeSigner(nodeRandomBytes(32)));
    const peer = await BasaClient.connect({
      server: serverUrl,
      authority: authorityUrl,
      authorityKey,
      task: this.task,
      token: await this.stage.token(this.task),
      identity,
      signal: this.stage.signal,
    });
    this.#peers.push(peer);
    const result = await peer.contribute(updateOf(participant, this.policy), { trainedOn: 0 });
    if (result.kind !== 'accepted') throw new Error(`a device of the kit was refused: ${result.reason}`);
  }

  /** Waits for the first sum; undefined where it is exactly that of these participants. */
  async sumProblem(participants: readonly number[]): Promise<string | undefined> {
    const { server } = this.stage.services;
    const patience = AbortSignal.any([this.stage.signal, AbortSignal.timeout(MAX_CLOSING_MS)]);
    await until(async () => ((await server.task(this.task)).version ?? 0) >= 1, patience);
    return firstDifference(await server.parameters(this.task, 1), participants, this.policy);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#peers, this.server, this.authority].map((each) => each.close()));
  }
}
