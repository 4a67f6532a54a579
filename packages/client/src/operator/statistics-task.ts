/** A statistics task from fields and a few numbers: its policy at the authorities, then the task at the server. */
import { ascii, fromHex, planPrivate, planQuantizer, toHex } from '@basa/masking';
import {
  DEFAULT_MAX_STALENESS,
  defaultMinimum,
  ENGINE,
  encodePolicy,
  type FieldDefinitions,
  fieldsOf,
  mostTolerated,
  ONE_SHOT_DEFAULTS,
  POLICY_DEFAULTS,
  PRIVATE_FROM,
  type PrivacyPolicy,
  type Sealing,
  statisticsNorm,
  statisticsWords,
  type TaskPolicy,
} from '@basa/protocol/policy';
import { SettingsError } from '../errors.ts';
import type { AuthorityOperator } from './authority-operator.ts';
import { type CreatedTask, TASK_DEFAULTS } from './create-task.ts';
import { councilOf, DEFAULT_DELTA, type PrivacyChoice, planOf, usable } from './policy.ts';
import type { ServerOperator } from './server-operator.ts';

export interface StatisticsSettings {
  readonly name: string;
  /** From `defineFields`. */
  readonly fields: FieldDefinitions;
  /** A device reports at most once in each window of this length. */
  readonly windowMs: number;
  /** K, and the smallest number of reports in a sum; 10, and 80 % of K by default. */
  readonly bufferSize?: number;
  readonly minimum?: number;
  /** z is 1 by default, and never less. `participations` is the number of planned windows, 100 by default; then the task ends. */
  readonly privacy?: PrivacyChoice;
  /** No noise, and one report of each device in the life of the task. */
  readonly unsafeExact?: boolean;
  /** With one authority: it adds the noise to each sum, which is the default. */
  readonly authorityNoise?: boolean;
  readonly threshold?: number;
  readonly tolerated?: number;
  readonly sealing?: Sealing;
  readonly publicModels?: boolean;
}

const DEFAULT_WINDOWS = 100;

interface Keys {
  readonly serverKey: Uint8Array;
  readonly authorities: readonly Uint8Array[];
}

/** Throws a `SettingsError` for settings that cannot be used. */
export function statisticsPolicy(settings: StatisticsSettings, { serverKey, authorities }: Keys): TaskPolicy {
  const { name, windowMs, bufferSize = TASK_DEFAULTS.bufferSize, unsafeExact = false, sealing } = settings;
  const privacy = unsafeExact ? undefined : privacyOf(settings, bufferSize);
  const council = councilOf({ ...settings, authorities });
  const authorityNoise = settings.authorityNoise ?? authorities.length === 1;
  const fields = orSettings(() => fieldsOf(settings.fields));
  const numbers = {
    bufferSize,
    minimum: settings.minimum ?? defaultMinimum(bufferSize, privacy?.colluders ?? 0),
    dimension: statisticsWords(fields),
    clip: statisticsNorm(fields),
  };
  // A report of any time in a window can still be summed at its end.
  const epochMs = Math.max(ONE_SHOT_DEFAULTS.epochMs, windowMs);
  return usable({
    ...POLICY_DEFAULTS,
    name: ascii(name),
    ...council,
    engine: ENGINE.oneShot,
    oneShot: {
      ...ONE_SHOT_DEFAULTS,
      tolerated: settings.tolerated ?? mostTolerated(council),
      authorityNoise: authorityNoise && privacy !== undefined,
      epochMs,
      ...(sealing !== undefined && { sealing }),
    },
    ...numbers,
    ...groupOf(numbers, privacy, authorityNoise),
    staleness: { kind: 'constant' },
    // While authorities are away, reports of so many windows wait.
    maxStaleness: Math.min(DEFAULT_MAX_STALENESS, Math.ceil(epochMs / windowMs)),
    privacy,
    statistics: { fields, windowMs, unsafeExact },
    manifestHash: new Uint8Array(32),
    serverKey,
    uploadLeaseMs: TASK_DEFAULTS.uploadLeaseMs,
  });
}

function privacyOf({ privacy = {} }: StatisticsSettings, bufferSize: number): PrivacyPolicy {
  const { noiseMultiplier = PRIVATE_FROM, colluders = Math.floor(bufferSize / 10) } = privacy;
  const { delta = DEFAULT_DELTA, participations = DEFAULT_WINDOWS } = privacy;
  return { noiseMultiplier, colluders, budget: { delta, participations } };
}

type Numbers = Pick<TaskPolicy, 'bufferSize' | 'minimum' | 'dimension' | 'clip'>;

/** The narrowest group, and the least level that the noise allows. */
function groupOf(
  numbers: Numbers,
  privacy: PrivacyPolicy | undefined,
  isCentral: boolean,
): Pick<TaskPolicy, 'modulus' | 'level'> {
  const { bufferSize, clip } = numbers;
  return planOf(
    privacy === undefined
      ? planQuantizer({ summands: bufferSize, clip, resolution: { level: 1 }, modulus: 'auto' })
      : planPrivate({ ...numbers, ...privacy, isCentral, isWhole: true }),
  );
}

function orSettings<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new SettingsError(error.message);
    throw error;
  }
}

/** The same settings again give the same task. The owner of each authority lets devices in, not the task's operator. */
export async function createStatisticsTask(
  { server, authority }: { readonly server: ServerOperator; readonly authority: AuthorityOperator },
  settings: StatisticsSettings,
): Promise<CreatedTask> {
  const { publicKey } = await server.about();
  const policy = statisticsPolicy(settings, {
    serverKey: fromHex(publicKey) ?? new Uint8Array(),
    authorities: (await authority.publicKeys()).map((key) => fromHex(key) ?? new Uint8Array()),
  });
  const task = await authority.createTask(policy);
  const windows = policy.privacy?.budget?.participations;
  await server.createTask({
    policy: toHex(encodePolicy(policy)),
    // The window in which it begins is not a whole one.
    ...(windows !== undefined && { stop: { afterMs: (windows + 1) * settings.windowMs } }),
    ...(settings.publicModels === true && { publicModels: true }),
  });
  return { task, policy };
}
