/** The flags of `task create` for the server's step and the number of admitted devices. */
import type { TaskSettings } from '@basa/client/operator';
import type { Damping, ServerStepOptions } from '@basa/learning';
import { CommandError, type CommandInput } from '../shell/command.ts';
import { choice, parsed, positive, whole, yes } from '../shell/flag.ts';

export const dampingFlag = parsed<Damping>(
  {
    value: 'p',
    help: 'multiply the server rate by (1 + mean age)^-p; none: no damping, as in the paper',
    without: '1',
  },
  'a number from 0 to 4, or none',
  dampingOf,
);

export const LEARNING_FLAGS = {
  'server-rate': positive({ help: "the server's learning rate", default: 1 }),
  momentum: parsed<number>(
    { value: 'x', help: 'use FedAvg with this server momentum, at least 0 and below 1' },
    'a number that is at least 0 and below 1',
    (given) => (Number(given) >= 0 && Number(given) < 1 ? Number(given) : undefined),
  ),
  adam: yes('use FedAdam, with --server-rate as its rate'),
  damping: dampingFlag,
  'divide-by': choice(['count', 'weights'], {
    value: 'what',
    help: 'divide a sum by the count of its updates or by their weights; only with --mode paper',
    without: 'count',
  }),
  places: whole({
    help: 'number of devices that train at the same time: with more of them, updates are older',
    min: 2,
    without: 'three times the updates of a step',
  }),
};

type LearningFlags = CommandInput<typeof LEARNING_FLAGS>['flags'];

export function serverStepOf({ 'server-rate': rate, damping, momentum, adam }: LearningFlags): ServerStepOptions {
  const common = { rate, ...(damping !== undefined && { damping }) };
  if (!adam) return momentum === undefined ? { kind: 'fedbuff', ...common } : { kind: 'fedavg', momentum, ...common };
  if (momentum !== undefined) throw new CommandError('--adam and --momentum cannot be combined; choose one');
  return { kind: 'fedadam', ...common };
}

/** The part of a task's specification about its places and its mean. */
export function admissionOf({
  places,
  'divide-by': divideBy,
}: LearningFlags): Pick<TaskSettings, 'places' | 'divideBy'> {
  return { ...(places !== undefined && { places }), ...(divideBy !== undefined && { divideBy }) };
}

function dampingOf(given: string): Damping | undefined {
  if (given === 'none') return given;
  const exponent = Number(given);
  return exponent >= 0 && exponent <= 4 ? exponent : undefined;
}
