/** One cell of a grid: a protocol on a task under some delay, and its schedule in virtual time. */
import { defaultThreshold } from '@basa/baselines';
import { agedWeight } from '@basa/learning';
import { defaultMinimum } from '@basa/protocol/policy';
import { Charges } from '../costs/charges.ts';
import { type Costs, priced } from '../costs/costs.ts';
import type { OneShotName } from '../costs/councils.ts';
import type { CostNeeds } from '../costs/needs.ts';
import { PROFILED_NAMES, type ProfileRequest } from '../costs/profiles.ts';
import type { Delay } from '../timed/delay.ts';
import { LightSecAggScheme } from '../timed/lightsecagg-scheme.ts';
import { OneShotScheme } from '../timed/one-shot-scheme.ts';
import { PaperScheme } from '../timed/paper-scheme.ts';
import { PlainScheme } from '../timed/plain-scheme.ts';
import { type RoundEnd, rounds } from '../timed/rounds.ts';
import { type Scheme, Timeline } from '../timed/timeline.ts';
import type { Arrivals, Fleet, TimedEvent } from '../timed/trip.ts';
import { type Schedule, scheduleOf } from './trajectory.ts';

export const PROTOCOLS = [
  'no SA',
  'BASA paper',
  'BASA one-shot',
  'BASA one-shot (3 of 4)',
  'SecAgg',
  'SecAgg+',
  'LSA sync',
  'LSA async',
  'LSA async, barrier',
  'LSA async, background',
] as const;
export type ProtocolName = (typeof PROTOCOLS)[number];

/** The training time: as measured here, per example, or the same for every trip. */
export type Compute = 'measured' | { readonly secondsAnExample: number } | { readonly secondsATrip: number };

/** The parts of a task that decide its schedule. */
export interface ScheduledTask {
  readonly users: number;
  readonly dimension: number;
  /** The network, by name: its training time and dimension are charged. */
  readonly charged: string;
  /** The number of versions after which a run is given up, asynchronous and in rounds. */
  readonly cap: {
    readonly buffers: number;
    readonly rounds: number;
    /** The virtual time at which a run ends, whatever it has reached. */
    readonly seconds?: number;
  };
  /** Users that are always slow, by their numbers. */
  readonly slow?: { readonly users: number; readonly times: number };
}

export interface Cell<Task extends ScheduledTask = ScheduledTask> {
  readonly task: Task;
  readonly protocol: ProtocolName;
  readonly delay: Delay;
  /** Users that train at the same time; in synchronous protocols the users of a round. */
  readonly concurrency: number;
  readonly bufferSize: number;
  readonly seed: number;
  /** `closed` keeps this many users training; otherwise users come at a rate, and at most this many train. */
  readonly arrivals: Arrivals;
  /** A number of places, or no limit; four times K by default, with which an update is about three versions old. */
  readonly places?: 'unlimited' | number;
  readonly compute: Compute;
  readonly dropouts: number;
  /** Updates have the same weight whatever their age; otherwise that of FedBuff, where single ages are known. */
  readonly isUnweighted?: boolean;
  /** Of rounds: over-selection, or a deadline. */
  readonly end?: RoundEnd;
  /** Of `one-shot` mode: the policy's fields of the same names. */
  readonly policy?: {
    readonly minimum?: number;
    readonly versionMinimum?: number;
    readonly stepUpdates?: number;
  };
}

export const CELL: Omit<Cell, 'task' | 'protocol'> = {
  delay: { kind: 'none' },
  concurrency: 32,
  arrivals: { kind: 'closed' },
  bufferSize: 10,
  seed: 1,
  compute: 'measured',
  dropouts: 0,
};

/** Steps of the quantiser to the unit. */
export const LEVEL: number = 2 ** 16;
/** Threads of the server that open sums, in every protocol. */
const OPENERS = 4;

export function isSynchronous({ protocol }: Pick<Cell, 'protocol'>): boolean {
  return protocol === 'SecAgg' || protocol === 'SecAgg+' || protocol === 'LSA sync';
}

/** `beta` of the paper. */
export function exponential(beta: number): Delay {
  return beta === 0 ? { kind: 'none' } : { kind: 'exponential', mean: beta };
}

export interface TimedSchedule extends Schedule {
  readonly utilisation: Readonly<Record<string, number>>;
}

/** The seconds that a user with this many examples trains. */
function computeSeconds({ compute, task }: Cell, costs: Costs): (examples: number) => number {
  if (compute === 'measured') {
    const perExample = priced(costs.training, task.charged).ms / 1000;
    return (examples) => perExample * examples;
  }
  if ('secondsATrip' in compute) return () => compute.secondsATrip;
  return (examples) => compute.secondsAnExample * examples;
}

const PLACES_AN_UPDATE = 4;

/** Without a bound, every user may train. */
function admissionOf(cell: Cell): Pick<Fleet, 'admission'> {
  const { bufferSize, policy: { stepUpdates = bufferSize, versionMinimum = minimumOf(cell) } = {} } = cell;
  const { places = PLACES_AN_UPDATE * stepUpdates } = cell;
  if (places === 'unlimited') return {};
  return { admission: { places, ...(isOneShot(cell.protocol) && { minimum: versionMinimum }) } };
}

/** Kmin. */
function minimumOf({ bufferSize, policy }: Cell): number {
  return policy?.minimum ?? defaultMinimum(bufferSize, 0);
}

/** A batch of `one-shot` mode has one version of the model by default. The buffers of all other protocols mix versions, as in the paper. */
export function isOneVersion({ protocol, policy }: Pick<Cell, 'protocol' | 'policy'>): boolean {
  return isOneShot(protocol) && policy?.versionMinimum === undefined;
}

function isOneShot(protocol: ProtocolName): protocol is OneShotName {
  return protocol.startsWith('BASA one-shot');
}

/** All examples of a user are charged, even if a smaller network learns only a part of them. */
export function scheduleCell(cell: Cell, costs: Costs, examplesOf: (user: number) => number): TimedSchedule {
  const { task } = cell;
  const secondsOf = computeSeconds(cell, costs);
  const fleet: Fleet = {
    users: task.users,
    concurrency: cell.concurrency,
    arrivals: cell.arrivals,
    computeSeconds: (user) => secondsOf(examplesOf(user)),
    delay: cell.delay,
    dropouts: cell.dropouts,
    weightOf: cell.isUnweighted ? () => 1 : agedWeight,
    bufferSize: cell.bufferSize,
    ...(isOneShot(cell.protocol) && { ...cell.policy, versions: 'one', minimum: minimumOf(cell) }),
    ...(task.slow !== undefined && { slowdown: slowdownOf(task.slow) }),
    ...admissionOf(cell),
    seed: cell.seed,
  };
  const charges = new Charges(costs, task.dimension, OPENERS);
  const { buffers, rounds: most, seconds } = task.cap;
  if (isSynchronous(cell)) {
    const schedule = scheduleOf(roundsOf(cell, fleet, charges), most, seconds);
    return { ...schedule, utilisation: {} };
  }
  const timeline = new Timeline(fleet);
  const scheme = schemeOf(cell, timeline, charges);
  const schedule = scheduleOf(timeline.run(scheme), buffers, seconds);
  return { ...schedule, utilisation: scheme.utilisation(timeline.now) };
}

function slowdownOf({ users, times }: NonNullable<ScheduledTask['slow']>): (user: number) => number {
  return (user) => (user < users ? times : 1);
}

function roundsOf({ protocol, concurrency, end }: Cell, fleet: Fleet, charges: Charges): Iterable<TimedEvent> {
  if (protocol === 'LSA sync') return rounds(fleet, charges.lightSecAggRound(concurrency), end);
  const name = protocol === 'SecAgg' ? 'SecAgg' : 'SecAgg+';
  return rounds(fleet, charges.pairwiseRound(name, concurrency, defaultThreshold(concurrency)), end);
}

function schemeOf(cell: Cell, timeline: Timeline, charges: Charges): Scheme {
  const { protocol, bufferSize, concurrency } = cell;
  switch (protocol) {
    case 'no SA':
      return new PlainScheme(timeline, charges.plain());
    case 'BASA paper':
      return new PaperScheme(timeline, charges.paper(bufferSize));
    case 'BASA one-shot':
    case 'BASA one-shot (3 of 4)':
      return new OneShotScheme(timeline, charges.oneShot(protocol, bufferSize));
    case 'LSA async':
      return new LightSecAggScheme(timeline, charges.lightSecAggBuffered(concurrency, bufferSize, 'sequential'));
    case 'LSA async, barrier':
      return new LightSecAggScheme(timeline, charges.lightSecAggBuffered(concurrency, bufferSize, 'barrier'));
    case 'LSA async, background':
      return new LightSecAggScheme(timeline, charges.lightSecAggBuffered(concurrency, bufferSize, 'background'));
    default:
      throw new Error(`${protocol} works in rounds`);
  }
}

/** Returns the prices that must be measured before the cell can be priced. */
export function needsOf({ task, protocol, concurrency, bufferSize, compute, dropouts, end }: Cell): CostNeeds {
  const { dimension } = task;
  const profiles = PROFILED_NAMES.filter((name) => name === protocol).flatMap((name): ProfileRequest[] => {
    const users = name.startsWith('BASA') ? bufferSize : concurrency;
    // In these a drop-out costs no one else anything.
    const isAlone = name === 'BASA paper' || isOneShot(name);
    const isWhole = dropouts === 0 && end === undefined;
    return (isAlone || isWhole ? [0] : [0, 1]).map((leaving) => ({ name, users, leaving }));
  });
  const isLightSecAgg = protocol.startsWith('LSA');
  const summed = protocol === 'LSA sync' ? concurrency : bufferSize;
  return {
    dimensions: [dimension],
    profiles,
    codes: isLightSecAgg ? [{ code: 'published', users: concurrency, dimension, summed }] : [],
    models: compute === 'measured' ? [task.charged] : [],
  };
}
