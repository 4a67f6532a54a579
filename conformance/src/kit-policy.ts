/** The policies of tests: small batches, and a body that takes several pieces to send. */
import { ascii, RING_32, toHex } from '@basa/masking';
import { defaultThreshold } from '@basa/protocol/internal/wire/council.ts';
import { DEFAULT_MAX_STALENESS } from '@basa/protocol/internal/wire/training.ts';
import { ENGINE, ONE_SHOT_DEFAULTS, type OneShotPolicy, POLICY_DEFAULTS, type TaskPolicy } from '@basa/protocol/policy';
import { nodeRandomBytes } from '@basa/runtime/node';

const BATCH_SIZE = 3;
/** Bytes of one piece of an upload. */
export const PIECE_BYTES = 1024;

/** A name that no other run has: the same policy would be the same task. */
export function kitPolicy(
  keys: { readonly serverKey: Uint8Array; readonly authorityKeys: readonly Uint8Array[] },
  change: Partial<TaskPolicy> = {},
): TaskPolicy {
  return {
    name: ascii(`conformance ${toHex(nodeRandomBytes(8))}`),
    bufferSize: BATCH_SIZE,
    minimum: 2,
    dimension: 1000,
    modulus: RING_32,
    level: 2 ** 16,
    clip: 40,
    staleness: { kind: 'constant' },
    maxStaleness: DEFAULT_MAX_STALENESS,
    ...POLICY_DEFAULTS,
    ...oneShotPolicy(keys.authorityKeys.length),
    manifestHash: new Uint8Array(32),
    authorities: keys.authorityKeys,
    threshold: defaultThreshold(keys.authorityKeys.length),
    serverKey: keys.serverKey,
    uploadLeaseMs: 600_000,
    ...change,
  };
}

/** With several authorities one of them may collude. */
export function oneShotPolicy(
  authorities: number,
  change: Partial<OneShotPolicy> = {},
): Pick<TaskPolicy, 'engine' | 'oneShot'> {
  const tolerated = authorities === 1 ? 0 : 1;
  return { engine: ENGINE.oneShot, oneShot: { ...ONE_SHOT_DEFAULTS, tolerated, ...change } };
}
