/** `basa task create`: the policy at each authority, then the task at the server. */
import { readFile } from 'node:fs/promises';
import type { TaskSettings } from '@basa/client/operator';
import type { Dataset, Model } from '@basa/learning';
import { type Command, CommandError, type CommandInput, numberFlag, textFlag, textFlags } from '../command.ts';
import { engineOf } from '../engines.ts';
import { admissionOf, LEARNING_FLAGS, LEARNING_USAGE, positive, serverStepOf } from '../learning-flags.ts';
import { chosenModel, MODEL_NAMES } from '../models.ts';
import { short } from '../names.ts';
import { isModelFile } from '../own-model.ts';
import { PRESET_NAMES, taskPreset } from '../presets.ts';
import { METRICS_USAGE, metricsChoice, PRIVACY_FLAGS, PRIVACY_USAGE, privacyChoice } from '../private-flags.ts';
import { thresholdFlag } from '../threshold-flag.ts';
import { TRAINING_FLAGS, TRAINING_USAGE, trainingOf } from '../training-flags.ts';
import {
  AUTHORITIES_USAGE,
  AUTHORITY_FLAGS,
  authorityOperator,
  SERVER_FLAGS,
  SERVER_USAGE,
  serverOperator,
} from './connection.ts';

export const taskCreate: Command = {
  name: 'task create',
  summary: 'creates a task at its authorities and at the server',
  usage: `  --name <text>        what people call it
  --model <name>       ${MODEL_NAMES.join(', ')}, or a file of your own: net.json or model.ts (mnist)
  --test <file>        what the server evaluates on: safetensors of encodeDataset (what mnist or model.ts brings)
  --preset <name>      ${PRESET_NAMES.join(' or ')}: the numbers that the flags below do not give (paper)
  --buffer <n>         K, positions of a buffer (paper 10, production 32)
  --minimum <n>        Kmin, updates a sum holds at least (80 % of K)
  --engine <name>      how seeds are sealed: slot-keys or cp-abe, the paper's (slot-keys)
  --target <percent>   stop at this accuracy; needs a test set
  --versions <n>       stop after n versions
  --lease <seconds>    from deposit to upload (paper 600, production 900)
  --open <seconds>     how long a buffer takes users (paper 3600, production 21600)
  --stall <seconds>    close a buffer with enough updates when no other came for that long (paper 60, production 300)
  --max-staleness <n>  versions an update may be behind (15)
  --clip <x>           entries of an update beyond +-x are clipped; with --noise its L2 norm is (1)
  --bits <n>           of one masked entry, 2 to 32, or auto: the fewest that resolve the clip in 32768 steps (auto: 20 for K = 10)
${TRAINING_USAGE}
${METRICS_USAGE}
${PRIVACY_USAGE}
${LEARNING_USAGE}
  --seed <n>           of the first parameters (1)
  --initial <file>     or take them from a safetensors file
  --tokens <n>         also make n enrolment tokens, for a day (0)
  --unsafe-mixed-versions  let a sum mix versions of the model, as the paper does: its server can then single out an update
  --unsafe-paper       the paper's own mode, which is not safe; both services must allow it
${SERVER_USAGE}
${AUTHORITIES_USAGE}
  --threshold <t>      how many of several authorities every step needs (as many as withstand one that colludes: 3 of 4)
  --unsafe-threshold   allow one that withstands no authority which colludes, such as 2 of 3`,
  flags: {
    threshold: { type: 'string' },
    'unsafe-threshold': { type: 'boolean', default: false },
    ...textFlags(
      'name',
      'model',
      'test',
      'tokens',
      'preset',
      'buffer',
      'minimum',
      'engine',
      'target',
      'versions',
      'lease',
      'open',
      'stall',
      'max-staleness',
      'clip',
      'bits',
    ),
    ...TRAINING_FLAGS,
    metrics: { type: 'string' },
    ...PRIVACY_FLAGS,
    ...textFlags('seed', 'initial'),
    'unsafe-mixed-versions': { type: 'boolean', default: false },
    'unsafe-paper': { type: 'boolean', default: false },
    ...LEARNING_FLAGS,
    ...SERVER_FLAGS,
    ...AUTHORITY_FLAGS,
  },
  opening: 'creating the task',
  async run(input) {
    const { terminal } = input;
    const services = { server: await serverOperator(input), authority: await authorityOperator(input) };
    const modelName = textFlag(input, 'model') ?? 'mnist';
    const { model, test, ...settings } = await chosenModel(modelName);
    const preset = await taskPreset(textFlag(input, 'preset'));
    const bufferSize = numberFlag(input, 'buffer', { min: 2, max: 1024, fallback: preset.bufferSize });
    const target = numberFlag(input, 'target', { min: 1, max: 100, fallback: 0 }) / 100;
    const evaluationSet = await testSetOf(input, test);
    if (target > 0 && evaluationSet === undefined)
      throw new CommandError('--target needs a test set at the server: give --test, export `test`, or use --versions');
    const privacy = privacyChoice(input);
    const versions = numberFlag(input, 'versions', { min: 1, fallback: 0 });
    const count = numberFlag(input, 'tokens', { max: MAX_TOKENS, fallback: 0 });
    const { createTaskAt } = await import('@basa/client/operator');
    const { task } = await createTaskAt(services, {
      name: textFlag(input, 'name') ?? (isModelFile(modelName) ? model.name : modelName),
      model,
      bufferSize,
      ...thresholdFlag(input),
      unsafeThreshold: input.values['unsafe-threshold'] === true,
      engine: engineOf(textFlag(input, 'engine') ?? 'slot-keys'),
      ...(textFlag(input, 'minimum') !== undefined && {
        minimum: numberFlag(input, 'minimum', { min: 2, max: bufferSize, fallback: 0 }),
      }),
      versions: isMixed(input) ? 'unsafeMixed' : 'one',
      maxStaleness: numberFlag(input, 'max-staleness', { fallback: preset.maxStaleness }),
      clip: positive(input, 'clip', 1),
      ...bitsOf(input),
      ...trainingOf(input, { ...settings, ...(privacy !== undefined && { blockFloor: 0 }) }),
      metrics: metricsChoice(input),
      ...(privacy !== undefined && { privacy }),
      uploadLeaseMs: 1000 * numberFlag(input, 'lease', { min: 1, fallback: preset.leaseSeconds }),
      openMs: 1000 * numberFlag(input, 'open', { min: 1, fallback: preset.openSeconds }),
      stallMs: 1000 * numberFlag(input, 'stall', { min: 1, fallback: preset.stallSeconds }),
      initial: await initialOf(input, model),
      serverStep: serverStepOf(input),
      stop: { ...(target > 0 && { accuracy: target }), ...(versions > 0 && { version: versions }) },
      ...(evaluationSet !== undefined && { evaluationSet }),
      ...(input.values['unsafe-paper'] === true && { mode: 'paper' }),
      ...admissionOf(input),
    });
    const tokens = count === 0 ? [] : await services.authority.tokens(task, count, Date.now() + TOKENS_LAST_MS);
    terminal.line(`task ${task}`);
    for (const token of tokens) terminal.line(`token ${token}`);
    if (count === 0)
      terminal.line(`\`basa keys enroll --task ${short(task)} --count 10\` makes tokens for ten devices`);
    return { json: { task, ...(count > 0 && { tokens }) } };
  },
};

/** The paper knows no versions of buffers. */
function isMixed({ values }: CommandInput): boolean {
  return values['unsafe-mixed-versions'] === true || values['unsafe-paper'] === true;
}

const MAX_TOKENS = 1000;
const TOKENS_LAST_MS = 24 * 3_600_000;

/** What the server evaluates versions on: a file that `encodeDataset` wrote, or what comes with the model. */
async function testSetOf(
  input: CommandInput,
  test: ((signal: AbortSignal) => Promise<Dataset>) | undefined,
): Promise<Dataset | undefined> {
  const file = textFlag(input, 'test');
  if (file === undefined) return test?.(input.signal);
  const { decodeDataset } = await import('@basa/learning');
  try {
    return decodeDataset(await readFile(file));
  } catch (error) {
    throw new CommandError(`--test ${file}: ${(error as Error).message}`);
  }
}

/** The first parameters: from a file, or drawn with a seed. */
async function initialOf(input: CommandInput, model: Model): Promise<NonNullable<TaskSettings['initial']>> {
  const file = textFlag(input, 'initial');
  if (file === undefined) return { seed: numberFlag(input, 'seed', { fallback: 1 }) };
  const { decodeSafetensors } = await import('@basa/learning');
  try {
    return { parameters: decodeSafetensors(model, await readFile(file)) };
  } catch (error) {
    throw new CommandError(`--initial ${file}: ${(error as Error).message}`);
  }
}

function bitsOf(input: CommandInput): { readonly bits?: number } {
  const isAuto = (textFlag(input, 'bits') ?? 'auto') === 'auto';
  return isAuto ? {} : { bits: numberFlag(input, 'bits', { min: 2, max: 32, fallback: 32 }) };
}
