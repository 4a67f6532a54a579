/** `npm run prove -- faults [--buffers N] [--seed S] [--json]`: the long version of the fault simulation. */
import { parseArgs } from 'node:util';
import type { Operation, Simulation } from '../faults/simulation.ts';

const HELP = `npm run prove -- faults [--buffers N] [--seed S] [--json]

Draws simulations from seed S on (1 by default) until N buffers (5000 by default) are filled, carries them out against
the real cores with crashes, lost and repeated messages, clock jumps and one cheat among ten devices, and checks every
sum. A failing one is shrunk and printed.`;

const { values } = parseArgs({
  options: {
    buffers: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}

// Loaded after the help, which would take seconds otherwise.
const { nodeEnvironment, seededWords } = await import('@basa/experiments/simulation');
const { drawFrom } = await import('../faults/draw.ts');
const { shrinkList } = await import('../faults/shrink.ts');
const { simulate } = await import('../faults/simulate.ts');
const { drawSimulation } = await import('../faults/simulation.ts');

/** The shortest list of operations that still breaks a promise, as a reproduction. */
function shrunk(simulation: Simulation): Simulation {
  const fails = (operations: readonly Operation[]) =>
    simulate(nodeEnvironment, { ...simulation, operations }).problems.length > 0;
  return { ...simulation, operations: shrinkList(simulation.operations, fails) };
}

function run(buffers: number, firstSeed: number) {
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
  for (let seed = firstSeed; total.filled < buffers; seed++) {
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
        `  ${total.filled} of ${buffers} buffers filled, ${total.simulations} simulations, ${failures.length} failures`,
      );
    }
  }
  return { ...total, failures };
}

const [buffers, seed] = [Number(values.buffers), Number(values.seed)];
if (!(Number.isSafeInteger(buffers) && buffers > 0 && Number.isSafeInteger(seed) && seed >= 0)) {
  console.error('--buffers and --seed take whole numbers, for example --buffers 1000 --seed 7');
  process.exitCode = 2;
} else {
  const { failures, ...total } = run(buffers, seed);
  console.log(
    `${total.filled} filled buffers (${total.included} included with ${total.updates} updates, ${total.quarantined} quarantined), ` +
      `${total.aborted} aborted; ${total.simulations} simulations, ${total.operations} operations, ${total.refusals} refusals; ` +
      `${failures.length} broken promises`,
  );
  if (values.json) console.log(JSON.stringify({ faults: { ...total, failures } }));
  if (failures.length > 0) process.exitCode = 1;
}
