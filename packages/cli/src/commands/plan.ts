/** `basa plan`: what a private task would mean, before there is one. */
import type { PrivatePlan } from '@basa/masking';
import {
  type Command,
  CommandError,
  type CommandInput,
  EXIT_CODE,
  numberFlag,
  textFlag,
  textFlags,
} from '../command.ts';
import { positive } from '../learning-flags.ts';
import { chosenModel } from '../models.ts';
import { PRIVACY_FLAGS, PRIVACY_USAGE, privacyChoice } from '../private-flags.ts';
import { table } from '../terminal.ts';

/** Words before the update, and what is sealed behind it, with slot keys in the last place of a buffer. */
const PREFIX_WORDS = 6;
const SEALED_BYTES = 64;
/** Logistic regression on MNIST still learns at 13, 23 points worse (docs/privacy.md); averaging 50 away takes 2,500 buffers for one. */
const HOPELESS = 50;

export const plan: Command = {
  name: 'plan',
  summary: 'says what differential privacy would cost a task: epsilon, noise, bits, bytes',
  usage: `  --dimension <d>      parameters of the model, or --model <name or file>
  --buffer <n>         K, positions of a buffer (100)
  --minimum <n>        Kmin, updates a sum holds at least (80 % of K)
  --clip <x>           C: updates are clipped to this L2 norm (1)
${PRIVACY_USAGE}
  --uplink <Mbit/s>    for the seconds of an upload (10)`,
  flags: {
    ...textFlags('dimension', 'model', 'buffer', 'minimum', 'clip', 'uplink'),
    ...PRIVACY_FLAGS,
  },
  async run(input) {
    const { terminal } = input;
    const { bufferForSignal, elementBits, packedLength, planPrivate } = await import('@basa/masking');
    const { defaultMinimum, MAX_SLOTS } = await import('@basa/protocol');
    const privacy = privacyChoice(input);
    if (privacy === undefined) throw new CommandError('--noise <z> and --participations <n> are needed');
    const dimension = await dimensionOf(input);
    const bufferSize = numberFlag(input, 'buffer', { min: 2, max: MAX_SLOTS, fallback: 100 });
    const colluders = privacy.colluders ?? Math.floor(bufferSize / 10);
    const minimum = numberFlag(input, 'minimum', {
      min: 2,
      max: bufferSize,
      fallback: Math.min(bufferSize, defaultMinimum(bufferSize, colluders)),
    });
    const delta = privacy.delta ?? 1e-6;
    const request = { ...privacy, delta, colluders, minimum, bufferSize, dimension, clip: positive(input, 'clip', 1) };
    const planned = planPrivate(request);
    if (planned.kind === 'refused') {
      terminal.line(`this cannot work: ${planned.sentence}`);
      return { json: { works: false, refused: planned.sentence }, exitCode: EXIT_CODE.failed };
    }
    const { epsilon, cost, noiseToSignal, modulus, neededBits, level, noise } = planned.plan;
    const bytesPerUpload = packedLength(dimension + PREFIX_WORDS, modulus) + bufferSize * SEALED_BYTES;
    const secondsPerUpload = (8 * bytesPerUpload) / (1e6 * positive(input, 'uplink', 10));
    const enough = { needed: bufferForSignal(planned.plan, bufferSize), max: MAX_SLOTS };
    const advice = adviceOf(planned.plan, privacy.noiseMultiplier, enough);
    const works = noiseToSignal <= HOPELESS;
    terminal.line(
      table([
        ['epsilon after all participations', `${epsilon.toFixed(2)} at delta ${delta}`],
        ['rho of one inclusion', cost.toPrecision(3)],
        ['noise over signal in a mean', `${noiseToSignal.toPrecision(3)} (at alpha = 1)`],
        ['noise of one device', `deviation ${noise.deviation.toFixed(1)} steps, enough with ${noise.honest} honest`],
        ['level, bits of an entry', `${level}, ${elementBits(modulus)} (${neededBits} needed)`],
        ['an upload', `${bytesPerUpload} bytes, ${secondsPerUpload.toFixed(2)} s`],
      ]),
    );
    for (const sentence of advice) terminal.line(sentence);
    const json = {
      works,
      epsilon,
      delta,
      noiseToSignal,
      bits: elementBits(modulus),
      neededBits,
      bytesPerUpload,
      secondsPerUpload,
      level,
      rho: cost,
      participations: privacy.participations,
      bufferSize,
      minimum,
      colluders,
      advice,
    };
    return { json, ...(!works && { exitCode: EXIT_CODE.failed }) };
  },
};

async function dimensionOf(input: CommandInput): Promise<number> {
  const model = textFlag(input, 'model');
  if (textFlag(input, 'dimension') === undefined && model === undefined)
    throw new CommandError('--dimension <d> or --model <name> says how large the model is');
  const fallback = model === undefined ? 1 : (await chosenModel(model)).model.dimension;
  return numberFlag(input, 'dimension', { min: 1, max: 2 ** 31, fallback });
}

/** What would help, in numbers. */
function adviceOf(
  { noiseToSignal, epsilon }: PrivatePlan,
  noiseMultiplier: number,
  positions: { readonly needed: number; readonly max: number },
): readonly string[] {
  const { needed, max } = positions;
  const larger =
    needed <= max
      ? `a buffer of ${needed}`
      : `a buffer of ${needed} (a buffer has at most ${max} positions) or a smaller model`;
  return [
    ...(noiseToSignal > HOPELESS
      ? [`this will not learn: the noise is ${noiseToSignal.toFixed(0)} times the signal; it needs ${larger}`]
      : []),
    ...(noiseToSignal > 1.5 && noiseToSignal <= HOPELESS
      ? [`noise outweighs the signal of one buffer: training takes more of them, or ${larger}`]
      : []),
    ...(epsilon > 20
      ? [
          `epsilon ${epsilon.toFixed(1)} promises little: fewer participations, or noise ${(2 * noiseMultiplier).toPrecision(2)}`,
        ]
      : []),
  ];
}
