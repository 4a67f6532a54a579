/**
 * Fetches the newest model: its hash comes from the authority's log and its bytes from the server. The bytes are used only if they match
 * the hash.
 */
import { toHex } from '@basa/masking';
import { isRefused, loggedVersion, type ModelEntry, SERVER_PATH } from '@basa/protocol';
import { jsonOf } from '../answers.ts';
import { AnswerError, ProblemError, RefusedError } from '../errors.ts';
import type { DeviceContext } from './device-context.ts';

export interface FetchedModel {
  readonly version: number;
  /** SHA-256 of the parameters in hex, as the authority logged it. */
  readonly hash: string;
  readonly parameters: Float32Array;
}

const FLOAT_BYTES = 4;
/** The number of times a version is looked for at the server, with twice the wait each time. */
const MAX_LOOKS = 5;
const FIRST_WAIT_MS = 200;

/**
 * Returns `known` if it is the newest. The authority knows a version a moment before the server has recorded that it is
 * logged: a version that is not there yet is looked for again.
 */
export async function fetchModel(
  context: DeviceContext,
  known: FetchedModel | undefined,
  signal: AbortSignal,
): Promise<FetchedModel> {
  for (let looks = 1; ; looks++) {
    try {
      return await fetchNewest(context, known, signal);
    } catch (error) {
      const isThere = !(error instanceof ProblemError) || error.code !== 'not-found';
      if (isThere || looks === MAX_LOOKS) throw error;
      await context.outside.sleep(FIRST_WAIT_MS * 2 ** (looks - 1), signal);
    }
  }
}

async function fetchNewest(
  context: DeviceContext,
  known: FetchedModel | undefined,
  signal: AbortSignal,
): Promise<FetchedModel> {
  const { events, outside, policy } = context;
  if (policy.oneShot === undefined) return fetchStated(context, known, signal);
  const entry = await newestEntry(context, signal);
  const hash = toHex(entry.modelHash);
  if (known?.version === entry.version && known.hash === hash) return known;
  const bytes = await download(context, entry.version, signal);
  const version = loggedVersion(outside.suite, { policy }, entry, outside.suite.sha256(bytes));
  if (version === undefined) throw new RefusedError('model-not-logged', `version ${entry.version}`);
  events.emit('model', { version, bytes: bytes.length });
  return { version, hash, parameters: floatsOf(bytes) };
}

/** In paper mode the server states its newest version, and nobody checks it, as in the paper. */
async function fetchStated(
  context: DeviceContext,
  known: FetchedModel | undefined,
  signal: AbortSignal,
): Promise<FetchedModel> {
  const { events, outside, server, task } = context;
  const { body } = await server.link.call({
    method: 'GET',
    target: SERVER_PATH.task(task),
    maxBytes: MAX_TASK_BYTES,
    signal,
  });
  const { version } = jsonOf('server', body);
  if (typeof version !== 'number') throw new AnswerError('the server', 'no version of the model');
  if (known?.version === version) return known;
  const bytes = await download(context, version, signal);
  events.emit('model', { version, bytes: bytes.length });
  return { version, hash: toHex(outside.suite.sha256(bytes)), parameters: floatsOf(bytes) };
}

const MAX_TASK_BYTES = 1 << 20;

/** From statements of the authorities that the server passes on. Durable before it is trusted: no older version is accepted after it. */
async function newestEntry(context: DeviceContext, signal: AbortSignal): Promise<ModelEntry> {
  const gathered = await context.standings.newest(signal);
  if (isRefused(gathered)) throw new RefusedError(gathered.reason, gathered.detail);
  return gathered.entry;
}

/** Continues after a lost connection: versions never change, and the hash is checked over the whole. */
async function download(
  { server, policy, task }: DeviceContext,
  version: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(FLOAT_BYTES * policy.dimension);
  const target = SERVER_PATH.model(task, version);
  let [at, furthest] = [0, 0];
  await server.link.retrying(signal, async (progressed) => {
    if (at === bytes.length) return;
    const [start, headers] = [at, at === 0 ? {} : { range: `bytes=${at}-` }];
    const call = { method: 'GET' as const, target, headers, maxBytes: bytes.length, signal };
    let isFirst = true;
    await server.link.attempt(call, (chunk, status) => {
      if (isFirst) at = status === 206 ? start : 0;
      isFirst = false;
      if (at + chunk.length > bytes.length) throw new AnswerError('the server', 'a model of another dimension');
      bytes.set(chunk, at);
      at += chunk.length;
      if (at <= furthest) return; // repeated bytes are no progress
      furthest = at;
      progressed();
    });
  });
  if (at !== bytes.length) throw new AnswerError('the server', `a model of ${at} bytes instead of ${bytes.length}`);
  return bytes;
}

/** Little-endian on the wire, on every machine. */
function floatsOf(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Float32Array.from({ length: bytes.length / FLOAT_BYTES }, (_, n) => view.getFloat32(FLOAT_BYTES * n, true));
}
