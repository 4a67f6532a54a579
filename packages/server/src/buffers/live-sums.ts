/** The public view of a sum: without users and signatures. */
import { toHex } from '@basa/masking';
import type { LiveBuffer, ShotBatch, TaskPolicy } from '@basa/protocol';
import type { ShotGroup } from '../store/pending-shots.ts';

/** A batch accepts no more devices, so it does not expire. */
export function liveBatch({ ctx, rules, status, users }: ShotBatch): LiveBuffer {
  const { version, bufferSize, minimum } = rules;
  return { ctx: toHex(ctx), status, version: Math.floor(version), bufferSize, minimum, accepted: users.length };
}

/** Uploads on one version that wait for enough others: the batch that they will be in. */
export function fillingBatch({ bufferSize, minimum }: TaskPolicy, { version, waiting, good }: ShotGroup): LiveBuffer {
  const ctx = `filling-${version}`;
  const accepted = Math.min(waiting + good, bufferSize);
  return { ctx, status: 'filling', version, bufferSize, minimum, accepted };
}
