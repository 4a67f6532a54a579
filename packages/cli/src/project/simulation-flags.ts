/** The flags of a simulation: devices, protocols, delays, and its duration. */

import type { Damping, OwnModel } from '@basa/learning';
import type { Delay } from '@basa/simulator';
import type { SimulateOptions } from '@basa/simulator/virtual-time';
import { OWN_TRAINING } from '../flags/models.ts';
import { STATISTICS_FLAGS } from '../flags/task.ts';
import { type CommandInput, type Flag, parsed, positive, text, whole, within, yes } from '../shell/command.ts';

type Protocol = SimulateOptions['protocols'][number];

/** Listed here as well as in the package, whose code is loaded only when something runs. */
const PROTOCOLS = [
  'none',
  'paper',
  'one-shot',
  'one-shot-3-of-4',
  'secagg',
  'secagg+',
  'lightsecagg',
  'lightsecagg-async',
] as const satisfies readonly Protocol[];

const DELAYS = 'none, exponential:<mean>, half-normal:<scale>, lognormal:<median>:<sigma>';
const MAX_U16 = 65_535;
const OF_FILE = 'the value in the file';

const delayFlag: Flag<Delay> = parsed<Delay>(
  {
    value: 'kind',
    help: `delay of each contribution in addition to its training, in seconds: ${DELAYS}`,
    default: { kind: 'exponential', mean: 10 },
    without: 'exponential:10',
  },
  DELAYS,
  delayOf,
);

export const SIMULATION_FLAGS = {
  devices: whole({
    help: 'number of virtual devices; your function data({ device, devices }) returns the examples of each',
    min: 2,
    max: 100_000,
    default: 20,
  }),
  'at-a-time': whole({
    help: 'number of devices that train at the same time, or in one round',
    min: 2,
    without: '20, or all devices if there are fewer',
  }),
  buffer: whole({
    help: 'buffer size K: the number of updates in a version',
    min: 2,
    without: '10, or --at-a-time if that is less',
  }),
  protocol: parsed<readonly Protocol[]>(
    {
      value: 'names',
      help: `protocols to compare, separated by commas, or all: ${PROTOCOLS.join(', ')}`,
      default: ['one-shot'],
    },
    `one or several of ${PROTOCOLS.join(', ')}, or all`,
    protocolsOf,
  ),
  delay: delayFlag,
  'drop-out': whole({
    value: 'percent',
    help: 'share of contributions that drop out before their upload',
    max: 90,
    default: 0,
  }),
  versions: whole({
    help: 'number of versions to make, or of windows of statistics',
    min: 1,
    max: 100_000,
    default: 50,
  }),
  target: whole({
    value: 'percent',
    help: 'stop at this score: an accuracy in percent, or another score times 100',
    min: 1,
    max: 100,
  }),
  epochs: whole({
    help: 'number of passes of a device over its examples',
    min: 1,
    max: MAX_U16,
    without: `${OF_FILE}, or 1`,
  }),
  batch: whole({ help: 'number of examples in a training step', min: 1, max: MAX_U16, without: `${OF_FILE}, or 20` }),
  rate: positive({ help: 'learning rate on the devices', without: `${OF_FILE}, or 0.1` }),
  compute: positive({
    value: 'seconds',
    help: 'training time of a device',
    without: 'measured on this machine',
  }),
  statistics: STATISTICS_FLAGS.statistics,
  field: STATISTICS_FLAGS.field,
  'unsafe-exact': STATISTICS_FLAGS['unsafe-exact'],
  csv: text({
    value: 'file',
    help: 'values of the devices for statistics, with a column for each field; the devices take the rows in turn',
  }),
  seed: whole({ help: 'random seed for delays, drop-outs, initial parameters and the order of examples', default: 1 }),
  seeds: whole({
    help: 'number of runs of each protocol, with successive seeds; a table shows means with 95 % intervals',
    min: 1,
    max: 100,
    default: 1,
  }),
  'server-rate': positive({ help: 'learning rate of the server', without: '1' }),
  momentum: parsed<number>(
    { value: 'm', help: "the server's momentum", without: '0' },
    'a number from 0 to less than 1',
    (given) => (Number(given) >= 0 && Number(given) < 1 ? Number(given) : undefined),
  ),
  adam: yes("use Adam for the server's step instead of momentum"),
  damping: parsed<Damping>(
    { value: 'p', help: 'multiply the server rate by (1 + mean age)^-p in buffers; none: no damping', without: '1' },
    'a number from 0 to 4, or none',
    (given) => (given === 'none' ? given : Number(given) >= 0 && Number(given) <= 4 ? Number(given) : undefined),
  ),
  first: whole({
    help: 'over-selection: a round ends with this many uploads of its --at-a-time devices',
    min: 2,
    without: 'rounds wait for all',
  }),
  out: text({
    value: 'folder',
    help: 'folder for the results: curve.csv, a plot of the score, and model.safetensors',
    default: 'basa-simulation',
  }),
};

type SimulationFlags = CommandInput<typeof SIMULATION_FLAGS>['flags'];

type Told =
  | 'protocols'
  | 'concurrency'
  | 'bufferSize'
  | 'delay'
  | 'dropouts'
  | 'compute'
  | 'versions'
  | 'seed'
  | 'seeds'
  | 'serverRate'
  | 'momentum'
  | 'isAdam'
  | 'damping'
  | 'first';

interface Simulation extends Pick<SimulateOptions, Told> {
  readonly devices: number;
  readonly target: number | undefined;
}

/** Everything but the model, its data and its training. */
export function simulationOf(flags: SimulationFlags): Simulation {
  const { devices, protocol: protocols, delay, versions, target, seed, seeds, momentum, adam, damping, first } = flags;
  const concurrency = within(flags['at-a-time'] ?? Math.min(20, devices), 'at-a-time', { min: 2, max: devices });
  return {
    devices,
    concurrency,
    bufferSize: within(flags.buffer ?? Math.min(10, concurrency), 'buffer', { min: 2, max: concurrency }),
    protocols,
    delay,
    dropouts: flags['drop-out'] / 100,
    compute: flags.compute ?? 'measured',
    versions,
    target: target === undefined ? undefined : target / 100,
    seed,
    seeds,
    serverRate: flags['server-rate'],
    momentum,
    isAdam: adam,
    damping,
    first: first === undefined ? undefined : within(first, 'first', { min: 2, max: concurrency }),
  };
}

/** Takes values that the flags do not give from the file. */
export function localTrainingOf(
  { epochs, batch, rate }: SimulationFlags,
  { training = {} }: OwnModel,
): SimulateOptions['training'] {
  return {
    epochs: epochs ?? training.epochs ?? OWN_TRAINING.epochs,
    batchSize: batch ?? training.batchSize ?? OWN_TRAINING.batchSize,
    learningRate: rate ?? training.learningRate ?? OWN_TRAINING.learningRate,
  };
}

function protocolsOf(given: string): readonly Protocol[] | undefined {
  if (given === 'all') return PROTOCOLS;
  const found = given.split(',').map((name) => PROTOCOLS.find((one) => one === name));
  return found.every((protocol) => protocol !== undefined) ? found : undefined;
}

function delayOf(given: string): Delay | undefined {
  const [kind, ...numbers] = given.split(':');
  const [first = Number.NaN, second = Number.NaN] = numbers.map(Number);
  const isPositive = (value: number): boolean => value > 0 && value < Number.POSITIVE_INFINITY;
  if (kind === 'none' && numbers.length === 0) return { kind };
  if (kind === 'exponential' && numbers.length === 1 && isPositive(first)) return { kind, mean: first };
  if (kind === 'half-normal' && numbers.length === 1 && isPositive(first)) return { kind, scale: first };
  if (kind === 'lognormal' && numbers.length === 2 && isPositive(first) && isPositive(second))
    return { kind, median: first, sigma: second };
  return undefined;
}
