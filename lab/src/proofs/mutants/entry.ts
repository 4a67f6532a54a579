/** Runs inside a bundle of a patched core: plays one attack, then generated schedules until one leaks. */
import { playAttack } from '../oracle/attacks.ts';
import { runSchedules } from '../oracle/many.ts';
import { ONE_SHOT_ATTACKS } from '../oracle/one-shot/shot-attacks.ts';
import { runShotSchedules } from '../oracle/one-shot/shot-schedule.ts';
import type { OracleEngine } from '../world/symbolic-federation.ts';

const [attack = '', schedules = '0', engine] = process.argv.slice(2);
const report = playAttack(attack, engine as OracleEngine);
const run = attack in ONE_SHOT_ATTACKS ? runShotSchedules : runSchedules;
const [leak] = run(1, Number(schedules), { untilLeak: true }).leaks;
const generated = leak === undefined ? undefined : { seed: leak.seed, leaked: leak.leaked };
process.stdout.write(`${JSON.stringify({ ...report, generated })}\n`);
