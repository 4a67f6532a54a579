/** `npm run lab -- prove faults [--buffers N | --simulations N] [--seed S] [--json]`: the long version of the fault simulation. */
import { parseArgs } from 'node:util';
import { drawFrom } from '@basa/testkit/core/draw.ts';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { nodeEnvironment, seededWords } from '@basa/virtual-time/simulation';
import { shrinkList } from '../faults/shrink.ts';
import { simulate } from '../faults/simulate.ts';
import { drawSimulation, type Operation, type Simulation } from '../faults/simulation.ts';

const HELP = `npm run lab -- prove faults [--buffers N | --simulations N] [--seed S] [--json]

Runs generated simulations against the real protocol cores, with crashes, lost and repeated messages, clock jumps and one cheat among
ten devices, and checks every sum. If a simulation fails, the program prints its shortest form that still fails.

  --buffers N       stop when N buffers were filled (default: 5000)
  --simulations N   run exactly the simulations with seeds S to S + N - 1 instead, so that the counts of several runs can be added
  --seed S          first seed (default: 1)
  --json            print the result as one JSON object in the last line, with the next seed`;

const { values } = parseArgs({
  options: {
    buffers: { type: 'string', default: '5000' },
    simulations: { type: 'string' },
    seed: { type: 'string', default: '1' },
    ...SWITCHES,
  },
});

/** The shortest list of operations that still breaks a promise, as a reproduction. */
function shrunk(simulation: Simulation): Simulation {
  const fails = (operations: readonly Operation[]) =>
    simulate(nodeEnvironment, { ...simulation, operations }).problems.length > 0;
  return { ...simulation, operations: shrinkList(simulation.operations, fails) };
}

function run(buffers: number, simulations: number, firstSeed: number) {
  const total = {
    simulations: 0,
    operations: 0,
    filled: 0,
    included: 0,
    quarantined: 0,
    aborted: 0,
    updates: 0,
    refusals: 0,
  };
  const failures: { seed: number; problems: readonly string[]; reproduction: Simulation }[] = [];
  let announced = 0;
  for (let seed = firstSeed; total.filled < buffers && total.simulations < simulations; seed++) {
    const simulation = drawSimulation(seed, drawFrom(seededWords(seed)));
    const { problems, ...report } = simulate(nodeEnvironment, simulation);
    total.simulations++;
    total.operations += simulation.operations.length;
    for (const [name, count] of Object.entries(report)) total[name as keyof typeof report] += count;
    if (problems.length > 0) {
      const reproduction = shrunk(simulation);
      failures.push({ seed, problems, reproduction });
      console.log(`seed ${seed}: ${problems.join('; ')}\n  ${JSON.stringify(reproduction)}`);
    }
    if (total.filled - announced >= 500) {
      announced = total.filled;
      console.error(
        `  ${total.filled} buffers filled, ${total.simulations} simulations, ${failures.length} failures; go on with --seed ${seed + 1}`,
      );
    }
  }
  return { ...total, failures };
}

const isBySeeds = values.simulations !== undefined;
const buffers = isBySeeds ? Number.POSITIVE_INFINITY : Number(values.buffers);
const simulations = isBySeeds ? Number(values.simulations) : Number.POSITIVE_INFINITY;
const [most, seed] = [Math.min(buffers, simulations), Number(values.seed)];
if (values.help) {
  console.log(HELP);
} else if (!(Number.isSafeInteger(most) && most > 0 && Number.isSafeInteger(seed) && seed >= 0)) {
  console.error('--buffers, --simulations and --seed take whole numbers, for example --buffers 1000 --seed 7');
  process.exitCode = 2;
} else {
  const begun = Date.now();
  const { failures, ...total } = run(buffers, simulations, seed);
  console.log(
    `${total.filled} filled buffers (${total.included} included with ${total.updates} updates, ${total.quarantined} quarantined), ` +
      `${total.aborted} aborted; ${total.simulations} simulations, ${total.operations} operations, ${total.refusals} refusals; ` +
      `${failures.length} broken promises`,
  );
  if (values.json) {
    const nextSeed = seed + total.simulations;
    console.log(JSON.stringify({ faults: { seed, nextSeed, seconds: secondsSince(begun), ...total, failures } }));
  }
  if (failures.length > 0) process.exitCode = 1;
}
