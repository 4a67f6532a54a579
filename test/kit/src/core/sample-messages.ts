/** One real message of every kind, from a run of both modes, as input for fuzzing decoders. */

import {
  abortRequestCodec,
  authorityMessages,
  type BufferFact,
  type BufferPart,
  type BufferSlot,
  bufferRequestCodec,
  type Codec,
  type Ctx,
  certificateCodec,
  closeRequestOf,
  type DeviceRecord,
  decodeAuthorityRecord,
  decodeBufferRecord,
  decodePolicy,
  depositStatementCodec,
  descriptorCodec,
  deviceRecordCodec,
  drawnBufferCodec,
  encodeAuthorityRecord,
  encodeBufferRecord,
  encodePolicy,
  headCodec,
  issuedKeyCodec,
  keptHeadCodec,
  type Millis,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  newestModelCodec,
  offerCodec,
  offerRequestCodec,
  outcomeCodec,
  paperMessages,
  paperTicketCodec,
  receiptCodec,
  revocationRequestCodec,
  revocationsCodec,
  type SlottedSession,
  seatRequestCodec,
  ticketCodec,
  type UploadHeader,
  type UserSession,
  userMessages,
  voteCodec,
} from '@basa/protocol';
import { type Federation, type FederationDevice, granted } from '@basa/simulator';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
import { shotSamples } from './one-shot/sample-shots.ts';
import { type SampleMessage, sample } from './sample.ts';
import { termSamples } from './sample-terms.ts';
import { nodeFederation } from './tools.ts';

const K = 4;

export function sampleMessages(): readonly SampleMessage[] {
  const world = nodeFederation({
    bufferSize: K,
    minimum: 2,
    dimension: 6,
    versions: 'unsafeMixed',
    staleness: { kind: 'hinge', slope: 0.25, grace: 2 },
    sealings: slotKeySealings(),
  });
  const devices = Array.from({ length: K }, () => world.device());
  const quitter = devices[3] as FederationDevice;
  for (const device of devices.slice(0, 3)) device.contribute();
  quitter.contribute('deposit');
  const { ctx, certificate } = quitter;
  const slotted = quitter.session as SlottedSession;
  const keyRequest = quitter.keyRequestBytes();
  const keyAnswer = granted(world.authority.issueKey(keyRequest)) as Uint8Array;
  granted(world.server.freeze(ctx, 'stalled'));
  const closeRequest = granted(closeRequestOf(world.server.ports, world.server.buffer(ctx)));
  const authority = authorityMessages(K);
  const closeAnswer = granted(world.authority.close(authority.closeRequest.encode(closeRequest)));
  const entry = world.authority.core.newestModel(world.task);
  const buffer = world.server.buffer(ctx);
  const user = userMessages(K, world.sealings.sealing);
  const deposit = world.server.deposits(ctx)[2];
  const { joinTag, root } = (quitter.session as SlottedSession).member;
  const signature = new Uint8Array(64).fill(1);
  const privacy = { noiseMultiplier: 1, colluders: 1, delta: 1e-6, participations: 16 };
  return [
    sample(certificateCodec, certificate),
    sample({ name: 'policy', encode: encodePolicy, decode: decodePolicy }, world.policy),
    sample({ name: 'private policy', encode: encodePolicy, decode: decodePolicy }, { ...world.policy, privacy }),
    sample(descriptorCodec, buffer.descriptor),
    sample(drawnBufferCodec, buffer),
    sample(depositStatementCodec, { ctx, joinTag, root, signature }),
    sample(ticketCodec, slotted.ticket),
    { name: 'keyRequest', codec: authority.keyRequest as unknown as Codec<object>, bytes: keyRequest },
    sample(receiptCodec, authority.keyAnswer.decode(keyAnswer).receipt),
    sample(issuedKeyCodec, authority.keyAnswer.decode(keyAnswer).issued),
    { name: 'keyAnswer', codec: authority.keyAnswer as unknown as Codec<object>, bytes: keyAnswer },
    sample(authority.uploadHeader, { ...(closeRequest.headers[2] as never as object), voids: [0, 1] } as never),
    sample(user.deposit, deposit),
    sample(user.inboxEntry, slotted.inbox[1]),
    sample(user.depositAnswer, { ticket: slotted.ticket, inbox: slotted.inbox }),
    sample(authority.closeRequest, closeRequest),
    sample(authority.closeAnswer, closeAnswer),
    sample(outcomeCodec, closeAnswer.outcome),
    sample(modelEntryCodec, entry),
    sample(headCodec, world.authority.core.head()),
    sample(keptHeadCodec, { authorityKey: world.authority.publicKey, head: world.authority.core.head() }),
    sample(newestModelCodec, world.authority.newestModel(new Uint8Array(16).fill(5))),
    sample(bufferRequestCodec, {
      task: world.task,
      nonce: new Uint8Array(16),
      model: entry as ModelEntry,
      newest: entry as ModelEntry,
      plan: [{ parts: buffer.descriptor.parts, expiry: 9 as Millis }],
      signature,
    }),
    sample(abortRequestCodec, { ctx: buffer.ctx, signature }),
    sample(seatRequestCodec, (world.devices[0] as FederationDevice).seatRequest()),
    sample(offerRequestCodec, { task: world.task, signature }),
    sample(offerCodec, {
      task: world.task,
      part: buffer.descriptor.parts[0] as BufferPart,
      slotKeys: buffer.slotKeys,
    }),
    sample(voteCodec, closeAnswer.vote),
    sample(revocationRequestCodec, { task: world.task, after: 7, signature }),
    sample(revocationsCodec, {
      task: world.task,
      branch: new Uint8Array(16),
      after: 7,
      upTo: 9,
      users: [quitter.user],
      signature,
    }),
    sample(modelAppendCodec, {
      task: world.task,
      version: 3,
      modelHash: root,
      sums: [ctx],
      spoilt: [buffer.ctx],
      closed: [closeAnswer.vote],
      signature,
    }),
    ...shotSamples(),
    ...termSamples(world),
    ...paperSamples(ctx, world),
    ...recordSamples(world),
    ...deviceSamples(world),
    ...bufferSamples(world, ctx),
  ];

  function paperSamples(paperCtx: Ctx, { sealings }: Federation): SampleMessage[] {
    const { connectAnswer, upload } = paperMessages(K, sealings.sealing);
    const ticket = { ctx: paperCtx, slot: slotted.ticket.slot, user: quitter.user, signature };
    const sealed = new Uint8Array(sealings.sealing.sealedBytes);
    return [
      sample(paperTicketCodec, ticket),
      sample(connectAnswer, { ticket, inbox: [sealed, sealed], version: 7 }),
      sample(upload, { slot: slotted.ticket.slot, alpha: 0.5, ciphertexts: [sealed] }),
    ];
  }
}

/** One record of every kind the authority logs. */
function recordSamples(world: Federation): SampleMessage[] {
  const { user, ctx } = world.devices[0] as FederationDevice;
  const codec: Codec<object> = {
    name: 'authority record',
    encode: (record) => encodeAuthorityRecord(record as never),
    decode: decodeAuthorityRecord,
  };
  const extra = [
    { kind: 'device-revoked' as const, user, at: 5 as Millis },
    { kind: 'buffer-voted' as const, ctx, closing: new Uint8Array(32).fill(4) },
    { kind: 'model-signed' as const, entry: world.authority.core.newestModel(world.task) as ModelEntry },
    { kind: 'buffer-aborted' as const, ctx },
    { kind: 'buffer-unknown' as const, ctx },
    { kind: 'branch-begun' as const, branch: new Uint8Array(16).fill(3), met: [world.authority.core.head()] },
  ];
  const byKind = new Map([...world.authority.records, ...extra].map((record) => [record.kind, record]));
  return [...byKind].map(([kind, record]) => ({ name: `record ${kind}`, codec, bytes: encodeAuthorityRecord(record) }));
}

/** One record of every kind a server keeps of a buffer. */
function bufferSamples(world: Federation, ctx: Ctx): SampleMessage[] {
  const codec: Codec<BufferFact> = { name: 'buffer record', encode: encodeBufferRecord, decode: decodeBufferRecord };
  const { slots } = world.server.buffer(ctx);
  const { header, ...slot } = slots[1] as BufferSlot;
  const facts: readonly BufferFact[] = [
    { kind: 'deposited', slot: { ...slot, status: 'assigned' } },
    { kind: 'accepted', header: header as UploadHeader },
    { kind: 'dropped', slot: slot.ticket.slot },
    { kind: 'extended', byMs: 77 },
    { kind: 'frozen', accepted: [slot.ticket.slot], why: 'stalled' },
    { kind: 'opened' },
    { kind: 'granted', votes: [{ authority: 0, signature: new Uint8Array(64).fill(2) }] },
    { kind: 'included', version: 3 },
    { kind: 'quarantined', why: 'guards', slots: [0, 2] },
    { kind: 'aborted' },
    { kind: 'unknown' },
  ];
  return facts.map((fact) => recordSample(codec, fact));
}

function recordSample<T extends { readonly kind: string }>(codec: Codec<T>, entry: T): SampleMessage {
  return {
    name: `${codec.name} ${entry.kind}`,
    codec: codec as unknown as Codec<object>,
    bytes: codec.encode(entry),
  };
}

/** One record of every kind a device keeps. */
function deviceSamples(world: Federation): SampleMessage[] {
  const device = world.devices[2] as FederationDevice;
  const { ctx, deltaId } = device;
  const { joinTag } = (device.session as UserSession).member;
  const records: readonly DeviceRecord[] = [
    ...device.records,
    { kind: 'released' },
    { kind: 'abandoned', reason: 'inbox-proof' },
    { kind: 'entered', ctx },
    { kind: 'committed', deltaId, ctx, joinTag, version: 3, epochs: [{ authority: 2, statement: ctx }] },
    { kind: 'freed', deltaId },
    { kind: 'seen', version: 4, modelHash: ctx },
  ];
  return records.map((entry) => recordSample(deviceRecordCodec, entry));
}
