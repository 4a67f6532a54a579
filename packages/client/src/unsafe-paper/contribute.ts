/**
 * Algorithm 2 of the paper over the network. UNSAFE: nothing is made durable, a server that lies learns updates, and a
 * time-out gives the position to another (docs/threat-model.md). Only for tasks whose server runs in paper mode.
 */
import { concatBytes, packVector, toHex } from '@basa/masking';
import type { Position } from '@basa/protocol';
import { contributePaper, paperAttribute, paperInput, paperMessages } from '@basa/protocol/paper';
import { frameHeader } from '@basa/protocol/wire';
import { RefusedError } from '../errors.ts';
import type { Contribution, Rejection, Step } from '../session/contribution.ts';
import type { DeviceContext } from '../session/device-context.ts';
import { Meter } from '../session/meter.ts';
import type { Update } from '../session/quantised.ts';
import { rejected, rejectionOf } from '../session/rejections.ts';
import { connect, isPaperTask, keyOf, sealingKeyOf, upload } from './requests.ts';
import { loadPaperSealings } from './sealing.ts';

export async function contributeByAlgorithmTwo(
  context: DeviceContext,
  update: Pick<Update, 'delta' | 'trainedOn'>,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const { authorities, outside, server } = context;
  const publicKey = await publicKeyOf(context, signal);
  const meter = new Meter(outside.stopwatch, [server.link, ...authorities.links]);
  return await algorithmTwo(context, publicKey, update, meter, signal).catch(rejectionOf);
}

/** The authority's public key, of every device whose task is known to run in paper mode: a device asks once. */
const publicKeys = new WeakMap<DeviceContext, Uint8Array>();

async function publicKeyOf(context: DeviceContext, signal: AbortSignal): Promise<Uint8Array> {
  const known = publicKeys.get(context);
  if (known !== undefined) return known;
  const { authorities, policy, server, task } = context;
  // A private task must not run in this mode: the update would be sent without noise, and nothing charged.
  if (policy.privacy !== undefined || !(await isPaperTask(server, task, signal)))
    throw new RefusedError('not-paper-mode');
  const publicKey = await sealingKeyOf(authorities.only, task, signal);
  publicKeys.set(context, publicKey);
  return publicKey;
}

async function algorithmTwo(
  context: DeviceContext,
  publicKey: Uint8Array,
  { delta, trainedOn }: Pick<Update, 'delta' | 'trainedOn'>,
  meter: Meter,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const { authorities, events, outside, policy, server, state, task } = context;
  const authority = authorities.only;
  const step = <T>(name: Step, work: () => T | Promise<T>): Promise<T> => {
    events.emit('progress', { step: name });
    return meter.measure(name, work);
  };
  const { suite, randomBytes } = outside;
  const { certificate } = state;
  if (certificate === undefined) return rejected('not-enrolled', 'free');
  if (delta.length !== policy.dimension) return rejected('wrong-length', 'free');
  const sealings = await loadPaperSealings(outside);
  const sealing = sealings.of(publicKey);
  const connected = await step('connect', () =>
    connect(server, { task, certificate }, { bufferSize: policy.bufferSize, sealing }, signal),
  );
  const { ticket, version } = connected;
  if (version - trainedOn > policy.maxStaleness) return rejected('too-stale', 'free');
  const key = await step('key', () => keyOf(authority, task, ticket, signal));
  const built = paperInput(delta, policy, { version, trainedOn }, (words) => {
    new Uint8Array(words.buffer, words.byteOffset, words.byteLength).set(randomBytes(words.byteLength));
  });
  const attributes = Array.from({ length: policy.bufferSize }, (_, k) =>
    paperAttribute(suite, ticket.ctx, k as Position),
  );
  const contribution = await step('mask', async () => {
    const ports = { suite, randomBytes, sealing: sealings.of(publicKey) };
    const connection = { ...connected, attributes };
    const made = contributePaper(ports, connection, key, { alpha: built.alpha, modulus: policy.modulus });
    sealings.forget();
    if (made.kind === 'contribution') await outside.mask(built.vector, made.plan, signal);
    return made;
  });
  if (contribution.kind === 'refused') return rejected(contribution.reason, 'free', contribution);
  for (const { seed } of contribution.plan.terms) seed.wipe();
  const header = frameHeader(paperMessages(policy.bufferSize, sealing).upload.encode(contribution.upload));
  const framed = concatBytes(header, packVector(built.vector, policy.modulus));
  const isAccepted = await step('upload', () => upload(server, task, framed, signal));
  if (!isAccepted) return rejected('lease-over', 'given');
  const { ctx, position } = ticket;
  return { kind: 'accepted', ctx: toHex(ctx), joinTag: '', position, costs: meter.costs };
}
