/** A world whose devices send anything they are told to, and whose authorities are silent or lie. */
import { type SigningDevice, signingDevice } from '@basa/conformance/signing-device.ts';
import { applyMasksInPlace, concatBytes, toHex } from '@basa/masking';
import { HEADER, SERVER_PATH } from '@basa/protocol/http';
import type { ShotHeaderBody } from '@basa/protocol/internal/wire/upload.ts';
import { ShotUpload, ShownModel, uploadNameOf } from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { nodeTools } from '@basa/simulator/virtual-time';
import { resigned } from '../core/one-shot/resigned.ts';
import { lieAboutSums } from './lies.ts';
import { asOperator } from './operator.ts';
import { ALONE, deviceStore, THREE_OF_FOUR, World, type WorldOptions } from './world.ts';

const { masks: tools } = nodeTools();

/** The rhythm in which a scene waits, and the longest pause of its server between two tries of a request to authorities. */
const TURN_MS = 30;
const LONGEST_PAUSE_MS = 15_000;
const MAX_TURNS = 5000;

/** The requests of a server to an authority. */
export type Asking = 'epochs' | 'inspections' | 'batch-votes' | 'releases';

export interface SceneOptions extends Omit<WorldOptions, 'shape' | 'specification'> {
  readonly count?: 1 | 4;
  readonly stallMs?: number;
}

/** The message of a device, before it is sent. */
export interface SentShot {
  readonly device: SigningDevice;
  /** The place of the one in its update. */
  readonly index: number;
  readonly upload: ShotUpload;
  readonly body: Uint8Array;
}

interface Told {
  readonly status: number;
  readonly offset: string | undefined;
  readonly json: { readonly type?: string; readonly received?: number; readonly accepted?: boolean };
}

export class ShotScene {
  readonly world: World;
  /** Requests that no authority answers. */
  readonly blocked = new Set<Asking>();
  /** Indices of authorities that do not answer. */
  readonly away = new Set<number>();
  /** Indices of authorities that sign a wrong sum of masks. */
  readonly lying = new Set<number>();
  /** The requests to authorities, in order. */
  readonly asked: string[] = [];
  #devices = 0;

  private constructor(world: World) {
    this.world = world;
    world.wire.faults.push(({ host, path }) => {
      const index = world.authorities.findIndex((party) => party.host === host);
      if (index < 0) return undefined;
      const asking = path.split('/')[4] as Asking | undefined;
      this.asked.push(`${index} ${asking}`);
      return this.away.has(index) || (asking !== undefined && this.blocked.has(asking)) ? 'lost' : undefined;
    });
    lieAboutSums(world, (index) => this.lying.has(index));
  }

  static async open({ count = 1, policy, stallMs, ...more }: SceneOptions = {}): Promise<ShotScene> {
    const world = await World.open({
      ...more,
      shape: count === 1 ? ALONE : THREE_OF_FOUR,
      policy: { bufferSize: 4, minimum: 3, dimension: 30, ...policy },
      specification: stallMs === undefined ? {} : { stallMs },
    });
    const scene = new ShotScene(world);
    await scene.until(async () => (await scene.get(SERVER_PATH.newestModel(world.taskId))).ok);
    return scene;
  }

  /** Time passes until it is so. */
  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      if (await isSo()) return;
      await this.turn();
    }
    throw new Error('the scene does not come to that');
  }

  async turn(): Promise<void> {
    this.world.elapse(TURN_MS);
    await this.world.tick();
    await new Promise((resolve) => setTimeout(resolve, 5)); // the server's threads take their time
  }

  /** The authorities answer again, and the longest pause of the server between two tries is over. */
  async answerAgain(): Promise<void> {
    this.blocked.clear();
    this.away.clear();
    await this.retry();
  }

  /** Ends the pause that follows a failed try. The failure may be a tick away. */
  async retry(): Promise<void> {
    for (let n = 0; n < 3; n++) await this.turn();
    this.world.elapse(LONGEST_PAUSE_MS);
  }

  /** Masks on the model and epochs that the server shows, without sending. The update has a one at its own place. */
  async shot(): Promise<SentShot> {
    const index = this.#devices++;
    const signer = createNodeSigner(nodeRandomBytes(32));
    const pieces: Uint8Array[] = [];
    let upload: ShotUpload | undefined;
    const { faults } = this.world.wire;
    faults.unshift(({ method, headers, body = new Uint8Array() }) => {
      const header = headers[HEADER.upload];
      if (method !== 'PUT' || header === undefined) return undefined;
      upload = ShotUpload.decode(Buffer.from(header, 'hex'));
      pieces.push(body);
      const received = pieces.reduce((sum, { length }) => sum + length, 0);
      const answer = JSON.stringify({ received, accepted: received === upload.bodyBytes });
      return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(answer) };
    });
    const client = await this.world.device({
      store: deviceStore(signer),
      outside: { mask: (vector, plan) => applyMasksInPlace(vector, plan, tools) },
    });
    const { version, parameters } = await client.model();
    const delta = Float32Array.from(parameters, (_, n) => (n === index ? 1 : 0));
    await client.contribute(delta, { trainedOn: version });
    await client.close();
    faults.shift();
    if (upload === undefined) throw new Error('the device gave nothing');
    return { device: signingDevice(signer), index, upload, body: concatBytes(...pieces) };
  }

  /** The same with another body or header, as signed by a device that masks wrongly. */
  changed(
    { device, index, upload, body }: SentShot,
    change: (body: Uint8Array) => void,
    more: Partial<ShotHeaderBody> = {},
  ): SentShot {
    const other = body.slice();
    change(other);
    return { device, index, upload: resigned(this.world.policy, device, upload, other, more), body: other };
  }

  nameOf({ upload }: SentShot): string {
    return toHex(uploadNameOf(nodeSuite, upload.header));
  }

  /** Sends a piece of the body; by default all of it. */
  send(shot: SentShot, from = 0, to = shot.body.length): Promise<Told> {
    return this.#request('PUT', shot, shot.body.slice(from, to), from);
  }

  standingOf(shot: SentShot): Promise<Told> {
    return this.#request('HEAD', shot, new Uint8Array());
  }

  async #request(method: 'PUT' | 'HEAD', shot: SentShot, body: Uint8Array, offset = 0): Promise<Told> {
    this.world.elapse(1); // uploads are taken in the order in which they came
    const { server, task, wire, now } = this.world;
    const path = SERVER_PATH.shot(task, this.nameOf(shot));
    const words = { audience: server.publicKey, target: path, body, at: now };
    const headers = {
      ...(method === 'PUT'
        ? shot.device.pieceHeaders({ ...words, offset })
        : shot.device.headers({ ...words, method })),
      [HEADER.upload]: toHex(ShotUpload.encode(shot.upload)),
      'content-type': 'application/octet-stream',
    };
    const has = method === 'PUT' ? body : undefined;
    const answer = await wire.ask({ host: 'server', method, path, headers, body: has });
    const text = Buffer.from(answer.body).toString();
    return {
      status: answer.status,
      offset: answer.headers[HEADER.uploadOffset],
      json: text === '' ? {} : JSON.parse(text),
    };
  }

  /** Asks the server, with the token of an operator. */
  get(path: string): Promise<Response> {
    return asOperator(this.world.wire.fetch, 'GET', new URL(path, this.world.serverUrl));
  }

  /** The newest model. */
  async shown(): Promise<ShownModel> {
    const response = await this.get(SERVER_PATH.newestModel(this.world.taskId));
    return ShownModel.decode(new Uint8Array(await response.arrayBuffer()));
  }

  async fate(shot: SentShot): Promise<Record<string, unknown>> {
    const response = await this.get(SERVER_PATH.shotFate(this.world.task, this.nameOf(shot)));
    return (await response.json()) as Record<string, unknown>;
  }

  async fateIs(shot: SentShot, fate: string): Promise<Record<string, unknown>> {
    await this.until(async () => (await this.fate(shot))['fate'] === fate);
    return this.fate(shot);
  }

  /** The parameters of a version, once there is one. */
  async reached(version: number): Promise<readonly number[]> {
    const path = SERVER_PATH.model(this.world.task, version);
    await this.until(async () => (await this.get(path)).ok);
    return [...new Float32Array(await (await this.get(path)).arrayBuffer())];
  }

  close(): Promise<void> {
    return this.world.close();
  }
}

/** The first version made of these updates: each has a one at the place of its device, and a step goes against the mean. */
export function stepOf(shots: readonly SentShot[], dimension = 30): readonly number[] {
  return Array.from({ length: dimension }, (_, k) =>
    shots.some(({ index }) => index === k) ? -Math.fround(1 / shots.length) : 0,
  );
}
