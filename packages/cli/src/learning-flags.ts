/** Reads the flags of `task create` that say how the server steps and how many devices it lets in. */
import type { TaskSettings } from '@basa/client/operator';
import type { Damping, ServerStepOptions } from '@basa/learning';
import { CommandError, type CommandInput, type Flags, textFlag, textFlags } from './command.ts';

export const LEARNING_FLAGS: Flags = {
  ...textFlags('server-rate', 'momentum'),
  adam: { type: 'boolean', default: false },
  ...textFlags('damping', 'divide-by', 'places', 'target-age'),
};

export const LEARNING_USAGE = `  --server-rate <x>    the server's learning rate (1)
  --momentum <x>       FedAvg with server momentum, from 0 to below 1
  --adam               FedAdam; its rate is --server-rate
  --damping <p>        the rate is multiplied by (1 + mean age)^-p; none for the paper's text (1)
  --divide-by <what>   count or weights; of the paper's mode alone (count)
  --places <n>         devices that train at a time, or auto: as many as hold the target age (auto)
  --target-age <x>     mean age of updates, in versions, that auto aims at (3)`;

export function serverStepOf(input: CommandInput): ServerStepOptions {
  const rate = positive(input, 'server-rate', 1);
  const damping = dampingOf(textFlag(input, 'damping'));
  const common = { rate, ...(damping !== undefined && { damping }) };
  const momentum = textFlag(input, 'momentum');
  if (input.values['adam'] === true) {
    if (momentum !== undefined) throw new CommandError('--adam and --momentum are two different steps; choose one');
    return { kind: 'fedadam', ...common };
  }
  if (momentum === undefined) return { kind: 'fedbuff', ...common };
  const share = Number(momentum);
  if (!(share >= 0 && share < 1))
    throw new CommandError(`--momentum takes a number from 0 to below 1, got "${momentum}"`);
  return { kind: 'fedavg', momentum: share, ...common };
}

/** The part of a task's specification about its places and its mean. */
export function admissionOf(input: CommandInput): Pick<TaskSettings, 'admission' | 'divideBy'> {
  const [places, divideBy] = [textFlag(input, 'places'), textFlag(input, 'divide-by')];
  if (divideBy !== undefined && divideBy !== 'count' && divideBy !== 'weights')
    throw new CommandError(`--divide-by takes count or weights, got "${divideBy}"`);
  const admission = {
    ...(places !== undefined && { places: placesOf(places) }),
    ...(textFlag(input, 'target-age') !== undefined && { targetAge: positive(input, 'target-age', 3) }),
  };
  return { admission, ...(divideBy !== undefined && { divideBy }) };
}

export function placesOf(text: string): number | 'auto' {
  if (text === 'auto') return text;
  const places = Number(text);
  if (Number.isSafeInteger(places) && places >= 2) return places;
  throw new CommandError(`--places takes a whole number from 2 on, or auto, got "${text}"`);
}

export function dampingOf(text: string | undefined): Damping | undefined {
  if (text === undefined || text === 'none') return text;
  const exponent = Number(text);
  if (exponent >= 0 && exponent <= 4) return exponent;
  throw new CommandError(`--damping takes a number from 0 to 4, or none, got "${text}"`);
}

/** A positive number; the error names the flag. */
export function positive(input: CommandInput, name: string, fallback: number): number {
  const text = textFlag(input, name);
  const value = text === undefined ? fallback : Number(text);
  if (value > 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new CommandError(`--${name} takes a positive number, got "${text}"`);
}
