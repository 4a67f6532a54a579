/** Runs inside a bundle of a patched copy of the code: plays one attack once. */
import { READINGS } from './all.ts';
import type { Play } from './reading.ts';

const [id = '', play = ''] = process.argv.slice(2);
const attack = READINGS.find((one) => one.id === id);
if (attack === undefined) throw new Error(`no attack "${id}"`);
process.stdout.write(JSON.stringify(await attack.play(JSON.parse(play) as Play)));
process.exit();
