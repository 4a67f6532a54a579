/** A fleet whose timing is known in closed form. */
import { type Fleet, NO_NETWORK, type Scheme, type SealedCosts, type TimedEvent, Timeline } from '@basa/simulator';

export function fleetOf(beta: number, changes: Partial<Fleet> = {}): Fleet {
  return {
    users: 1000,
    concurrency: 32,
    arrivals: { kind: 'closed' },
    examplesOf: () => 60,
    computeSeconds: () => 1,
    delay: { kind: 'exponential', mean: beta },
    dropouts: 0,
    link: NO_NETWORK,
    modelBytes: 0,
    weightOf: () => 1,
    bufferSize: 10,
    seed: 1,
    ...changes,
  };
}

/** The costs of a trip in sealed mode: the seconds of each step, with messages of zero bytes. */
export function sealedCosts(seconds: {
  readonly offline?: number;
  readonly deposit: number;
  readonly server?: number;
  readonly body?: number;
  readonly key: number;
  readonly mask: number;
  readonly close: number;
  readonly open: number;
  readonly lease?: number;
}): SealedCosts {
  return {
    offlineSeconds: seconds.offline ?? 0,
    depositSeconds: seconds.deposit,
    depositBytes: 0,
    serverSeconds: seconds.server ?? 0,
    bodySeconds: seconds.body ?? 0,
    inboxBytes: () => 0,
    keySeconds: seconds.key,
    keyBytes: 0,
    maskSeconds: () => seconds.mask,
    uploadBytes: () => 0,
    closeSeconds: () => seconds.close,
    openSeconds: () => seconds.open,
    leaseSeconds: seconds.lease ?? 5,
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
