/** Protocols and delays of a simulation as people type them. */
import type { SimulateOptions } from '@basa/experiments';
import type { CommandInput } from './command.ts';
import { CommandError, textFlag } from './command.ts';

type Protocol = SimulateOptions['protocols'][number];

/** Here as well as in the experiments, whose code is only loaded when something runs. */
export const SIMULATED_PROTOCOLS = [
  'none',
  'sealed',
  'paper',
  'secagg',
  'secagg+',
  'lightsecagg',
  'lightsecagg-async',
] as const satisfies readonly Protocol[];

export function protocolsOf(input: CommandInput): readonly Protocol[] {
  const text = textFlag(input, 'protocol') ?? 'sealed';
  if (text === 'all') return SIMULATED_PROTOCOLS;
  return text.split(',').map((name) => {
    const protocol = SIMULATED_PROTOCOLS.find((one) => one === name);
    if (protocol !== undefined) return protocol;
    throw new CommandError(`--protocol takes ${SIMULATED_PROTOCOLS.join(', ')} or all, got "${name}"`);
  });
}

export const DELAYS_USAGE = 'none, exponential:<mean>, half-normal:<scale>, lognormal:<median>:<sigma>';

export function delayOf(input: CommandInput): SimulateOptions['delay'] {
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
