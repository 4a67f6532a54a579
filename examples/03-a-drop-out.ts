/**
 * One-shot mode, four devices, one of which disappears before it uploads: the sum of the others opens, nobody waits for it, and nobody
 * has to come back.
 *
 * Server, authority and devices are the real cores, in memory.
 *
 * Run it with `node --import ./scripts/typescript.mjs --conditions=@basa/source examples/03-a-drop-out.ts`.
 */

import { isRefused } from '@basa/protocol';
import { OneShotFederation } from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';

const world = new OneShotFederation(nodeEnvironment, { bufferSize: 4, minimum: 3, dimension: 4 });
const [ann, bob, cem, dee] = [world.shooter(), world.shooter(), world.shooter(), world.shooter()];

ann.contribute(Float32Array.of(1, 0, 0, 0));
bob.inputOf(Float32Array.of(0, 1, 0, 0), 0); // has trained, then loses its network: nothing has left it
cem.contribute(Float32Array.of(0, 0, 1, 0));
dee.contribute(Float32Array.of(0, 0, 0, 1));

world.shots.inspect(); // the authority examines the sealed seeds of the three uploads
const ctx = world.shots.form();
if (ctx === undefined) throw new Error('there are too few uploads for a batch');
const verdict = world.shots.close(ctx);
if (isRefused(verdict) || verdict.kind !== 'good') throw new Error('the batch was not opened');
console.log(`sum:   ${[...verdict.sum].join(' ')}  (ann + cem + dee; the authority added up their three masks)`);
