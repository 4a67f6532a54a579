/** Durability: a crash at every durable boundary of the database. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, certificateCodec } from '@basa/protocol';
import type { Enrolled } from '@basa/testkit/core/one-shot/shot-upload.ts';
import { afterEach, describe, expect, it } from 'vitest';
import type { Authority } from '../src/index.ts';
import { type Answer, ask, askAs, newDevice, register, userOf } from './asking.ts';
import { cleanUp, freshHome, OPERATOR, start, time } from './homes.ts';
import { finalBatch, ShotWorld } from './one-shot/shot-world.ts';
import { TestServer } from './parties.ts';
import { PowerCuts } from './power-cuts.ts';

const begun = time.now;
afterEach(async () => {
  time.now = begun;
  await cleanUp();
});

describe('a power cut between the transaction and the answer', () => {
  it('loses nothing: the disk as it was then gives the same answer to the same request', async () => {
    const home = freshHome();
    const cuts = new PowerCuts(home);
    const authority = await start(home, { witness: cuts.witness });
    const survive = (step: (at: Authority) => Promise<Answer>): Promise<Answer> => cuts.survive(authority, step);

    const server = new TestServer({ authorities: [authority.publicKey] });
    await survive((at) => server.createTask(at));
    const enrolled: Enrolled[] = [];
    for (const proof of await register(authority, server.task, { count: 2 })) {
      const device = newDevice();
      const path = AUTHORITY_PATH.enrolments(server.task);
      const { bytes } = await survive((at) => askAs(device, at, path, { proof }));
      enrolled.push({ device, certificate: certificateCodec.decode(bytes) });
    }
    const world = new ShotWorld(server, enrolled);
    const [epochs, uploads] = [await world.epochs([authority]), await world.uploads([authority])];
    await finalBatch(authority, { world, epochs, uploads });
    const user = toHex(userOf((enrolled[0] as Enrolled).device));
    await survive((at) => ask(at, AUTHORITY_PATH.revocations, { body: { user }, token: OPERATOR }));
    expect(cuts.count).toBe(4);
  });
});
