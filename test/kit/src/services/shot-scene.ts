/** A real server with a one-shot task, the cores of its authorities, and devices that send anything they are told to. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SigningDevice, signingDevice } from '@basa/conformance/signing-device.ts';
import { until } from '@basa/conformance/until.ts';
import { WHOLE_STEP } from '@basa/conformance/whole-step.ts';
import { ascii, RING_32, toHex } from '@basa/masking';
import {
  buildInput,
  type Certificate,
  ENGINE,
  encodePolicy,
  HEADER,
  heldParts,
  joined,
  type Millis,
  millis,
  ONE_SHOT_DEFAULTS,
  POLICY_DEFAULTS,
  partsHashOf,
  receiveModel,
  SERVER_PATH,
  type ShotHeaderBody,
  type ShotUpload,
  type ShownModel,
  shotHeaderCodec,
  shotLayout,
  shotUploadCodec,
  shownModelCodec,
  sumRules,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
  uploadNameOf,
} from '@basa/protocol';
import { createNodeSigner, nodeCrc32, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { type RunningServer, type ServerOptions, startServer } from '@basa/server';
import { type AuthorityWorld, FederationAuthority, granted, ShotAuthority } from '@basa/simulator';
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { type Enrolled, maskedUpload } from '../core/one-shot/shot-upload.ts';
import { CoreAuthorities } from './core-authorities.ts';

export { until };

/** The server's rhythm in a scene, and its longest pause between two tries of a request to authorities. */
const TICK_MS = 30;
const LONGEST_PAUSE_MS = 15_000;

const TOKEN = 'operator-of-the-tests';
const OPERATORS = [
  { tokenHash: toHex(nodeSuite.sha256(ascii(TOKEN))), roles: ['operator', 'tasks', 'enrol'] },
] as const;

export interface SceneOptions {
  readonly count?: 1 | 4;
  readonly policy?: Partial<TaskPolicy>;
  readonly stallMs?: number;
  readonly server?: Partial<ServerOptions>;
}

/** The message of a device, before it is sent. */
export interface SentShot {
  readonly device: SigningDevice;
  /** The place of the one in its update. */
  readonly index: number;
  readonly upload: ShotUpload;
  readonly body: Uint8Array;
}

interface Answered {
  readonly status: number;
  readonly offset: string | null;
  readonly json: { readonly type?: string; readonly received?: number; readonly accepted?: boolean };
}

export class ShotScene {
  readonly folder = mkdtempSync(join(tmpdir(), 'basa-shots-'));
  readonly authorities: CoreAuthorities;
  policy!: TaskPolicy;
  task!: TaskId;
  server!: RunningServer;
  readonly #options: SceneOptions;
  #devices = 0;
  #aheadMs = 0;

  private constructor(options: SceneOptions) {
    this.#options = options;
    const world = this.#world();
    const all = Array.from({ length: options.count ?? 1 }, (_, index) => {
      return new ShotAuthority(new FederationAuthority(world, createNodeSigner(nodeRandomBytes(32)), index));
    });
    this.authorities = new CoreAuthorities(world, all);
  }

  /** The parts of a federation that its authorities need; the server is a real one. */
  #world(): AuthorityWorld {
    const scene = this;
    return {
      environment: nodeEnvironment,
      randomBytes: nodeRandomBytes,
      persisted: () => undefined,
      get policy() {
        return scene.policy;
      },
      get task() {
        return scene.task;
      },
      get now() {
        return scene.now;
      },
    };
  }

  static async open(options: SceneOptions = {}): Promise<ShotScene> {
    const scene = new ShotScene(options);
    await scene.start();
    await scene.#createTask();
    return scene;
  }

  get now(): Millis {
    return millis(this.clock());
  }

  readonly clock = (): number => Date.now() + this.#aheadMs;

  elapse(ms: number): void {
    this.#aheadMs += ms;
  }

  /** The authorities answer again, and the longest pause of the server between two tries is over. */
  async answerAgain(): Promise<void> {
    this.authorities.blocked.clear();
    this.authorities.away.clear();
    await this.retry();
  }

  /** Ends the pause that follows a failed try. The failure may be a tick away. */
  async retry(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 3 * TICK_MS));
    this.elapse(LONGEST_PAUSE_MS);
  }

  async start(): Promise<void> {
    this.server = await this.node();
  }

  /** A further node, if the scene is on a database that nodes share; the caller closes it. */
  node(): Promise<RunningServer> {
    return startServer({
      dataFolder: join(this.folder, 'server'),
      authorities: this.authorities.all.map(({ base }) => ({
        url: this.authorities.urlOf(base.index),
        publicKey: base.publicKey,
      })),
      listen: { host: '127.0.0.1', port: 0 },
      operators: OPERATORS,
      maxSkewMs: 10 ** 12,
      lateMs: () => 0,
      clock: this.clock,
      fetch: this.authorities.fetch,
      tickMs: TICK_MS,
      ...this.#options.server,
    });
  }

  /** `between`: runs while nothing else runs. */
  async restart(between: () => void = () => undefined): Promise<void> {
    await this.server.close();
    between();
    await this.start();
  }

  /** A copy of the server's data, to be restored. */
  backup(): () => void {
    const [folder, copy] = [join(this.folder, 'server'), join(this.folder, `copy-${Date.now()}`)];
    cpSync(folder, copy, { recursive: true });
    return () => {
      rmSync(folder, { recursive: true });
      cpSync(copy, folder, { recursive: true });
    };
  }

  async #createTask(): Promise<void> {
    const { count = 1, policy, stallMs } = this.#options;
    this.policy = {
      ...POLICY_DEFAULTS,
      name: ascii('shots'),
      engine: ENGINE.oneShot,
      oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: count === 1 ? 0 : 1 },
      authorities: this.authorities.all.map(({ base }) => base.publicKey),
      threshold: count === 1 ? 1 : 3,
      serverKey: this.server.publicKey,
      bufferSize: 4,
      minimum: 3,
      dimension: 30,
      modulus: RING_32,
      level: 1024,
      clip: 1,
      staleness: { kind: 'constant' },
      maxStaleness: 2,
      manifestHash: new Uint8Array(32),
      uploadLeaseMs: 60_000,
      ...policy,
    };
    this.task = taskIdOf(nodeSuite, this.policy);
    const specification = {
      policy: toHex(encodePolicy(this.policy)),
      mode: 'one-shot',
      serverStep: WHOLE_STEP,
      ...(stallMs !== undefined && { stallMs }),
    };
    const response = await fetch(new URL(SERVER_PATH.tasks, this.server.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(specification),
    });
    if (!response.ok) throw new Error(await response.text());
  }

  device(): Enrolled {
    const device = signingDevice();
    const body = { task: this.task, deviceKey: device.deviceKey };
    const signed = this.authorities.all.map(({ base }) => granted(base.enrol(body)));
    const endorsements = joined(signed.flatMap((one) => one.endorsements));
    return { device, certificate: { ...(signed[0] as Certificate), endorsements } };
  }

  /** Returns the newest model, with the epochs of all authorities that are present. */
  async shown(): Promise<ShownModel> {
    let shown: ShownModel | undefined;
    const count = this.authorities.all.length - this.authorities.away.size;
    await until(async () => {
      const response = await fetch(new URL(SERVER_PATH.newestModel(this.task), this.server.url));
      if (response.ok) shown = shownModelCodec.decode(new Uint8Array(await response.arrayBuffer()));
      return new Set(shown?.epochs.map(({ authority }) => authority)).size === count;
    });
    return shown as ShownModel;
  }

  /** Masks on the model and epochs that the server shows, without sending. The update has a one at its own place. */
  async shot(): Promise<SentShot> {
    const enrolled = this.device();
    const { policy, task, now } = this;
    const question = { suite: nodeEnvironment.tools.suite, policy, task, now };
    const gathered = granted(receiveModel(question, await this.shown()));
    const index = this.#devices++;
    const delta = new Float32Array(policy.dimension);
    delta[index] = 1;
    const { version } = gathered.statement;
    const update = { delta, trainedOn: version, randomWords: nodeEnvironment.randomWords(index) };
    const { vector } = granted(buildInput(sumRules(policy, version), update));
    const { shown, body } = maskedUpload(enrolled, { policy, ...gathered }, vector);
    const { certificate, header } = shown;
    const upload = { certificate, header, bodyBytes: body.length, bodyCrc: nodeCrc32(body) };
    return { device: enrolled.device, index, upload, body };
  }

  /** The same with another body or header, as signed by a device that masks wrongly. */
  changed(
    { device, index, upload, body }: SentShot,
    change: (body: Uint8Array) => void,
    more: Partial<ShotHeaderBody> = {},
  ): SentShot {
    const other = body.slice();
    change(other);
    const { epochs } = upload.header;
    const sealed = other.subarray(shotLayout(this.policy, epochs).vectorBytes);
    const partsHash = partsHashOf(nodeSuite, heldParts(this.policy, epochs), sealed) as Uint8Array;
    const { signature: _, ...header } = { ...upload.header, partsHash, ...more };
    const signature = device.sign(shotHeaderCodec.statement(header));
    const bodyCrc = nodeCrc32(other);
    return { device, index, upload: { ...upload, header: { ...header, signature }, bodyCrc }, body: other };
  }

  nameOf({ upload }: SentShot): string {
    return toHex(uploadNameOf(nodeSuite, upload.header));
  }

  /** Sends a piece of the body; by default all of it. */
  send(shot: SentShot, from = 0, to = shot.body.length): Promise<Answered> {
    return this.#request('PUT', shot, shot.body.slice(from, to), from);
  }

  standingOf(shot: SentShot): Promise<Answered> {
    return this.#request('HEAD', shot, new Uint8Array());
  }

  async #request(method: 'PUT' | 'HEAD', shot: SentShot, body: Uint8Array, offset = 0): Promise<Answered> {
    const target = SERVER_PATH.shot(this.task, this.nameOf(shot));
    const words = { audience: this.server.publicKey, target, body, at: this.clock() };
    const headers = {
      ...(method === 'PUT'
        ? shot.device.pieceHeaders({ ...words, offset })
        : shot.device.headers({ ...words, method })),
      [HEADER.upload]: toHex(shotUploadCodec.encode(shot.upload)),
      'content-type': 'application/octet-stream',
    };
    const init = method === 'PUT' ? { body: body.slice() } : {};
    const response = await fetch(new URL(target, this.server.url), { method, headers, ...init });
    const text = await response.text();
    return {
      status: response.status,
      offset: response.headers.get(HEADER.uploadOffset),
      json: text === '' ? {} : JSON.parse(text),
    };
  }

  async fate(shot: SentShot): Promise<Record<string, unknown>> {
    const response = await fetch(new URL(SERVER_PATH.shotFate(this.task, this.nameOf(shot)), this.server.url));
    return (await response.json()) as Record<string, unknown>;
  }

  async fateIs(shot: SentShot, fate: string): Promise<Record<string, unknown>> {
    await until(async () => (await this.fate(shot))['fate'] === fate);
    return this.fate(shot);
  }

  /** Sends a request of an operator, with a token. */
  async operatorGet(path: string): Promise<Response> {
    return fetch(new URL(path, this.server.url), { headers: { authorization: `Bearer ${TOKEN}` } });
  }

  /** The parameters of a version, once there is one. */
  async reached(version: number): Promise<Float32Array> {
    const address = new URL(SERVER_PATH.model(this.task, version), this.server.url);
    let found: Response | undefined;
    await until(async () => {
      const response = await fetch(address);
      if (response.ok) found = response;
      return response.ok;
    });
    return new Float32Array(await (found as Response).arrayBuffer());
  }

  async close(): Promise<void> {
    await this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The first version made of these updates: each has a one at the place of its device, and a step goes against the mean. */
export function stepOf(shots: readonly SentShot[], dimension = 30): readonly number[] {
  return Array.from({ length: dimension }, (_, k) =>
    shots.some(({ index }) => index === k) ? -Math.fround(1 / shots.length) : 0,
  );
}
