/** A task as the authority and its clients hold it: the rules that no server can change. */
import { type Modulus, modulusSize, type Planned, planQuantizer, type Suite, toHex } from '@basa/masking';
import { type Message, message } from './codec.ts';
import { authoritiesField, type Council } from './council.ts';
import {
  fixed,
  KIND,
  MAX_BATCH,
  MAX_POSITIONS,
  modulusField,
  oneOf,
  positive,
  short,
  type TaskId,
  u8,
  u16,
  u32,
} from './fields.ts';
import { type OneShotPolicy, oneShotField, oneShotProblem } from './one-shot-policy.ts';
import { PRIVATE_FROM, type PrivacyPolicy, privacyField, privacyProblem } from './privacy.ts';
import { type StatisticsPolicy, statisticsField, statisticsNorm, statisticsWords } from './statistics.ts';
import {
  DEFAULT_TRAINING,
  type MetricRange,
  metricsField,
  type Staleness,
  stalenessField,
  stalenessWeight,
  type TaskTraining,
  trainingField,
} from './training.ts';

/** The sealing of seeds: CP-ABE in `paper` mode. Transparent sealing hides nothing: for simulations. 2 and 3 were engines of earlier versions. */
export const ENGINE = { unsafeTransparent: 0, cpAbe: 1, oneShot: 4 } as const;

/**
 * The versions of the model on which the updates of one sum may be trained. With `one`, all of them are trained on the same
 * version of the authorities' log. `unsafeMixed` is the paper's reading, in `paper` mode only: a server that gives the others a
 * model on which updates vanish reads the update of the only device that it gave another model (attack O1).
 */
const VERSIONS = ['one', 'unsafeMixed'] as const;
type Versions = (typeof VERSIONS)[number];
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

export const TaskPolicy: Message<TaskPolicy> = message(KIND.policy, 'policy', {
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

/** The name of a task is the hash of its policy: pinning the name pins every line of it. */
export function taskIdOf(suite: Suite, policy: TaskPolicy): TaskId {
  return TaskPolicy.hash(suite, policy) as TaskId;
}

/** Kmin = max(c_max + 2, ceil(0.8 K)) to withstand `colluders`. */
export function defaultMinimum(bufferSize: number, colluders: number): number {
  return Math.max(colluders + 2, Math.ceil(0.8 * bufferSize));
}

/**
 * Returns a sentence that says why a policy cannot be used, or undefined: its numbers must be consistent and fit their fields, must not weaken
 * the promises of the task, and no sum may wrap (H1 of the threat model).
 */
export function policyProblem(policy: TaskPolicy): string | undefined {
  const { bufferSize, minimum, dimension } = policy;
  if (policy.engine !== ENGINE.unsafeTransparent && !isSealing(policy)) return `engine ${policy.engine} is not known`;
  const largest = policy.engine === ENGINE.oneShot ? MAX_BATCH : MAX_POSITIONS;
  if (!(Number.isInteger(bufferSize) && bufferSize >= 2 && bufferSize <= largest)) {
    return `bufferSize must be from 2 to ${largest}, got ${bufferSize}`;
  }
  if (!(Number.isInteger(minimum) && minimum >= 2 && minimum <= bufferSize)) {
    return `minimum must be from 2 to bufferSize (${bufferSize}), got ${minimum}`;
  }
  if (!(Number.isInteger(dimension) && dimension >= 1 && dimension <= 2 ** 31)) {
    return `dimension must be from 1 to 2^31, got ${dimension}`;
  }
  if (policy.uploadLeaseMs <= 0) return 'uploadLeaseMs must be at least a millisecond: no upload arrives in less';
  const unwritable = encodingProblem(policy) ?? nameProblem(policy) ?? councilProblem(policy) ?? modeProblem(policy);
  if (unwritable !== undefined) return unwritable;
  const planned = planPolicy(policy);
  return planned.kind === 'refused'
    ? planned.sentence
    : (privacyProblem(policy) ?? statisticsProblem(policy) ?? stalenessProblem(policy));
}

/** False for an unknown engine, and for the transparent one, which hides nothing: only simulations have it. */
export function isSealing({ engine }: Pick<TaskPolicy, 'engine'>): boolean {
  return engine === ENGINE.oneShot || engine === ENGINE.cpAbe;
}

/** Names are shown on pages, in terminals and in metrics: characters that change how the words around them look are rejected. */
function nameProblem({ name }: TaskPolicy): string | undefined {
  const text = utf8Text(name);
  if (text === undefined) return 'name must be UTF-8';
  const odd = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.exec(text)?.[0].codePointAt(0);
  if (odd === undefined) return undefined;
  return `name must be one line of letters: U+${odd.toString(16).toUpperCase().padStart(4, '0')} is a control character`;
}

/** Undefined if the bytes are not canonical UTF-8. */
function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decodeURIComponent(toHex(bytes).replace(/../g, '%$&'));
  } catch {
    return undefined;
  }
}

function councilProblem(policy: TaskPolicy): string | undefined {
  const { authorities, threshold, engine } = policy;
  const count = authorities.length;
  if (count < 1) return 'a task has at least one authority';
  if (new Set(authorities.map(toHex)).size < count) return 'an authority is named twice';
  if (!(Number.isInteger(threshold) && threshold >= 1 && threshold <= count))
    return `threshold must be from 1 to the number of authorities (${count}), got ${threshold}`;
  return engine !== ENGINE.oneShot && count > 1 ? 'several authorities need the one-shot mode' : undefined;
}

/** The one-shot mode has its own lines; no other mode has them. */
function modeProblem(policy: TaskPolicy): string | undefined {
  const { engine, oneShot, versions } = policy;
  if ((engine === ENGINE.oneShot) !== (oneShot !== undefined))
    return 'oneShot must be set in one-shot mode, and only there';
  if (oneShot === undefined) return undefined;
  if (versions !== 'one')
    return 'versions must be one in one-shot mode: all updates of a batch are trained on the same version';
  if (oneShot.authorityNoise && (policy.privacy === undefined || policy.authorities.length > 1))
    return 'authorityNoise needs noise, and a task with one authority';
  return oneShotProblem(policy, oneShot);
}

/** A statistics task has the noise of a private task, however small its batches are, or says `unsafeExact`. */
function statisticsProblem({ statistics, oneShot, dimension, clip, metrics, privacy }: TaskPolicy): string | undefined {
  if (statistics === undefined) return undefined;
  const { fields, unsafeExact } = statistics;
  if (oneShot === undefined) return 'statistics need the one-shot mode';
  const words = statisticsWords(fields);
  if (dimension !== words) return `the fields have ${words} words, the dimension is ${dimension}`;
  const norm = statisticsNorm(fields);
  if (clip !== norm) return `clip must be ${norm}, the norm of the longest report, got ${clip}`;
  if (metrics.length > 0) return 'a statistics task has no metrics: make them fields';
  if (oneShot.versionMinimum !== undefined) return 'a batch of reports is of one window: leave out versionMinimum';
  if (unsafeExact !== (privacy === undefined))
    return 'a statistics task needs noise, unless it says unsafeExact; it cannot have both';
  if (privacy === undefined || privacy.noiseMultiplier >= PRIVATE_FROM) return undefined;
  return `statistics need noise of at least ${PRIVATE_FROM}, got ${privacy.noiseMultiplier}`;
}

/** The smallest weight of a stale update: a server that names old versions to all but one must not silence them. */
const MIN_WEIGHT = 1 / 4;

function stalenessProblem(policy: TaskPolicy): string | undefined {
  const { bufferSize, maxStaleness, modulus, staleness, versions } = policy;
  if (versions === 'one') {
    if (staleness.kind === 'constant') return undefined;
    return 'staleness must be constant with one version per buffer: all updates of a sum are equally old, and the server weighs the whole sum';
  }
  if (2 * maxStaleness * bufferSize >= modulusSize(modulus)) {
    return `maxStaleness ${maxStaleness} is too large: 2 * maxStaleness * bufferSize must stay below ${modulusSize(modulus)}`;
  }
  const least = stalenessWeight(staleness, maxStaleness);
  if (least >= MIN_WEIGHT) return undefined;
  const fitting = largestStaleness(policy);
  return `an update of staleness ${maxStaleness} would weigh ${least.toPrecision(2)}, less than 1/4: maxStaleness ${fitting} is the largest that fits`;
}

function largestStaleness({ staleness, maxStaleness }: TaskPolicy): number {
  let [fits, tooLarge] = [0, maxStaleness];
  while (tooLarge - fits > 1) {
    const middle = Math.floor((fits + tooLarge) / 2);
    if (stalenessWeight(staleness, middle) >= MIN_WEIGHT) fits = middle;
    else tooLarge = middle;
  }
  return fits;
}

/** Names, times and parameters must fit their fields, so that a logged policy can be read again. */
function encodingProblem(policy: TaskPolicy): string | undefined {
  try {
    TaskPolicy.encode(policy);
    return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `the policy cannot be written: ${error.message}`;
  }
}

/** K quantised updates fit, by the planner's proof; the count and the weight fit because W is chosen so. */
function planPolicy({ bufferSize, level, clip, modulus }: TaskPolicy): Planned {
  return planQuantizer({ summands: bufferSize, resolution: { level }, clip, modulus });
}
