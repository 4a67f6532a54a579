/**
 * A whole federation in memory: the real cores of server, authority and users, with what each of them has on disk. Every
 * message crosses as bytes. Any party may crash after any record, and any reply may be lost: the world goes on.
 */
import type { AttributeKeyIssuer, Keystream, MaskTools, Modulus, SeedSealing, Signer } from '@basa/masking';
import { applyMasksInPlace, RING_32, unsafeTransparentIssuer, unsafeTransparentSealing } from '@basa/masking';
import type { Ctx, Millis, Pins, Staleness, TaskId, TaskPolicy } from '@basa/protocol';
import { ENGINE, taskIdOf } from '@basa/protocol';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { TestAuthority } from './federation-authority.ts';
import type { PartyName } from './federation-common.ts';
import { Crash } from './federation-common.ts';
import { TestDevice } from './federation-device.ts';
import { TestServer } from './federation-server.ts';
import { seededWords, wasmTools } from './tools.ts';

export interface Sealings {
  readonly engine: number;
  readonly issuer: AttributeKeyIssuer;
  readonly sealing: SeedSealing;
}

export interface FederationOptions {
  readonly bufferSize: number;
  readonly minimum?: number;
  readonly dimension?: number;
  readonly modulus?: Modulus;
  readonly level?: number;
  readonly staleness?: Staleness;
  readonly maxStaleness?: number;
  readonly sealings?: Sealings;
  readonly seed?: number;
}

export const LEASE_MS = 1000;
export const OPEN_MS = 60_000;
export const CLOSE_MS = 60_000;

export class Federation {
  readonly tools: MaskTools<Keystream> = wasmTools();
  readonly sealings: Sealings;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly server: TestServer;
  readonly authority: TestAuthority;
  readonly devices: TestDevice[] = [];
  now = 1_000_000 as Millis;
  /** Crash after this many more records, and lose the first reply of these steps. */
  crashIn: number | undefined;
  readonly loseReplies = new Set<string>();
  records = 0;
  readonly #words;

  constructor(options: FederationOptions) {
    this.#words = seededWords(options.seed ?? 1);
    this.sealings = options.sealings ?? transparentSealings();
    const serverSigner = this.signer();
    this.policy = {
      name: new TextEncoder().encode('test'),
      engine: this.sealings.engine,
      bufferSize: options.bufferSize,
      minimum: options.minimum ?? 2,
      dimension: options.dimension ?? 8,
      modulus: options.modulus ?? RING_32,
      level: options.level ?? 1,
      clip: 1,
      staleness: options.staleness ?? { kind: 'constant' },
      maxStaleness: options.maxStaleness ?? 10,
      manifestHash: new Uint8Array(32),
      serverKey: serverSigner.publicKey,
      uploadLeaseMs: LEASE_MS,
      openMs: OPEN_MS,
      closeMs: CLOSE_MS,
    };
    this.task = taskIdOf(nodeSuite, this.policy);
    this.authority = new TestAuthority(this, this.signer());
    this.server = new TestServer(this, serverSigner);
    this.authority.createTask();
    this.server.appendModel(0, new Uint8Array(32) as Ctx);
  }

  get pins(): Pins {
    return { policy: this.policy, authorityKey: this.authority.publicKey };
  }

  randomBytes = (length: number): Uint8Array => {
    const words = new Uint32Array(Math.ceil(length / 4));
    this.#words(words);
    return new Uint8Array(words.buffer, 0, length).slice();
  };

  signer(): Signer {
    return createNodeSigner(this.randomBytes(32));
  }

  device(): TestDevice {
    const device = new TestDevice(this, this.signer());
    this.devices.push(device);
    return device;
  }

  /** Something became durable; this may be the last thing the party did. */
  persisted(party: PartyName): void {
    this.records++;
    if (this.crashIn !== undefined && --this.crashIn === 0) {
      this.crashIn = undefined;
      throw new Crash(party);
    }
  }

  /** One request and its answer: tried again where a party crashed under it, or where the reply got lost. */
  call<Answer>(step: string, request: () => Answer): Answer {
    const answer = this.#surviving(request);
    if (!this.loseReplies.delete(step)) return answer;
    return this.#surviving(request);
  }

  #surviving<Answer>(request: () => Answer): Answer {
    try {
      return request();
    } catch (error) {
      if (!(error instanceof Crash) || error.party === 'user') throw error;
      if (error.party === 'server') this.server.restart();
      else this.authority.restart();
      return request();
    }
  }

  mask(vector: Uint32Array, plan: Parameters<typeof applyMasksInPlace>[1]): void {
    applyMasksInPlace(vector, plan, this.tools);
  }

  /** Fills one buffer with the given devices, in this order, and returns it. */
  fill(devices: readonly TestDevice[]): Ctx {
    let ctx: Ctx | undefined;
    for (const device of devices) {
      device.contribute();
      ctx = device.ctx;
    }
    if (ctx === undefined) throw new Error('no device');
    return ctx;
  }
}

export function transparentSealings(): Sealings {
  return {
    engine: ENGINE.unsafeTransparent,
    issuer: unsafeTransparentIssuer(nodeSuite),
    sealing: unsafeTransparentSealing({ seed: 32, attribute: 32, context: 70 }),
  };
}
