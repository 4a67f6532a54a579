/** Runs inside a bundle of a patched core: plays one attack, then generated schedules until one leaks. */
import { playAttack, shotAttack } from '../oracle/attacks.ts';
import { runSchedules } from '../oracle/many.ts';
import { runShotSchedules } from '../oracle/one-shot/shot-schedule.ts';
import type { OracleEngine } from '../world/symbolic-federation.ts';

const [attack = '', schedules = '0', engine] = process.argv.slice(2);
const report = playAttack(attack, engine as OracleEngine);
const run = shotAttack(attack) === undefined ? runSchedules : runShotSchedules;
const [leak] = run(1, Number(schedules), { untilLeak: true }).leaks;
const generated = leak === undefined ? undefined : { seed: leak.seed, leaked: leak.leaked };
process.stdout.write(`${JSON.stringify({ ...report, generated })}\n`);
