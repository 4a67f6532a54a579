/** The descriptor of a buffer: what it is for, and the parts of the authorities that drew it. */
import type { Suite } from '@basa/masking';
import type { Ctx, Millis, TaskId } from './brands.ts';
import {
  authoritiesField,
  byRisingIndex,
  ENDORSEMENT_BYTES,
  type Endorsed,
  type EndorsedCodec,
  endorsedMessage,
} from './council.ts';
import { checked, type Field, fixed, flag, nonNegative, positive, record, short, u8, u16, u32, u53 } from './fields.ts';
import { KIND } from './kinds.ts';
import { metricsField } from './metrics.ts';
import { modulusField } from './modulus-field.ts';
import { field } from './named-fields.ts';
import { MAX_SLOTS, type TaskPolicy, versionsField } from './policy.ts';
import { privacyField } from './privacy.ts';
import { stalenessField } from './staleness.ts';

/** What one authority brings to a buffer: the keys that it made for it alone. */
export interface BufferPart {
  /** Its index. */
  readonly authority: number;
  /** 16 random bytes of the authority: the keys of its part are made of them. */
  readonly offer: Uint8Array;
  /** Slot keys: the name of the key epoch and the hash of the list. CP-ABE: the public key. */
  readonly sealingKey: Uint8Array;
}

/**
 * One buffer, signed by every authority that has a part in it: a part that its owner did not sign could be the server's own. How
 * to train is not in it: a device reads that in its pinned policy.
 */
export interface DescriptorBody extends Omit<TaskPolicy, 'name' | 'training' | 'openMs' | 'closeMs'> {
  readonly task: TaskId;
  /** Of at least `threshold` authorities, by rising index. */
  readonly parts: readonly BufferPart[];
  /** t and the hash of w^t: the version that every update of the buffer is trained on, or the newest at the draw if versions are mixed. */
  readonly version: number;
  readonly modelHash: Uint8Array;
  readonly weightScale: number;
  readonly expiry: Millis;
  readonly closeBy: Millis;
}
export type Descriptor = DescriptorBody & Endorsed;

/** Bytes that fit a descriptor, whose sealing key may be a public key of CP-ABE. */
export const DESCRIPTOR_BYTES: number = 8192 + ENDORSEMENT_BYTES;

const { hash, millis, task } = field;

export const partField: Field<BufferPart> = record({ authority: u8, offer: fixed(16), sealingKey: short(4096) });
export const partsField: Field<readonly BufferPart[]> = byRisingIndex(partField);

export const descriptorCodec: EndorsedCodec<DescriptorBody> = endorsedMessage(KIND.descriptor, 'descriptor', {
  authorities: authoritiesField,
  threshold: u8,
  unsafeThreshold: flag,
  engine: u8,
  task,
  parts: partsField,
  bufferSize: checked(u16, (value) => (value >= 2 && value <= MAX_SLOTS ? undefined : 'out of range')),
  minimum: u16,
  version: u53,
  modelHash: hash,
  dimension: u32,
  modulus: modulusField,
  level: u32,
  clip: positive,
  blockFloor: nonNegative,
  weightScale: u32,
  versions: versionsField,
  staleness: stalenessField,
  maxStaleness: u32,
  unsafeTinyWeights: flag,
  metrics: metricsField,
  privacy: privacyField,
  manifestHash: hash,
  serverKey: fixed(32),
  uploadLeaseMs: u32,
  expiry: millis,
  closeBy: millis,
});

/** ctx = SHA-256(descriptor), over what the authority signed. */
export function ctxOf(suite: Suite, descriptor: DescriptorBody): Ctx {
  return descriptorCodec.statementHash(suite, descriptor) as Ctx;
}
