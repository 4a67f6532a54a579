/** Secrets at rest: neither the data folder, nor the witness, nor the log lines hold one in the clear; old ones are destroyed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { equalBytes } from '@basa/masking';
import { AUTHORITY_PATH, type BufferPart, type Descriptor, epochKeyOf, slotKeyIssuer } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { openDatabase } from '@basa/service';
import { afterEach, expect, it } from 'vitest';
import { EMBEDDED_DATABASE } from '../src/store/store.ts';
import { ask, askAs, newDevice } from './asking.ts';
import { cleanUp, freshHome, OPERATOR, start, stop, time } from './homes.ts';
import { seated, stage } from './parties.ts';

afterEach(cleanUp);

/** Every file below, as one text of bytes. */
function everythingIn(...folders: readonly string[]): Buffer {
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  return Buffer.concat(files.map((file) => readFileSync(file)));
}

function occursIn(haystack: Buffer, secret: Uint8Array): boolean {
  const bytes = Buffer.from(secret);
  const forms = [
    bytes,
    bytes.toString('hex'),
    bytes.toString('base64').slice(0, -2),
    bytes.toString('base64url').slice(0, -1),
  ];
  return forms.some((form) => haystack.includes(form));
}

it('no master key, signing key, issued key or token is on disk or in a log line', async () => {
  const home = freshHome();
  const drawn: Uint8Array[] = [];
  const lines: string[] = [];
  const authority = await start(home, {
    randomBytes(length) {
      const bytes = nodeRandomBytes(length);
      drawn.push(bytes.slice());
      return bytes;
    },
    log: { level: 'trace', stream: { write: (line) => void lines.push(line) } },
  });
  const world = await stage(authority, 2);
  const path = AUTHORITY_PATH.tokens(world.server.task);
  const made = await ask(authority, path, { body: { count: 1, endsAt: time.now + 1 }, token: OPERATOR });
  const [token] = made.json().tokens as [string];
  await askAs(newDevice(), authority, AUTHORITY_PATH.enrolments(world.server.task), { token });
  const buffer = await seated(authority, world);
  const answers = [await buffer.askKey(authority, 0), await buffer.askKey(authority, 1)];
  const closed = await buffer.close(authority, buffer.closeRequest([0, 1], answers));

  // The secrets, found again from the randomness that was drawn.
  const seed = drawn
    .filter(({ length }) => length === 32)
    .find((bytes) => equalBytes(createNodeSigner(bytes).publicKey, authority.publicKey));
  const ownEpoch = epochKey(buffer.descriptor);
  const master = drawn
    .filter(({ length }) => length === 32)
    .find((bytes) => equalBytes(slotKeyIssuer(nodeSuite, bytes).publicKey, ownEpoch));
  expect([seed, master]).not.toContain(undefined);
  const issued = answers.map((answer, slot) => buffer.openKey(slot, answer).key);
  const released = buffer.releasedKeys(closed).keys.map(({ key }) => key);
  const secrets = [
    seed as Uint8Array,
    master as Uint8Array,
    ...issued,
    ...released,
    new Uint8Array(readFileSync(home.keyFile)),
    Buffer.from(token),
    Buffer.from(token, 'base64url'),
  ];

  const running = everythingIn(home.dataFolder);
  await stop(authority);
  const witness = readFileSync(`${home.dataFolder}.witness`);
  const haystack = Buffer.concat([running, everythingIn(home.dataFolder), witness, Buffer.from(lines.join(''))]);
  // The search finds what is there: the public key of the epoch stands in the log.
  expect(occursIn(haystack, sealingKeyOf(buffer.descriptor))).toBe(true);
  expect(secrets.map((secret) => occursIn(haystack, secret))).toEqual(secrets.map(() => false));
});

it('a master key is destroyed when its epoch is over and its last buffer has ended, not before', async () => {
  const home = freshHome();
  const DAY_MS = 86_400_000;
  const authority = await start(home);
  const world = await stage(authority, 2);
  const [first, second] = [await seated(authority, world), await seated(authority, world)];
  const keys = [await first.askKey(authority, 0), await first.askKey(authority, 1)];
  const close = first.closeRequest([0, 1], keys);
  await first.close(authority, close);
  const sealed = () => {
    const { db, close: done } = openDatabase(home.dataFolder, EMBEDDED_DATABASE);
    const rows = db.prepare('SELECT sealed FROM epochs').all() as { sealed: Uint8Array }[];
    done();
    return rows.map((row) => row.sealed);
  };
  await stop(authority);
  const [before] = sealed() as [Uint8Array];
  expect(epochKey(first.descriptor)).toEqual(epochKey(second.descriptor));

  const again = await start(home);
  const began = time.now;
  try {
    await again.tick(); // within the epoch
    expect((await first.close(again, close)).status).toBe(200);
    time.now += DAY_MS; // the epoch is over, and the second buffer aborts; the keys of the first may still be asked for
    await again.tick();
    expect((await first.close(again, close)).status).toBe(200);
    const next = await seated(again, world);
    expect(sealingKeyOf(next.descriptor)).not.toEqual(sealingKeyOf(first.descriptor));
    await world.server.appendModel(again, 1, first.ctx); // the sum is a model: nothing needs the keys any more
    await again.tick();
    expect((await first.close(again, close)).code).toBe('buffer-over');
    expect(everythingIn(home.dataFolder).includes(Buffer.from(before))).toBe(false);
    expect((await next.askKey(again, 0)).status).toBe(200);
  } finally {
    time.now = began;
  }
  await stop(again);
  expect(sealed()).toHaveLength(1);
});

it('the keys of a closed buffer that never became a model are destroyed after the time of grace', async () => {
  const authority = await start(freshHome(), { epochMs: 1000, closedGraceMs: 5000 });
  const world = await stage(authority, 2);
  const buffer = await seated(authority, world);
  const keys = [await buffer.askKey(authority, 0), await buffer.askKey(authority, 1)];
  const close = buffer.closeRequest([0, 1], keys);
  await buffer.close(authority, close);
  const began = time.now;
  try {
    time.now = buffer.descriptor.closeBy + 4999;
    await authority.tick();
    expect((await buffer.close(authority, close)).status).toBe(200);
    time.now += 1;
    await authority.tick();
    expect((await buffer.close(authority, close)).code).toBe('buffer-over');
  } finally {
    time.now = began;
  }
});

function sealingKeyOf({ parts }: Descriptor): Uint8Array {
  return (parts[0] as BufferPart).sealingKey;
}

function epochKey(descriptor: Descriptor): Uint8Array {
  return epochKeyOf(descriptor, descriptor.parts[0] as BufferPart);
}
