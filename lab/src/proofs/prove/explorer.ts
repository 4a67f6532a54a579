/** `npm run lab -- prove explorer [--world TEXT | --bufferSize K | --councils] [--states N] [--json]`: the long version of the explorer's tests. */
import { parseArgs } from 'node:util';
import { drawFrom } from '@basa/testkit/core/draw.ts';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { seededWords } from '@basa/virtual-time/simulation';
import {
  type Exploration,
  type ExploreOptions,
  explore,
  exploreLogs,
  exploreShots,
  exploreWays,
  type ShotExploration,
} from '../explorer/explore.ts';
import { CORE_RULES, HOST_RULES, LOG_RULES, LOG_WORLDS } from '../explorer/missing-rules.ts';
import { SHOT_RULES, SHOT_WORLDS } from '../explorer/one-shot/worlds.ts';
import type { Walk } from '../explorer/walk.ts';
import { COUNCIL_WORLDS, LONG_WORLDS, type NamedWorld, SMALL_WORLDS } from '../explorer/worlds.ts';
import { importPatched } from '../patched-core.ts';

const HELP = `npm run lab -- prove explorer [--world TEXT | --bufferSize K | --councils] [--states N] [--seed S] [--json]

Visits every state that users, server and authorities can reach together in small worlds, and checks every promise in each state. Then
it does the same for the one-shot mode, with an honest and with a lying server. At the end it switches off one rule at a time, and shows
the counterexample.

  --states N       stop a world after N states (default: 10^6), and after N / 20 in the one-shot mode, whose steps are slower
  --world TEXT     explore only the worlds whose name contains TEXT, for example to run them in several processes
  --worlds         list the names of the worlds
  --bufferSize K   explore only one world: K users in one buffer, with a crash after any record
  --councils       explore only the worlds with several authorities
  --seed S         seed for the random paths through worlds that are too large (default: 1); all other results are the same each time
  --json           print the result as one JSON object in the last line

10^7 states need tens of GB. To give Node more memory, set NODE_OPTIONS=--max-old-space-size=60000.`;

const EXPLORER = 'lab/src/proofs/explorer/explore.ts';
const WAYS = 1000;

const { values } = parseArgs({
  options: {
    bufferSize: { type: 'string' },
    councils: { type: 'boolean', default: false },
    world: { type: 'string' },
    worlds: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    states: { type: 'string', default: '1000000' },
    ...SWITCHES,
  },
});

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  console.error(`--${name} takes a whole number from ${least}, for example --${name} ${Math.max(least, 3)}`);
  process.exit(2);
}

function summary({ states, transitions, depth, complete, terminal, fates, endings }: ShotExploration): string {
  const isOne = Object.keys(endings).length === 0;
  const ends = Object.entries(isOne ? fates : endings).map(([fate, count]) => `${count} ${fate}`);
  return `${states} states (${complete ? 'all' : 'budget'}), ${transitions} steps, depth ${depth}, ${terminal} ends: ${ends.join(', ')}`;
}

/** If several authorities have too many states, also follows some random paths to the end. */
function exploreWorld(
  { name, isSmall, ...world }: NamedWorld & { readonly isSmall?: boolean },
  budget: number,
  seed: number,
) {
  const explored = told(name, () => explore({ ...world, budget, onProgress }));
  if (isSmall !== false) return [explored];
  const draw = drawFrom(seededWords(seed));
  return [explored, told(`${name}: ${WAYS} random paths`, () => exploreWays(world, WAYS, draw.below))];
}

function onProgress({ states, depth, waiting }: { states: number; depth: number; waiting: number }): void {
  if (process.stderr.isTTY) process.stderr.write(`\r  ${states} states, depth ${depth}, ${waiting} waiting   `);
  else if (states % 200_000 < 1000) console.error(`  ${states} states, depth ${depth}, ${waiting} waiting`);
}

/** A state of the one-shot mode takes some milliseconds. */
const SHOT_STATES = 20;
const SHOT_WAYS = 20;

function exploreShotWorld({ name, world, isSmall }: (typeof SHOT_WORLDS)[number], budget: number, seed: number) {
  const explored = told(name, () => exploreShots(world, { budget: Math.ceil(budget / SHOT_STATES), onProgress }));
  if (isSmall) return [explored];
  const { below: draw } = drawFrom(seededWords(seed));
  return [explored, told(`${name}: ${SHOT_WAYS} random paths`, () => exploreShots(world, { ways: SHOT_WAYS, draw }))];
}

function exploreLogWorld({ isSmall: _, ...world }: (typeof LOG_WORLDS)[number], budget: number) {
  const apart = world.colluding > 0 ? `, ${world.colluding} colluding` : '';
  const name = `model logs under a lying server, ${world.threshold} of ${world.authorities} authorities${apart}`;
  return told(name, () => {
    const walked = exploreLogs(world, { budget: Math.ceil(budget / SHOT_STATES), onProgress });
    return { ...walked, fates: {}, endings: {}, local: 0, messages: 0 };
  });
}

function told(name: string, run: () => ShotExploration) {
  const begun = Date.now();
  const found = run();
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  console.log(`${name}\n  ${summary(found)}, ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  if (found.counterexample !== undefined) printTrace(found.counterexample);
  return { world: name, ...found };
}

function printTrace({ problem, steps }: NonNullable<Walk['counterexample']>): void {
  for (const [n, step] of steps.entries()) console.log(`  ${String(n + 1).padStart(3)}. ${step}`);
  console.log(`    => ${problem}`);
}

async function showRules() {
  const shown: { rule: string; caught: boolean; steps: number }[] = [];
  const show = (rule: string, { counterexample }: Walk): void => {
    console.log(`\n${rule}`);
    if (counterexample === undefined) console.log('    => not noticed');
    else printTrace(counterexample);
    shown.push({ rule, caught: counterexample !== undefined, steps: counterexample?.steps.length ?? 0 });
  };
  for (const { name, world } of HOST_RULES) show(`The ${name}:`, explore({ ...world, broken: name }));
  for (const { name, world, patches = [] } of CORE_RULES) {
    const patched = await importPatched<{ explore(options: ExploreOptions): Exploration }>(EXPLORER, patches);
    show(`The core without "${name}":`, patched.explore(world));
  }
  for (const { id, name, world, patches = [] } of LOG_RULES) {
    const patched = await importPatched<{ exploreLogs: typeof exploreLogs }>(EXPLORER, patches);
    show(`The model logs without "${name}" (${id}):`, patched.exploreLogs(world));
  }
  for (const { name, world, patches } of SHOT_RULES) {
    const patched = await importPatched<{ exploreShots: typeof exploreShots }>(EXPLORER, patches);
    show(`The one-shot mode without "${name}":`, patched.exploreShots(world));
  }
  return shown;
}

if (values.help) {
  console.log(HELP);
} else if (values.worlds) {
  for (const { name } of [...SMALL_WORLDS, ...LONG_WORLDS, ...COUNCIL_WORLDS, ...SHOT_WORLDS]) console.log(name);
} else {
  const begun = Date.now();
  const seed = wholeNumber('seed', values.seed, 0);
  const budget = wholeNumber('states', values.states, 1);
  const size = values.bufferSize === undefined ? undefined : wholeNumber('bufferSize', values.bufferSize, 2);
  const only: NamedWorld[] =
    size === undefined
      ? []
      : [{ name: `${size} users, with a crash after any record`, bufferSize: size, crashes: true }];
  const isNamed = ({ name }: { readonly name: string }): boolean => name.includes(values.world ?? '');
  const isWhole = size === undefined && !values.councils && values.world === undefined;
  const worlds =
    size !== undefined || values.councils
      ? only
      : [...SMALL_WORLDS.map(({ shows: _, ...world }) => world), ...LONG_WORLDS].filter(isNamed);
  const all = size === undefined ? [...worlds, ...COUNCIL_WORLDS.filter(isNamed)] : worlds;
  const shots = size === undefined && !values.councils ? SHOT_WORLDS.filter(isNamed) : [];
  if (all.length + shots.length === 0) {
    console.error(`no world has "${values.world}" in its name; --worlds lists them`);
    process.exit(2);
  }
  const explored = [
    ...all.flatMap((world) => exploreWorld(world, budget, seed)),
    ...shots.flatMap((world) => exploreShotWorld(world, budget, seed)),
    ...(isWhole ? LOG_WORLDS.map((world) => exploreLogWorld(world, budget)) : []),
  ];
  const rules = isWhole ? await showRules() : [];
  const broken = explored.filter(({ counterexample }) => counterexample !== undefined);
  const states = explored.reduce((sum, world) => sum + world.states, 0);
  console.log(
    `\n${explored.length} worlds, ${states} states, ${broken.length} broken promises; ${rules.filter(({ caught }) => caught).length} of ${rules.length} missing rules caught`,
  );
  if (values.json)
    console.log(JSON.stringify({ explorer: { seed, seconds: secondsSince(begun), states, worlds: explored, rules } }));
  if (broken.length > 0 || rules.some(({ caught }) => !caught)) process.exitCode = 1;
}
