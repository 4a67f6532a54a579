/** `basa task create`: the policy at each authority, then the task at the server. */
import type { AuthorityOperator, CreatedTask, ServerOperator, TaskSettings } from '@basa/client/operator';
import type { Dataset, Model } from '@basa/learning';
import type { FieldDefinitions, TaskPolicy } from '@basa/protocol/policy';
import { chosenModel, isModelFile, MODEL_NAMES } from '../flags/models.ts';
import * as operators from '../flags/services.ts';
import * as taskFlags from '../flags/task.ts';
import * as flag from '../shell/command.ts';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandResult,
  command,
  contentOf,
  defined,
  within,
} from '../shell/command.ts';

/** The K of the paper's experiments. */
const USUAL_K = 10;

const FLAGS = {
  name: flag.text({ help: 'name of the task' }),
  model: flag.text({
    value: 'name',
    help: `${MODEL_NAMES.join(', ')}, or your own file: net.json or model.ts`,
    default: 'mnist',
  }),
  test: flag.text({
    value: 'file',
    help: 'test set with which the server evaluates each version: a safetensors file that encodeDataset wrote',
    without: 'the test set of mnist or model.ts',
  }),
  initial: flag.text({ value: 'file', help: 'safetensors file with the initial parameters', without: 'random ones' }),
  buffer: flag.whole({ ...taskFlags.bufferFlag, without: String(USUAL_K) }),
  minimum: flag.whole({ help: 'Kmin: the smallest number of updates in a sum', min: 2, without: '80 % of K' }),
  devices: taskFlags.devicesFlag,
  mode: flag.choice(taskFlags.MODES, {
    help: "one-shot: each device sends one message; paper: the paper's own protocol, which does not protect updates from a server that lies, and which both services must allow (unsafePaperMode)",
    default: 'one-shot',
  }),
  'step-updates': flag.whole({
    help: 'number of updates in one step of the server, from as many batches as that needs',
    min: 1,
    without: 'K',
  }),
  combine: flag.choice(['mean', 'trimmed'], {
    value: 'how',
    help: 'how batches are combined: mean, or trimmed, which drops the extreme values of each parameter and needs --step-updates of at least 5 K',
    without: 'mean',
  }),
  sealing: taskFlags.sealingFlag,
  target: flag.whole({
    value: 'percent',
    help: 'finish the task at this score (accuracy, or R2 for the loss mse); needs a test set',
    min: 1,
    max: 100,
  }),
  versions: flag.whole({ help: 'finish the task after n versions', min: 1 }),
  clip: flag.positive({
    help: 'C: updates are clipped to this L2 norm; in paper mode each entry to +-x',
    without: 'the clip in the model file; 1 for a model by name and in paper mode',
  }),
  metrics: taskFlags.metricsFlag,
  ...taskFlags.NOISE_FLAGS,
  ...taskFlags.STATISTICS_FLAGS,
  'public-models': flag.yes(
    'everybody may read the models and results; by default only devices of the task and operators',
  ),
  set: taskFlags.setFlag,
  ...operators.SERVER_FLAGS,
  token: flag.needed(operators.SERVER_TOKEN), // checked before an authority has the task
  ...operators.AUTHORITY_FLAGS,
  threshold: taskFlags.thresholdFlag,
};
type Input = CommandInput<typeof FLAGS>;

interface Services {
  readonly server: ServerOperator;
  readonly authority: AuthorityOperator;
}

export const taskCreate: Command = command({
  name: 'task create',
  summary: 'create a task at its authorities and its server',
  flags: FLAGS,
  opening: 'creating the task',
  async run(input) {
    const services = {
      server: await operators.serverOperator(input),
      authority: await operators.authorityOperator(input),
    };
    const fields = await taskFlags.fieldDefinitions(input.flags);
    const created = await (fields === undefined
      ? createTraining(input, services)
      : createStatistics(input, services, fields));
    return told(input, created);
  },
});

async function createTraining(input: Input, services: Services): Promise<CreatedTask> {
  const { flags, terminal } = input;
  const { model, test, training: own, clip: known } = await chosenModel(flags.model);
  const { settings, privacy } = taskFlags.settingsOf(flags.set, false);
  const { buffer, combine, devices, metrics, mode, sealing, 'step-updates': stepUpdates, target, threshold } = flags;
  const fitting = devices !== undefined && buffer === undefined ? taskFlags.fittingFor(devices, USUAL_K) : undefined;
  const bufferSize = taskFlags.bufferWithin(buffer ?? fitting?.bufferSize ?? USUAL_K, mode);
  const minimum = flags.minimum ?? fitting?.minimum;
  const warning = taskFlags.spoilerWarning(minimum ?? Math.ceil(0.8 * bufferSize), devices);
  if (warning !== undefined) terminal.warn(warning);
  const evaluationSet = await testSetOf(input, test);
  if (target !== undefined && evaluationSet === undefined)
    throw new CommandError(
      '--target needs a test set; add --test, export `test` from the model file, or use --versions instead of --target',
    );
  const clip = flags.clip ?? known ?? (mode === 'paper' ? 1 : undefined);
  if (clip === undefined) throw new CommandError(noClip(flags.model));
  const training = { ...own, ...settings.training };
  const { Live } = await import('@basa/protocol/http');
  const { createTaskAt } = await import('@basa/client/operator');
  return createTaskAt(services, {
    name: flags.name ?? (isModelFile(flags.model) ? model.name : flags.model),
    model,
    mode,
    bufferSize,
    clip,
    publicModels: flags['public-models'],
    ...defined({
      minimum: minimum === undefined ? undefined : within(minimum, 'minimum', { min: 2, max: bufferSize }),
      ...{ threshold, stepUpdates, combine, sealing, metrics, evaluationSet },
      places: mode === 'one-shot' ? fitting?.places : undefined,
      initial: await initialOf(input, model),
    }),
    ...taskFlags.noiseOf(flags, false, privacy),
    stop: defined({
      [Live.SCORE_OF_LOSS[training.loss]]: target === undefined ? undefined : target / 100,
      version: flags.versions,
    }),
    ...settings,
    training,
  });
}

/** The flags of models that a statistics task does not have. */
const ONLY_MODELS = ['test', 'target', 'versions', 'metrics', 'initial', 'clip', 'step-updates', 'combine'] as const;

async function createStatistics({ flags }: Input, services: Services, fields: FieldDefinitions): Promise<CreatedTask> {
  const other = ONLY_MODELS.find((name) => flags[name] !== undefined);
  if (other !== undefined) throw new CommandError(`--${other} is for tasks with a model; remove it`);
  if (flags.mode === 'paper') throw new CommandError('statistics need --mode one-shot; remove --mode paper');
  const { settings, privacy } = taskFlags.settingsOf(flags.set, true);
  const { name = 'statistics', threshold, sealing, devices } = flags;
  const fitting = devices === undefined ? undefined : taskFlags.fittingFor(devices, USUAL_K);
  const { createStatisticsTask } = await import('@basa/client/operator');
  return createStatisticsTask(services, {
    name,
    fields,
    windowMs: 1000 * flags.window,
    bufferSize: flags.buffer ?? fitting?.bufferSize ?? USUAL_K,
    publicModels: flags['public-models'],
    ...defined({ minimum: flags.minimum ?? fitting?.minimum, threshold, sealing }),
    ...taskFlags.noiseOf(flags, true, privacy),
    ...defined({ authorityNoise: settings.authorityNoise, tolerated: settings.tolerated }),
  });
}

/** At most ten lines: the task, its noise, and what comes next. */
async function told({ terminal }: Input, { task, policy }: CreatedTask): Promise<CommandResult> {
  const { Privacy } = await import('@basa/protocol/policy');
  const { noiseAdvice } = await import('./policy-costs.ts');
  const warning = taskFlags.floorWarning(policy.oneShot?.versionMinimum ?? policy.minimum);
  if (warning !== undefined) terminal.warn(warning);
  // A task without a budget promises nothing that its noise could break.
  const kind = policy.privacy?.budget === undefined ? 'note' : 'warning';
  for (const sentence of noiseAdvice(policy)) terminal.warn(`${kind}: ${sentence}`);
  terminal.line(`task ${task}`);
  terminal.line(Privacy.noiseWords(policy).sentence);
  for (const line of await errorLines(policy)) terminal.line(line);
  terminal.line(
    `The owner of each authority lets devices in: \`basa keys enroll --task ${operators.short(task)} --hashes <file>\``,
  );
  return { json: { task } };
}

/** So many fields are told one by one. */
const SHOWN_FIELDS = 5;

/** One line for each of the first fields of statistics. */
async function errorLines(policy: TaskPolicy): Promise<readonly string[]> {
  const { DEVIATIONS, fieldErrors, shown } = await import('./statistics.ts');
  const errors = fieldErrors(policy);
  const lines = errors
    .slice(0, SHOWN_FIELDS)
    .map(({ kind, name, error }) =>
      kind === 'number'
        ? `${name}: the mean of ${policy.bufferSize} devices ± ${shown(DEVIATIONS * error)} (95 % error bar)`
        : `${name}: the devices in a bucket ± ${shown(DEVIATIONS * error)} (95 % error bar)`,
    );
  const more = errors.length - SHOWN_FIELDS;
  return more > 0 ? [...lines, `and ${more} more: \`basa plan --statistics\` shows all of them`] : lines;
}

function noClip(file: string): string {
  const measured = file.endsWith('.json')
    ? '`basa simulate` of a model.ts with this network measures'
    : `run \`basa simulate ${file}\`, which measures`;
  return `${file} does not say to which L2 norm updates are clipped; ${measured} the median norm of first updates and writes it into the file, or give --clip (best at or below that median)`;
}

/** The data on which the server evaluates versions: a file that `encodeDataset` wrote, or the test set of the model. */
async function testSetOf(
  { flags, signal }: Input,
  test: ((signal: AbortSignal) => Promise<Dataset>) | undefined,
): Promise<Dataset | undefined> {
  const { test: file } = flags;
  if (file === undefined) return test?.(signal);
  const { decodeDataset } = await import('@basa/learning');
  return contentOf('--test', file, decodeDataset);
}

async function initialOf({ flags }: Input, model: Model): Promise<TaskSettings['initial'] | undefined> {
  const { initial: file } = flags;
  if (file === undefined) return undefined;
  const { decodeSafetensors } = await import('@basa/learning');
  return contentOf('--initial', file, (bytes) => ({ parameters: decodeSafetensors(model, bytes) }));
}
