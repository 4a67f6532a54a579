/** A task from a network and a few numbers: its policy at the authority, then the task at the server. */
import { type Dataset, encodeDataset, initialParameters, type Model, modelJson } from '@basa/learning';
import { fromHex, toHex } from '@basa/masking';
import {
  DEFAULT_MAX_STALENESS,
  encodePolicy,
  POLICY_DEFAULTS,
  type TaskPolicy,
  type TaskTraining,
} from '@basa/protocol/policy';
import { SettingsError } from '../errors.ts';
import { AuthorityOperator } from './authority-operator.ts';
import { makePolicy, type PolicyChoice } from './policy.ts';
import { ServerOperator } from './server-operator.ts';
import type { TaskSpecification } from './task-specification.ts';

/** The default settings: the numbers of the paper's experiments. */
export const TASK_DEFAULTS = {
  bufferSize: 10,
  uploadLeaseMs: 600_000,
  stallMs: 60_000,
  maxStaleness: DEFAULT_MAX_STALENESS,
  training: POLICY_DEFAULTS.training,
} as const;

/** The settings of a task; only the model is required. */
export interface TaskSettings
  extends Partial<Omit<PolicyChoice, 'model' | 'serverKey' | 'authorities' | 'training'>>,
    Omit<TaskSpecification, 'policy' | 'model' | 'initial' | 'mode'> {
  readonly model: Model;
  readonly training?: Partial<TaskTraining>;
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
    policy: toHex(encodePolicy(policy)),
    ...(canServerBuild && { model: modelJson(model) }),
    initial: initialOf(settings, canServerBuild),
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
function initialOf(
  { model, initial = { seed: 1 } }: TaskSettings,
  canServerBuild: boolean,
): NonNullable<TaskSpecification['initial']> {
  if ('seed' in initial && canServerBuild) return initial;
  const parameters = 'seed' in initial ? initialParameters(model, initial.seed) : initial.parameters;
  return { parameters: toHex(new Uint8Array(parameters.slice().buffer)) };
}
