/** The authority closes a buffer once, with a set it can vouch for; everything else is refused and changes nothing. */
import {
  authorityMessages,
  type CloseRequest,
  closeRequestOf,
  millis,
  type Slot,
  type UploadHeader,
} from '@basa/protocol';
import { CLOSE_MS, type FederationDevice, granted, OPEN_MS, reasonOf } from '@basa/simulator';
import { atClose, closed } from '@basa/testkit/core/at-close.ts';
import { describe, expect, it } from 'vitest';
import { type AuthorityBuffer, ownKeys } from '../../src/authority/buffer.ts';
import { releaseKeys, settleBuffer } from '../../src/authority/close.ts';

const messages = authorityMessages(4);

describe('a close', () => {
  it('releases the self key of every accepted slot and the edge key of every other, never both of one [R10]', () => {
    const { world, request } = atClose();
    const { keys, outcome } = granted(closed(world, request));
    expect(keys.map(({ slot, role }) => `${role} ${slot}`)).toEqual(['self 0', 'self 1', 'self 2', 'edge 3']);
    const buffer = world.authority.core.buffer(request.ctx) as AuthorityBuffer;
    const own = ownKeys(world.authority.ports, buffer)?.keys;
    for (const { slot, key } of keys) {
      const entry = buffer.closed?.accepted.find((one) => one.slot === slot);
      expect(key).toEqual(entry === undefined ? own?.edge(slot) : own?.self(entry.registration, entry.selfName));
      if (entry !== undefined) expect(key).not.toEqual(own?.edge(slot));
    }
    expect(outcome.accepted.map(({ slot }) => slot)).toEqual([0, 1, 2]);
  });

  it('tells how many it accepted, and how many of the others it left out', () => {
    const { world, request } = atClose();
    const buffer = world.authority.core.buffer(request.ctx) as AuthorityBuffer;
    const { events } = settleBuffer(world.authority.ports, buffer, request, world.now);
    expect(events).toEqual([{ kind: 'buffer-closed', ctx: request.ctx, accepted: 3, dropped: 1 }]);
  });

  it('is final: asked again with another set, the recorded set and its keys are answered [R21]', () => {
    const { world, request } = atClose();
    const first = granted(closed(world, request));
    const records = world.authority.log.length;
    const again = granted(
      closed(world, request, { accepted: request.accepted.slice(1), headers: request.headers.slice(1) }),
    );
    expect(again).toEqual(first);
    expect(world.authority.log.length).toBe(records);
  });

  const [flipped, zero] = [
    (bytes: Uint8Array) => bytes.map((byte, i) => (i ? byte : byte ^ 1)) as never,
    new Uint8Array(64),
  ];
  const withDeposit = (request: CloseRequest, slot: number, change: object) => ({
    deposits: request.deposits.map((deposit, n) => (n === slot ? { ...deposit, ...change } : deposit)),
  });
  const withHeader = (request: CloseRequest, n: number, change: Partial<UploadHeader>) => ({
    headers: request.headers.map((header, m) => (m === n ? { ...header, ...change } : header)),
  });
  const refusals: [string, string, (request: CloseRequest) => Partial<CloseRequest>][] = [
    ['too few slots [R5]', 'too-few', (r) => ({ accepted: r.accepted.slice(0, 1), headers: r.headers.slice(0, 1) })],
    ['a header missing', 'close-mismatch', (r) => ({ headers: r.headers.slice(1) })],
    ['an accepted slot that is not listed', 'close-mismatch', (r) => ({ deposits: r.deposits.slice(0, 2) })],
    ['one user in two slots', 'duplicate-user', (r) => withDeposit(r, 3, { deviceKey: r.deposits[0]?.deviceKey })],
    [
      'another nonce in the last accepted slot',
      'close-mismatch',
      (r) => withDeposit(r, 2, { nonce: flipped(r.deposits[2]?.nonce as Uint8Array) }),
    ],
    [
      'another root in the last accepted slot',
      'close-mismatch',
      (r) => withDeposit(r, 2, { root: flipped(r.deposits[2]?.root as Uint8Array) }),
    ],
    ['a deposit signature that does not verify', 'close-mismatch', (r) => withDeposit(r, 1, { signature: zero })],
    ['another root', 'close-mismatch', (r) => withDeposit(r, 0, { root: flipped(r.deposits[0]?.root as Uint8Array) })],
    ['a header without its signature', 'close-mismatch', (r) => withHeader(r, 2, { signature: zero })],
    [
      'a header stripped of its view',
      'close-mismatch',
      (r) => withHeader(r, 2, { view: flipped(r.headers[2]?.view as Uint8Array) }),
    ],
    ['a header of another slot', 'close-mismatch', (r) => withHeader(r, 2, { slot: 1 as Slot })],
    [
      'a slot whose key was never issued',
      'close-mismatch',
      (r) => ({ accepted: [...r.accepted.slice(0, 2), 3 as Slot] }),
    ],
  ];
  it.each(refusals)(
    'with %s is refused (%s), records nothing, and a correct request works afterwards',
    (_, reason, change) => {
      const { world, request } = atClose();
      const records = world.authority.log.length;
      expect(reasonOf(closed(world, request, change(request)))).toBe(reason);
      expect(world.authority.log.length).toBe(records);
      granted(closed(world, request));
    },
  );

  /** The request with other voids in the header of slot 2, signed by its device. */
  function withVoids({ devices, request }: ReturnType<typeof atClose>, voids: readonly Slot[]) {
    const header = { ...(request.headers[2] as UploadHeader), voids };
    const signature = (devices[2] as FederationDevice).signer.sign(messages.uploadHeader.statement(header));
    return withHeader(request, 2, { ...header, signature });
  }

  it('with a void edge between two accepted slots is refused, and names them', () => {
    const scene = atClose();
    expect(closed(scene.world, scene.request, withVoids(scene, [0 as Slot]))).toMatchObject({
      reason: 'void-edge',
      slots: [0, 2],
    });
  });

  it('with void edges to an accepted and to an omitted slot names only the accepted ones', () => {
    const scene = atClose();
    const { headers } = withVoids(scene, [0, 1] as Slot[]);
    const no = closed(scene.world, scene.request, { accepted: [1, 2] as Slot[], headers: headers.slice(1) });
    expect(no).toMatchObject({ reason: 'void-edge', slots: [1, 2] });
  });

  it('with a slot that calls itself void is no close of these slots', () => {
    const scene = atClose();
    expect(closed(scene.world, scene.request, withVoids(scene, [2 as Slot]))).toMatchObject({
      reason: 'close-mismatch',
      slots: [2],
    });
  });

  it('with a header that its own device signed for another slot is no close of these slots', () => {
    const { world, devices, request } = atClose();
    const header = { ...(request.headers[2] as UploadHeader), slot: 1 as Slot };
    const signature = (devices[2] as FederationDevice).signer.sign(messages.uploadHeader.statement(header));
    expect(closed(world, request, withHeader(request, 2, { ...header, signature }))).toMatchObject({
      reason: 'close-mismatch',
      slots: [2],
    });
  });

  it('counts its own record of a slot without the receipt, if one authority is enough', () => {
    const { world, devices, request } = atClose();
    const own = request.headers[2] as UploadHeader;
    const header = { ...own, receipt: { ...own.receipt, endorsements: [{ authority: 0, signature: zero }] } };
    const signature = (devices[2] as FederationDevice).signer.sign(messages.uploadHeader.statement(header));
    expect(granted(closed(world, request, withHeader(request, 2, { ...header, signature }))).keys).toHaveLength(4);
  });

  it('releases the keys that were made elsewhere', () => {
    const { world, request } = atClose();
    granted(closed(world, request));
    const buffer = world.authority.core.buffer(request.ctx) as AuthorityBuffer;
    const made = [0, 1, undefined, 3].map((n) => (n === undefined ? n : Uint8Array.of(n)));
    const { keys } = granted(releaseKeys(world.authority.ports, { buffer }, made));
    expect(keys).toEqual([
      { slot: 0, role: 'self', key: Uint8Array.of(0) },
      { slot: 1, role: 'self', key: Uint8Array.of(1) },
      { slot: 3, role: 'edge', key: Uint8Array.of(3) },
    ]);
  });

  it('that was not voted for, or whose key epoch is gone, releases nothing', () => {
    const { world, request } = atClose();
    const { ports } = world.authority;
    const open = world.authority.core.buffer(request.ctx) as AuthorityBuffer;
    expect(reasonOf(releaseKeys(ports, { buffer: open }))).toBe('buffer-over');
    granted(closed(world, request));
    const done = world.authority.core.buffer(request.ctx) as AuthorityBuffer;
    expect(granted(releaseKeys(ports, { buffer: done })).keys).toHaveLength(4);
    expect(reasonOf(releaseKeys({ ...ports, issuerFor: () => undefined }, { buffer: done }))).toBe('buffer-over');
  });

  it('with a slot whose key was never issued is refused', () => {
    const { world, ctx } = atClose();
    const late = world.server.drawBuffer();
    const devices = [world.device(), world.device()];
    for (const device of devices) device.contribute('deposit');
    const { signature: _, ...done } = granted(closeRequestOf(world.server.ports, world.server.buffer(ctx)));
    const { slots } = world.server.buffer(late);
    const deposits = slots.map(({ deviceKey, nonce, ticket, depositSignature }) => ({
      deviceKey,
      nonce,
      root: ticket.root,
      signature: depositSignature,
    }));
    const request = { ctx: late, deposits, accepted: [0, 1] as Slot[], headers: done.headers.slice(0, 2), votes: [] };
    expect(closed(world, { ...request, signature: zero })).toMatchObject({ reason: 'close-mismatch', slots: [0, 1] });
  });

  it('not signed by the server of the descriptor is refused', () => {
    const { world, request } = atClose();
    expect(reasonOf(world.authority.close(messages.closeRequest.encode({ ...request, signature: zero })))).toBe(
      'server-unknown',
    );
  });

  it('after closeBy is too late: the buffer is aborted for good, which is on disk before the refusal', () => {
    const { world, ctx, request } = atClose();
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    expect(reasonOf(closed(world, request))).toBe('buffer-over');
    expect(world.authority.records.at(-1)).toEqual({ kind: 'buffer-aborted', ctx });
    expect(world.authority.outcome(ctx).status).toBe('aborted');
    expect(reasonOf(closed(world, request))).toBe('buffer-over');
  });
});
