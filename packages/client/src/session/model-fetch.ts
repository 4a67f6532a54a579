/** Fetches the newest model: the server signs its hash, and the bytes are used only if they match the hash. */
import { equalBytes, toHex } from '@basa/masking';
import { isRefused } from '@basa/protocol';
import { SERVER_PATH } from '@basa/protocol/http';
import { AnswerError, RefusedError } from '../errors.ts';
import { asMember } from '../services/server-client.ts';
import type { DeviceContext } from './device-context.ts';

export interface FetchedModel {
  readonly version: number;
  /** SHA-256 of the parameters in hex, as the server signed it. */
  readonly hash: string;
  readonly parameters: Float32Array;
}

const FLOAT_BYTES = 4;
/** Returns `known` if it is the newest. */
export async function fetchModel(
  context: DeviceContext,
  known: FetchedModel | undefined,
  signal: AbortSignal,
): Promise<FetchedModel> {
  const { events, models, outside } = context;
  const gathered = await models.newest(signal);
  if (isRefused(gathered)) throw new RefusedError(gathered.reason, gathered.detail);
  const { modelHash, version } = gathered.statement;
  const hash = toHex(modelHash);
  if (known?.version === version && known.hash === hash) {
    models.took(version);
    return known;
  }
  const bytes = await download(context, version, signal);
  if (!equalBytes(outside.suite.sha256(bytes), modelHash))
    throw new RefusedError('model-invalid', `version ${version}`);
  models.took(version);
  events.emit('model', { version, bytes: bytes.length });
  return { version, hash, parameters: floatsOf(bytes) };
}

/** Continues after a lost connection: versions never change, and the hash is checked over the whole. */
async function download(
  { server, policy, task, state: { certificate } }: DeviceContext,
  version: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(FLOAT_BYTES * policy.dimension);
  if (certificate === undefined) throw new RefusedError('not-enrolled');
  const target = SERVER_PATH.model(task, version);
  const { signed, headers: member } = asMember(certificate);
  let [at, furthest] = [0, 0];
  await server.link.retrying(signal, async (progressed) => {
    if (at === bytes.length) return;
    const [start, headers] = [at, at === 0 ? member : { ...member, range: `bytes=${at}-` }];
    const call = { method: 'GET' as const, target, signed, headers, maxBytes: bytes.length, signal };
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
