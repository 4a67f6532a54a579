/** Buffers and their key epochs: buffers are drawn with the epoch's key, and the key is destroyed when nothing needs it. */
import { equalBytes, type RandomBytes } from '@basa/masking';
import {
  type AttributeAuthority,
  type AuthorityStep,
  type BufferRequest,
  bufferRequestCodec,
  type DrawnBuffer,
  type FreshKeys,
  isRefused,
  isSigned,
  type Millis,
  type Offer,
  type OfferRequest,
  offerRequestCodec,
  ownPart,
  type Refused,
  refused,
  type Signature,
  type SignedCodec,
  type TaskId,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { KeyEpochs } from '../keys/key-epochs.ts';
import type { AuthorityStore } from '../store/store.ts';
import type { DurableAuthority } from './durable-authority.ts';

export interface BufferEpochTools {
  readonly authority: DurableAuthority;
  readonly store: AuthorityStore;
  readonly epochs: KeyEpochs;
  readonly randomBytes: RandomBytes;
  readonly epochMs: number;
  /** The time for which the keys of a closed buffer can be requested again, if its sum never became a model. */
  readonly closedGraceMs: number;
}

const NO_BUFFERS = refused('policy-invalid', { detail: 'a task of the one-shot mode has no buffers' });

/** Keys made just now, with their list. */
interface MadeKeys extends FreshKeys {
  readonly slotKeys: Uint8Array;
}

/** Makes this authority's offer for a buffer that it draws together with others. */
export async function makeOffer(tools: BufferEpochTools, request: OfferRequest): Promise<Offer | Refused> {
  let made: MadeKeys | undefined;
  const part = await withFreshKeys(tools, offerRequestCodec, request, (core, fresh, now) => {
    made = fresh;
    return core.offer(request, fresh, now);
  });
  if (isRefused(part) || made === undefined) return isRefused(part) ? part : refused('offer-unknown');
  return { task: request.task, part, slotKeys: made.slotKeys };
}

/** The descriptor with this authority's own list. */
export async function drawBuffer(tools: BufferEpochTools, request: BufferRequest): Promise<DrawnBuffer | Refused> {
  let made: MadeKeys | undefined;
  const descriptor = await withFreshKeys(tools, bufferRequestCodec, request, (core, fresh, now) => {
    made = fresh;
    return core.drawBuffer(request, fresh, now);
  });
  if (isRefused(descriptor)) return descriptor;
  const { core, directory } = tools.authority;
  const drawn = directory.described(descriptor);
  const own = ownPart(core.publicKey, drawn);
  if (own === undefined) throw new Error('a buffer was drawn without a part of this authority');
  if (made !== undefined && equalBytes(made.offer, own.offer)) return { descriptor, slotKeys: made.slotKeys };
  // An earlier offer, or a repeated request, which gets the earlier buffer as long as its keys exist.
  const { task, bufferSize, engine } = drawn;
  const source = { task, bufferSize, offer: own.offer };
  const [slotKeys] =
    (await tools.epochs.keysOf({ engine, sealingKey: own.sealingKey }, { kind: 'list', source })) ?? [];
  return slotKeys === undefined ? refused('buffer-over') : { descriptor, slotKeys };
}

/**
 * A step with keys of the current epoch for a new buffer. The random bytes behind the keys are drawn here: a nonce of
 * the server could repeat them after a roll-back. Keys are costly, so they are drawn only for the server of the task.
 */
function withFreshKeys<Request extends { readonly task: TaskId }, Answer>(
  { authority, epochs, randomBytes, epochMs }: BufferEpochTools,
  codec: SignedCodec<Request>,
  request: Request & Signature,
  step: (core: AttributeAuthority, fresh: MadeKeys, now: Millis) => AuthorityStep<Answer>,
): Promise<Answer | Refused> {
  return authority.take(async ({ tables, core, directory, now, compute }) => {
    const known = directory.task(request.task);
    if (known === undefined) return { records: [], answer: refused('task-unknown'), events: [] };
    const { task, policy } = known;
    if (!isSigned(nodeSuite, codec, request, policy.serverKey))
      return { records: [], answer: refused('server-unknown'), events: [] };
    if (policy.oneShot !== undefined) return { records: [], answer: NO_BUFFERS, events: [] };
    const epoch = await epochs.of(tables, task, policy.engine, Math.floor(now / epochMs));
    const offer = randomBytes(16);
    const keys = await epochs.draw(epoch, { task, offer, bufferSize: policy.bufferSize });
    const decided = await compute(() => step(core, { offer, ...keys }, now));
    // An offer has no record, but its keys must be in the database when it is drawn with.
    if (!isRefused(decided.answer)) await epochs.store(tables, epoch);
    return decided;
  });
}

/** Aborts overdue buffers, forgets expired tokens, and destroys the keys of epochs that nothing needs any more. */
export async function tick({ authority, store, epochs, epochMs, closedGraceMs }: BufferEpochTools): Promise<void> {
  await authority.step((core, now) => core.tick(now));
  const destroyed = await authority.locked(async ({ tables, directory, now }) => {
    await tables.forgetTokens(now);
    directory.forgetClosed(now - closedGraceMs);
    return epochs.destroyOver(tables, Math.floor(now / epochMs), (epochKey) => !directory.needs(epochKey));
  });
  if (destroyed > 0) await store.purge();
  await authority.look(() => undefined); // wipes keys that this or another node destroyed
}
