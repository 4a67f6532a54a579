/** The promises of version 2 of `sealed` with slot keys: the keys that open a seed, the signers for a seed, and the blame. */

import {
  allSteps,
  authorityMessages,
  type FrozenSession,
  issuedKeyCodec,
  receiveKey,
  registrationOf,
  type Slot,
  type SlottedSession,
  sealEnvelope,
  slotKeyIssuer,
  type UploadHeader,
  type UserRecord,
} from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { type FederationDevice, granted, reasonOf } from '@basa/simulator';
import { atClose, closed } from '@basa/testkit/core/at-close.ts';
import { keysFor } from '@basa/testkit/core/endorsed.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
import { describe, expect, it } from 'vitest';

const messages = authorityMessages(4);

describe('the release for an accepted slot', () => {
  it('opens the self seed that its device signed for, and nothing else', () => {
    const { world, devices, ctx, request } = atClose(slotKeySealings());
    const { keys } = granted(closed(world, request));
    const { sealing } = world.sealings;
    const buffer = world.server.buffer(ctx);
    const opened = (device: FederationDevice, registered: FederationDevice, slot: number) => {
      const { parts } = frozenRecord(device);
      const registration = registrationOf(nodeSuite, frozenRecord(registered).receipt);
      const released = [{ authority: 0, key: keys[slot]?.key as Uint8Array }];
      return sealing.openSelf(buffer, registration, parts.self, released)?.seed;
    };
    const [first, second] = devices as [FederationDevice, FederationDevice];
    expect(opened(first, first, 0)).toEqual(frozenRecord(first).self);
    expect(opened(second, second, 0)).toBeUndefined();
    expect(opened(first, second, 0)).toBeUndefined();
    // The key of all self seeds itself is never given out.
    for (const { key } of keys) expect(sealing.edgeOpener(buffer, 0 as Slot, [{ authority: 0, key }])).toBeUndefined();
  });

  it('opens no other registration of the same slot', () => {
    const { world, ctx } = atClose(slotKeySealings());
    const { slots } = world.server.buffer(ctx);
    const buffer = world.server.buffer(ctx);
    const { ticket } = slots[0] as (typeof slots)[number];
    const { sealing, issuer } = world.sealings;
    const seed = nodeRandomBytes(32);
    const [mine, theirs] = [ticket, { ...ticket, joinTag: slots[1]?.ticket.joinTag as typeof ticket.joinTag }].map(
      (registered) => registrationOf(nodeSuite, registered),
    ) as [ReturnType<typeof registrationOf>, ReturnType<typeof registrationOf>];
    const sealed = sealing.sealSelf(buffer, mine, seed);
    const keys = issuer.keysOf(keysFor(buffer));
    const selfOf = (registration: typeof mine) => [{ authority: 0, key: keys.self(registration, name) as Uint8Array }];
    const name = sealed.subarray(0, 32);
    expect(sealing.openSelf(buffer, mine, sealed, selfOf(mine))).toEqual({ seed, by: [0] });
    expect(sealing.openSelf(buffer, mine, sealed, selfOf(theirs))).toBeUndefined();
    expect(sealing.openSelf(buffer, theirs, sealed, selfOf(theirs))).toBeUndefined();
  });
});

describe('a header', () => {
  /** The request with another name of a self seed in the header of slot 2, signed by its device if asked. */
  function withSelfName(scene: ReturnType<typeof atClose>, selfName: Uint8Array, isSigned: boolean) {
    const { devices, request } = scene;
    const header = { ...(request.headers[2] as UploadHeader), selfName };
    const { signer } = devices[2] as FederationDevice;
    const signature = isSigned ? signer.sign(messages.uploadHeader.statement(header)) : header.signature;
    return { headers: [...request.headers.slice(0, 2), { ...header, signature }] };
  }

  it('is signed for its self seed: the server cannot ask for another one', () => {
    const scene = atClose(slotKeySealings());
    const other = scene.request.headers[0]?.selfName as Uint8Array;
    expect(reasonOf(closed(scene.world, scene.request, withSelfName(scene, other, false)))).toBe('close-mismatch');
    granted(closed(scene.world, scene.request));
  });

  it.each([
    ['no self seed', new Uint8Array()],
    ['a point of small order', new Uint8Array(32)],
    ['bytes that are no point', new Uint8Array(32).fill(0xff)],
  ])('that names %s closes nothing and is accepted by no server', (_, selfName) => {
    const scene = atClose(slotKeySealings());
    const { world, request } = scene;
    expect(closed(world, request, withSelfName(scene, selfName, true))).toMatchObject({
      reason: 'close-mismatch',
      slots: [2],
    });
    granted(closed(world, request));
    const device = nodeFederation({ bufferSize: 2, dimension: 4, sealings: slotKeySealings() }).device();
    device.contribute('key');
    device.receiveKeyAndFreeze('upload');
    rename(device, selfName);
    expect(reasonOf(device.contribute())).toBe('body-mismatch');
  });

  it('that names another seed than the one in its body is counted against its device', () => {
    const world = nodeFederation({ bufferSize: 3, dimension: 6, sealings: slotKeySealings() });
    const [first, cheat, third] = [world.device(), world.device(), world.device()];
    granted(first.contribute());
    cheat.contribute('key');
    cheat.receiveKeyAndFreeze('upload');
    rename(cheat, frozenRecord(first).selfName);
    granted(cheat.contribute());
    granted(third.contribute());
    expect(world.server.finish(first.ctx)).toEqual({ kind: 'quarantine', why: 'slots 1 cheated' });
  });
});

describe('the key of a slot', () => {
  function atKey() {
    const world = nodeFederation({ bufferSize: 4, dimension: 6, sealings: slotKeySealings() });
    const [first, second] = [world.device(), world.device()];
    granted(first.contribute());
    second.contribute('deposit');
    const bytes = granted(world.authority.issueKey(second.keyRequestBytes())) as Uint8Array;
    return { world, second, answer: messages.keyAnswer.decode(bytes) };
  }

  /** An answer of the authority itself, with another key. */
  function withKey({ world, second, answer }: ReturnType<typeof atKey>, key: Uint8Array) {
    const { requestDigest } = answer.issued;
    const recipient = nodeSuite.x25519((second.session as SlottedSession).ephemeralSecret.reveal()).publicKey;
    const envelope = sealEnvelope(nodeSuite, { senderSecret: nodeRandomBytes(32), recipient, requestDigest, key });
    const body = { requestDigest, keyHash: nodeSuite.sha256(key) };
    const signature = world.authority.ports.signer.sign(issuedKeyCodec.statement(body));
    return { ...answer, envelope: envelope as Uint8Array, issued: { ...body, signature } };
  }

  it('is compared with the list: with the key of another slot the device stops, and marks no edge as void', () => {
    const scene = atKey();
    const { world, second } = scene;
    const keys = world.sealings.issuer.keysOf(keysFor(world.server.buffer(second.ctx)));
    const given = (key: Uint8Array) =>
      receiveKey(second.ports, second.session as SlottedSession, [{ authority: 0, answer: withKey(scene, key) }]);
    expect(given(keys.edge(1 as Slot))).toMatchObject({ kind: 'draft', voids: [] });
    expect(reasonOf(given(keys.edge(2 as Slot)))).toBe('key-invalid');
    expect(reasonOf(given(nodeRandomBytes(32)))).toBe('key-invalid');
    expect(reasonOf(given(new Uint8Array(31)))).toBe('key-invalid');
  });

  it('that opens nothing at the close is the fault of the authority, which is named', () => {
    const { world, ctx, request } = atClose(slotKeySealings());
    const { keys } = granted(closed(world, request));
    const opened = (released: typeof keys) => world.server.openSum(ctx, [{ authority: 0, keys: released }]);
    const wrong = keys.map((released) => ({
      ...released,
      key: released.role === 'edge' ? nodeRandomBytes(32) : released.key,
    }));
    expect(() => opened(wrong)).toThrow('too few of the keys that were released for slot 3 are its own');
    expect(() => opened(keys.slice(0, 3))).toThrow('without enough edge keys of slot 3');
  });
});

describe('an issuer of slot keys', () => {
  const source = { task: nodeRandomBytes(32) as never, offer: nodeRandomBytes(16), bufferSize: 3 };

  it('gives other keys for another buffer, and the same for the same', () => {
    const issuer = slotKeyIssuer(nodeSuite, nodeRandomBytes(32));
    const list = allSteps(issuer.slotKeys(source));
    expect(allSteps(issuer.slotKeys(source))).toEqual(list);
    const other = allSteps(issuer.slotKeys({ ...source, offer: nodeRandomBytes(16) }));
    const keysOf = (bytes: Uint8Array) => [0, 1, 2, 3].map((n) => bytes.subarray(32 * n, 32 * n + 32).toString());
    expect(keysOf(other).filter((key) => keysOf(list).includes(key))).toEqual([]);
  });

  it('that is wiped gives no key any more, also in the middle of a list', () => {
    const issuer = slotKeyIssuer(nodeSuite, nodeRandomBytes(32));
    const steps = issuer.slotKeys(source);
    const keys = issuer.keysOf({ ctx: nodeRandomBytes(32) as never, authority: 0, source });
    steps.next();
    issuer.wipe();
    expect(() => steps.next()).toThrow('wiped');
    expect(() => keys.edge(0 as Slot)).toThrow('wiped');
    expect(() => issuer.derive(new Uint8Array())).toThrow('wiped');
  });
});

function frozenRecord({ records }: FederationDevice): Extract<UserRecord, { kind: 'frozen' }> {
  const found = records.find((record) => record.kind === 'frozen');
  if (found?.kind !== 'frozen') throw new Error('not frozen');
  return found;
}

/** The device signs for another self seed than its own. */
function rename(device: FederationDevice, selfName: Uint8Array): void {
  device.records = device.records.map((record) => (record.kind === 'frozen' ? { ...record, selfName } : record));
  device.restart();
  if ((device.session as FrozenSession).header.selfName !== selfName) throw new Error('not renamed');
}
