/**
 * Algorithm 2 of the paper over the network. UNSAFE: nothing is made durable, a server that lies learns updates, and a
 * time-out gives the position to another (docs/threat-model.md). Only for tasks whose server runs in paper mode.
 */
import { abeSealing, type CachedSealing, createMclGroup, decodePublicKey, type Group, warmUpPairing } from '@basa/abe';
import { concatBytes, equalBytes, packVector, type SeedSealing, toHex } from '@basa/masking';
import type { Position, TaskId } from '@basa/protocol';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import {
  contributePaper,
  type PaperConnection,
  PaperTicket,
  paperAttribute,
  paperInput,
  paperMessages,
} from '@basa/protocol/paper';
import { Certificate, frameHeader } from '@basa/protocol/wire';
import { RefusedError } from '../errors.ts';
import type { Outside } from '../outside.ts';
import { decoded, jsonOf } from '../services/answers.ts';
import type { AuthorityClient } from '../services/authorities.ts';
import type { ServerClient } from '../services/server-client.ts';
import type { DeviceContext } from '../session/context.ts';
import type { Update } from '../session/contribute.ts';
import { type Contribution, Meter, type Rejection, rejected, rejectionOf, type Step } from '../session/results.ts';

const MAX_JSON_BYTES = 1 << 20;
const MAX_STATEMENT_BYTES = 16_384;
/** Everything of a ciphertext in the answer besides the sealed seed. */
const INBOX_ENTRY_BYTES = 512;

/** True if the server runs the task in paper mode. */
async function isPaperTask({ link }: ServerClient, task: TaskId, signal: AbortSignal): Promise<boolean> {
  const target = SERVER_PATH.task(task);
  const { body } = await link.call({ method: 'GET', target, maxBytes: MAX_JSON_BYTES, signal });
  return jsonOf('server', body)['mode'] === 'paper';
}

async function connect(
  { link }: ServerClient,
  asked: { readonly task: TaskId; readonly certificate: Certificate },
  { bufferSize, sealing }: { readonly bufferSize: number; readonly sealing: SeedSealing },
  signal: AbortSignal,
): Promise<Omit<PaperConnection, 'attributes'>> {
  const { connectAnswer } = paperMessages(bufferSize, sealing);
  const maxBytes = MAX_STATEMENT_BYTES + bufferSize * (INBOX_ENTRY_BYTES + sealing.sealedBytes);
  const target = SERVER_PATH.unsafePaperConnect(asked.task);
  const body = Certificate.encode(asked.certificate);
  const answer = await link.call({ method: 'POST', target, body, signed: true, maxBytes, signal });
  return decoded('server', connectAnswer, answer.body);
}

/** Returns true if the position was still this device's. */
async function upload({ link }: ServerClient, task: TaskId, framed: Uint8Array, signal: AbortSignal): Promise<boolean> {
  const target = SERVER_PATH.unsafePaperUpload(task);
  const maxBytes = MAX_JSON_BYTES;
  const { body } = await link.call({ method: 'POST', target, body: framed, signed: true, maxBytes, signal });
  return jsonOf('server', body)['accepted'] === true;
}

async function sealingKeyOf(authority: AuthorityClient, task: TaskId, signal: AbortSignal): Promise<Uint8Array> {
  return (await authority.get(AUTHORITY_PATH.unsafePaperSealingKey(task), signal)).body;
}

async function keyOf(
  authority: AuthorityClient,
  task: TaskId,
  ticket: PaperTicket,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const asked = { body: PaperTicket.encode(ticket) };
  return (await authority.post(AUTHORITY_PATH.unsafePaperKeys(task), asked, signal)).body;
}

/** One instance of mcl per thread is enough. */
let loading: Promise<Group> | undefined;
let current: { readonly publicKey: Uint8Array; readonly sealing: CachedSealing } | undefined;

async function load(): Promise<Group> {
  const group = await createMclGroup();
  warmUpPairing(group); // a cold process is several times slower
  return group;
}

interface PaperSealings {
  /** Throws a `DecodeError` for an invalid key. */
  of(publicKey: Uint8Array): SeedSealing;
  /** Drops the key of the position, which has opened everything it will. */
  forget(): void;
}

async function loadPaperSealings({ suite, randomBytes }: Outside): Promise<PaperSealings> {
  loading ??= load();
  const group = await loading;
  return {
    of(publicKey) {
      if (current !== undefined && equalBytes(current.publicKey, publicKey)) return current.sealing;
      const sealing = abeSealing({ publicKey: decodePublicKey(publicKey, group), group, suite, randomBytes });
      current?.sealing.forget();
      current = { publicKey, sealing };
      return sealing;
    },
    forget: () => current?.sealing.forget(),
  };
}

export async function contributeByAlgorithmTwo(
  context: DeviceContext,
  update: Pick<Update, 'delta' | 'trainedOn'>,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const { authorities, outside, server } = context;
  const publicKey = await publicKeyOf(context, signal);
  const meter = new Meter(
    outside.stopwatch,
    [server, ...authorities].map(({ link }) => link),
  );
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
  const publicKey = await sealingKeyOf(authorities[0] as AuthorityClient, task, signal);
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
  const authority = authorities[0] as AuthorityClient;
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
