/** Differential privacy and metrics of a task: flags of `task create`, `plan` and `client`. */
import type { PrivacyFloor } from '@basa/client/node';
import type { PrivacyChoice } from '@basa/client/operator';
import type { MetricRange } from '@basa/protocol/policy';
import { CommandError, type CommandInput } from '../shell/command.ts';
import { parsed, positive, whole, yes } from '../shell/flag.ts';

const DELTA = 1e-6;
const deltaFlag = (help: string) =>
  parsed<number>({ value: 'x', help, without: '1e-6' }, 'a number between 0 and 1', (given) =>
    Number(given) > 0 && Number(given) < 1 ? Number(given) : undefined,
  );

export const PRIVACY_FLAGS = {
  noise: positive({
    value: 'z',
    help: 'noise multiplier: the standard deviation of the noise in a sum over the clip; from 1 on, the task is private',
    without: 'K/100, at most 1; less for a large model',
  }),
  'no-noise': yes('no noise: devices take part only if their applications accept exact sums'),
  participations: whole({
    help: 'privacy budget: number of sums that a device may be part of; each costs 1/(2 z^2) of zCDP',
    min: 1,
    max: 2 ** 32 - 1,
    without: 'with z of at least 1: --versions, else 100',
  }),
  delta: deltaFlag('delta for which epsilon is reported'),
  colluders: whole({
    help: 'number of devices in a sum that may reveal their noise to the server',
    max: 1022,
    without: 'a tenth of K',
  }),
};

export const METRICS_FLAGS = {
  metrics: parsed<readonly MetricRange[]>(
    {
      value: 'list',
      help: 'metrics to average over the devices, as name:low:high separated by commas, for example loss:0:5,accuracy:0:1',
    },
    'name:low:high, separated by commas',
    metricsOf,
  ),
};

/** Undefined for a task without noise. */
export async function privacyChoice(
  flags: CommandInput<typeof PRIVACY_FLAGS>['flags'],
  { versions = USUAL_VERSIONS, ...sum }: Planned,
): Promise<Chosen | undefined> {
  const { defaultNoise } = await import('@basa/protocol/policy');
  const { noise = defaultNoise(sum), delta, colluders, participations } = flags;
  if (flags['no-noise']) {
    const other = (['noise', 'participations', 'delta', 'colluders'] as const).find(
      (name) => flags[name] !== undefined,
    );
    if (other !== undefined) throw new CommandError(`--no-noise excludes --${other}; remove one of them`);
    return undefined;
  }
  const own = { noiseMultiplier: noise, ...(colluders !== undefined && { colluders }) };
  if (noise >= 1 || participations !== undefined)
    return { ...own, participations: participations ?? versions, delta: delta ?? DELTA };
  if (delta !== undefined)
    throw new CommandError('--delta needs --participations, or --noise of at least 1; add one, or remove --delta');
  return own;
}

const USUAL_VERSIONS = 100;

interface Planned {
  readonly bufferSize: number;
  readonly dimension: number;
  readonly versions?: number | undefined;
}

type Chosen = PrivacyChoice & { readonly noiseMultiplier: number };

export const FLOOR_FLAGS = {
  'no-noise': yes('take part in a task without noise, too: a server that chooses the model can read single examples'),
  'max-epsilon': positive({
    value: 'e',
    help: 'take part only in a private task whose total epsilon is at most e',
  }),
  delta: deltaFlag('delta for --max-epsilon; the delta of the task does not matter'),
};

/** The demand of a device with `--max-epsilon`; undefined without it. */
export function privacyFloor(flags: CommandInput<typeof FLOOR_FLAGS>['flags']): PrivacyFloor | undefined {
  const { 'max-epsilon': epsilon, delta } = flags;
  if (epsilon !== undefined) return { epsilon, delta: delta ?? DELTA };
  if (delta === undefined) return undefined;
  throw new CommandError('--delta needs --max-epsilon; add it, or remove --delta');
}

function metricsOf(given: string): readonly MetricRange[] | undefined {
  if (given === '') return [];
  const ranges = given.split(',').map((item) => {
    const [name = '', low = '', high = '', ...rest] = item.split(':');
    const range = { name, low: Number(low), high: Number(high) };
    const isRange = rest.length === 0 && low !== '' && high !== '' && range.low < range.high;
    return name !== '' && isRange ? range : undefined;
  });
  return ranges.every((range) => range !== undefined) ? ranges : undefined;
}
