/** Differential privacy and metrics of a task: flags of `task create`, `plan` and `client`, read. */
import type { PrivacyFloor } from '@basa/client/node';
import type { PrivacyChoice } from '@basa/client/operator';
import type { MetricRange } from '@basa/protocol';
import { CommandError, type CommandInput, type Flags, numberFlag, textFlag, textFlags } from './command.ts';
import { positive } from './learning-flags.ts';

export const PRIVACY_FLAGS: Flags = {
  ...textFlags('noise', 'participations', 'delta', 'colluders'),
};

export const PRIVACY_USAGE = `  --noise <z>          differential privacy: noise of z sensitivities in every sum; see \`basa plan\`
  --participations <n> the budget: sums that a device may be in, at 1/(2 z^2) of zCDP each
  --delta <x>          what epsilon is told for (1e-6)
  --colluders <n>      devices of a sum that may tell the server their noise (a tenth of K)`;

export const METRICS_USAGE = `  --metrics <list>     means of the devices to learn, as name:low:high with commas: loss:0:5,accuracy:0:1,examples:0:1000`;

const MAX_PARTICIPATIONS = 2 ** 32 - 1;
const MAX_COLLUDERS = 1022;

export function privacyChoice(input: CommandInput): PrivacyChoice | undefined {
  if (textFlag(input, 'noise') === undefined) {
    const alone = Object.keys(PRIVACY_FLAGS).find((name) => textFlag(input, name) !== undefined);
    if (alone !== undefined) throw new CommandError(`--${alone} is of a private task: give --noise as well`);
    return undefined;
  }
  if (textFlag(input, 'participations') === undefined)
    throw new CommandError('--noise needs --participations: how many sums a device may be in');
  const delta = deltaFlag(input);
  return {
    noiseMultiplier: positive(input, 'noise', 1),
    participations: numberFlag(input, 'participations', { min: 1, max: MAX_PARTICIPATIONS, fallback: 1 }),
    delta,
    ...(textFlag(input, 'colluders') !== undefined && {
      colluders: numberFlag(input, 'colluders', { max: MAX_COLLUDERS, fallback: 0 }),
    }),
  };
}

/** What a device asks for with `--max-epsilon`; nothing without. */
export function privacyFloor(input: CommandInput): PrivacyFloor | undefined {
  if (textFlag(input, 'max-epsilon') !== undefined)
    return { epsilon: positive(input, 'max-epsilon', 1), delta: deltaFlag(input) };
  if (textFlag(input, 'delta') === undefined) return undefined;
  throw new CommandError('--delta says what --max-epsilon is reckoned for: give that as well');
}

function deltaFlag(input: CommandInput): number {
  const delta = positive(input, 'delta', 1e-6);
  if (delta < 1) return delta;
  throw new CommandError(`--delta takes a number between 0 and 1, got "${delta}"`);
}

export function metricsChoice(input: CommandInput): readonly MetricRange[] {
  const text = textFlag(input, 'metrics');
  if (text === undefined || text === '') return [];
  return text.split(',').map((item) => {
    const [name = '', low = '', high = '', ...rest] = item.split(':');
    const range = { name, low: Number(low), high: Number(high) };
    const isRange = rest.length === 0 && low !== '' && high !== '' && range.low < range.high;
    if (name === '' || !isRange) throw new CommandError(`--metrics takes name:low:high with commas, got "${item}"`);
    return range;
  });
}
