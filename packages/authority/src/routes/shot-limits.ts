/** The maximum lengths of the requests of the one-shot mode, by the policy of their task. */

import { slotSealedBytes } from '@basa/masking';
import {
  BATCH_BYTES,
  MAX_AUTHORITIES,
  MAX_BATCH,
  MAX_INSPECTED,
  MAX_PARTS,
  shotLayout,
  type TaskPolicy,
} from '@basa/protocol';

/** All epochs and model entries that a request may show, and votes. */
const STATEMENTS_BYTES = 576 * 1024;

/** Certificate, header and sealed parts of an upload that names all authorities. */
function uploadBytes(policy: TaskPolicy): number {
  const epochs = policy.authorities.map((_, authority) => ({ authority, statement: new Uint8Array(32) }));
  return headBytes(epochs.length) + shotLayout(policy, epochs).partsBytes;
}

const headBytes = (authorities: number): number => 768 + 128 * authorities;

export const shotLimits: Readonly<
  Record<'inspection' | 'vote' | 'release' | 'together', (policy: TaskPolicy) => number>
> = {
  inspection: (policy: TaskPolicy): number => STATEMENTS_BYTES + MAX_INSPECTED * uploadBytes(policy),
  vote: ({ bufferSize }: TaskPolicy): number => 65_536 + 32 * bufferSize,
  release: (policy: TaskPolicy): number => STATEMENTS_BYTES + policy.bufferSize * (32 + uploadBytes(policy)),
  /** The limit for all requests of a task together: the largest one, and inspections beside it. */
  together: (policy: TaskPolicy): number => shotLimits.release(policy) + 2 * shotLimits.inspection(policy),
};

/** Above every task's limit: the bound for Fastify before the task is known. */
const LARGEST_UPLOAD = headBytes(MAX_AUTHORITIES) + MAX_PARTS * slotSealedBytes(MAX_AUTHORITIES);
export const SHOT_BODY_LIMIT = {
  inspection: STATEMENTS_BYTES + MAX_INSPECTED * LARGEST_UPLOAD,
  vote: 65_536 + BATCH_BYTES,
  release: STATEMENTS_BYTES + MAX_BATCH * (32 + LARGEST_UPLOAD),
} as const;
