/** A fleet whose timing is known in closed form. */
import { type Fleet, type OneShotCosts, type Scheme, type TimedEvent, Timeline } from '@basa/simulator';

export function fleetOf(beta: number, changes: Partial<Fleet> = {}): Fleet {
  return {
    users: 1000,
    concurrency: 32,
    arrivals: { kind: 'closed' },
    computeSeconds: () => 1,
    delay: { kind: 'exponential', mean: beta },
    dropouts: 0,
    weightOf: () => 1,
    bufferSize: 10,
    seed: 1,
    ...changes,
  };
}

/** The costs of a trip in `one-shot` mode: the seconds of each step. */
export function oneShotCosts(seconds: {
  readonly device: number;
  readonly intake?: number;
  readonly inspect?: number;
  readonly release: number;
  readonly open: number;
}): OneShotCosts {
  return {
    deviceSeconds: seconds.device,
    intakeSeconds: seconds.intake ?? 0,
    inspectSeconds: seconds.inspect ?? 0,
    releaseSeconds: () => seconds.release,
    openSeconds: () => seconds.open,
  };
}

export interface Steady {
  readonly secondsPerVersion: number;
  readonly meanStaleness: number;
  readonly utilisation: Readonly<Record<string, number>>;
}

/** After `warmUp` versions, over the next `versions`. */
export function steadyState(
  fleet: Fleet,
  make: (timeline: Timeline) => Scheme,
  { warmUp = 100, versions = 2000 } = {},
): Steady {
  const timeline = new Timeline(fleet);
  const scheme = make(timeline);
  return { ...measure(timeline.run(scheme), warmUp, versions), utilisation: scheme.utilisation(timeline.now) };
}

export function measure(events: Iterable<TimedEvent>, warmUp: number, versions: number): Omit<Steady, 'utilisation'> {
  let began = 0;
  let staleness = 0;
  let updates = 0;
  for (const event of events) {
    if (event.kind !== 'version') continue;
    if (event.version === warmUp) began = event.time;
    if (event.version <= warmUp) continue;
    for (const update of event.included) staleness += update.staleness;
    updates += event.included.length;
    if (event.version === warmUp + versions) {
      return { secondsPerVersion: (event.time - began) / versions, meanStaleness: staleness / updates };
    }
  }
  throw new Error('the events ended');
}
