/** A task with its server and its authority for client tests: the real functions of the protocol, and their state in memory. */
import { plainVectorKernel, RING_32, type Signer } from '@basa/masking';
import {
  ENGINE,
  type Millis,
  type ModelStatement,
  millis,
  modelStatementCodec,
  ONE_SHOT_DEFAULTS,
  POLICY_DEFAULTS,
  signStatement,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { createNodeKeystream, createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';

export const DIMENSION = 40;

/** The raw parameters of a version, as the server keeps them. */
export function parametersOf(version: number, dimension = DIMENSION): Float32Array {
  return Float32Array.from({ length: dimension }, (_, n) => version + n / 64);
}

export interface WorldOptions {
  readonly bufferSize?: number;
  readonly minimum?: number;
  readonly maxStaleness?: number;
  /** Any other line of the policy. */
  readonly policy?: Partial<TaskPolicy>;
}

/** A task in the mode of the paper. */
export const PAPER: WorldOptions = { policy: { engine: ENGINE.cpAbe, oneShot: undefined } };

export class TestWorld {
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly authority: Signer = createNodeSigner(nodeRandomBytes(32));
  readonly serverSigner: Signer = createNodeSigner(nodeRandomBytes(32));
  readonly tools = { suite: nodeSuite, kernel: plainVectorKernel(), keystream: createNodeKeystream() };
  /** Of the server, by version. */
  readonly statements: ModelStatement[] = [];
  /** Added to the clock of both services. */
  aheadMs = 0;

  constructor(options: WorldOptions = {}) {
    this.policy = {
      name: new Uint8Array([...'client test'].map((letter) => letter.charCodeAt(0))),
      engine: ENGINE.oneShot,
      bufferSize: options.bufferSize ?? 3,
      minimum: options.minimum ?? 2,
      dimension: DIMENSION,
      modulus: RING_32,
      level: 1024,
      clip: 4,
      staleness: { kind: 'constant' },
      maxStaleness: options.maxStaleness ?? 10,
      ...POLICY_DEFAULTS,
      oneShot: ONE_SHOT_DEFAULTS,
      authorities: [this.authority.publicKey],
      manifestHash: new Uint8Array(32),
      serverKey: this.serverSigner.publicKey,
      uploadLeaseMs: 60_000,
      ...options.policy,
    };
    this.task = taskIdOf(nodeSuite, this.policy);
    this.nextVersion();
  }

  get now(): Millis {
    return millis(Date.now() + this.aheadMs);
  }

  get version(): number {
    return this.statements.length - 1;
  }

  /** The server signs the next version. */
  nextVersion(): void {
    const { policy, task, statements } = this;
    const version = statements.length;
    const modelHash = nodeSuite.sha256(new Uint8Array(parametersOf(version, policy.dimension).buffer));
    const serial = Math.max((statements.at(-1)?.serial ?? -1) + 1, Math.floor(this.now / 1000));
    statements.push(signStatement(modelStatementCodec, this.serverSigner, { task, version, serial, modelHash }));
  }
}
