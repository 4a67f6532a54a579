/** `basa task create`: the policy at each authority, then the task at the server. */
import { readFile } from 'node:fs/promises';
import type { AuthorityOperator, CreatedTask, ServerOperator, TaskSettings } from '@basa/client/operator';
import type { Dataset, Model } from '@basa/learning';
import type { FieldDefinitions } from '@basa/protocol/policy';
import { AUTHORITY_FLAGS, authorityOperator, SERVER_FLAGS, SERVER_TOKEN, serverOperator } from '../flags/connection.ts';
import { devicesFlag, fittingFor, floorWarning, spoilerWarning } from '../flags/fitting.ts';
import { admissionOf, LEARNING_FLAGS, serverStepOf } from '../flags/learning.ts';
import { chosenModel, MODEL_NAMES } from '../flags/models.ts';
import { bufferWithin, MOST_UPDATES, modeFlag, sealingFlag, VERSION_FLAGS, versionSettings } from '../flags/modes.ts';
import { short } from '../flags/names.ts';
import { isModelFile } from '../flags/own-model.ts';
import { PRESET_NAMES, taskPreset } from '../flags/presets.ts';
import { METRICS_FLAGS, PRIVACY_FLAGS, privacyChoice } from '../flags/privacy.ts';
import { STATISTICS_FLAGS, statisticsFields, statisticsNoise } from '../flags/statistics.ts';
import { thresholdFlag, toleratedFlag } from '../flags/threshold.ts';
import { TRAINING_FLAGS, trainingOf } from '../flags/training.ts';
import { type Command, CommandError, type CommandInput, type CommandResult, command } from '../shell/command.ts';
import { choice, needed, parsed, positive, text, whole, within, yes } from '../shell/flag.ts';
import type { PrivateRequest } from './private-plan.ts';
import { errorLines } from './statistics-words.ts';

const FLAGS = {
  name: text({ help: 'name of the task' }),
  model: text({
    value: 'name',
    help: `${MODEL_NAMES.join(', ')}, or your own file: net.json or model.ts`,
    default: 'mnist',
  }),
  test: text({
    value: 'file',
    help: 'test set with which the server evaluates each version: a safetensors file that encodeDataset wrote',
    without: 'the test set of mnist or model.ts',
  }),
  preset: choice(PRESET_NAMES, {
    help: `${PRESET_NAMES.join(' or ')}: sets the defaults of --buffer, --lease, --stall and --max-staleness`,
    default: 'paper',
  }),
  buffer: whole({
    help: 'buffer size K: the number of updates in a sum',
    min: 2,
    max: MOST_UPDATES['one-shot'],
    without: 'paper 10, production 32',
  }),
  minimum: whole({ help: 'Kmin: the smallest number of updates in a sum', min: 2, without: '80 % of K' }),
  devices: devicesFlag,
  mode: modeFlag,
  ...VERSION_FLAGS,
  sealing: sealingFlag,
  target: whole({
    value: 'percent',
    help: 'finish the task at this score (accuracy, or R2 for the loss mse); needs a test set',
    min: 1,
    max: 100,
  }),
  versions: whole({ help: 'finish the task after n versions', min: 1 }),
  lease: seconds('time that a device has for its upload', 'paper 600, production 900'),
  stall: seconds(
    'sum a batch that has enough updates after this time without another update',
    'paper 60, production 300',
  ),
  'max-staleness': whole({ help: 'number of versions that an update may be behind', without: '15' }),
  clip: positive({
    help: 'C: updates are clipped to this L2 norm; in paper mode each entry to +-x',
    without: 'the clip in model.ts; 1 for a model by name and in paper mode',
  }),
  bits: parsed<number | 'auto'>(
    {
      value: 'n',
      help: 'bits of each masked entry, 2 to 32; auto: the fewest that divide the clip into 32768 steps',
      without: 'auto, which is 20 for K = 10',
    },
    'a whole number from 2 to 32, or auto',
    (given) => (given === 'auto' ? given : [...Array(33).keys()].slice(2).find((bits) => String(bits) === given)),
  ),
  ...TRAINING_FLAGS,
  ...METRICS_FLAGS,
  ...PRIVACY_FLAGS,
  ...LEARNING_FLAGS,
  ...STATISTICS_FLAGS,
  'public-models': yes('everybody may read the models and results; by default only devices of the task and operators'),
  seed: whole({ help: 'random seed for the initial parameters', default: 1 }),
  initial: text({ value: 'file', help: 'safetensors file with the initial parameters, instead of --seed' }),
  ...SERVER_FLAGS,
  token: needed(SERVER_TOKEN), // checked before an authority has the task
  ...AUTHORITY_FLAGS,
  threshold: thresholdFlag,
  tolerated: toleratedFlag,
  'noise-by': choice(['devices', 'authority'], {
    help: 'who adds the noise: each device its share, or the authority to each sum, if there is one authority',
    without: 'the authority if there is one, else the devices',
  }),
};

function seconds(help: string, without: string) {
  return whole({ value: 'seconds', help, min: 1, without });
}

export const taskCreate: Command = command({
  name: 'task create',
  summary: 'create a task at its authorities and its server',
  flags: FLAGS,
  opening: 'creating the task',
  async run(input) {
    const { flags, terminal } = input;
    const services = { server: await serverOperator(input), authority: await authorityOperator(input) };
    const fields = await statisticsFields(flags);
    if (fields !== undefined) return createStatistics(input, services, fields);
    if (flags['unsafe-exact'])
      throw new CommandError('--unsafe-exact needs --statistics or --field; add one, or remove it');
    const { model, test, training: own, clip: known } = await chosenModel(flags.model);
    const preset = await taskPreset(flags.preset);
    const { buffer, devices, target, threshold, versions, bits = 'auto' } = flags;
    const fitting = devices !== undefined && buffer === undefined ? fittingFor(devices, preset.bufferSize) : undefined;
    const bufferSize = bufferWithin(buffer ?? fitting?.bufferSize ?? preset.bufferSize, flags.mode);
    const minimum = flags.minimum ?? fitting?.minimum;
    const warning = spoilerWarning(minimum ?? Math.ceil(0.8 * bufferSize), devices);
    if (warning !== undefined) terminal.warn(warning);
    const evaluationSet = await testSetOf(input, test);
    if (target !== undefined && evaluationSet === undefined)
      throw new CommandError(
        '--target needs a test set; add --test, export `test` from the model file, or use --versions instead of --target',
      );
    const { dimension } = model;
    const privacy =
      flags.mode === 'paper' ? undefined : await privacyChoice(flags, { bufferSize, dimension, versions });
    const clip = flags.clip ?? known ?? (flags.mode === 'paper' ? 1 : undefined);
    if (clip === undefined) throw new CommandError(noClip(flags.model));
    if (privacy !== undefined) {
      const isCentral = flags['noise-by'] === 'authority';
      await warnOfNoise(input, { privacy, dimension, bufferSize, minimum, clip, isCentral });
    }
    const training = trainingOf(flags, own);
    const { noiseWords } = await import('@basa/protocol/policy');
    const { SCORE_OF_LOSS } = await import('@basa/protocol/http');
    const { createTaskAt } = await import('@basa/client/operator');
    const { task, policy } = await createTaskAt(services, {
      name: flags.name ?? (isModelFile(flags.model) ? model.name : flags.model),
      model,
      bufferSize,
      ...(threshold !== undefined && { threshold }),
      ...modeSettings(flags),
      ...(minimum !== undefined && { minimum: within(minimum, 'minimum', { min: 2, max: bufferSize }) }),
      maxStaleness: flags['max-staleness'] ?? preset.maxStaleness,
      clip,
      ...(bits !== 'auto' && { bits }),
      training,
      metrics: flags.metrics ?? [],
      ...(privacy === undefined ? { noNoise: true } : { privacy }),
      uploadLeaseMs: 1000 * (flags.lease ?? preset.leaseSeconds),
      stallMs: 1000 * (flags.stall ?? preset.stallSeconds),
      initial: await initialOf(input, model),
      serverStep: serverStepOf(flags),
      stop: {
        ...(target !== undefined && { [SCORE_OF_LOSS[training.loss]]: target / 100 }),
        ...(versions !== undefined && { version: versions }),
      },
      ...(evaluationSet !== undefined && { evaluationSet }),
      ...(fitting !== undefined && flags.mode === 'one-shot' && { places: fitting.places }),
      ...admissionOf(flags),
      publicModels: flags['public-models'],
    });
    return told(terminal, { task, policy }, [noiseWords(policy).sentence]);
  },
});

function told(
  terminal: CommandInput['terminal'],
  { task, policy }: CreatedTask,
  about: readonly string[],
): CommandResult {
  const warning = floorWarning(policy.oneShot?.versionMinimum ?? policy.minimum);
  if (warning !== undefined) terminal.warn(warning);
  terminal.line(`task ${task}`);
  for (const line of about) terminal.line(line);
  terminal.line(
    `The owner of each authority lets devices in: \`basa keys enroll --task ${short(task)} --hashes <file>\``,
  );
  return { json: { task } };
}

/** The flags of models that a statistics task does not have. */
const ONLY_MODELS = [
  'test',
  'target',
  'versions',
  'metrics',
  'initial',
  'version-minimum',
  'depart-ms',
  'clip',
  'bits',
] as const;

async function createStatistics(
  { flags, terminal }: CommandInput<typeof FLAGS>,
  services: { readonly server: ServerOperator; readonly authority: AuthorityOperator },
  fields: FieldDefinitions,
): Promise<CommandResult> {
  const other = ONLY_MODELS.find((name) => flags[name] !== undefined);
  if (other !== undefined) throw new CommandError(`--${other} is for tasks with a model; remove it`);
  if (flags.mode === 'paper') throw new CommandError('statistics need --mode one-shot; remove --mode paper');
  const privacy = statisticsNoise(flags);
  const { name = 'statistics', minimum, threshold, tolerated, sealing, 'noise-by': by } = flags;
  const fitting = flags.devices === undefined ? undefined : fittingFor(flags.devices, TASK_K);
  const bufferSize = flags.buffer ?? fitting?.bufferSize ?? TASK_K;
  const least = minimum ?? fitting?.minimum;
  const { noiseWords } = await import('@basa/protocol/policy');
  const { createStatisticsTask } = await import('@basa/client/operator');
  const { task, policy } = await createStatisticsTask(services, {
    name,
    fields,
    windowMs: 1000 * flags.window,
    bufferSize,
    ...(least !== undefined && { minimum: least }),
    unsafeExact: flags['unsafe-exact'],
    privacy,
    ...(by !== undefined && { authorityNoise: by === 'authority' }),
    ...(threshold !== undefined && { threshold }),
    ...(tolerated !== undefined && { tolerated }),
    sealing,
    publicModels: flags['public-models'],
  });
  return told(terminal, { task, policy }, [noiseWords(policy).sentence, ...(await errorLines(policy))]);
}

const TASK_K = 10;

function noClip(file: string): string {
  const measured = file.endsWith('.json')
    ? '`basa simulate` of a model.ts with this network measures'
    : `run \`basa simulate ${file}\`, which measures`;
  return `${file} does not say to which L2 norm updates are clipped; ${measured} the median norm of first updates and writes it into the file, or give --clip (best at or below that median)`;
}

/** Prints the advice of `basa plan`: the task is created anyway, unless it is impossible. */
async function warnOfNoise({ terminal }: Pick<CommandInput, 'terminal'>, request: PrivateRequest): Promise<void> {
  const { planPrivacy } = await import('./private-plan.ts');
  const planned = await planPrivacy(request);
  if (typeof planned === 'string') throw new CommandError(`this task is not possible: ${planned}`);
  for (const sentence of planned.advice) terminal.warn(`warning: ${sentence}`);
}

/** The flags that paper mode does not have, with the values that they have by default. */
const ONLY_ONE_SHOT = {
  'step-updates': undefined,
  'version-minimum': undefined,
  'depart-ms': undefined,
  combine: 'mean',
  sealing: 'x25519',
  noise: undefined,
  'noise-by': undefined,
  tolerated: undefined,
} as const;

function modeSettings(flags: CommandInput<typeof FLAGS>['flags']): Partial<TaskSettings> {
  const { mode, sealing, tolerated, 'noise-by': by } = flags;
  if (mode === 'one-shot')
    return {
      mode,
      ...versionSettings(flags),
      sealing,
      ...(by !== undefined && { authorityNoise: by === 'authority' }),
      ...(tolerated !== undefined && { tolerated }),
    };
  const [name] = Object.entries(ONLY_ONE_SHOT).find(([key, usual]) => flags[key as 'noise'] !== usual) ?? [];
  if (name === undefined) return { mode };
  throw new CommandError(`--${name} needs --mode one-shot; remove it, or --mode paper`);
}

/** The data on which the server evaluates versions: a file that `encodeDataset` wrote, or the test set of the model. */
async function testSetOf(
  { flags, signal }: CommandInput<typeof FLAGS>,
  test: ((signal: AbortSignal) => Promise<Dataset>) | undefined,
): Promise<Dataset | undefined> {
  const { test: file } = flags;
  if (file === undefined) return test?.(signal);
  const { decodeDataset } = await import('@basa/learning');
  try {
    return decodeDataset(await readFile(file));
  } catch (error) {
    throw new CommandError(`--test ${file}: ${(error as Error).message}`);
  }
}

/** The first parameters: from a file, or drawn with a seed. */
async function initialOf(
  { flags }: CommandInput<typeof FLAGS>,
  model: Model,
): Promise<NonNullable<TaskSettings['initial']>> {
  const { initial: file, seed } = flags;
  if (file === undefined) return { seed };
  const { decodeSafetensors } = await import('@basa/learning');
  try {
    return { parameters: decodeSafetensors(model, await readFile(file)) };
  } catch (error) {
    throw new CommandError(`--initial ${file}: ${(error as Error).message}`);
  }
}
