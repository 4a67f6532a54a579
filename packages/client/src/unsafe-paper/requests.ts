/** A device's requests to both services in paper mode. Their answers are not checked, as in the paper. */
import type { SeedSealing } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { type PaperConnection, type PaperTicket, paperMessages, paperTicketCodec } from '@basa/protocol/paper';
import { type Certificate, certificateCodec } from '@basa/protocol/wire';
import { decoded, jsonOf } from '../answers.ts';
import type { AuthorityClient } from '../services/authority-client.ts';
import type { ServerClient } from '../services/server-client.ts';

const MAX_JSON_BYTES = 1 << 20;
const MAX_STATEMENT_BYTES = 16_384;
/** Everything of a ciphertext in the answer besides the sealed seed. */
const INBOX_ENTRY_BYTES = 512;

/** True if the server runs the task in paper mode. */
export async function isPaperTask({ link }: ServerClient, task: TaskId, signal: AbortSignal): Promise<boolean> {
  const target = SERVER_PATH.task(task);
  const { body } = await link.call({ method: 'GET', target, maxBytes: MAX_JSON_BYTES, signal });
  return jsonOf('server', body)['mode'] === 'paper';
}

export async function connect(
  { link }: ServerClient,
  asked: { readonly task: TaskId; readonly certificate: Certificate },
  { bufferSize, sealing }: { readonly bufferSize: number; readonly sealing: SeedSealing },
  signal: AbortSignal,
): Promise<Omit<PaperConnection, 'attributes'>> {
  const { connectAnswer } = paperMessages(bufferSize, sealing);
  const maxBytes = MAX_STATEMENT_BYTES + bufferSize * (INBOX_ENTRY_BYTES + sealing.sealedBytes);
  const target = SERVER_PATH.unsafePaperConnect(asked.task);
  const body = certificateCodec.encode(asked.certificate);
  const answer = await link.call({ method: 'POST', target, body, signed: true, maxBytes, signal });
  return decoded('server', connectAnswer, answer.body);
}

/** Returns true if the position was still this device's. */
export async function upload(
  { link }: ServerClient,
  task: TaskId,
  framed: Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  const target = SERVER_PATH.unsafePaperUpload(task);
  const maxBytes = MAX_JSON_BYTES;
  const { body } = await link.call({ method: 'POST', target, body: framed, signed: true, maxBytes, signal });
  return jsonOf('server', body)['accepted'] === true;
}

export async function sealingKeyOf(authority: AuthorityClient, task: TaskId, signal: AbortSignal): Promise<Uint8Array> {
  return (await authority.get(AUTHORITY_PATH.unsafePaperSealingKey(task), signal)).body;
}

export async function keyOf(
  authority: AuthorityClient,
  task: TaskId,
  ticket: PaperTicket,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const asked = { body: paperTicketCodec.encode(ticket) };
  return (await authority.post(AUTHORITY_PATH.unsafePaperKeys(task), asked, signal)).body;
}
