/** A task of its own with proxies before its services, a client under test behind them, and real devices beside it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BasaClient, inMemoryStoreForTests } from '@basa/client/node';
import { AuthorityOperator, type ServerOperator, tokenForAll } from '@basa/client/operator';
import { fromHex, toHex } from '@basa/masking';
import { HEADER, SERVER_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import { type ShotHeader, ShotUpload, ShownModel } from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import type { ClientEnd, RunningClient, StartClient } from './client-under-test.ts';
import { firstDifference, updateOf } from './exact-updates.ts';
import { kitPolicy, PIECE_BYTES } from './kit-policy.ts';
import { type Asked, ServiceProxy } from './service-proxy.ts';
import { until } from './until.ts';
import { WHOLE_STEP } from './whole-step.ts';

/** The services that scenes are played on. */
export interface Stage {
  readonly serverUrl: string;
  readonly serverKey: Uint8Array;
  /** All authorities that the server knows. A task has the first of them, or more. */
  readonly authorities: readonly { readonly url: string; readonly publicKey: Uint8Array }[];
  readonly server: ServerOperator;
  /** An operator's at all of them. */
  readonly operatorToken: string;
  readonly folder: string;
  /** Lets time pass for the services. */
  elapse(ms: number): void;
}

/** The number of the client under test among the participants of `exact-updates`. */
export const ITSELF = 1;

const SHOT = /^PUT .*\/shots\/[0-9a-f]+$/;

export function isUpload({ method, path }: Pick<Asked, 'method' | 'path'>): boolean {
  return SHOT.test(`${method} ${path}`);
}

interface Props {
  readonly stage: Stage;
  readonly start: StartClient;
  readonly policy: TaskPolicy;
  readonly task: string;
  readonly server: ServiceProxy;
  readonly authorities: readonly ServiceProxy[];
  readonly operator: AuthorityOperator;
}

let scenes = 0;

export class Scene {
  readonly stage: Stage;
  readonly task: string;
  readonly policy: TaskPolicy;
  /** Between the client under test and the services. */
  readonly server: ServiceProxy;
  /** In the order of the policy. */
  readonly authorities: readonly ServiceProxy[];
  readonly #start: StartClient;
  readonly #operator: AuthorityOperator;
  readonly #folder: string;
  readonly #peers: BasaClient[] = [];
  #token: string | undefined;

  private constructor({ stage, start, policy, task, server, authorities, operator }: Props) {
    this.stage = stage;
    this.#start = start;
    this.policy = policy;
    this.task = task;
    this.server = server;
    this.authorities = authorities;
    this.#operator = operator;
    this.#folder = join(stage.folder, `client-${++scenes}`);
  }

  /** A new task, and a client that is not known yet. */
  static async open(stage: Stage, start: StartClient, change: Partial<TaskPolicy>, count: number): Promise<Scene> {
    const council = stage.authorities.slice(0, count);
    const authorityKeys = council.map(({ publicKey }) => publicKey);
    const policy = kitPolicy({ serverKey: stage.serverKey, authorityKeys }, change);
    const url = council.map((each) => each.url).join(',');
    const signal = new AbortController().signal;
    const operator = new AuthorityOperator({ url, token: tokenForAll(url, stage.operatorToken), signal });
    const task = await operator.createTask(policy);
    await stage.server.createTask({ policy: toHex(TaskPolicy.encode(policy)), serverStep: WHOLE_STEP });
    const server = await ServiceProxy.before(() => stage.serverUrl);
    const authorities = await Promise.all(council.map((each) => ServiceProxy.before(() => each.url)));
    const scene = new Scene({ stage, start, policy, task, server, authorities, operator });
    await mkdir(scene.#folder, { recursive: true });
    return scene;
  }

  /** Starts the client with its update, or that of another participant; the same device and token each time. */
  async start({
    participant = ITSELF,
    settings = {},
  }: {
    readonly participant?: number | undefined;
    readonly settings?: Readonly<Record<string, string>> | undefined;
  } = {}): Promise<RunningClient> {
    const update = join(this.#folder, `update-${participant}.f32`);
    await writeFile(update, new Uint8Array(updateOf(participant, this.policy).buffer));
    this.#token ??= await this.#newToken();
    return this.#start({
      BASA_SERVER: this.server.url,
      BASA_AUTHORITY: this.authorities.map(({ url }) => url).join(','),
      BASA_AUTHORITY_KEY: this.policy.authorities.map(toHex).join(','),
      BASA_TASK: this.task,
      BASA_ENROLMENT_TOKEN: this.#token,
      BASA_IDENTITY: join(this.#folder, 'identity'),
      BASA_UPDATE: update,
      BASA_PIECE_BYTES: String(PIECE_BYTES),
      ...settings,
    });
  }

  async run(options?: Parameters<Scene['start']>[0]): Promise<ClientEnd> {
    return (await this.start(options)).ended;
  }

  get token(): string {
    return this.#token ?? '';
  }

  /** Every request of the client that was answered, in its order at each service. */
  get asked(): readonly Asked[] {
    return [this.server, ...this.authorities].flatMap(({ passed }) => passed).map(({ asked }) => asked);
  }

  /** Every piece of an upload that the client sent, in order. */
  get pieces(): readonly Asked[] {
    return this.asked.filter(isUpload);
  }

  /** The signed headers that it sent, each once: as many as it made uploads. */
  get uploads(): readonly ShotHeader[] {
    const headers = new Set(this.pieces.map(({ headers: { [HEADER.upload]: hex } }) => String(hex)));
    return [...headers].map((hex) => ShotUpload.decode(fromHex(hex) ?? new Uint8Array()).header);
  }

  /** The model that the server shows at this moment. */
  async shown(): Promise<ShownModel> {
    const headers = { authorization: `Bearer ${this.stage.operatorToken}` };
    const response = await fetch(new URL(SERVER_PATH.newestModel(this.task), this.stage.serverUrl), { headers });
    if (!response.ok) throw new Error(`the server shows no model: ${response.status}`);
    return ShownModel.decode(new Uint8Array(await response.arrayBuffer()));
  }

  /** A real device contributes its update past the proxies. */
  async peer(participant: number): Promise<void> {
    const { stage, task, policy } = this;
    const council = stage.authorities.slice(0, policy.authorities.length);
    const peer = await BasaClient.connect({
      server: stage.serverUrl,
      authority: council.map(({ url }) => url).join(','),
      authorityKey: policy.authorities.map(toHex).join(','),
      task,
      token: await this.#newToken(),
      identity: inMemoryStoreForTests(createNodeSigner(nodeRandomBytes(32))),
      floor: { minimum: 2, noNoise: true },
    });
    this.#peers.push(peer);
    const { version } = await peer.model();
    const result = await peer.contribute(updateOf(participant, policy), { trainedOn: version });
    if (result.kind !== 'accepted') throw new Error(`a device of the scene was refused: ${result.reason}`);
  }

  /** Waits for the first sum. */
  async summed(): Promise<void> {
    await until(async () => ((await this.stage.server.task(this.task)).version ?? 0) >= 1);
  }

  /** Undefined if the first sum is exactly that of these participants. */
  async sumProblem(participants: readonly number[]): Promise<string | undefined> {
    await this.summed();
    return firstDifference(await this.stage.server.parameters(this.task, 1), participants, this.policy);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#peers, this.server, ...this.authorities].map((each) => each.close()));
  }

  async #newToken(): Promise<string> {
    const [token = ''] = await this.#operator.tokens(this.task, 1, Date.now() + 3_600_000);
    return token;
  }
}
