/** A server and an authority for client tests: the real cores of the protocol with real sealing, kept in memory. */

import { applyMasksInPlace, RING_32 } from '@basa/masking';
import {
  type Ctx,
  ENGINE,
  judgeHeader,
  type Millis,
  millis,
  ONE_SHOT_DEFAULTS,
  type Pins,
  POLICY_DEFAULTS,
  type Slot,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
  type UploadHeader,
  uploadLayout,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { FederationAuthority, FederationServer, type Sealings, type World } from '@basa/simulator';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
import { nodeEnvironment } from '@basa/virtual-time/simulation';

export const DIMENSION = 40;

/** The raw parameters of a version, as the server keeps them. */
export function parametersOf(version: number, dimension = DIMENSION): Float32Array {
  return Float32Array.from({ length: dimension }, (_, n) => version + n / 64);
}

/** Real models instead of the federation's counters. */
class ModelServer extends FederationServer {
  override modelBytes(version: number): Uint8Array {
    return new Uint8Array(parametersOf(version, this.world.policy.dimension).buffer);
  }
}

export interface WorldOptions {
  readonly bufferSize?: number;
  readonly minimum?: number;
  readonly maxStaleness?: number;
  readonly uploadLeaseMs?: number;
  readonly seatMs?: number;
  readonly sealings?: Sealings;
  /** Any other line of the policy. */
  readonly policy?: Partial<TaskPolicy>;
}

/** A task of the one-shot mode. */
export const ONE_SHOT: WorldOptions = { policy: { engine: ENGINE.oneShot, oneShot: ONE_SHOT_DEFAULTS } };

export class TestWorld implements World {
  readonly environment = nodeEnvironment;
  readonly sealings: Sealings;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly authority: FederationAuthority;
  readonly server: ModelServer;
  readonly randomBytes = nodeRandomBytes;
  /** Added to the clock of both services. */
  aheadMs = 0;

  constructor(options: WorldOptions = {}) {
    this.sealings = options.sealings ?? slotKeySealings();
    const serverSigner = createNodeSigner(nodeRandomBytes(32));
    const authoritySigner = createNodeSigner(nodeRandomBytes(32));
    this.policy = {
      name: new Uint8Array([...'client test'].map((letter) => letter.charCodeAt(0))),
      engine: this.sealings.engine,
      bufferSize: options.bufferSize ?? 3,
      minimum: options.minimum ?? 2,
      dimension: DIMENSION,
      modulus: RING_32,
      level: 1024,
      clip: 4,
      staleness: { kind: 'constant' },
      maxStaleness: options.maxStaleness ?? 10,
      ...POLICY_DEFAULTS,
      authorities: [authoritySigner.publicKey],
      manifestHash: new Uint8Array(32),
      serverKey: serverSigner.publicKey,
      uploadLeaseMs: options.uploadLeaseMs ?? 60_000,
      openMs: 120_000,
      closeMs: 120_000,
      ...options.policy,
    };
    this.task = taskIdOf(nodeSuite, this.policy);
    this.authority = new FederationAuthority(this, authoritySigner);
    this.server = new ModelServer(this, serverSigner);
    this.server.seatMs = options.seatMs ?? 60_000;
    this.authority.createTask();
    this.server.appendModel(0, new Uint8Array(32) as Ctx);
  }

  get now(): Millis {
    return millis(Date.now() + this.aheadMs);
  }

  set now(_: Millis) {
    throw new Error('the clock of this world is the real one');
  }

  get authorities(): readonly FederationAuthority[] {
    return [this.authority];
  }

  get pins(): Pins {
    return { policy: this.policy };
  }

  get version(): number {
    return this.authority.core.newestModel(this.task)?.version ?? -1;
  }

  persisted(): void {}

  call<Answer>(_: string, request: () => Answer): Answer {
    return request();
  }

  mask: World['mask'] = (vector, plan) => applyMasksInPlace(vector, plan, this.environment.tools);

  /** The server's verdict on a header, and the length of its body. */
  judge(header: UploadHeader): { verdict: ReturnType<typeof judgeHeader>; bodyBytes: number } {
    const buffer = this.server.buffer(header.ctx);
    const { bodyBytes } = uploadLayout(buffer.descriptor, header, this.sealings.sealing);
    return { verdict: judgeHeader(this.server.ports, buffer, header, this.now), bodyBytes };
  }

  /** Closes and opens a buffer whose every slot is accepted. */
  finishIfFull(ctx: Ctx): void {
    const { slots, descriptor, status } = this.server.buffer(ctx);
    const isFull = slots.length === descriptor.bufferSize && slots.every((slot) => slot.status === 'accepted');
    if (isFull && status === 'filling') this.server.finish(ctx);
  }

  acceptedSlots(ctx: Ctx): readonly Slot[] {
    return this.server.buffer(ctx).slots.flatMap(({ status, ticket }) => (status === 'accepted' ? [ticket.slot] : []));
  }
}
