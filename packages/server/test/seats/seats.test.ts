/** Seats in memory, and who may take one beside whom. */
import { toHex } from '@basa/masking';
import {
  type Certificate,
  type CertificateBody,
  type Ctx,
  certificateCodec,
  type Descriptor,
  type DrawnBuffer,
  endorse,
  millis,
  NEW_STANDING,
  type Standing,
  type TaskId,
  userIdOf,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { Seats } from '../../src/seats/seats.ts';

const authority = createNodeSigner(nodeRandomBytes(32));
const task = nodeRandomBytes(32) as TaskId;
const council = { authorities: [authority.publicKey], threshold: 1, unsafeThreshold: false };
const ports = { suite: nodeSuite, signer: authority };
const EXPIRY = 1_000_000;

function certificate(): Certificate {
  const body: CertificateBody = { task, deviceKey: nodeRandomBytes(32), issuedAt: millis(0), notAfter: millis(1e12) };
  return endorse(certificateCodec, council, authority, body);
}

function opened(suspects: ReadonlyMap<string, Standing>, clock: () => number) {
  const drawn: (DrawnBuffer & { readonly ctx: Ctx })[] = [];
  const seats: Seats = new Seats({
    enrolledFor: { ...council, task },
    ports,
    clock,
    isNewest: () => true,
    tuned: () => ({ seatMs: EXPIRY, seatsAhead: 0 }),
    async drawBuffer() {
      const descriptor = { bufferSize: 4, minimum: 3, expiry: millis(EXPIRY) } as Descriptor;
      const ctx = Uint8Array.of(1, ...nodeRandomBytes(31)) as Ctx; // no buffer for strong suspects
      const buffer = { ctx, descriptor, slotKeys: new Uint8Array() };
      drawn.push(buffer);
      seats.track({ ...buffer, status: 'filling', slots: [], accepted: [], votes: [] });
    },
    bufferOf: async (ctx) => drawn.find((buffer) => toHex(buffer.ctx) === toHex(ctx)),
    suspicions: async () => ({ sums: 9, trust: { trusted: 3, mild: 3 }, lastAt: 0, suspects }),
    minimum: 3,
    lateMs: 1000,
    checkRunning: () => undefined,
    onEvent: () => undefined,
  });
  return { seats, drawn };
}

const seatFor = (device: Certificate) => ({ certificate: device, version: 0, modelHash: new Uint8Array(32) });
const named = (device: Certificate): string => toHex(userIdOf(nodeSuite, device.deviceKey));

it('a suspect finds no seat beside another one, with or without asking for one first, and has no buffer drawn', async () => {
  const [ann, bob, cem, dan] = [certificate(), certificate(), certificate(), certificate()];
  let now = 0;
  const standing = (suspicion: number): Standing => ({ ...NEW_STANDING, suspicion });
  const suspects = new Map([
    [named(ann), standing(0.2)],
    [named(bob), standing(0.3)],
    [named(dan), standing(0.7)],
  ]);
  const { seats, drawn } = opened(suspects, () => now);
  expect(await seats.take(seatFor(dan))).toEqual({ kind: 'must-wait' });
  expect(await seats.take(seatFor(ann))).toMatchObject({ slotKeys: new Uint8Array() });
  expect(await seats.take(seatFor(bob))).toEqual({ kind: 'must-wait' });
  const [{ ctx } = { ctx: new Uint8Array() as Ctx }] = drawn;
  expect([await seats.admits(bob, ctx), await seats.admits(cem, ctx), await seats.admits(ann, ctx)]).toEqual([
    false,
    true,
    true,
  ]);
  expect(drawn).toHaveLength(1);
  now = EXPIRY - 1000; // nobody else has come: it takes whoever comes, up to the minimum
  expect(await seats.take(seatFor(bob))).toMatchObject({ slotKeys: new Uint8Array() });
  expect(await seats.take(seatFor(dan))).toMatchObject({ slotKeys: new Uint8Array() });
  expect(drawn).toHaveLength(1);
});
