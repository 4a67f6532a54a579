// A client for the conformance kit (docs/conformance.md): contributes one update and ends with 0 once the server has it.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { must, sha256 } from './bytes.mjs';
import { Device } from './device.mjs';
import { Refusal, Service } from './http.mjs';
import { Session } from './session.mjs';

const { BASA_SERVER, BASA_AUTHORITY, BASA_AUTHORITY_KEY, BASA_TASK, BASA_ENROLMENT_TOKEN, BASA_IDENTITY } = process.env;
const { BASA_UPDATE, BASA_PIECE_BYTES } = process.env;

/** All that the device keeps is one file, written anew and renamed. */
function open(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'second-reader.json');
  const revive = (_, value) => (typeof value?.hex === 'string' ? Buffer.from(value.hex, 'hex') : value);
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8'), revive) : {};
  const plain = (value) => {
    if (Buffer.isBuffer(value)) return { hex: value.toString('hex') };
    if (Array.isArray(value)) return value.map(plain);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
  };
  const keep = () => {
    const next = openSync(`${file}.next`, 'w', 0o600);
    writeSync(next, JSON.stringify(plain(kept)));
    fsyncSync(next);
    closeSync(next);
    renameSync(`${file}.next`, file);
    const inFolder = openSync(folder, 'r');
    fsyncSync(inFolder);
    closeSync(inFolder);
  };
  return { kept, keep };
}

/** The update is free where this session never sent it, or t authorities say that its buffer went without it. */
async function isFree(session) {
  if (!session.kept.header) return true;
  const { status, included } = await session.outcome();
  const isFreed = status === 'aborted' || (status === 'closed' && !included);
  if (isFreed) session.device.kept.participations--;
  return isFreed;
}

async function contribute(device, update, session) {
  if (!session.kept?.drawn) {
    const { entry } = await device.newest();
    await session.seat();
    const metrics = device.policy.metrics.map(({ low }) => low);
    session.prepare(update, { tau: entry.version, exampleWeight: 1, metrics, id });
  }
  if (!session.ticket) await session.deposit();
  if (!session.kept.header) {
    await session.takeKey();
    session.freeze();
  }
  if (!session.kept.accepted) await session.upload(Number(BASA_PIECE_BYTES));
}

const addresses = BASA_AUTHORITY.split(',');
const keys = BASA_AUTHORITY_KEY.split(',').map((key) => Buffer.from(key, 'hex'));
must(addresses.length === keys.length, 'not one key for each address');
const authorities = addresses.map((url, a) => new Service(url, keys[a], true));
const { kept, keep } = open(BASA_IDENTITY);
const pinned = { server: new Service(BASA_SERVER, undefined, false), authorities, task: Buffer.from(BASA_TASK, 'hex') };
const device = new Device(pinned, kept, keep);
await device.connect();
await device.enrol(BASA_ENROLMENT_TOKEN);

const file = readFileSync(BASA_UPDATE);
const update = Array.from({ length: file.length / 4 }, (_, k) => file.readFloatLE(4 * k));
must(update.length === device.policy.d, `an update of ${update.length} parameters, not ${device.policy.d}`);
const id = sha256(file).toString('hex');
let session = new Session(device, kept.session);
if (session.kept?.accepted && (session.kept.update !== id || (await isFree(session)))) session = new Session(device);
try {
  await contribute(device, update, session);
} catch (error) {
  // A no before the upload leaves the update free, and the next start takes another seat.
  if (error instanceof Refusal && (await isFree(session))) kept.session = undefined;
  keep();
  throw error;
}
