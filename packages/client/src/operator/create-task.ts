/** A task from a network and a few numbers: its policy at the authority, then the task at the server. */
import { type Dataset, encodeDataset, initialParameters, type Model, modelJson } from '@basa/learning';
import { ascii, fromHex, planPrivate, planQuantizer, toHex } from '@basa/masking';
import {
  defaultMinimum,
  ENGINE,
  type FieldDefinitions,
  ONE_SHOT_DEFAULTS,
  POLICY_DEFAULTS,
  Privacy,
  type Sealing,
  Statistics,
  TaskPolicy,
  Training,
} from '@basa/protocol/policy';
import { Councils } from '@basa/protocol/wire';
import { SettingsError } from '../errors.ts';
import { AuthorityOperator } from './authority-operator.ts';
import {
  councilOf,
  DEFAULT_DELTA,
  makePolicy,
  type PolicyChoice,
  type PrivacyChoice,
  planOf,
  usable,
} from './policy.ts';
import { ServerOperator, type TaskSpecification } from './server-operator.ts';

/** The default settings: the numbers of the paper's experiments. */
export const TASK_DEFAULTS = {
  bufferSize: 10,
  uploadLeaseMs: 600_000,
  stallMs: 60_000,
  maxStaleness: Training.DEFAULT_MAX_STALENESS,
  training: POLICY_DEFAULTS.training,
} as const;

/** The settings of a task; only the model is required. */
export interface TaskSettings
  extends Partial<Omit<PolicyChoice, 'model' | 'serverKey' | 'authorities' | 'training'>>,
    Omit<TaskSpecification, 'policy' | 'model' | 'initial' | 'mode'> {
  readonly model: Model;
  readonly training?: Partial<Training.TaskTraining>;
  /** The first parameters: drawn with a seed (1), or given. */
  readonly initial?: { readonly seed: number } | { readonly parameters: Float32Array };
  /** The data on which the server evaluates each version; it is not private. */
  readonly evaluationSet?: Dataset;
}

export interface CreateTaskOptions extends TaskSettings {
  readonly server: string;
  /** Comma-separated for several authorities. */
  readonly authority: string;
  /** The operator's token of the server. */
  readonly operatorToken: string;
  /** A token with the role `tasks` of each authority, comma-separated. */
  readonly authorityToken: string;
  /** Set this if the network to the services is yours, for example one of containers. */
  readonly unsafeAllowPlainHttp?: boolean;
  readonly signal?: AbortSignal;
}

export interface CreatedTask {
  /** The name that devices pin: the hash of the policy. */
  readonly task: string;
  readonly policy: TaskPolicy;
}

/** The same settings again give the same task. The owner of each authority lets devices in, not the task's operator. */
export async function createTask(options: CreateTaskOptions): Promise<CreatedTask> {
  const { operatorToken, authorityToken, signal, unsafeAllowPlainHttp } = options;
  const { server: serverUrl, authority: authorityUrl } = options;
  const server = new ServerOperator({ url: serverUrl, token: operatorToken, signal, unsafeAllowPlainHttp });
  const authority = new AuthorityOperator({ url: authorityUrl, token: authorityToken, signal, unsafeAllowPlainHttp });
  return createTaskAt({ server, authority }, options);
}

/** The same with services that an operator is already connected to. */
export async function createTaskAt(
  { server, authority }: { readonly server: ServerOperator; readonly authority: AuthorityOperator },
  settings: TaskSettings,
): Promise<CreatedTask> {
  const { model, evaluationSet, mode, serverStep, divideBy, places, stop, target, publicModels } = settings;
  const canServerBuild = model.layers.length > 0;
  if (evaluationSet !== undefined && !canServerBuild)
    throw new SettingsError(
      `the server cannot evaluate ${model.name}, because it does not know its layers; leave out the evaluation set`,
    );
  const training = { ...TASK_DEFAULTS.training, ...settings.training };
  if (evaluationSet !== undefined && training.loss === 'own')
    throw new SettingsError('the server cannot evaluate a task with your own loss; leave out the evaluation set');
  const { publicKey } = await server.about();
  const policy = await makePolicy({
    ...TASK_DEFAULTS,
    name: model.name,
    ...(stop?.version !== undefined && { versions: stop.version }),
    ...settings,
    training,
    serverKey: fromHex(publicKey) ?? new Uint8Array(),
    authorities: (await authority.publicKeys()).map((key) => fromHex(key) ?? new Uint8Array()),
  });
  const task = await authority.createTask(policy);
  await server.createTask({
    policy: toHex(TaskPolicy.encode(policy)),
    ...(canServerBuild && { model: modelJson(model) }),
    initial: await initialOf(server, settings, canServerBuild),
    // The policy itself says that a task is in one-shot mode.
    ...(mode === 'paper' && { mode }),
    ...(serverStep !== undefined && { serverStep }),
    ...(divideBy !== undefined && { divideBy }),
    ...(places !== undefined && { places }),
    ...(stop !== undefined && { stop }),
    ...(target !== undefined && { target }),
    ...(publicModels === true && { publicModels }),
    stallMs: settings.stallMs ?? TASK_DEFAULTS.stallMs,
  });
  if (evaluationSet !== undefined) await server.setExamples(task, encodeDataset(evaluationSet));
  return { task, policy };
}

/** A server that cannot build the network is given the parameters. */
async function initialOf(
  server: ServerOperator,
  { model, initial = { seed: 1 } }: TaskSettings,
  canServerBuild: boolean,
): Promise<NonNullable<TaskSpecification['initial']>> {
  if ('seed' in initial && canServerBuild) return initial;
  const parameters = 'seed' in initial ? initialParameters(model, initial.seed) : initial.parameters;
  return server.keepFirst(parameters);
}

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
  const fields = orSettings(() => Statistics.fieldsOf(settings.fields));
  const numbers = {
    bufferSize,
    minimum: settings.minimum ?? defaultMinimum(bufferSize, privacy?.colluders ?? 0),
    dimension: Statistics.statisticsWords(fields),
    clip: Statistics.statisticsNorm(fields),
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
      tolerated: settings.tolerated ?? Councils.mostTolerated(council),
      authorityNoise: authorityNoise && privacy !== undefined,
      epochMs,
      ...(sealing !== undefined && { sealing }),
    },
    ...numbers,
    ...groupOf(numbers, privacy, authorityNoise),
    staleness: { kind: 'constant' },
    // While authorities are away, reports of so many windows wait.
    maxStaleness: Math.min(Training.DEFAULT_MAX_STALENESS, Math.ceil(epochMs / windowMs)),
    privacy,
    statistics: { fields, windowMs, unsafeExact },
    manifestHash: new Uint8Array(32),
    serverKey,
    uploadLeaseMs: TASK_DEFAULTS.uploadLeaseMs,
  });
}

function privacyOf({ privacy = {} }: StatisticsSettings, bufferSize: number): Privacy.PrivacyPolicy {
  const { noiseMultiplier = Privacy.PRIVATE_FROM, colluders = Math.floor(bufferSize / 10) } = privacy;
  const { delta = DEFAULT_DELTA, participations = DEFAULT_WINDOWS } = privacy;
  return { noiseMultiplier, colluders, budget: { delta, participations } };
}

type Numbers = Pick<TaskPolicy, 'bufferSize' | 'minimum' | 'dimension' | 'clip'>;

/** The narrowest group, and the least level that the noise allows. */
function groupOf(
  numbers: Numbers,
  privacy: Privacy.PrivacyPolicy | undefined,
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
    policy: toHex(TaskPolicy.encode(policy)),
    // The window in which it begins is not a whole one.
    ...(windows !== undefined && { stop: { afterMs: (windows + 1) * settings.windowMs } }),
    ...(settings.publicModels === true && { publicModels: true }),
  });
  return { task, policy };
}
