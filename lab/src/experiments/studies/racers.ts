/**
 * The lines of tables and figures: every protocol in its strongest forms. Rounds are waited for, or over-selected; one-shot has the settings
 * that real tasks use.
 */
import type { Delay } from '@basa/simulator';
import type { ProtocolName } from '@basa/simulator/virtual-time';
import type { Cell } from '../tasks/tasks.ts';

type Changed = Pick<Cell, 'protocol'> &
  Partial<Pick<Cell, 'concurrency' | 'bufferSize' | 'end' | 'policy' | 'places' | 'isUnweighted'>> & {
    readonly isUndamped?: boolean;
    /** The deadline of a round, in times of a trip of an average user. */
    readonly deadlineTrips?: number;
  };

/** The first 24 of 32 users, or the first 32 of 42: as synchronous systems are run. */
const FIRST_24 = { concurrency: 32, end: { first: 24 } };
const FIRST_32 = { concurrency: 42, end: { first: 32 } };

export const RACERS = {
  'no SA': { protocol: 'no SA' },
  'no SA, plain FedBuff': { protocol: 'no SA', places: 'unlimited', isUndamped: true },
  'no SA, equal weights': { protocol: 'no SA', isUnweighted: true },
  'BASA paper': { protocol: 'BASA paper' },
  'BASA paper, equal weights': { protocol: 'BASA paper', isUnweighted: true },
  'BASA one-shot': { protocol: 'BASA one-shot' },
  'BASA one-shot, 5 a version': { protocol: 'BASA one-shot', policy: { versionMinimum: 5 } },
  'BASA one-shot, 3 a version': { protocol: 'BASA one-shot', policy: { versionMinimum: 3 } },
  'BASA one-shot, 1 a version': { protocol: 'BASA one-shot', policy: { versionMinimum: 1 } },
  'BASA one-shot, groups of 5': {
    protocol: 'BASA one-shot',
    bufferSize: 5,
    policy: { minimum: 5, stepUpdates: 10 },
  },
  'BASA one-shot (3 of 4)': { protocol: 'BASA one-shot (3 of 4)' },
  SecAgg: { protocol: 'SecAgg' },
  'SecAgg, 24 of 32': { protocol: 'SecAgg', ...FIRST_24 },
  'SecAgg, 32 of 42': { protocol: 'SecAgg', ...FIRST_32 },
  'SecAgg, deadline': { protocol: 'SecAgg', deadlineTrips: 2 },
  'SecAgg+': { protocol: 'SecAgg+' },
  'SecAgg+, 24 of 32': { protocol: 'SecAgg+', ...FIRST_24 },
  'SecAgg+, 32 of 42': { protocol: 'SecAgg+', ...FIRST_32 },
  'LSA sync': { protocol: 'LSA sync' },
  'LSA sync, 24 of 32': { protocol: 'LSA sync', ...FIRST_24 },
  'LSA sync, 32 of 42': { protocol: 'LSA sync', ...FIRST_32 },
  'LSA async': { protocol: 'LSA async' },
  'LSA async, barrier': { protocol: 'LSA async, barrier' },
  'LSA async, background': { protocol: 'LSA async, background' },
} as const satisfies Readonly<Record<string, Changed>>;

export type Racer = keyof typeof RACERS;

export const ALL_RACERS: readonly Racer[] = Object.keys(RACERS) as Racer[];

/** At most five lines fit into a figure. */
export const FIGURE_LINES: readonly Racer[] = [
  'no SA',
  'BASA paper',
  'BASA one-shot',
  'BASA one-shot, 3 a version',
  'SecAgg+, 24 of 32',
];

/** A trip of an average user trains about one second. */
const TRAINING_SECONDS = 1;

export function race(line: Racer, cell: Omit<Cell, 'protocol' | 'line'>): Cell {
  const { isUndamped, deadlineTrips, ...changes }: Changed = RACERS[line];
  const { task } = cell;
  const { buffers } = task.step;
  return {
    ...cell,
    ...changes,
    line,
    ...(deadlineTrips !== undefined && {
      end: { deadlineSeconds: deadlineTrips * (TRAINING_SECONDS + meanOf(cell.delay)) },
    }),
    ...(isUndamped && {
      task: { ...task, step: { ...task.step, buffers: { ...buffers, damping: 'none' as const } } },
    }),
  };
}

/** The name of a cell's line. */
export function lineOf({ line, protocol }: Pick<Cell, 'line' | 'protocol'>): string {
  return line ?? (protocol satisfies ProtocolName);
}

/** `beta`: the mean of an exponential delay. */
export function meanOf(delay: Delay): number {
  return delay.kind === 'exponential' ? delay.mean : 0;
}
