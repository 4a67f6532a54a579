/** The server of one task, as an authority knows it: its key, its policy, and the versions that it logs. */
import { ascii, RING_32 } from '@basa/masking';
import {
  AUTHORITY_PATH,
  type Ctx,
  ENGINE,
  encodePolicy,
  modelAppendCodec,
  ONE_SHOT_DEFAULTS,
  POLICY_DEFAULTS,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Authority } from '../src/index.ts';
import { type Answer, ask } from './asking.ts';
import { OPERATOR } from './homes.ts';

/** A version of a model and the sums that it is made of. */
interface Version {
  readonly version: number;
  readonly sums: readonly Ctx[];
  readonly modelHash?: Uint8Array;
}

export class TestServer {
  readonly signer = createNodeSigner(nodeRandomBytes(32));
  readonly policy: TaskPolicy;

  constructor(more: Partial<TaskPolicy> = {}) {
    this.policy = {
      name: ascii('test'),
      engine: ENGINE.oneShot,
      bufferSize: 3,
      minimum: 2,
      dimension: 8,
      modulus: RING_32,
      level: 1,
      clip: 1,
      staleness: { kind: 'constant' },
      maxStaleness: 10,
      ...POLICY_DEFAULTS,
      oneShot: ONE_SHOT_DEFAULTS,
      authorities: [],
      manifestHash: new Uint8Array(32),
      serverKey: this.signer.publicKey,
      uploadLeaseMs: 1000,
      ...more,
    };
  }

  get task() {
    return taskIdOf(nodeSuite, this.policy);
  }

  createTask(authority: Authority): Promise<Answer> {
    return ask(authority, AUTHORITY_PATH.tasks, { body: encodePolicy(this.policy), token: OPERATOR });
  }

  /** `at`: the task of the address, if it is not its own. */
  appendModel(
    authority: Authority,
    { version, sums, modelHash = new Uint8Array(32).fill(version) }: Version,
    at = this.task,
  ): Promise<Answer> {
    const body = { task: this.task, version, modelHash, sums, spoilt: [], closed: [] };
    const append = { ...body, signature: this.signer.sign(modelAppendCodec.statement(body)) };
    return ask(authority, AUTHORITY_PATH.modelLog(at), { body: modelAppendCodec.encode(append) });
  }
}
