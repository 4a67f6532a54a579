/** The flags of `task create` for the server's step and the number of admitted devices. */
import type { TaskSettings } from '@basa/client/operator';
import type { Damping, ServerStepOptions } from '@basa/learning';
import { CommandError, type CommandInput } from '../shell/command.ts';
import { choice, parsed, positive, yes } from '../shell/flag.ts';

export const dampingFlag = parsed<Damping>(
  { value: 'p', help: "the rate is multiplied by (1 + mean age)^-p; none for the paper's text", without: '1' },
  'a number from 0 to 4, or none',
  dampingOf,
);

export const LEARNING_FLAGS = {
  'server-rate': positive({ help: "the server's learning rate", default: 1 }),
  momentum: parsed<number>(
    { value: 'x', help: 'FedAvg with server momentum, from 0 to below 1' },
    'a number from 0 to below 1',
    (given) => (Number(given) >= 0 && Number(given) < 1 ? Number(given) : undefined),
  ),
  adam: yes('FedAdam; its rate is --server-rate'),
  damping: dampingFlag,
  'divide-by': choice(['count', 'weights'], {
    value: 'what',
    help: "count or weights; of the paper's mode alone",
    without: 'count',
  }),
  places: parsed<number | 'auto'>(
    {
      value: 'n',
      help: 'devices that train at a time, or auto: as many as hold the target age',
      without: 'auto',
    },
    'a whole number from 2 on, or auto',
    placesOf,
  ),
  'target-age': positive({ help: 'mean age of updates, in versions, that auto aims at', without: '3' }),
};

type LearningFlags = CommandInput<typeof LEARNING_FLAGS>['flags'];

export function serverStepOf({ 'server-rate': rate, damping, momentum, adam }: LearningFlags): ServerStepOptions {
  const common = { rate, ...(damping !== undefined && { damping }) };
  if (!adam) return momentum === undefined ? { kind: 'fedbuff', ...common } : { kind: 'fedavg', momentum, ...common };
  if (momentum !== undefined) throw new CommandError('--adam and --momentum are two different steps; choose one');
  return { kind: 'fedadam', ...common };
}

/** The part of a task's specification about its places and its mean. */
export function admissionOf({
  places,
  'target-age': targetAge,
  'divide-by': divideBy,
}: LearningFlags): Pick<TaskSettings, 'admission' | 'divideBy'> {
  return {
    admission: { ...(places !== undefined && { places }), ...(targetAge !== undefined && { targetAge }) },
    ...(divideBy !== undefined && { divideBy }),
  };
}

export function placesOf(given: string): number | 'auto' | undefined {
  if (given === 'auto') return given;
  const places = Number(given);
  return Number.isSafeInteger(places) && places >= 2 ? places : undefined;
}

function dampingOf(given: string): Damping | undefined {
  if (given === 'none') return given;
  const exponent = Number(given);
  return exponent >= 0 && exponent <= 4 ? exponent : undefined;
}
