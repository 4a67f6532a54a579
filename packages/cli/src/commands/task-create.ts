/** `basa task create`: the policy at the authority, then the task at the server. */
import { readFile } from 'node:fs/promises';
import type { Model } from '@basa/learning';
import { decodeSafetensors, encodeDataset } from '@basa/learning';
import { fromHex, toHex } from '@basa/masking';
import { encodePolicy } from '@basa/protocol';
import type { Command, CommandInput } from '../command.ts';
import { CommandError, numberFlag, textFlag } from '../command.ts';
import { admissionOf, LEARNING_FLAGS, LEARNING_USAGE, positive, serverStepOf } from '../learning-flags.ts';
import { knownModel, MODEL_NAMES } from '../models.ts';
import { short } from '../names.ts';
import { engineOf, makePolicy, modelOptions } from '../policy.ts';
import { PRESET_NAMES, taskPreset } from '../presets.ts';
import { TRAINING_FLAGS, TRAINING_USAGE, trainingOf } from '../training-flags.ts';
import { AUTHORITY_FLAGS, authorityOperator, SERVER_FLAGS, SERVER_USAGE, serverOperator } from './connection.ts';

export const taskCreate: Command = {
  name: 'task create',
  summary: 'creates a task at the authority and at the server',
  usage: `  --name <text>        what people call it
  --model <name>       ${MODEL_NAMES.join(', ')} (mnist)
  --preset <name>      ${PRESET_NAMES.join(' or ')}: the numbers that the flags below do not give (paper)
  --buffer <n>         K, positions of a buffer (paper 10, production 32)
  --minimum <n>        Kmin, updates a sum holds at least (80 % of K)
  --engine <name>      how seeds are sealed: slot-keys or cp-abe, the paper's (slot-keys)
  --target <percent>   stop at this accuracy; mnist brings its test set for it
  --versions <n>       stop after so many versions
  --lease <seconds>    from deposit to upload (paper 600, production 900)
  --open <seconds>     how long a buffer takes users (paper 3600, production 21600)
  --stall <seconds>    close a buffer with enough updates when none came for so long (paper 60, production 300)
  --max-staleness <n>  versions an update may be behind (15)
  --clip <x>           entries of an update beyond +-x are clipped (1)
  --bits <n>           of one masked entry, 2 to 32, or auto: the fewest that resolve the clip in 32768 steps (auto: 20 for K = 10)
${TRAINING_USAGE}
${LEARNING_USAGE}
  --seed <n>           of the first parameters (1)
  --initial <file>     or take them from a safetensors file
  --unsafe-paper       the paper's own mode, which is not safe; both services must allow it
${SERVER_USAGE}
  --authority <url>    the authority (BASA_AUTHORITY)`,
  flags: {
    name: { type: 'string' },
    model: { type: 'string' },
    preset: { type: 'string' },
    buffer: { type: 'string' },
    minimum: { type: 'string' },
    engine: { type: 'string' },
    target: { type: 'string' },
    versions: { type: 'string' },
    lease: { type: 'string' },
    open: { type: 'string' },
    stall: { type: 'string' },
    'max-staleness': { type: 'string' },
    clip: { type: 'string' },
    bits: { type: 'string' },
    ...TRAINING_FLAGS,
    seed: { type: 'string' },
    initial: { type: 'string' },
    'unsafe-paper': { type: 'boolean', default: false },
    ...LEARNING_FLAGS,
    ...SERVER_FLAGS,
    ...AUTHORITY_FLAGS,
  },
  opening: 'creating the task',
  async run(input) {
    const { terminal } = input;
    const server = serverOperator(input);
    const modelName = textFlag(input, 'model') ?? 'mnist';
    const { model, ...settings } = knownModel(modelName);
    const preset = taskPreset(textFlag(input, 'preset'));
    const { publicKey } = await server.about();
    const bufferSize = numberFlag(input, 'buffer', { least: 2, most: 1024, fallback: preset.bufferSize });
    const target = numberFlag(input, 'target', { least: 1, most: 100, fallback: 0 }) / 100;
    if (target > 0 && modelName !== 'mnist')
      throw new CommandError('--target needs a test set at the server, which only mnist brings; use --versions');
    const openMs = 1000 * numberFlag(input, 'open', { least: 1, fallback: preset.openSeconds });
    const minimum = textFlag(input, 'minimum');
    const policy = makePolicy({
      name: textFlag(input, 'name') ?? modelName,
      model,
      serverKey: fromHex(publicKey) ?? new Uint8Array(),
      bufferSize,
      engine: engineOf(textFlag(input, 'engine') ?? 'slot-keys'),
      ...(minimum !== undefined && {
        minimum: numberFlag(input, 'minimum', { least: 2, most: bufferSize, fallback: 0 }),
      }),
      maxStaleness: numberFlag(input, 'max-staleness', { fallback: preset.maxStaleness }),
      clip: positive(input, 'clip', 1),
      ...bitsOf(input),
      ...trainingOf(input, settings),
      uploadLeaseMs: 1000 * numberFlag(input, 'lease', { least: 1, fallback: preset.leaseSeconds }),
      openMs,
      closeMs: openMs,
    });
    const task = await authorityOperator(input).createTask(policy);
    const versions = numberFlag(input, 'versions', { least: 1, fallback: 0 });
    await server.createTask({
      policy: toHex(encodePolicy(policy)),
      model: modelOptions(model),
      ...(input.values['unsafe-paper'] === true && { mode: 'paper' }),
      initial: await initialOf(input, model),
      serverStep: serverStepOf(input),
      ...admissionOf(input),
      stop: { ...(target > 0 && { accuracy: target }), ...(versions > 0 && { version: versions }) },
      stallMs: 1000 * numberFlag(input, 'stall', { least: 1, fallback: preset.stallSeconds }),
    });
    if (modelName === 'mnist') {
      const { loadMnist } = await import('@basa/datasets');
      await server.setExamples(task, encodeDataset((await loadMnist()).test));
    }
    terminal.line(`task ${task}`);
    terminal.line(`\`basa keys enroll --task ${short(task)} --count 10\` makes tokens for ten devices`);
    return { json: { task } };
  },
};

/** The first parameters: from a file, or drawn with a seed. */
async function initialOf(input: CommandInput, model: Model): Promise<object> {
  const file = textFlag(input, 'initial');
  if (file === undefined) return { seed: numberFlag(input, 'seed', { fallback: 1 }) };
  try {
    const parameters = decodeSafetensors(model, await readFile(file));
    return { parameters: Buffer.from(parameters.buffer).toString('hex') };
  } catch (error) {
    throw new CommandError(`--initial ${file}: ${(error as Error).message}`);
  }
}

function bitsOf(input: CommandInput): { readonly bits?: number } {
  const isAuto = (textFlag(input, 'bits') ?? 'auto') === 'auto';
  return isAuto ? {} : { bits: numberFlag(input, 'bits', { least: 2, most: 32, fallback: 32 }) };
}
