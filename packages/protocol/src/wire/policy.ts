/** A task as the authority and its clients hold it: the rules that no server can change. */
import type { Modulus, Suite } from '@basa/masking';
import type { TaskId } from './brands.ts';
import { message } from './codec.ts';
import { authoritiesField, type Council } from './council.ts';
import { fixed, oneOf, positive, short, u8, u16, u32 } from './fields.ts';
import { KIND } from './kinds.ts';
import { type MetricRange, metricsField } from './metrics.ts';
import { modulusField } from './modulus-field.ts';
import { type OneShotPolicy, oneShotField } from './one-shot/policy.ts';
import { type PrivacyPolicy, privacyField } from './privacy.ts';
import { type Staleness, stalenessField } from './staleness.ts';
import { type StatisticsPolicy, statisticsField } from './statistics.ts';
import { DEFAULT_TRAINING, type TaskTraining, trainingField } from './training.ts';

/** The sealing of seeds: CP-ABE in `paper` mode. Transparent sealing hides nothing: for simulations. 2 and 3 were engines of earlier versions. */
export const ENGINE = { unsafeTransparent: 0, cpAbe: 1, oneShot: 4 } as const;

/**
 * The versions of the model on which the updates of one sum may be trained. With `one`, all of them are trained on the same
 * version of the authorities' log. `unsafeMixed` is the paper's reading, in `paper` mode only: a server that gives the others a
 * model on which updates vanish reads the update of the only device that it gave another model (attack O1).
 */
const VERSIONS = ['one', 'unsafeMixed'] as const;
export type Versions = (typeof VERSIONS)[number];
const versionsField = oneOf(VERSIONS);

export interface TaskPolicy extends Council {
  readonly name: Uint8Array;
  readonly engine: number;
  /** Present in the one-shot mode, and in no other. */
  readonly oneShot: OneShotPolicy | undefined;
  /** K: the updates of a sum. At least `minimum` (Kmin) of them open. */
  readonly bufferSize: number;
  readonly minimum: number;
  /** d, without guard words and weight. */
  readonly dimension: number;
  readonly modulus: Modulus;
  readonly level: number;
  /** C: updates are shortened to this L2 norm; in `paper` mode entries beyond +-clip are clipped. Reports of a statistics task are no longer. */
  readonly clip: number;
  readonly versions: Versions;
  /** The weight of an update by its age; `constant` with one version per sum, because the server weights the whole sum. */
  readonly staleness: Staleness;
  /** M: an update that was trained on a version older than this many is refused. */
  readonly maxStaleness: number;
  /** Numbers of devices whose means the task learns. */
  readonly metrics: readonly MetricRange[];
  /** Noise, and the budget of a differentially private task. */
  readonly privacy: PrivacyPolicy | undefined;
  /** Present in a statistics task, which has fields instead of a model: one coordinate for each of their words. */
  readonly statistics: StatisticsPolicy | undefined;
  /**
   * Hash of the model's manifest: its architecture with every hyper-parameter, and the positions of its parameters.
   * Zeros leave the architecture to the application.
   */
  readonly manifestHash: Uint8Array;
  /** Every device trains like this, unless its own application overrides it; no server can change it. */
  readonly training: TaskTraining;
  readonly serverKey: Uint8Array;
  /** t_out of `paper` mode; in one-shot mode the time for which a device keeps its place. */
  readonly uploadLeaseMs: number;
}

/** The default values of a policy. */
export const POLICY_DEFAULTS = {
  threshold: 1,
  oneShot: undefined,
  versions: 'one',
  metrics: [],
  privacy: undefined,
  statistics: undefined,
  training: DEFAULT_TRAINING,
} as const satisfies Partial<TaskPolicy>;

const policyCodec = message<TaskPolicy>(KIND.policy, 'policy', {
  name: short(64),
  authorities: authoritiesField,
  threshold: u8,
  engine: u8,
  oneShot: oneShotField,
  bufferSize: u16,
  minimum: u16,
  dimension: u32,
  modulus: modulusField,
  level: u32,
  clip: positive,
  versions: versionsField,
  staleness: stalenessField,
  maxStaleness: u32,
  metrics: metricsField,
  privacy: privacyField,
  statistics: statisticsField,
  manifestHash: fixed(32),
  training: trainingField,
  serverKey: fixed(32),
  uploadLeaseMs: u32,
});

export const encodePolicy = policyCodec.encode;
/** Throws `DecodeError` for anything that is not a policy. */
export const decodePolicy = policyCodec.decode;

/** The name of a task is the hash of its policy: pinning the name pins every line of it. */
export function taskIdOf(suite: Suite, policy: TaskPolicy): TaskId {
  return policyCodec.hash(suite, policy) as TaskId;
}

/** Kmin = max(c_max + 2, ceil(0.8 K)) to withstand `colluders`. */
export function defaultMinimum(bufferSize: number, colluders: number): number {
  return Math.max(colluders + 2, Math.ceil(0.8 * bufferSize));
}
