/** Thousands of seats that nobody uses: in one process and by a clock of its own, for the sake of their number. */
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
  type ServerPorts,
  type TaskId,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { Seats } from '@basa/server/internal/seats/seats.ts';
import { heapGrowthOf } from '@basa/testkit/services/fleet.ts';
import { expect, it } from 'vitest';

const IDLE = 2100;
const CROWD = 60;
const BUFFER_SIZE = 3;
const SEAT_MS = 30_000;

const authority = createNodeSigner(nodeRandomBytes(32));
const task = nodeRandomBytes(32) as TaskId;
const enrolledFor = { task, authorities: [authority.publicKey], threshold: 1 };
const ports: ServerPorts = {
  suite: nodeSuite,
  signer: createNodeSigner(nodeRandomBytes(32)),
};

function certificate(): Certificate {
  const body: CertificateBody = { task, deviceKey: nodeRandomBytes(32), issuedAt: millis(0), notAfter: millis(1e12) };
  return endorse(certificateCodec, enrolledFor, authority, body);
}

function seatRequest() {
  return { certificate: certificate(), version: 0, modelHash: new Uint8Array(32) };
}

/** Seats whose authority draws a buffer whenever it is asked. */
function openSeats(clock: () => number) {
  const drawn = new Map<string, DrawnBuffer>();
  const seats: Seats = new Seats({
    enrolledFor,
    ports,
    tuned: () => ({ seatMs: SEAT_MS, seatsAhead: 0 }),
    clock,
    isNewest: () => true,
    drawBuffer: async () => {
      const descriptor = {
        bufferSize: BUFFER_SIZE,
        expiry: millis(1e12),
        modelHash: nodeRandomBytes(32),
      } as Descriptor;
      await new Promise((resolve) => setImmediate(resolve)); // others come meanwhile
      const ctx = nodeRandomBytes(32) as Ctx;
      const slotKeys = new Uint8Array();
      drawn.set(toHex(ctx), { descriptor, slotKeys });
      seats.track({ ctx, descriptor, slotKeys, status: 'filling', slots: [], accepted: [], votes: [] });
    },
    bufferOf: async (ctx) => drawn.get(toHex(ctx)),
    suspicions: async () => ({ sums: 0, trust: { trusted: 0, mild: 0 }, lastAt: 0, suspects: new Map() }),
    minimum: 2,
    lateMs: 0,
    checkRunning: () => undefined,
    onEvent: () => undefined,
  });
  return { seats, drawn };
}

it('a crowd of idle devices costs a buffer for every few of them, little memory, and nobody else a seat', async () => {
  let now = 1000;
  const { seats, drawn } = openSeats(() => now);
  const growth = await heapGrowthOf(async () => {
    for (let n = 0; n < IDLE; n += CROWD) {
      const answers = await Promise.all(Array.from({ length: CROWD }, () => seats.take(seatRequest())));
      expect(answers.every((answer) => 'slotKeys' in answer)).toBe(true);
    }
  });
  expect(drawn.size).toBe(IDLE / BUFFER_SIZE);
  expect(growth).toBeLessThan(64);
  expect(await seats.take(seatRequest())).toHaveProperty('slotKeys');
  // When they lapse, their seats are given again: no new buffer is drawn for as many honest devices.
  now += SEAT_MS;
  const honest = await Promise.all(Array.from({ length: CROWD }, () => seats.take(seatRequest())));
  expect(honest.every((answer) => 'slotKeys' in answer)).toBe(true);
  expect(drawn.size).toBe(IDLE / BUFFER_SIZE + 1);
});
