/** The descriptor of a buffer: its task, by the hash of the policy, and the values that differ from buffer to buffer. */
import type { Suite } from '@basa/masking';
import type { Ctx, Millis, TaskId } from './brands.ts';
import { byRisingIndex, ENDORSEMENT_BYTES, type Endorsed, type EndorsedCodec, endorsedMessage } from './council.ts';
import { type Field, fixed, record, short, u8, u53 } from './fields.ts';
import { KIND } from './kinds.ts';
import { field } from './named-fields.ts';
import type { TaskPolicy } from './policy.ts';
import { type SumRules, sumRules } from './sum-rules.ts';

/** The part of one authority in a buffer: the keys that it made only for it. */
export interface BufferPart {
  /** Its index. */
  readonly authority: number;
  /** 16 random bytes of the authority: the keys of its part are made of them. */
  readonly offer: Uint8Array;
  /** Slot keys: the name of the key epoch and the hash of the list. CP-ABE: the public key. */
  readonly sealingKey: Uint8Array;
}

/** The words that the authorities sign for one buffer. Everything else that holds for it is in the policy. */
export interface DescriptorBody {
  /** The hash of the policy. */
  readonly task: TaskId;
  /** Of at least `threshold` authorities, by rising index. */
  readonly parts: readonly BufferPart[];
  /** t and the hash of w^t: the version that every update of the buffer is trained on, or the newest at the draw if versions are mixed. */
  readonly version: number;
  readonly modelHash: Uint8Array;
  /** From then on the buffer accepts no seats, deposits and keys. */
  readonly expiry: Millis;
}

/** As it travels, signed by every authority that has a part in it: the server could invent a part that its owner did not sign. */
export type SignedDescriptor = DescriptorBody & Endorsed;

/** A signed descriptor together with its policy, and the values that follow from both. It is not a message. */
export interface Descriptor extends SumRules, SignedDescriptor {
  /** From then on the buffer cannot be closed. */
  readonly closeBy: Millis;
}

/** Bytes that fit a descriptor, whose sealing key may be a public key of CP-ABE. */
export const DESCRIPTOR_BYTES: number = 8192 + ENDORSEMENT_BYTES;

export const partField: Field<BufferPart> = record({ authority: u8, offer: fixed(16), sealingKey: short(4096) });
export const partsField: Field<readonly BufferPart[]> = byRisingIndex(partField);

export const descriptorCodec: EndorsedCodec<DescriptorBody> = endorsedMessage(KIND.descriptor, 'descriptor', {
  task: field.task,
  parts: partsField,
  version: u53,
  modelHash: field.hash,
  expiry: field.millis,
});

/** ctx = SHA-256(descriptor), over the signed bytes. It binds the policy, whose hash is the task. */
export function ctxOf(suite: Suite, descriptor: DescriptorBody): Ctx {
  return descriptorCodec.statementHash(suite, descriptor) as Ctx;
}

/** The policy must be the one whose hash is the task of the descriptor: callers look it up by that name, or compare. */
export function withPolicy(
  policy: TaskPolicy,
  { task, parts, version, modelHash, expiry, endorsements }: SignedDescriptor,
): Descriptor {
  const closeBy = (expiry + policy.closeMs) as Millis;
  return { ...sumRules(policy, version), task, parts, version, modelHash, expiry, endorsements, closeBy };
}
