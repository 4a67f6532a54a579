/** The environment in which a client is tested: real services, a task for each scene, proxies in front of them, and real devices beside it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BasaClient, inMemoryStoreForTests } from '@basa/client/node';
import { AuthorityOperator, type ServerOperator, tokenForAll } from '@basa/client/operator';
import { fromHex, type Signer, toHex } from '@basa/masking';
import { encodePolicy, type TaskPolicy } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { firstDifference, updateOf } from '../exact-updates.ts';
import { kitPolicy, PIECE_BYTES } from '../kit-policy.ts';
import { ServiceProxy } from '../service-proxy.ts';
import { until } from '../until.ts';
import { WHOLE_STEP } from '../whole-step.ts';
import type { ClientEnd, RunningClient, StartClient } from './client-under-test.ts';

export interface TrialServices {
  readonly serverUrl: string;
  /** Of all authorities that the server knows, with commas between them, as their keys in hex. */
  readonly authorityUrl: string;
  readonly authorityKey: string;
  /** With it the kit signs a server's lies. */
  readonly serverSigner: Signer;
  readonly server: ServerOperator;
  /** An operator's at all of them. */
  readonly operatorToken: string;
  /** Lets time pass for the services. */
  elapse(ms: number): Promise<void>;
}

/** The number of the client under test among the participants of `exact-updates`. */
export const ITSELF = 1;

/** A full buffer is closed and opened in moments; only a hang takes so long. */
const MAX_CLOSING_MS = 600_000;

export class ClientTrial {
  readonly services: TrialServices;
  readonly #folder: string;
  readonly #start: StartClient;
  /** Guards every wait of a scene. */
  readonly signal: AbortSignal;
  #scenes = 0;

  constructor(services: TrialServices, folder: string, start: StartClient, signal: AbortSignal) {
    this.services = services;
    this.#folder = folder;
    this.#start = start;
    this.signal = signal;
  }

  /**
   * A new task with a client that is not known yet; everything is stopped when the scene is over. The task has only the
   * first authority, or this many.
   */
  async scene(
    change: Partial<TaskPolicy>,
    play: (scene: Scene) => Promise<void>,
    authorities: number = 1,
  ): Promise<void> {
    const { services } = this;
    const council = this.#council(authorities);
    const authorityKeys = council.keys.map((key) => fromHex(key) ?? new Uint8Array());
    const policy = kitPolicy({ serverKey: services.serverSigner.publicKey, authorityKeys }, change);
    const task = await council.operator.createTask(policy);
    await services.server.createTask({ policy: toHex(encodePolicy(policy)), serverStep: WHOLE_STEP });
    const folder = join(this.#folder, `client-${++this.#scenes}`);
    await mkdir(folder, { recursive: true });
    const update = join(folder, 'update.f32');
    await writeFile(update, new Uint8Array(updateOf(ITSELF, policy).buffer));
    const server = await ServiceProxy.before(() => services.serverUrl);
    const proxies = await Promise.all(council.urls.map((url) => ServiceProxy.before(() => url)));
    const scene = new Scene(this, { task, policy, server, council, authorities: proxies, folder, update }, this.#start);
    try {
      await play(scene);
    } finally {
      await scene.close();
    }
  }

  #council(count: number): StageCouncil {
    const { authorityUrl, authorityKey, operatorToken } = this.services;
    const [urls, keys] = [authorityUrl, authorityKey].map((all) => all.split(',').slice(0, count)) as [
      string[],
      string[],
    ];
    if (urls.length < count) throw new Error(`the kit's server knows ${urls.length} authorities, not ${count}`);
    const url = urls.join(',');
    const token = tokenForAll(url, operatorToken);
    return { urls, keys, operator: new AuthorityOperator({ url, token, signal: this.signal }) };
  }
}

/** The authorities of a scene's task. */
interface StageCouncil {
  readonly urls: readonly string[];
  readonly keys: readonly string[];
  readonly operator: AuthorityOperator;
}

interface Props {
  readonly task: string;
  readonly policy: TaskPolicy;
  readonly server: ServiceProxy;
  readonly council: StageCouncil;
  readonly authorities: readonly ServiceProxy[];
  readonly folder: string;
  readonly update: string;
}

export class Scene {
  readonly trial: ClientTrial;
  readonly task: string;
  readonly policy: TaskPolicy;
  /** Between the client under test and the services. */
  readonly server: ServiceProxy;
  /** In the order of the policy. */
  readonly authorities: readonly ServiceProxy[];
  readonly #props: Props;
  readonly #start: StartClient;
  readonly #peers: BasaClient[] = [];
  #token: string | undefined;

  constructor(trial: ClientTrial, props: Props, start: StartClient) {
    this.trial = trial;
    this.task = props.task;
    this.policy = props.policy;
    this.server = props.server;
    this.authorities = props.authorities;
    this.#props = props;
    this.#start = start;
  }

  /** The first one, which is the only one of most scenes. */
  get authority(): ServiceProxy {
    return this.authorities[0] as ServiceProxy;
  }

  /** The addresses of the authorities themselves. */
  get authorityUrls(): readonly string[] {
    return this.#props.council.urls;
  }

  /** Every request of the client under test that was answered, in its order at each service. */
  get asked() {
    return [this.server, ...this.authorities].flatMap(({ passed }) => passed).map(({ asked }) => asked);
  }

  /** Another update of the client, as a file. */
  async updateFile(participant: number): Promise<string> {
    const update = join(this.#props.folder, `update-${participant}.f32`);
    await writeFile(update, new Uint8Array(updateOf(participant, this.policy).buffer));
    return update;
  }

  /** Starts the client; the same device and token each time. `more` takes the place of its settings. */
  async start(more: Readonly<Record<string, string>> = {}): Promise<RunningClient> {
    const { folder, task, update } = this.#props;
    this.#token ??= await this.#newToken();
    return this.#start({
      BASA_SERVER: this.server.url,
      BASA_AUTHORITY: this.authorities.map(({ url }) => url).join(','),
      BASA_AUTHORITY_KEY: this.#props.council.keys.join(','),
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
  async peer(participant: number, serverUrl = this.trial.services.serverUrl): Promise<void> {
    const { urls, keys } = this.#props.council;
    const identity = inMemoryStoreForTests(createNodeSigner(nodeRandomBytes(32)));
    const peer = await BasaClient.connect({
      server: serverUrl,
      authority: urls.join(','),
      authorityKey: keys.join(','),
      task: this.task,
      token: await this.#newToken(),
      identity,
      signal: this.trial.signal,
    });
    this.#peers.push(peer);
    const { version } = await peer.model();
    const result = await peer.contribute(updateOf(participant, this.policy), { trainedOn: version });
    if (result.kind !== 'accepted') throw new Error(`a device of the kit was refused: ${result.reason}`);
  }

  /** Waits for the first sum. */
  async summed(): Promise<void> {
    const { server } = this.trial.services;
    const patience = AbortSignal.any([this.trial.signal, AbortSignal.timeout(MAX_CLOSING_MS)]);
    await until(async () => ((await server.task(this.task)).version ?? 0) >= 1, patience);
  }

  /** Undefined if the first sum is exactly that of these participants. */
  async sumProblem(participants: readonly number[]): Promise<string | undefined> {
    const { server } = this.trial.services;
    await this.summed();
    return firstDifference(await server.parameters(this.task, 1), participants, this.policy);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#peers, this.server, ...this.authorities].map((each) => each.close()));
  }

  async #newToken(): Promise<string> {
    const [token = ''] = await this.#props.council.operator.tokens(this.task, 1, Date.now() + 3_600_000);
    return token;
  }
}
