/**
 * `npm run lab -- trial suspicion [--seeds N] [--json]`: tests only the rule of suspicion, in fleets of several sizes, against several
 * kinds of liars.
 */
import { parseArgs } from 'node:util';
import type { FleetOptions, FleetReport, LieScene } from '@basa/testkit/core/suspicion-fleet.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';

type Case = Omit<FleetOptions, 'seed' | 'buffers' | 'isWithoutRule'> & { readonly name: string };

const BUFFERS = 1000;

const CASES: readonly Case[] = [
  { name: 'every second update', devices: 10, liars: 1, bufferSize: 4, minimum: 2 },
  { name: 'every second update', devices: 10, liars: 1, bufferSize: 10, minimum: 8 },
  { name: 'every second update', devices: 12, liars: 1, bufferSize: 10, minimum: 8 },
  { name: 'every second update', devices: 20, liars: 2, bufferSize: 10, minimum: 8 },
  { name: 'every second update', devices: 24, liars: 2, bufferSize: 10, minimum: 8 },
  { name: 'every second update', devices: 100, liars: 1, bufferSize: 10, minimum: 8 },
  { name: 'every second update', devices: 100, liars: 2, bufferSize: 10, minimum: 8 },
  { name: 'every second update', devices: 100, liars: 5, bufferSize: 10, minimum: 8 },
  { name: 'one update of twenty', devices: 10, liars: 1, bufferSize: 4, minimum: 2, lies: 0.05 },
  { name: 'every update', devices: 10, liars: 1, bufferSize: 4, minimum: 2, lies: 1 },
  { name: 'to frame others', devices: 12, liars: 2, bufferSize: 4, minimum: 2, lies: framing(2) },
  { name: 'to frame others', devices: 100, liars: 5, bufferSize: 10, minimum: 8, lies: framing(5) },
  {
    name: 'to frame newcomers',
    devices: 24,
    liars: 1,
    bufferSize: 4,
    minimum: 2,
    newcomers: 4,
    lies: framingNewcomers(20),
  },
  {
    name: 'to frame newcomers',
    devices: 104,
    liars: 1,
    bufferSize: 10,
    minimum: 8,
    newcomers: 4,
    lies: framingNewcomers(100),
  },
  {
    name: 'to frame newcomers',
    devices: 104,
    liars: 5,
    bufferSize: 10,
    minimum: 8,
    newcomers: 4,
    lies: framingNewcomers(100, 5),
  },
];

/**
 * Liars that know every suspicion. They lie when they are not suspected and a suspect is in the same sum, and now and then to make a new
 * suspect.
 */
function framing(liars: number): (scene: LieScene) => boolean {
  return ({ users, standingOf, chance }) =>
    users.filter((user) => user < liars).every((user) => standingOf(user).suspicion < 0.05) &&
    (users.some((user) => user >= liars && standingOf(user).suspicion >= 0.1) || chance.unit() < 0.02);
}

/** Liars that lie only when they are not suspected and a newcomer that was not suspended yet is in the same sum. */
function framingNewcomers(first: number, liars = 1): (scene: LieScene) => boolean {
  return ({ users, standingOf }) =>
    users.filter((user) => user < liars).every((user) => standingOf(user).suspicion < 0.05) &&
    users.some((user) => user >= first && standingOf(user).suspensions === 0);
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    ...SWITCHES,
  },
});
if (values.help) {
  console.log(`npm run lab -- trial suspicion [--seeds N] [--json]

Simulates 1000 sums in each of several fleets, with N seeds (default: 20). Shows the share of spoilt sums with and without the rule, and
the number of suspended devices, as means over the seeds.`);
  process.exit();
}

// Loaded after the help, which would take seconds otherwise.
const { simulateSuspicion } = await import('@basa/testkit/core/suspicion-fleet.ts');
const seeds = Number(values.seeds);
if (!(Number.isSafeInteger(seeds) && seeds > 0)) {
  console.error('--seeds takes a positive whole number, for example --seeds 5');
  process.exit(2);
}
console.log(
  'lies                   devices  liars   K  Kmin  spoilt without  spoilt  honest suspended  their time  liars suspended',
);
const rows = CASES.map((one) => rowOf(one, seeds));
if (values.json) console.log(JSON.stringify({ seeds, buffers: BUFFERS, cases: rows }));

function rowOf({ name, ...fleet }: Case, seeds: number) {
  const runs = (more: Partial<FleetOptions>): readonly FleetReport[] =>
    Array.from({ length: seeds }, (_, n) => simulateSuspicion({ ...fleet, ...more, buffers: BUFFERS, seed: n + 1 }));
  const mean = (reports: readonly FleetReport[], of: (report: FleetReport) => number): number =>
    reports.reduce((sum, report) => sum + of(report), 0) / reports.length;
  const spoiltShare = ({ spoilt }: FleetReport): number => spoilt / BUFFERS;
  const reports = runs({});
  const row = {
    lies: name,
    ...{ devices: fleet.devices, liars: fleet.liars, bufferSize: fleet.bufferSize, minimum: fleet.minimum },
    spoiltWithout: mean(runs({ isWithoutRule: true }), spoiltShare),
    spoilt: mean(reports, spoiltShare),
    spoiltMost: Math.max(...reports.map(spoiltShare)),
    suspendedHonest: mean(reports, (report) => report.suspendedHonest),
    honestTimeLost: mean(reports, (report) => report.honestTimeLost),
    suspendedLiars: mean(reports, (report) => report.suspendedLiars),
  };
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  console.log(
    [
      name.padEnd(21),
      String(row.devices).padStart(8),
      String(row.liars).padStart(5),
      String(row.bufferSize).padStart(4),
      String(row.minimum).padStart(4),
      percent(row.spoiltWithout).padStart(14),
      `${percent(row.spoilt)} (most ${percent(row.spoiltMost)})`.padStart(22),
      row.suspendedHonest.toFixed(2).padStart(8),
      percent(row.honestTimeLost).padStart(10),
      row.suspendedLiars.toFixed(2).padStart(8),
    ].join('  '),
  );
  return row;
}
