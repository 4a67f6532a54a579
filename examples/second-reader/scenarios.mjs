// What is played: whole buffers of devices of this reader, each with those who leave on the way, and what must come of it.
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { must } from './bytes.mjs';
import { ENGINE } from './layouts.mjs';
import { checkAuthorityLog, checkModelLog } from './logs.mjs';
import { groupOf } from './masks.mjs';
import { enrolledDevices, makeTask } from './task.mjs';

const D = 40;
/** A life ends after a seat, a deposit or a key; 'spoils' deposits bytes that nobody can open, and uploads. */
const all = (K) => Array(K).fill('stays');
const but = (K, ends) => all(K).map((life, k) => ends[k] ?? life);

/** Each task plays its buffers one after the other; group 0 is the field, else the bits of the ring. */
export const SCENARIOS = [
  { name: 'slot keys, K = 3', n: 1, t: 1, engine: ENGINE.slotKeys, group: 32, buffers: [all(3), but(3, { 1: 'key' })] },
  {
    name: 'slot keys, K = 6, drop-outs at every step',
    n: 1,
    t: 1,
    engine: ENGINE.slotKeys,
    group: 0,
    buffers: [but(6, { 0: 'key', 3: 'deposit' }), but(6, { 5: 'seat', 2: 'key' }), all(6)],
  },
  {
    name: 'slot keys, K = 6, seeds that do not open',
    n: 1,
    t: 1,
    engine: ENGINE.slotKeys,
    group: 20,
    buffers: [but(6, { 1: 'spoils' })],
  },
  { name: 'CP-ABE, K = 3', n: 1, t: 1, engine: ENGINE.cpAbe, group: 20, buffers: [all(3), but(3, { 0: 'key' })] },
  {
    name: 'CP-ABE, K = 6, drop-outs',
    n: 1,
    t: 1,
    engine: ENGINE.cpAbe,
    group: 32,
    buffers: [but(6, { 1: 'key', 4: 'deposit' })],
  },
  {
    name: '3 of 4 authorities, K = 3',
    n: 4,
    t: 3,
    engine: ENGINE.slotKeys,
    group: 32,
    buffers: [all(3), but(3, { 2: 'key' })],
  },
  {
    name: '3 of 4 authorities, K = 6, drop-outs, then one authority down',
    n: 4,
    t: 3,
    engine: ENGINE.slotKeys,
    group: 17,
    buffers: [but(6, { 0: 'deposit', 3: 'key' }), but(6, { 4: 'key' })],
    downAfter: 1,
  },
];

const levelFor = ({ group }, K) => Math.min(2 ** 20, Math.floor((groupOf(group).q - 1) / 2 / K));

/** Plays a scenario against services that are up; throws where anything is not as it should be. */
export async function play(services, scenario) {
  const K = scenario.buffers[0].length;
  const { name, engine, group, t } = scenario;
  const task = await makeTask(services, {
    name,
    engine,
    group,
    t,
    K,
    Kmin: K === 3 ? 2 : 4,
    d: D,
    level: levelFor(scenario, K),
  });
  const devices = await enrolledDevices(services, task, K);
  const known = await Promise.all(devices.map((device) => device.newest()));
  const sums = [];
  for (const [round, lives] of scenario.buffers.entries()) {
    if (scenario.downAfter === round) await services.authorities.at(-1).stop();
    // From the second buffer on the first device still has the model it fetched at the beginning: its update is stale.
    for (let k = 1; k < K; k++) known[k] = await devices[k].newest();
    sums.push(await playBuffer(devices, lives, known));
  }
  const down = scenario.downAfter === undefined ? [] : [services.authorities.at(-1)];
  const up = services.authorities.filter((one) => !down.includes(one));
  await checkModelLog(devices[1], sums, up.length);
  for (const authority of up) await checkAuthorityLog(authority, services.token, sums);
  return {
    name,
    sums: sums.map(({ accepted, largestError, bound, meanAge }) => ({ accepted, largestError, bound, meanAge })),
  };
}

async function playBuffer(devices, lives, known) {
  const stays = (_, k) => lives[k] === 'stays' || lives[k] === 'spoils';
  for (const [k, device] of devices.entries()) {
    Object.assign(device, { ticket: undefined, contributed: undefined });
    await device.seat();
    if (lives[k] === 'spoils') await depositSpoilt(device);
    else if (lives[k] !== 'seat') await device.deposit();
  }
  must(
    devices.every((device) => device.buffer.ctx.equals(devices[0].buffer.ctx)),
    'two buffers where one was free',
  );
  await Promise.all(devices.filter((_, k) => stays(_, k) || lives[k] === 'key').map((device) => device.takeKey()));
  const staying = devices.filter(stays);
  for (const [k, device] of devices.entries()) {
    if (!stays(device, k)) continue;
    const update = Array.from({ length: D }, () => 2.2 * Math.random() - 1.1); // some entries are clipped
    device.update = update.map((entry) => Math.max(-1, Math.min(1, entry)));
    device.freeze(update, { tau: known[k].entry.version, exampleWeight: (k + 1) / devices.length, metrics: [k] });
  }
  await Promise.all(staying.map((device, k) => device.upload(k % 2 ? 100 : undefined)));
  const version = devices[0].buffer.version + 1;
  const made = await whenThere(devices.at(-1), version);
  return checkSum(devices, staying, known[1].parameters, made);
}

/** Deposits random bytes in place of sealed seeds: every later slot has to name this one void. */
async function depositSpoilt(device) {
  const { engine } = device;
  device.engine = { ...engine, sealEdge: () => randomBytes(engine.sealedBytes) };
  await device.deposit();
  device.engine = engine;
}

async function whenThere(device, version) {
  for (const endsAt = Date.now() + 60_000; ; await wait(100)) {
    const newest = await device.newest();
    if (newest.entry.version >= version) return newest;
    must(Date.now() < endsAt, `no version ${version} within a minute`);
  }
}

/** The published model is the one before and the exact mean of what the accepted devices sent, and near that of the plain updates. */
async function checkSum(devices, staying, before, made) {
  const { W, level, maxStaleness, version, ctx, group } = devices[0].buffer;
  const { q } = groupOf(group);
  const { status, accepted } = await staying[0].outcome();
  must(status === 'closed', `an outcome ${status}`);
  must(made.entry.version === version + 1 && made.entry.ctx.equals(ctx), 'a model of another buffer');
  const inside = staying.filter((device) => accepted.includes(device.ticket.slot));
  for (const device of devices.filter((one) => one.ticket)) {
    must((await device.outcome()).included === inside.includes(device), 'an outcome that is not what was played');
  }
  const voids = staying.flatMap((device) => device.contributed.voids.map((i) => [i, device.ticket.slot]));
  must(
    voids.every((ends) => !ends.every((slot) => accepted.includes(slot))),
    'a sum with both ends of a void edge',
  );
  must(
    inside.length === accepted.length && inside.length >= staying.length - (voids.length > 0 ? 1 : 0),
    'fewer in the sum than uploaded',
  );

  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const weights = inside.map((device) => device.contributed.w);
  const meanAge = Math.max(
    0,
    maxStaleness - total(inside.map((device) => device.contributed.vector[5])) / inside.length,
  );
  const bound = (W * inside.length) / (level * total(weights) * (1 + meanAge));
  let largestError = 0;
  for (let k = 0; k < D; k++) {
    const signed = inside.map((device) => device.contributed.vector.at(k - D)).map((X) => (X > q / 2 ? X - q : X));
    const exact = before.readFloatLE(4 * k) - (W * total(signed)) / (level * total(weights)) / (1 + meanAge);
    const plain = total(inside.map((device, l) => weights[l] * device.update[k])) / total(weights) / (1 + meanAge);
    const published = made.parameters.readFloatLE(4 * k);
    must(
      Math.abs(published - exact) <= 2 ** -23 * Math.max(1, Math.abs(exact)),
      `parameter ${k} is ${published} where the sum gives ${exact}`,
    );
    largestError = Math.max(largestError, Math.abs(before.readFloatLE(4 * k) - published - plain));
  }
  must(largestError <= bound + 1e-6, `an error of ${largestError}, more than rounding explains`);
  return {
    ctx,
    devices: devices.map(({ ticket, user, publicKey, header, contributed }) => ({
      ticket,
      user,
      publicKey,
      header,
      contributed,
    })),
    accepted,
    largestError,
    bound,
    meanAge,
  };
}
