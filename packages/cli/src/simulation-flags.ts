/** A simulation as people type it: devices, protocols, delays, how long it goes on. */

import type { OwnModel } from '@basa/learning';
import type { SimulateOptions } from '@basa/virtual-time';
import { CommandError, type CommandInput, numberFlag, textFlag } from './command.ts';
import { positive } from './learning-flags.ts';
import { OWN_TRAINING } from './models.ts';

type Protocol = SimulateOptions['protocols'][number];

/** Listed here as well as in the experiments, whose code is loaded only when something runs. */
export const SIMULATED_PROTOCOLS = [
  'none',
  'sealed',
  'paper',
  'secagg',
  'secagg+',
  'lightsecagg',
  'lightsecagg-async',
] as const satisfies readonly Protocol[];

type Told =
  | 'protocols'
  | 'concurrency'
  | 'bufferSize'
  | 'delay'
  | 'dropouts'
  | 'compute'
  | 'versions'
  | 'target'
  | 'seed';

/** Reads everything but the model, its data and its training. A target of 0 means none. */
export function simulationOf(input: CommandInput): Pick<SimulateOptions, Told> & { readonly devices: number } {
  const devices = numberFlag(input, 'devices', { min: 2, max: 100_000, fallback: 20 });
  const concurrency = numberFlag(input, 'at-a-time', { min: 2, max: devices, fallback: Math.min(20, devices) });
  const max = concurrency;
  return {
    devices,
    concurrency,
    bufferSize: numberFlag(input, 'buffer', { min: 2, max, fallback: Math.min(10, concurrency) }),
    protocols: protocolsOf(input),
    delay: delayOf(input),
    dropouts: numberFlag(input, 'drop-out', { max: 90, fallback: 0 }) / 100,
    compute: textFlag(input, 'compute') === undefined ? 'measured' : positive(input, 'compute', 1),
    versions: numberFlag(input, 'versions', { min: 1, max: 100_000, fallback: 50 }),
    target: numberFlag(input, 'target', { min: 1, max: 100, fallback: 0 }) / 100,
    seed: numberFlag(input, 'seed', { fallback: 1 }),
  };
}

/** Takes from the file what the flags do not say. */
export function localTrainingOf(input: CommandInput, { training = {} }: OwnModel): SimulateOptions['training'] {
  return {
    epochs: numberFlag(input, 'epochs', { min: 1, fallback: training.epochs ?? OWN_TRAINING.epochs }),
    batchSize: numberFlag(input, 'batch', { min: 1, fallback: training.batchSize ?? OWN_TRAINING.batchSize }),
    learningRate: positive(input, 'rate', training.learningRate ?? OWN_TRAINING.learningRate),
  };
}

function protocolsOf(input: CommandInput): readonly Protocol[] {
  const text = textFlag(input, 'protocol') ?? 'sealed';
  if (text === 'all') return SIMULATED_PROTOCOLS;
  return text.split(',').map((name) => {
    const protocol = SIMULATED_PROTOCOLS.find((one) => one === name);
    if (protocol !== undefined) return protocol;
    throw new CommandError(`--protocol takes ${SIMULATED_PROTOCOLS.join(', ')} or all, got "${name}"`);
  });
}

export const DELAYS_USAGE = 'none, exponential:<mean>, half-normal:<scale>, lognormal:<median>:<sigma>';

function delayOf(input: CommandInput): SimulateOptions['delay'] {
  const text = textFlag(input, 'delay') ?? 'exponential:10';
  const [kind, ...numbers] = text.split(':');
  const [first = Number.NaN, second = Number.NaN] = numbers.map(Number);
  const isPositive = (value: number): boolean => value > 0 && value < Number.POSITIVE_INFINITY;
  if (kind === 'none' && numbers.length === 0) return { kind };
  if (kind === 'exponential' && numbers.length === 1 && isPositive(first)) return { kind, mean: first };
  if (kind === 'half-normal' && numbers.length === 1 && isPositive(first)) return { kind, scale: first };
  if (kind === 'lognormal' && numbers.length === 2 && isPositive(first) && isPositive(second))
    return { kind, median: first, sigma: second };
  throw new CommandError(`--delay takes ${DELAYS_USAGE}, got "${text}"`);
}
