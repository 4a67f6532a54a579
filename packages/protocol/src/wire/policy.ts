/** A task as the authority and its clients hold it: the rules that no server can change. */
import type { Modulus, Suite } from '@basa/masking';
import type { TaskId } from './brands.ts';
import { message, nested } from './codec.ts';
import { authoritiesField, type Council, type CouncilTerm } from './council.ts';
import {
  checked,
  type Field,
  type Fields,
  fixed,
  flag,
  list,
  nonNegative,
  oneOf,
  optional,
  positive,
  record,
  short,
  trailing,
  u8,
  u16,
  u32,
} from './fields.ts';
import { KIND } from './kinds.ts';
import { type MetricRange, metricsField } from './metrics.ts';
import { modulusField } from './modulus-field.ts';
import { field } from './named-fields.ts';
import { type OneShotPolicy, oneShotField } from './one-shot/policy.ts';
import { type PrivacyPolicy, privacyField } from './privacy.ts';
import { type Staleness, stalenessField } from './staleness.ts';
import { DEFAULT_TRAINING, type TaskTraining, trainingField } from './training.ts';

/** The sealing of a buffer. Transparent sealing hides nothing: for simulations. 2 was an engine of version 1. */
export const ENGINE = { unsafeTransparent: 0, cpAbe: 1, slotKeys: 3, oneShot: 4 } as const;

/**
 * The versions of the model on which the updates of one buffer may be trained. With `one`, all of them are trained on
 * the version that the authorities signed into the descriptor. `unsafeMixed` is the paper's reading: a server that
 * gives the others a model on which updates vanish reads the update of the only device that it gave another model
 * (attack O1).
 */
const VERSIONS = ['one', 'unsafeMixed'] as const;
export type Versions = (typeof VERSIONS)[number];
const versionsField = oneOf(VERSIONS);

export interface TaskPolicy extends Council {
  readonly name: Uint8Array;
  /** Allows a threshold that tolerates no authority colluding with the server: only for experiments. */
  readonly unsafeThreshold: boolean;
  readonly engine: number;
  /** Present in the one-shot mode, and in no other. */
  readonly oneShot: OneShotPolicy | undefined;
  /** K positions, of which at least `minimum` (Kmin) must be accepted before anything opens. */
  readonly bufferSize: number;
  readonly minimum: number;
  /** d, without guard words and weight. */
  readonly dimension: number;
  readonly modulus: Modulus;
  readonly level: number;
  /** Entries of an update beyond +-clip are clipped; in a private task its L2 norm is. */
  readonly clip: number;
  /** The smallest norm that a block of x / level may have; 0 refuses only a block that is all zero (`user/blocks.ts`). */
  readonly blockFloor: number;
  readonly versions: Versions;
  /** The weight of an update by its age; `constant` with one version per buffer, because the server weights the whole sum. */
  readonly staleness: Staleness;
  /** M: an update that was trained on a version older than this many is refused. */
  readonly maxStaleness: number;
  /** Allows weights below 1/4 at the maximum staleness: only for experiments. */
  readonly unsafeTinyWeights: boolean;
  /** Numbers of devices whose means the task learns. */
  readonly metrics: readonly MetricRange[];
  /** Noise and budget of a differentially private task. */
  readonly privacy: PrivacyPolicy | undefined;
  /**
   * Hash of the model's manifest: its architecture with every hyper-parameter, and the positions of its parameters.
   * Zeros leave the architecture to the application.
   */
  readonly manifestHash: Uint8Array;
  /** Every device trains like this, unless its own application overrides it; no server can change it. */
  readonly training: TaskTraining;
  readonly serverKey: Uint8Array;
  /** The time that a slot may take from deposit to upload. */
  readonly uploadLeaseMs: number;
  /** The time for which a buffer accepts seats, deposits and keys, and the time after that in which it may still be closed. */
  readonly openMs: number;
  readonly closeMs: number;
  /** Allows an authority or the server to get another key while the task runs (`term.ts`). If missing, this is not allowed. */
  readonly succession?: SuccessionPolicy;
}

export interface SuccessionPolicy {
  /** W: a term takes effect no sooner than this after it was signed. */
  readonly waitMs: number;
  /** The hash of the public recovery key, which is kept offline; needed if one silent authority would block a succession. */
  readonly recoveryHash: Uint8Array | undefined;
}

export const DEFAULT_SUCCESSION_WAIT_MS: number = 7 * 24 * 3_600_000;

/** The default values of a policy. */
export const POLICY_DEFAULTS = {
  threshold: 1,
  unsafeThreshold: false,
  oneShot: undefined,
  blockFloor: 0,
  versions: 'one',
  unsafeTinyWeights: false,
  metrics: [],
  privacy: undefined,
  training: DEFAULT_TRAINING,
} as const satisfies Partial<TaskPolicy>;

const waitField = checked(u32, (value) => (value > 0 ? undefined : 'must be at least a millisecond'));

/** A policy without succession ends before this field, so it keeps the bytes and the name that it had before terms existed. */
const successionField = trailing(record<SuccessionPolicy>({ waitMs: waitField, recoveryHash: optional(field.hash) }));

type PolicyFields = Omit<Required<TaskPolicy>, 'succession' | 'term'>;
const policyFields: Fields<PolicyFields> = {
  name: short(64),
  authorities: authoritiesField,
  threshold: u8,
  unsafeThreshold: flag,
  engine: u8,
  oneShot: oneShotField,
  bufferSize: u16,
  minimum: u16,
  dimension: u32,
  modulus: modulusField,
  level: u32,
  clip: positive,
  blockFloor: nonNegative,
  versions: versionsField,
  staleness: stalenessField,
  maxStaleness: u32,
  unsafeTinyWeights: flag,
  metrics: metricsField,
  privacy: privacyField,
  manifestHash: fixed(32),
  training: trainingField,
  serverKey: fixed(32),
  uploadLeaseMs: u32,
  openMs: u32,
  closeMs: u32,
};

type WrittenPolicy = PolicyFields & { readonly succession: SuccessionPolicy | undefined };
const policyCodec = message<WrittenPolicy>(KIND.policy, 'policy', { ...policyFields, succession: successionField });

/** The policy in its first term: the bytes whose hash names the task. */
export function encodePolicy(policy: TaskPolicy): Uint8Array {
  return policyCodec.encode(inFirstTerm(policy));
}

export function decodePolicy(bytes: Uint8Array): TaskPolicy {
  return withoutMissing(policyCodec.decode(bytes));
}

/** A policy inside another message. */
export const policyField: Field<TaskPolicy> = nested(
  { name: 'policy', encode: encodePolicy, decode: decodePolicy },
  4096,
);

const MAX_RETIRED = 64;
const termField: Field<CouncilTerm> = record<CouncilTerm>({
  task: field.task,
  number: u32,
  hash: field.hash,
  effective: field.millis,
  retired: list(MAX_RETIRED, fixed(32)),
  previous: record({ authorities: authoritiesField, hash: optional(field.hash) }),
});

type HeldPolicy = WrittenPolicy & { readonly term: CouncilTerm | undefined };
const heldCodec = message<HeldPolicy>(KIND.policy, 'policy', {
  ...policyFields,
  succession: successionField,
  term: trailing(termField),
});

/** A policy in its current term, as its owner keeps it. It is not for others: nothing shows that the term is a true one. */
export function encodeHeldPolicy(policy: TaskPolicy): Uint8Array {
  return heldCodec.encode({ ...policy, succession: policy.succession, term: policy.term });
}

export function decodeHeldPolicy(bytes: Uint8Array): TaskPolicy {
  return withoutMissing(heldCodec.decode(bytes));
}

export const heldPolicyField: Field<TaskPolicy> = nested(
  { name: 'policy', encode: encodeHeldPolicy, decode: decodeHeldPolicy },
  8192,
);

function inFirstTerm({ term, ...policy }: TaskPolicy): WrittenPolicy {
  if (term !== undefined) throw new Error('only the policy in its first term is written for others');
  return { ...policy, succession: policy.succession };
}

function withoutMissing({
  succession,
  term,
  ...policy
}: WrittenPolicy & { readonly term?: CouncilTerm | undefined }): TaskPolicy {
  return { ...policy, ...(succession !== undefined && { succession }), ...(term !== undefined && { term }) };
}

/** The name of a task is the hash of its policy: pinning the name pins every line of it. It stays the same in every term. */
export function taskIdOf(suite: Suite, policy: TaskPolicy): TaskId {
  return policy.term?.task ?? (policyCodec.hash(suite, inFirstTerm(policy)) as TaskId);
}

/** Kmin = max(c_max + 2, ceil(0.8 K)) to withstand `colluders`. */
export function defaultMinimum(bufferSize: number, colluders: number): number {
  return Math.max(colluders + 2, Math.ceil(0.8 * bufferSize));
}
