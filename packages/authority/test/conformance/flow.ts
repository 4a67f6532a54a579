/** The whole life of a buffer at the authority, over real HTTP, with both engines. */
import { abeSealing, createMclGroup, decodePublicKey } from '@basa/abe';
import { fromHex, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  attributeSealing,
  type BufferSealing,
  certificateCodec,
  type Descriptor,
  decodePolicy,
  ENGINE,
  encodePolicy,
  headCodec,
  isEndorsed,
  isSigned,
  type JoinTag,
  modelEntryCodec,
  newestModelCodec,
  outcomeCodec,
  paperAttribute,
  paperTicketCodec,
  type Slot,
  slotKeysProblem,
  slotSealing,
} from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, askAs, newDevice, userOf } from '../asking.ts';
import { cleanUp, type NewHome, OPERATOR, start, time } from '../homes.ts';
import { seated, stage } from '../parties.ts';

const group = await createMclGroup();
const tools = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };
function sealingOf({ engine, parts }: Pick<Descriptor, 'engine' | 'parts'>): BufferSealing {
  if (engine === ENGINE.slotKeys) return slotSealing(nodeSuite);
  return attributeSealing(
    nodeSuite,
    abeSealing({ ...tools, publicKey: decodePublicKey(parts[0]?.sealingKey ?? new Uint8Array(), group) }),
  );
}

export function testFlow(freshHome: NewHome): void {
  afterEach(cleanUp);
  describe.each([
    ['CP-ABE', ENGINE.cpAbe],
    ['slot keys', ENGINE.slotKeys],
  ])('with %s', (_, engine) => {
    it('a task, its devices, a buffer, its keys, its close, its model', async () => {
      const authority = await start(await freshHome());
      const world = await stage(authority, 3, { engine });
      const { server, enrolled } = world;
      for (const { certificate } of enrolled) {
        expect(isEndorsed(nodeSuite, certificateCodec, server.policy, certificateCodec.decode(certificate))).toBe(true);
      }
      const buffer = await seated(authority, world);
      const { ctx, descriptor } = buffer;

      // Each slot's key opens what was sealed to its edge, and nothing else.
      const sealing = sealingOf(descriptor);
      expect(slotKeysProblem(nodeSuite, descriptor, buffer.slotKeys)).toBeUndefined();
      const [seed, use] = [nodeRandomBytes(32), { role: 'edge', joinTag: nodeRandomBytes(32) as JoinTag } as const];
      const keys = [];
      for (const slot of [0, 1, 2]) {
        const answer = await buffer.askKey(authority, slot);
        expect(answer.status).toBe(200);
        keys.push(answer);
        const { key, issued } = buffer.openKey(slot, answer);
        expect(issued.keyHash).toEqual(nodeSuite.sha256(key));
        const sealed = (to: number) => sealing.sealEdge(buffer, to as Slot, use, seed);
        const open = sealing.edgeOpener(buffer, slot as Slot, [{ authority: 0, key }]);
        expect(open?.(sealed(slot), use)).toEqual(seed);
        expect(open?.(sealed((slot + 1) % 3), use)).toBeUndefined();
      }

      // Slots 0 and 2 are accepted: self keys for them, the edge key of slot 1.
      const closed = await buffer.close(authority, buffer.closeRequest([0, 2], keys));
      const { outcome, keys: released } = buffer.releasedKeys(closed);
      expect(outcome.status).toBe('closed');
      expect(released.map(({ slot, role }) => `${slot} ${role}`)).toEqual(['0 self', '1 edge', '2 self']);
      const said = await buffer.outcome(authority);
      expect(isSigned(nodeSuite, outcomeCodec, said, authority.publicKey)).toBe(true);
      expect(said.accepted.map(({ slot }) => slot)).toEqual([0, 2]);

      // Its sum becomes version 1.
      const appended = await server.appendModel(authority, 1, ctx);
      expect(modelEntryCodec.decode(appended.bytes).version).toBe(1);
      for (const version of [1, 'newest']) {
        expect((await ask(authority, AUTHORITY_PATH.modelEntry(server.task, version))).bytes).toEqual(appended.bytes);
      }
      // A device asks with a nonce, and gets entry and head under one signature.
      const nonce = new Uint8Array(16).fill(9);
      const shown = await ask(authority, AUTHORITY_PATH.newestModel(server.task, nonce));
      const newest = newestModelCodec.decode(shown.bytes);
      expect(isSigned(nodeSuite, newestModelCodec, newest, authority.publicKey)).toBe(true);
      expect(modelEntryCodec.encode(newest.entry)).toEqual(appended.bytes);
      expect(newest.nonce).toEqual(nonce);
      const { signature: _, ...head } = headCodec.decode(fromHex(shown.head) ?? new Uint8Array());
      expect(newest.head).toEqual(head);
      const { tasks } = (await ask(authority, AUTHORITY_PATH.tasks, { token: OPERATOR })).json();
      expect(tasks).toEqual([{ task: toHex(server.task), name: 'test', version: 1, devices: 3 }]);
    });
  });

  describe('a repeated request', () => {
    it('gets the same answer: task, model, buffer, key, close', async () => {
      const authority = await start(await freshHome());
      const world = await stage(authority, 2);
      const { server } = world;
      const twice = async (request: () => Promise<{ status: number; bytes: Uint8Array }>) => {
        const [first, second] = [await request(), await request()];
        expect([first.status, second.status]).toEqual([200, 200]);
        expect(second.bytes).toEqual(first.bytes);
      };
      await twice(() => server.createTask(authority));
      await twice(() => server.appendModel(authority, 0, new Uint8Array(32)));
      const draw = server.drawRequest();
      await twice(() => ask(authority, AUTHORITY_PATH.buffers, { body: draw }));
      const buffer = await seated(authority, world);
      const request = buffer.keyRequest(0);
      await twice(() => buffer.askKey(authority, 0, request));
      const keys = [await buffer.askKey(authority, 0, request), await buffer.askKey(authority, 1)];
      const close = buffer.closeRequest([0, 1], keys);
      await twice(() => buffer.close(authority, close));
    });
  });

  describe('besides', () => {
    it('anybody may read the policy, the public key and the head', async () => {
      const authority = await start(await freshHome());
      const { server } = await stage(authority, 0);
      const policy = await ask(authority, AUTHORITY_PATH.policy(server.task));
      expect(encodePolicy(decodePolicy(policy.bytes))).toEqual(encodePolicy(server.policy));
      const { publicKey, time: said, head } = (await ask(authority, AUTHORITY_PATH.about)).json();
      expect([publicKey, said]).toEqual([toHex(authority.publicKey), time.now]);
      const decoded = headCodec.decode(fromHex(head as string) as Uint8Array);
      expect(isSigned(nodeSuite, headCodec, decoded, authority.publicKey)).toBe(true);
      expect(decoded.sequence).toBe(2); // a task and a model
    });

    it('a head of the log without records, or of any length since, proves nothing against it', async () => {
      const authority = await start(await freshHome());
      const heads = [(await ask(authority, '/v1/health')).head];
      const world = await stage(authority, 2);
      const buffer = await seated(authority, world);
      for (const slot of [0, 1]) heads.push((await buffer.askKey(authority, slot)).head);
      for (const head of heads) await ask(authority, '/v1/health', { headers: { 'basa-head': head } });
      expect((await buffer.outcome(authority)).status).toBe('open');
      expect((await ask(authority, '/v1/health')).head).toBe(heads.at(-1));
    });

    it('a buffer past its end is aborted by the tick, and by any request for it', async () => {
      const authority = await start(await freshHome());
      const world = await stage(authority, 2);
      const [first, second] = [await seated(authority, world), await seated(authority, world)];
      try {
        time.now += 120_000;
        expect((await first.outcome(authority)).status).toBe('aborted');
        const before = (await ask(authority, '/v1/health')).head;
        await authority.tick();
        expect((await ask(authority, '/v1/health')).head).not.toBe(before);
        expect((await second.outcome(authority)).status).toBe('aborted');
        expect((await second.askKey(authority, 0)).code).toBe('buffer-not-open');
      } finally {
        time.now -= 120_000;
      }
    });

    it('UNSAFE paper mode gives the key of a position against a ticket, to enrolled devices', async () => {
      const home = await freshHome();
      const authority = await start(home, { unsafePaperMode: true });
      const { server, enrolled } = await stage(authority, 2, { engine: ENGINE.cpAbe });
      const [mine, yours] = enrolled as [(typeof enrolled)[0], (typeof enrolled)[0]];
      const sealingKey = (await ask(authority, AUTHORITY_PATH.unsafePaperSealingKey(server.task))).bytes;
      const body = { ctx: nodeRandomBytes(32) as never, slot: 1 as Slot, user: userOf(mine.device) };
      const ticket = { ...body, signature: server.signer.sign(paperTicketCodec.statement(body)) };
      const path = AUTHORITY_PATH.unsafePaperKeys(server.task);
      const answer = await askAs(mine.device, authority, path, paperTicketCodec.encode(ticket));
      const sealing = abeSealing({ ...tools, publicKey: decodePublicKey(sealingKey, group) });
      const [seed, context] = [nodeRandomBytes(32), nodeRandomBytes(70)];
      const sealed = sealing.seal(seed, paperAttribute(nodeSuite, body.ctx, body.slot), context);
      expect(sealing.open(sealed, answer.bytes, context)).toEqual(seed);
      expect((await askAs(yours.device, authority, path, paperTicketCodec.encode(ticket))).code).toBe('tag-not-yours');
      expect((await askAs(newDevice(), authority, path, paperTicketCodec.encode(ticket))).code).toBe('not-enrolled');
      await ask(authority, AUTHORITY_PATH.revocations, { body: { user: toHex(body.user) }, token: OPERATOR });
      expect((await askAs(mine.device, authority, path, paperTicketCodec.encode(ticket))).code).toBe('revoked');
    });

    it('UNSAFE paper mode refuses a task with slot keys, which has no attributes', async () => {
      const authority = await start(await freshHome(), { unsafePaperMode: true });
      const { server, enrolled } = await stage(authority, 2);
      const { device } = (enrolled as [(typeof enrolled)[0]])[0];
      const { unsafePaperSealingKey, unsafePaperKeys } = AUTHORITY_PATH;
      expect((await ask(authority, unsafePaperSealingKey(server.task))).code).toBe('policy-invalid');
      const asked = await askAs(device, authority, unsafePaperKeys(server.task), nodeRandomBytes(100));
      expect(asked.code).toBe('policy-invalid');
    });
  });
}
