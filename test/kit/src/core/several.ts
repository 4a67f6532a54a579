/** Federations with several authorities, and requests to each of them with any changes a test asks for. */

import { equalBytes } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityRecord,
  authorityMessages,
  type BufferPlan,
  bufferRequestCodec,
  type CloseAnswer,
  type CloseRequest,
  type Ctx,
  closeRequestOf,
  closeSteps,
  type Endorsed,
  type Endorsement,
  type Grant,
  isRefused,
  joined,
  type ModelAppend,
  type ModelEntry,
  millis,
  modelAppendCodec,
  type Offer,
  offerRequestCodec,
  type Refused,
  type SignedDescriptor,
  type Slot,
  type UploadHeader,
} from '@basa/protocol';
import {
  type Federation,
  type FederationAuthority,
  type FederationDevice,
  type FederationOptions,
  granted,
  OPEN_MS,
} from '@basa/simulator';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
import { nodeFederation } from './tools.ts';

export const SLOTS = 4;

export function severalAuthorities(options: Partial<FederationOptions> = {}): Federation {
  return nodeFederation({
    bufferSize: SLOTS,
    minimum: 2,
    dimension: 4,
    sealings: slotKeySealings(4),
    council: { authorities: 4, threshold: 3 },
    ...options,
  });
}

export function authorityOf(world: Federation, index: number): FederationAuthority {
  const authority = world.authorities[index];
  if (authority === undefined) throw new RangeError(`there is no authority ${index}`);
  return authority;
}

/** Returns the authority's offer for a buffer, requested by the server. */
export function offerOf(world: Federation, index: number, signer = world.server.ports.signer): Offer | Refused {
  const asked = { task: world.task };
  const request = { ...asked, signature: signer.sign(offerRequestCodec.statement(asked)) };
  return authorityOf(world, index).offer(offerRequestCodec.encode(request));
}

/** A plan of the offers of these authorities. */
export function planOf(world: Federation, indices: readonly number[]): { plan: BufferPlan; offers: readonly Offer[] } {
  const offers = indices.map((index) => granted(offerOf(world, index)));
  const expiry = millis(world.now + OPEN_MS);
  return { offers, plan: { parts: offers.map(({ part }) => part), expiry } };
}

/** The descriptor with the signature of this authority. */
export function drawnBy(
  world: Federation,
  index: number,
  plan: readonly BufferPlan[],
  {
    nonce = world.randomBytes(16),
    model = world.server.entry(),
    newest = model,
  }: { readonly nonce?: Uint8Array; readonly model?: ModelEntry; readonly newest?: ModelEntry } = {},
): SignedDescriptor | Refused {
  const body = { task: world.task, nonce, model, newest, plan };
  const signature = world.server.ports.signer.sign(bufferRequestCodec.statement(body));
  const drawn = authorityOf(world, index).drawBuffer(bufferRequestCodec.encode({ ...body, signature }));
  return isRefused(drawn) ? drawn : drawn.descriptor;
}

/** The same statement with the signatures on all of these. */
export function together<T extends Endorsed>(statements: readonly T[]): T {
  const [first] = statements as readonly [T];
  return { ...first, endorsements: joined(statements.flatMap(({ endorsements }) => endorsements)) };
}

/** A frozen buffer of four slots, of which the last has a key and no upload, and the server's request. */
export function atSeveralCloses(world = severalAuthorities()) {
  const devices = Array.from({ length: SLOTS }, () => world.device());
  for (const [n, device] of devices.entries()) granted(device.contribute(n === 3 ? 'key' : 'upload'));
  const { ctx } = devices[0] as FederationDevice;
  granted(world.server.freeze(ctx, 'stalled'));
  const request = granted(closeRequestOf(world.server.ports, world.server.buffer(ctx)));
  return { world, devices, ctx, request };
}

const { closeRequest } = authorityMessages(SLOTS);

/** The authority's answer to the request with these changes, signed by the server. */
export function closedBy(
  world: Federation,
  index: number,
  request: CloseRequest,
  change: Partial<CloseRequest> = {},
): CloseAnswer | Refused {
  const body = { ...request, ...change };
  const signature = world.server.ports.signer.sign(closeRequest.statement(body));
  return authorityOf(world, index).close(closeRequest.encode({ ...body, signature }));
}

/** The request for only these slots. */
export function onlySlots(request: CloseRequest, slots: readonly number[]): Partial<CloseRequest> {
  const headers = slots.map((slot) => request.headers.find((header) => header.slot === slot) as UploadHeader);
  return { accepted: slots as readonly Slot[], headers };
}

/** The votes of these authorities for one close. */
export function votesOf(
  world: Federation,
  indices: readonly number[],
  request: CloseRequest,
  change: Partial<CloseRequest> = {},
): readonly Endorsement[] {
  return indices.flatMap((index) => granted(closedBy(world, index, request, change)).vote.endorsements);
}

/** Returns the result of the steps of a close if each authority answers as given. */
export function closedTogether(
  world: Federation,
  ctx: Ctx,
  answersTo: (request: CloseRequest) => readonly (readonly [authority: number, answer: CloseAnswer | Refused])[],
): Grant | Refused {
  const steps = closeSteps(world.server.ports, world.server.buffer(ctx));
  let next = steps.next();
  while (next.done !== true) {
    const answers = answersTo(next.value);
    next = steps.next(answers.flatMap(([authority, answer]) => (isRefused(answer) ? [] : [{ authority, answer }])));
  }
  return next.value;
}

/** Returns the authority's answer to the next version of the model. */
export function appendedBy(
  world: Federation,
  index: number,
  body: Omit<ModelAppend, 'task' | 'signature'>,
): ModelEntry | Refused {
  const whole = { ...body, task: world.task };
  const signature = world.server.ports.signer.sign(modelAppendCodec.statement(whole));
  return authorityOf(world, index).appendModel(modelAppendCodec.encode({ ...whole, signature }));
}

/** The authority with other records than it wrote: as if it had been away, or had been told another story. */
export function withRecords(
  world: Federation,
  index: number,
  change: (record: AuthorityRecord) => readonly AuthorityRecord[],
): void {
  const authority = authorityOf(world, index);
  authority.core = AttributeAuthority.restore(authority.ports, authority.records.flatMap(change));
}

/** Forgets that the slot was registered. */
export function forgettingSlot(ctx: Ctx, slot: number) {
  return (record: AuthorityRecord): readonly AuthorityRecord[] =>
    record.kind === 'key-issued' && equalBytes(record.ctx, ctx) && record.slot === slot ? [] : [record];
}
