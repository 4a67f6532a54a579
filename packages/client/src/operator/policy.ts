/** The policy of a task from a few numbers, with a quantiser that provably fits. */
import { type Model, manifestText } from '@basa/learning';
import { ascii, type PlanRequest, planPrivate, planQuantizer, ring, signedCapacity } from '@basa/masking';
import {
  defaultMinimum,
  ENGINE,
  ONE_SHOT_DEFAULTS,
  type OneShotPolicy,
  POLICY_DEFAULTS,
  Privacy,
  policyProblem,
  type TaskPolicy,
  Training,
} from '@basa/protocol/policy';
import { Councils } from '@basa/protocol/wire';
import { SettingsError } from '../errors.ts';

/** The settings that the paper's protocol does not have. The length of an epoch is not a choice. */
type OneShotChoice = Omit<OneShotPolicy, 'epochMs'>;

/** Those of the one-shot mode are optional; they have the defaults of `ONE_SHOT_DEFAULTS`, except those that are described here. */
export interface PolicyChoice extends Partial<OneShotChoice> {
  readonly name: string;
  readonly model: Model;
  readonly serverKey: Uint8Array;
  /** Their public keys. */
  readonly authorities: readonly Uint8Array[];
  /** The number of them that are needed. */
  readonly threshold?: number;
  /** The number of authorities that may collude; by default the most that these numbers allow. */
  readonly tolerated?: number;
  readonly bufferSize: number;
  readonly minimum?: number;
  /** The protocol by which updates reach a sum; `one-shot` by default. */
  readonly mode?: ModeName;
  /** One-shot, with one authority: it adds the noise to each sum, and devices add none, which is the default. They trust it not to leave it out. */
  readonly authorityNoise?: boolean;
  /** One-shot: the number of updates of a step, from as many batches as that needs; K by default. Fewer are enough if no more come. */
  readonly stepUpdates?: number;
  /** One-shot: the time between two updates of a device; a second by default. */
  readonly minIntervalMs?: number;
  /** C: updates are shortened to this L2 norm. It has no default: `basa simulate` measures the median norm of first updates. In paper mode entries beyond +-clip are clipped (1). */
  readonly clip?: number;
  /** Bits of one masked entry: 2 to 32, or the fewest that resolve the clip well by default. */
  readonly bits?: number;
  /** Numbers of devices whose means the task learns: `loss`, `accuracy`, `examples`, or numbers that your application reports. A task with noise also learns `clipped`, the share of shortened updates. */
  readonly metrics?: readonly Training.MetricRange[];
  /** Noise, and the budget of a private task; by default z is `defaultNoise`. Paper mode has none. */
  readonly privacy?: PrivacyChoice;
  /** A task without noise. Its devices must accept that: `floor: { noNoise: true }`. */
  readonly noNoise?: boolean;
  /** The number of planned versions: the participations of a private task by default, else 100. */
  readonly versions?: number;
  /** Paper mode: the weight that a device gives an update of a certain age. */
  readonly staleness?: Training.Staleness;
  readonly maxStaleness?: number;
  readonly training: Training.TaskTraining;
  /** The time within which a device should upload after it got a place; in paper mode the time-out of a position. */
  readonly uploadLeaseMs: number;
}

/** By default a tenth of K may reveal their noise. A task with `participations`, or with z of at least 1, is private: with a delta of 10^-6 by default. */
export interface PrivacyChoice {
  readonly noiseMultiplier?: number;
  readonly colluders?: number;
  readonly participations?: number;
  readonly delta?: number;
}

const NO_CLIP =
  'clip is missing, the L2 norm to which updates are shortened: run `basa simulate model.ts`, which measures the median norm of first updates, and give this number or less';
export const DEFAULT_DELTA = 1e-6;
const DEFAULT_PARTICIPATIONS = 100;

/** The lines of a policy. */
function privacyOf(choice: PolicyChoice): Privacy.PrivacyPolicy | undefined {
  const { bufferSize, model, mode, noNoise = false, privacy, versions = DEFAULT_PARTICIPATIONS } = choice;
  if (noNoise && privacy !== undefined)
    throw new SettingsError('noNoise and privacy exclude each other; leave one out');
  if (noNoise || mode === 'paper') return undefined;
  const usual = Privacy.defaultNoise({ bufferSize, dimension: model.dimension });
  const { noiseMultiplier = usual, delta = DEFAULT_DELTA } = privacy ?? {};
  const { colluders = Math.floor(bufferSize / 10), participations } = privacy ?? {};
  const isPrivate = noiseMultiplier >= Privacy.PRIVATE_FROM || participations !== undefined;
  const budget = isPrivate ? { delta, participations: participations ?? versions } : undefined;
  return { noiseMultiplier, colluders, budget };
}

/** `paper` is the paper's protocol, which hides less; both services must allow it. */
export type ModeName = 'one-shot' | 'paper';

export async function makePolicy(choice: PolicyChoice): Promise<TaskPolicy> {
  const { name, model, serverKey, bufferSize, uploadLeaseMs } = choice;
  if (choice.clip === undefined && choice.mode !== 'paper') throw new SettingsError(NO_CLIP);
  const privacy = privacyOf(choice);
  const council = councilOf(choice);
  const minimum = choice.minimum ?? defaultMinimum(bufferSize, privacy?.colluders ?? 0);
  const authorityNoise = choice.authorityNoise ?? (privacy !== undefined && choice.authorities.length === 1);
  const quantizer =
    privacy === undefined
      ? quantizerOf(choice)
      : privateQuantizer({ ...choice, ...privacy, authorityNoise, minimum, dimension: model.dimension });
  const policy: TaskPolicy = {
    ...POLICY_DEFAULTS,
    name: ascii(name),
    ...council,
    ...modeOf(choice, council, authorityNoise),
    bufferSize,
    minimum,
    dimension: model.dimension,
    ...quantizer,
    metrics: choice.metrics ?? [],
    privacy,
    maxStaleness: choice.maxStaleness ?? Training.DEFAULT_MAX_STALENESS,
    manifestHash: new Uint8Array(await crypto.subtle.digest('SHA-256', ascii(manifestText(model)).slice())),
    training: choice.training,
    serverKey,
    uploadLeaseMs,
  };
  return withClipped(usable(policy));
}

export function councilOf({
  authorities,
  threshold,
}: Pick<PolicyChoice, 'authorities' | 'threshold'>): Councils.Council {
  return { authorities, threshold: threshold ?? Councils.defaultThreshold(authorities.length) };
}

export function usable(policy: TaskPolicy): TaskPolicy {
  const problem = policyProblem(policy);
  if (problem !== undefined) throw new SettingsError(`these settings cannot be used: ${problem}`);
  return policy;
}

/** The group and the level of a plan that fits. */
export function planOf(
  planned: ReturnType<typeof planQuantizer | typeof planPrivate>,
): Pick<TaskPolicy, 'modulus' | 'level'> {
  if (planned.kind === 'refused') throw new SettingsError(`these settings cannot be used: ${planned.sentence}`);
  const { modulus, level } = planned.plan;
  return { modulus, level };
}

/** In a task with noise, the share of clipped updates shows a C that is too large or too small. A large sum with little noise leaves too little for a metric. */
function withClipped(policy: TaskPolicy): TaskPolicy {
  const { metrics, privacy } = policy;
  if (privacy === undefined || metrics.some(({ name }) => name === Training.CLIPPED.name)) return policy;
  if (metrics.length === Training.MAX_METRICS) return policy;
  const told = { ...policy, metrics: [...metrics, Training.CLIPPED] };
  return policyProblem(told) === undefined ? told : policy;
}

type ModePolicy = Pick<TaskPolicy, 'engine' | 'oneShot' | 'staleness' | 'versions'>;

function modeOf(choice: PolicyChoice, council: Councils.Council, authorityNoise: boolean): ModePolicy {
  if (choice.mode === 'paper') return paperPolicy(choice);
  const {
    tolerated = Councils.mostTolerated(council),
    stepUpdates = choice.bufferSize,
    minIntervalMs = 1_000,
  } = choice;
  const given = Object.fromEntries(givenOneShot(choice).map((name) => [name, choice[name]]));
  return {
    engine: ENGINE.oneShot,
    oneShot: { ...ONE_SHOT_DEFAULTS, ...given, tolerated, authorityNoise, stepUpdates, minIntervalMs },
    versions: 'one',
    staleness: { kind: 'constant' },
  };
}

const ONE_SHOT_SETTINGS = Object.keys(ONE_SHOT_DEFAULTS).filter(
  (name) => name !== 'epochMs',
) as (keyof OneShotChoice)[];

function givenOneShot(choice: PolicyChoice): readonly (keyof OneShotChoice)[] {
  return ONE_SHOT_SETTINGS.filter((name) => choice[name] !== undefined);
}

function paperPolicy(choice: PolicyChoice): ModePolicy {
  const [name = choice.privacy && 'privacy'] = givenOneShot(choice);
  if (name !== undefined) throw new SettingsError(`${name} needs one-shot mode; leave it out in paper mode`);
  if (choice.authorities.length > 1) throw new SettingsError('a task in paper mode has one authority');
  const { staleness = { kind: 'polynomial', exponent: 0.5 } } = choice;
  return { engine: ENGINE.cpAbe, oneShot: undefined, versions: 'unsafeMixed', staleness };
}

/** The minimum of steps to the clip: at K = 10 they take 20 bits per entry, at 32 and 100 they take 24. */
const CLIP_STEPS = 2 ** 15;

/** The group and the level of a task that is not private. */
function quantizerOf({
  bufferSize,
  clip = 1,
  bits,
}: Pick<PolicyChoice, 'bufferSize' | 'clip' | 'bits'>): Pick<TaskPolicy, 'modulus' | 'level' | 'clip'> {
  const request: PlanRequest =
    bits === undefined
      ? { summands: bufferSize, clip, resolution: { level: Math.ceil(CLIP_STEPS / clip) }, modulus: 'auto' }
      : { summands: bufferSize, clip, resolution: { level: finestLevel(bufferSize, clip, bits) }, modulus: ring(bits) };
  return { ...planOf(planQuantizer(request)), clip };
}

interface PrivateChoice
  extends Pick<PolicyChoice, 'bufferSize' | 'clip' | 'bits' | 'authorityNoise'>,
    Privacy.PrivacyPolicy {
  readonly minimum: number;
  readonly dimension: number;
}

/** The coarsest level that the noise allows: a finer one costs bits and hides in the noise. */
function privateQuantizer(choice: PrivateChoice): Pick<TaskPolicy, 'modulus' | 'level' | 'clip'> {
  const clip = choice.clip ?? 1;
  const { modulus, level } = planOf(planPrivate({ ...choice, clip, isCentral: choice.authorityNoise ?? false }));
  return { modulus: choice.bits === undefined ? modulus : ring(choice.bits), level, clip };
}

/** The largest number of steps to the unit with which a sum of K entries still fits the bits. */
function finestLevel(bufferSize: number, clip: number, bits: number): number {
  return Math.max(1, Math.floor(Math.floor(signedCapacity(ring(bits)) / bufferSize) / clip));
}
