/** The server of one task, as an authority knows it: its key and its policy. */
import { ascii, RING_32 } from '@basa/masking';
import {
  AUTHORITY_PATH,
  ENGINE,
  encodePolicy,
  ONE_SHOT_DEFAULTS,
  POLICY_DEFAULTS,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Authority } from '../src/index.ts';
import { type Answer, ask } from './asking.ts';
import { OPERATOR } from './homes.ts';

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
}
