import { granted, type Millis, millis, type UserId } from '@basa/protocol';
import { tickPaper } from '@basa/protocol/internal/paper/server.ts';
import { issuePaperKey } from '@basa/protocol/paper';
import { nodeSuite } from '@basa/runtime/node';
import { PaperFederation, type PaperSealings, reasonOf, transparentPaperSealings } from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';
import { paperAbeSealings } from '@basa/simulator/real-sealings';
import { describe, expect, it } from 'vitest';

const paperWorld = (bufferSize: number, sealings: PaperSealings = transparentPaperSealings(), seed = 1) =>
  new PaperFederation(nodeEnvironment, { bufferSize, sealings, seed });
const user = (n: number): UserId => new Uint8Array(32).fill(n + 1) as UserId;

describe.each([
  ['transparent sealing', () => transparentPaperSealings()],
  ['CP-ABE', paperAbeSealings],
])('paper mode with %s', (_, sealings) => {
  it.each([2, 3, 6])('fills a buffer of K = %d in turn, and the masks cancel', (K) => {
    const world = paperWorld(K, sealings());
    for (let k = 0; k < K; k++) {
      const answer = granted(world.upload(user(k), world.prepare(user(k), [0.5, -0.25, k / 10, 0])));
      expect(answer.isFull).toBe(k === K - 1);
    }
    const meanOfK = Math.round((1000 * (K - 1)) / 20) / 1000;
    expect(world.mean()).toEqual([0.5, -0.25, meanOfK, 0]);
    expect(reasonOf(world.connect(user(K)))).toBe('buffer-full');
  });
});

describe('the lease', () => {
  it('makes users strictly serial: while one holds the position another is told so', () => {
    const world = paperWorld(3);
    world.prepare(user(0), [1, 0, 0, 0]);
    expect(reasonOf(world.connect(user(1)))).toBe('lease-taken');
  });

  it('that times out gives the same position and the same ciphertexts to the next user; the late upload is discarded', () => {
    const world = paperWorld(3);
    granted(world.upload(user(0), world.prepare(user(0), [1, 0, 0, 0])));
    const late = world.prepare(user(1), [0, 1, 0, 0]);
    world.now = millis(100);
    const next = world.prepare(user(2), [0, 0, 1, 0]);
    expect(next.upload.position).toBe(late.upload.position);
    expect(reasonOf(world.upload(user(1), late))).toBe('lease-over');
    granted(world.upload(user(2), next));
    granted(world.upload(user(3), world.prepare(user(3), [0, 0, 0, 1])));
    expect(world.mean().map((value) => value > 0)).toEqual([true, false, true, true]);
  });

  it('is ended by the tick, which says when to come again', () => {
    const world = paperWorld(3);
    world.connect(user(0));
    expect(tickPaper(world.buffer, 99 as Millis).answer).toEqual({ nextAt: 100 });
    expect(tickPaper(world.buffer, 100 as Millis)).toMatchObject({
      state: { lease: undefined },
      answer: { nextAt: undefined },
    });
  });

  it('asked for again by its holder gets the same answer, and an upload sent again counts once', () => {
    const world = paperWorld(2);
    const first = granted(world.connect(user(0)));
    expect(world.connect(user(0))).toEqual(first);
    const upload = world.prepare(user(0), [1, 0, 0, 0]);
    granted(world.upload(user(0), upload));
    expect(world.upload(user(0), upload)).toMatchObject({ kind: 'accepted', isRepeat: true });
    granted(world.upload(user(1), world.prepare(user(1), [0, 1, 0, 0])));
    expect(world.mean()).toEqual([0.5, 0.5, 0, 0]);
  });

  it('is not given twice to one user of a buffer', () => {
    const world = paperWorld(3);
    granted(world.upload(user(0), world.prepare(user(0), [1, 0, 0, 0])));
    expect(reasonOf(world.connect(user(0)))).toBe('second-position');
  });
});

describe('staleness', () => {
  it('weighs an update before it is quantised, and divides by the sum of the weights (Algorithm 3)', () => {
    const world = paperWorld(2);
    granted(world.upload(user(0), world.prepare(user(0), [1, 0, 0, 0], 3)));
    granted(world.upload(user(1), world.prepare(user(1), [0, 1, 0, 0], 0)));
    expect(world.buffer.alphaSum).toBe(1.5);
    expect(world.mean()).toEqual([0.667, 0.333, 0, 0]);
  });
});

describe('a paper buffer', () => {
  it('has its own attributes: a key of one buffer opens nothing in the next', () => {
    const [first, second] = [paperWorld(3), paperWorld(3, undefined, 2)];
    const [a, b] = [granted(first.connect(user(0))), granted(second.connect(user(0)))];
    for (const attribute of a.attributes) expect(b.attributes).not.toContainEqual(attribute);
  });

  it('refuses an upload with a wrong number of ciphertexts or for another position', () => {
    const world = paperWorld(3);
    const { y, upload } = world.prepare(user(0), [1, 0, 0, 0]);
    expect(
      reasonOf(world.upload(user(0), { y, upload: { ...upload, ciphertexts: upload.ciphertexts.slice(1) } })),
    ).toBe('body-mismatch');
    expect(reasonOf(world.upload(user(0), { y, upload: { ...upload, position: 1 as never } }))).toBe('body-mismatch');
    granted(world.upload(user(0), { y, upload }));
  });

  it('whose ticket was not signed by the server, or is for another user, gets no key', () => {
    const world = paperWorld(3);
    const { ticket } = granted(world.connect(user(0)));
    const ports = { suite: nodeSuite, issuer: world.sealings.issuer, serverKey: world.signer.publicKey };
    expect(reasonOf(issuePaperKey(ports, user(0), { ...ticket, position: 2 as never }))).toBe('ticket-invalid');
    expect(reasonOf(issuePaperKey(ports, user(1), ticket))).toBe('tag-not-yours');
  });
});
