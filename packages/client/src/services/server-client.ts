/** A device's view of the server. Its answers are not trusted here: the session checks them against the pins. */
import { fromHex, toHex } from '@basa/masking';
import {
  type AuthorityStanding,
  type BufferSealing,
  type Certificate,
  type Ctx,
  certificateCodec,
  type Deposit,
  type DepositAnswer,
  type DrawnBuffer,
  drawnBufferCodec,
  type Fate,
  HEADER,
  type JoinTag,
  type Line,
  lineCodec,
  MAX_AUTHORITIES,
  MAX_SLOTS,
  SERVER_PATH,
  type SeatRequest,
  seatRequestCodec,
  standingsCodec,
  type TaskId,
  userMessages,
} from '@basa/protocol';
import { decoded, hexOf, jsonOf } from '../answers.ts';
import { AnswerError } from '../errors.ts';
import type { Answered, Call, ServiceLink } from './service-link.ts';

const MAX_JSON_BYTES = 1 << 20;
const MAX_STATEMENT_BYTES = 16_384;
/** A descriptor with the keys of the largest number of slots and authorities. */
const MAX_DRAWN_BYTES = MAX_STATEMENT_BYTES + 32 * (MAX_SLOTS + 1) * MAX_AUTHORITIES;
/** Everything in an inbox entry besides the sealed seed, with room for its lengths. */
const INBOX_ENTRY_BYTES = 512;

/** One piece of an upload: the signed header goes with each. */
export interface UploadPiece {
  /** The path that it is put to. */
  readonly target: string;
  readonly header: Uint8Array;
  readonly offset: number;
  readonly piece: Uint8Array;
}

export class ServerClient {
  readonly link: ServiceLink;

  constructor(link: ServiceLink) {
    this.link = link;
  }

  /** Its key, and the next one if it is being replaced. */
  async publicKeys(signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const { publicKey, nextKey } = jsonOf('server', (await this.#get(SERVER_PATH.about, signal)).body);
    const next = nextKey === undefined ? [] : [hexOf('server', nextKey, 'nextKey')];
    return [hexOf('server', publicKey, 'publicKey'), ...next];
  }

  async admission(task: TaskId, certificate: Certificate, signal: AbortSignal): Promise<GivenPlace> {
    const asked = certificateCodec.encode(certificate);
    const { body } = await this.#post(SERVER_PATH.admissions(task), asked, MAX_JSON_BYTES, signal);
    const { endsInMs, standings } = jsonOf('server', body);
    if (typeof endsInMs !== 'number' || !(endsInMs >= 0))
      throw new AnswerError('the server', 'a place without its end');
    if (standings === undefined) return { endsInMs, standings: [] };
    const told = fromHex(String(standings));
    if (told === undefined) throw new AnswerError('the server', 'statements with a place that are not in hex');
    return { endsInMs, ...decoded('server', standingsCodec, told) };
  }

  async discardPlace(task: TaskId, signal: AbortSignal): Promise<void> {
    const target = SERVER_PATH.admissions(task);
    await this.link.call({ method: 'DELETE', target, signed: true, maxBytes: MAX_JSON_BYTES, signal });
  }

  async seat(task: TaskId, request: SeatRequest, signal: AbortSignal): Promise<DrawnBuffer> {
    const asked = seatRequestCodec.encode(request);
    const { body } = await this.#post(SERVER_PATH.seats(task), asked, MAX_DRAWN_BYTES, signal);
    return decoded('server', drawnBufferCodec, body);
  }

  async deposit(deposit: Deposit, sealing: BufferSealing, signal: AbortSignal): Promise<DepositAnswer> {
    const bufferSize = deposit.entries.length + 1;
    const messages = userMessages(bufferSize, sealing);
    const maxBytes = MAX_STATEMENT_BYTES + bufferSize * (INBOX_ENTRY_BYTES + sealing.sealedBytes);
    const asked = messages.deposit.encode(deposit);
    const { body } = await this.#post(SERVER_PATH.deposits(deposit.ctx), asked, maxBytes, signal);
    return decoded('server', messages.depositAnswer, body);
  }

  /** Returns the number of bytes of the upload that are durable. */
  async uploadOffset({ target, header }: Omit<UploadPiece, 'offset' | 'piece'>, signal: AbortSignal): Promise<number> {
    const answer = await this.link.call({
      method: 'HEAD',
      target,
      headers: { [HEADER.upload]: toHex(header) },
      signed: true,
      maxBytes: 0,
      signal,
    });
    const offset = Number(answer.header(HEADER.uploadOffset) ?? Number.NaN);
    if (!Number.isSafeInteger(offset) || offset < 0) throw new AnswerError('the server', 'no Upload-Offset');
    return offset;
  }

  async uploadPiece({ target, header, offset, piece }: UploadPiece, signal: AbortSignal): Promise<Received> {
    const { body } = await this.link.call({
      method: 'PUT',
      target,
      ...(piece.length === 0 ? {} : { body: piece }),
      headers: { [HEADER.upload]: toHex(header), [HEADER.uploadOffset]: String(offset) },
      signed: true,
      maxBytes: MAX_JSON_BYTES,
      signal,
    });
    const { received, accepted } = jsonOf('server', body);
    if (!Number.isSafeInteger(received) || typeof accepted !== 'boolean') {
      throw new AnswerError('the server', 'an upload without { received, accepted }');
    }
    return { received: received as number, accepted };
  }

  fate(ctx: Ctx, joinTag: JoinTag, signal: AbortSignal): Promise<Fate> {
    return this.#fate(SERVER_PATH.fate(ctx, joinTag), FATES, signal);
  }

  /** One-shot: the newest statements of the authorities that the server shows. */
  async standings(task: TaskId, signal: AbortSignal): Promise<readonly AuthorityStanding[]> {
    const { body } = await this.#get(SERVER_PATH.standings(task), signal);
    return decoded('server', standingsCodec, body).standings;
  }

  /** The terms of a task whose authorities may be replaced, as far as the server shows them. */
  async line(task: TaskId, signal: AbortSignal): Promise<Line> {
    const { body } = await this.#get(SERVER_PATH.line(task), signal);
    return decoded('server', lineCodec, body);
  }

  shotFate(task: TaskId, upload: Ctx, signal: AbortSignal): Promise<ShotFate> {
    return this.#fate(SERVER_PATH.shotFate(task, upload), SHOT_FATES, signal);
  }

  async #fate<Word extends string>(target: string, words: readonly Word[], signal: AbortSignal): Promise<Word> {
    const { fate } = jsonOf('server', (await this.#get(target, signal)).body);
    const known = words.find((word) => word === fate);
    if (known === undefined) throw new AnswerError('the server', 'an update without a fate');
    return known;
  }

  #get(target: string, signal: AbortSignal): Promise<Answered> {
    return this.link.call({ method: 'GET', target, maxBytes: MAX_JSON_BYTES, signal });
  }

  #post(target: string, body: Uint8Array, maxBytes: number, signal: AbortSignal): Promise<Answered> {
    const call: Call = { method: 'POST', target, body, signed: true, maxBytes, signal };
    return this.link.call(call);
  }
}

/** A place to train in. */
export interface GivenPlace {
  /** The time for which it lasts. */
  readonly endsInMs: number;
  /** One-shot: the newest statements of the authorities that the server shows. */
  readonly standings: readonly AuthorityStanding[];
}

export interface Received {
  readonly received: number;
  readonly accepted: boolean;
}

const SHOT_FATES = ['waiting', 'included', 'quarantined', 'refused', 'version-over', 'unknown'] as const;
type ShotFate = (typeof SHOT_FATES)[number];

const FATES: readonly Fate[] = ['pending', 'included', 'excluded', 'aborted', 'quarantined', 'unknown'];
