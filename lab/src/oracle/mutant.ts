/** Runs inside a bundle of a patched copy of the code: plays one attack, then generated schedules until one leaks. */
import { RULES } from './rules/all.ts';
import { playRule } from './rules/rule.ts';
import { runSchedules } from './schedules.ts';

const [id = '', schedules = '0'] = process.argv.slice(2);
const rule = RULES.find((one) => one.id === id);
if (rule === undefined) throw new Error(`no rule "${id}"`);
const report = await playRule(rule);
const shape = rule.world?.shape === undefined ? '1,1,0' : '4,3,1';
const { leaks } = await runSchedules(shape, { seed: 1, count: Number(schedules), untilLeak: true });
process.stdout.write(`${JSON.stringify({ ...report, generated: leaks[0] })}\n`);
process.exit();
