// What is played: whole buffers of devices of this reader, each with those who leave on the way, and what must come of it.
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { must } from './bytes.mjs';
import { ENGINE } from './layouts.mjs';
import { checkAuthorityLog, checkModelLog } from './logs.mjs';
import { groupOf } from './masks.mjs';
import { Session } from './session.mjs';
import { checkSum } from './sum.mjs';
import { enrolledDevices, makeTask } from './task.mjs';

const D = 40;
const { slotKeys, cpAbe } = ENGINE;

/** A life ends after a seat, a deposit or a key; 'spoils' deposits bytes that nobody can open, and uploads. */
const all = (K) => Array(K).fill('stays');
const but = (K, ends) => all(K).map((life, k) => ends[k] ?? life);

/**
 * Each task plays its buffers one after the other, with as many in every sum: that is its Kmin, so that no buffer closes before all
 * of them uploaded, however slow the machine is. Group 0 is the field, else the bits of the ring.
 */
export const SCENARIOS = [
  { name: 'slot keys, K = 3', n: 1, engine: slotKeys, group: 32, buffers: [all(3), all(3)] },
  { name: 'slot keys, K = 3, a drop-out', n: 1, engine: slotKeys, group: 20, buffers: [but(3, { 1: 'key' })] },
  {
    name: 'slot keys, K = 3, a buffer older than the newest model',
    n: 1,
    engine: slotKeys,
    group: 32,
    buffers: [all(3), all(3)],
    overlaps: true,
  },
  {
    name: 'slot keys, K = 6, drop-outs at every step',
    n: 1,
    engine: slotKeys,
    group: 0,
    buffers: [but(6, { 0: 'key', 3: 'deposit' }), but(6, { 5: 'seat', 2: 'key' })],
  },
  { name: 'slot keys, K = 6, spoilt seeds', n: 1, engine: slotKeys, group: 20, buffers: [but(6, { 1: 'spoils' })] },
  { name: 'CP-ABE, K = 3', n: 1, engine: cpAbe, group: 20, buffers: [all(3), all(3)] },
  { name: 'CP-ABE, K = 3, a drop-out', n: 1, engine: cpAbe, group: 0, buffers: [but(3, { 0: 'key' })] },
  { name: 'CP-ABE, K = 6, drop-outs', n: 1, engine: cpAbe, group: 32, buffers: [but(6, { 1: 'key', 4: 'deposit' })] },
  { name: 'CP-ABE, K = 6, spoilt seeds', n: 1, engine: cpAbe, group: 32, buffers: [but(6, { 0: 'spoils' })] },
  {
    name: 'a private task, K = 3',
    n: 1,
    engine: slotKeys,
    group: 20,
    buffers: [all(3), all(3)],
    settings: {
      level: 1024,
      metrics: [],
      privacy: { kind: 1, noise: 0.5, colluders: 0, delta: 1e-6, participations: 2 },
    },
  },
  { name: '3 of 4 authorities, K = 3', n: 4, engine: slotKeys, group: 32, buffers: [all(3), all(3)] },
  {
    name: '3 of 4 authorities, K = 6, drop-outs, then one authority down',
    n: 4,
    engine: slotKeys,
    group: 17,
    buffers: [but(6, { 0: 'deposit', 3: 'key' }), but(6, { 4: 'key', 1: 'deposit' })],
    downAfter: 1,
  },
];
const THRESHOLD = { 1: 1, 4: 3 };

/** Plays a scenario against services that are up; throws where anything is not as it should be. */
export async function play(services, scenario) {
  const K = scenario.buffers[0].length;
  const { engine, group, n } = scenario;
  const name = `second reader ${randomBytes(8).toString('hex')}`; // the same policy twice would be one task
  const level = Math.min(2 ** 20, Math.floor((groupOf(group).q - 1) / 2 / K));
  const Kmin = scenario.buffers[0].filter((life) => life === 'stays').length;
  const wanted = { name, engine, group, t: THRESHOLD[n], K, Kmin, d: D, level };
  const task = await makeTask(services, { ...wanted, ...scenario.settings });
  const devices = await enrolledDevices(services, task, scenario.overlaps ? K + 1 : K);
  const known = await Promise.all(devices.map((device) => device.newest()));
  const sums = scenario.overlaps ? await playOverlapping(devices, known) : [];
  for (const [round, lives] of scenario.buffers.slice(sums.length).entries()) {
    if (scenario.downAfter === round) await services.authorities.at(-1).stop();
    // From the second buffer on the first device still has the model it fetched at the beginning: its update is stale.
    for (let k = 1; k < K; k++) known[k] = await devices[k].newest();
    sums.push(await playBuffer(devices, lives, known));
  }
  await checkModelLog(devices[1], sums);
  const up = services.authorities.slice(0, scenario.downAfter === undefined ? n : n - 1);
  const closed = await Promise.all(up.map((authority) => checkAuthorityLog(authority, services.token, sums)));
  const isClosed = sums.every((_, k) => closed.filter((ofOne) => ofOne[k]).length >= THRESHOLD[n]);
  must(isClosed, 'a sum of a buffer that fewer than t authorities closed');
  return sums.map(({ sessions: _, ctx, ...sum }) => ({ ctx: ctx.toString('hex'), ...sum }));
}

/** The last device sits down in a second buffer while the first is open; the others come to it with a newer model than its own. */
async function playOverlapping(devices, known) {
  const last = devices.length - 1;
  const begun = [];
  const meanwhile = async () => begun.push(await begin(devices[last], 'stays', known[last], 1));
  const first = await playBuffer(devices.slice(0, last), all(last), known, { meanwhile });
  const others = devices.slice(0, last - 1);
  const newer = await Promise.all(others.map((device) => device.newest()));
  const second = await playBuffer([devices[last], ...others], all(last), [known[last], ...newer], { begun });
  return [first, second];
}

/** Seat and deposit, as far as this life goes. */
async function begin(device, life, { entry }, exampleWeight) {
  const update = Array.from({ length: D }, () => 2.2 * Math.random() - 1.1); // some entries are clipped
  const session = Object.assign(new Session(device), { life, update });
  await session.seat();
  if (life === 'spoils') spoilEdges(session);
  session.prepare(update, { tau: entry.version, exampleWeight, metrics: [5 * Math.random()] });
  session.vector = session.kept.vector;
  if (life !== 'seat') await session.deposit();
  return session;
}

/** `known[1]` is the newest model. */
async function playBuffer(devices, lives, known, { begun = [], meanwhile } = {}) {
  const K = devices.length;
  const sessions = [...begun];
  for (let k = begun.length; k < K; k++) sessions.push(await begin(devices[k], lives[k], known[k], (k + 1) / K));
  const isOne = sessions.every(({ buffer }) => buffer.ctx.equals(sessions[0].buffer.ctx));
  must(isOne, 'two buffers where one was free');
  await meanwhile?.();
  const staying = sessions.filter(({ life }) => life === 'stays' || life === 'spoils');
  await Promise.all(sessions.filter((one) => staying.includes(one) || one.life === 'key').map((one) => one.takeKey()));
  for (const session of staying) session.freeze();
  for (const spoiler of sessions.filter(({ life }) => life === 'spoils')) await spoiler.upload();
  const honest = sessions.filter(({ life }) => life === 'stays');
  await Promise.all(honest.map((session, k) => session.upload(k % 2 ? 100 : undefined)));
  const made = await whenThere(devices[1], known[1].entry.version + 1);
  return checkSum(sessions, staying, known[1], made);
}

/** Random bytes in place of sealed seeds: every later slot has to name this one void. */
function spoilEdges(session) {
  const { sealedBytes } = session.engine;
  session.engine = { ...session.engine, sealEdge: () => randomBytes(sealedBytes) };
}

async function whenThere(device, version) {
  for (const endsAt = Date.now() + 120_000; ; await wait(100)) {
    const newest = await device.newest();
    if (newest.entry.version >= version) return newest;
    must(Date.now() < endsAt, `no version ${version} within two minutes`);
  }
}
