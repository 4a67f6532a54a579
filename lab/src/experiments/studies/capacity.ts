/**
 * Our study: the load of one million and of one hundred million devices on servers, authorities and networks, with one update per device
 * and day.
 */
import { SealedScheme, Timeline } from '@basa/simulator';
import { Charges, type Costs } from '@basa/virtual-time';
import { ordering } from '../report/outcome.ts';
import { NO_CELLS, type Profile, type Study } from '../run/context.ts';
import { openFleet } from './open-fleet.ts';
import { round, spaced } from './protocol-cells.ts';
import { OURS } from './table1-claims.ts';

const K = 32;
const DAY = 86_400;
/** A task with more devices would make versions faster than a device can train, so it is split. */
const DEVICES_A_TASK = 1_000_000;
const DEVICES = [1_000_000, 100_000_000] as const;
const DIMENSIONS = [7_850, 1_000_000] as const;
const EVENTS: Readonly<Record<Profile, number>> = { smoke: 30_000, small: 2_000_000, full: 10_000_000 };
/** Assumed prices of large providers, in dollars: one core for an hour, and one gigabyte of outgoing traffic. */
const PRICES = { coreHour: 0.04, outgoingGigabyte: 0.08 };
/** The planned load of a core. */
const LOAD = 0.6;

interface Task {
  readonly dimension: number;
  readonly tripsInFlight: number;
  readonly seats: number;
  /** Buffers that are filling, and buffers that wait for their sum. */
  readonly buffers: number;
  readonly versionsADay: number;
  readonly staleness: number;
  /** The number of busy cores. */
  readonly server: number;
  readonly authority: number;
  readonly opening: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export const capacity: Study = {
  name: 'capacity',
  title: 'A million and a hundred million devices: cores, bytes, cost',
  cells: NO_CELLS,
  needs: () => ({
    dimensions: DIMENSIONS,
    profiles: [0, 1].map((leaving) => ({ name: OURS, users: K, leaving })),
    codes: [],
    models: [],
  }),
  async run({ profile, costs }) {
    const tasks = DIMENSIONS.map((dimension) => simulate(costs, dimension, EVENTS[profile]));
    const rows = DEVICES.flatMap((devices) => tasks.map((task) => rowOf(task, devices)));
    const columns = Object.keys(rows[0] ?? {}).filter(
      (name) => name !== 'experiment',
    ) as (keyof (typeof rows)[number])[];
    return {
      experiment: 'capacity',
      title: this.title,
      profile,
      rows,
      tables: [
        {
          title: `One update a device a day, K = ${K}, tasks of ${DEVICES_A_TASK.toLocaleString('en')} devices`,
          columns: columns.map(spaced),
          rows: rows.map((row) => columns.map((name) => row[name].toLocaleString('en'))),
        },
      ],
      figures: [],
      orderings: [
        ordering(
          'one authority thread carries a task of a million devices',
          tasks.map(({ dimension, authority }) => [`d = ${dimension}`, authority, LOAD]),
        ),
      ],
      notes: [
        `The number of cores is the number of busy cores divided by ${LOAD}. Prices are assumptions: ${PRICES.coreHour} dollars per core and hour, and ${PRICES.outgoingGigabyte} dollars per outgoing gigabyte.`,
        'Each task is simulated separately with the costs of one machine, and more devices mean more tasks. Requests over HTTP cost more than the simulation assumes; docs/capacity.md has measured values.',
      ],
    };
  },
};

function simulate(costs: Costs, dimension: number, events: number): Task {
  const perSecond = DEVICES_A_TASK / DAY;
  const fleet = openFleet({ users: DEVICES_A_TASK, perSecond, bufferSize: K, dimension });
  const timeline = new Timeline(fleet);
  const charges = new Charges(costs, dimension).sealed(OURS, K, 1);
  const scheme = new SealedScheme(timeline, charges);
  let [included, staleness] = [0, 0];
  for (const event of timeline.run(scheme)) {
    if (event.kind === 'version') {
      included += event.included.length;
      for (const update of event.included) staleness += update.staleness;
    }
    if (timeline.events >= events) break;
  }
  const { server = 0, bodies = 0, authority = 0 } = scheme.utilisation(timeline.now);
  const trips = timeline.trips / timeline.now;
  const each = (of: (slot: number) => number): number =>
    Array.from({ length: K }, (_, slot) => of(slot)).reduce((a, b) => a + b) / K;
  const up = (bytes: number): number => fleet.link.latencySeconds + (8 * bytes) / fleet.link.upBitsPerSecond;
  const { keySeconds, maskSeconds, uploadBytes, depositSeconds, depositBytes, openSeconds, leaseSeconds } = charges;
  const inSlot = keySeconds + each(maskSeconds) + up(each(uploadBytes)) + fleet.dropouts * leaseSeconds;
  // Little's law: one buffer is filling, and others wait for their last uploads or for their sum.
  const buffers = 1 + (trips / K) * (inSlot + openSeconds(K, 0));
  return {
    dimension,
    tripsInFlight: timeline.inFlight,
    seats: Math.ceil(trips * (depositSeconds + up(depositBytes))),
    buffers,
    versionsADay: Math.round((DAY * timeline.version) / timeline.now),
    staleness: round(staleness / Math.max(1, included)),
    server: server + bodies,
    authority,
    opening: (trips / K) * openSeconds(K, 0),
    bytesIn: trips * (depositBytes + each(uploadBytes)),
    bytesOut: trips * (fleet.modelBytes + each(charges.inboxBytes)),
  };
}

function rowOf(task: Task, devices: number) {
  const tasks = devices / DEVICES_A_TASK;
  const cores = (busy: number): number => Math.ceil((tasks * busy) / LOAD);
  const out = tasks * task.bytesOut;
  const all = cores(task.server) + cores(task.authority) + cores(task.opening);
  const dollars = 24 * all * PRICES.coreHour + (out * DAY * PRICES.outgoingGigabyte) / 1e9;
  return {
    experiment: 'capacity',
    devices,
    parameters: task.dimension,
    tasks,
    arrivalsPerSecond: round((tasks * DEVICES_A_TASK) / DAY),
    tripsInFlight: tasks * task.tripsInFlight,
    seats: tasks * task.seats,
    buffersInFlight: Math.ceil(tasks * task.buffers),
    versionsADayEach: task.versionsADay,
    meanStaleness: task.staleness,
    serverCores: cores(task.server),
    authorityCores: cores(task.authority),
    openingCores: cores(task.opening),
    megabitsIn: Math.round((8 * tasks * task.bytesIn) / 1e6),
    megabitsOut: Math.round((8 * out) / 1e6),
    dollarsADay: Math.round(dollars),
  };
}
