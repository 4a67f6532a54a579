/** Runs inside a bundle of a patched core: plays one attack, then generated schedules until one leaks. */
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { ONE_SHOT_ATTACKS } from '../../attacks/one-shot/registry.ts';
import { playShot } from '../../attacks/one-shot/shot-scene.ts';
import { runSchedules } from '../../oracle/schedules.ts';

const [id = '', schedules = '0'] = process.argv.slice(2);
const attack = ONE_SHOT_ATTACKS.find((one) => one.id === id);
if (attack === undefined) throw new Error(`no attack "${id}"`);
const report = playShot(attack, nodeEnvironment);
const [leak] = (await runSchedules('4,3,1', { seed: 1, count: Number(schedules), untilLeak: true })).leaks;
const generated = leak;
process.stdout.write(`${JSON.stringify({ ...report, generated })}\n`);
