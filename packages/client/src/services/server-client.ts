/** A device's view of the server. Its answers are not trusted here: the session checks them against the pins. */
import { fromHex, toHex } from '@basa/masking';
import type { Ctx, TaskId } from '@basa/protocol';
import { HEADER, SERVER_PATH } from '@basa/protocol/http';
import { Certificate, ShownModel } from '@basa/protocol/wire';
import { AnswerError } from '../errors.ts';
import { decoded, hexOf, jsonOf } from './answers.ts';
import type { Answered, Call, ServiceLink } from './link.ts';

const MAX_JSON_BYTES = 1 << 20;

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

  async publicKey(signal: AbortSignal): Promise<Uint8Array> {
    const { publicKey } = jsonOf('server', (await this.#get(SERVER_PATH.about, signal)).body);
    return hexOf('server', publicKey, 'publicKey');
  }

  async admission(task: TaskId, certificate: Certificate, signal: AbortSignal): Promise<GivenPlace> {
    const asked = Certificate.encode(certificate);
    const target = SERVER_PATH.admissions(task);
    const call = { method: 'POST' as const, target, body: asked, signed: true, maxBytes: MAX_JSON_BYTES, signal };
    const { body } = await this.link.call(call);
    const { endsInMs, model } = jsonOf('server', body);
    if (typeof endsInMs !== 'number' || !(endsInMs >= 0))
      throw new AnswerError('the server', 'a place without its end');
    if (model === undefined) return { endsInMs };
    const told = fromHex(String(model));
    if (told === undefined) throw new AnswerError('the server', 'a model with a place that is not in hex');
    return { endsInMs, model: decoded('server', ShownModel, told) };
  }

  async discardPlace(task: TaskId, signal: AbortSignal): Promise<void> {
    const target = SERVER_PATH.admissions(task);
    await this.link.call({ method: 'DELETE', target, signed: true, maxBytes: MAX_JSON_BYTES, signal });
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
      headers: { [HEADER.upload]: toHex(header) },
      offset,
      maxBytes: MAX_JSON_BYTES,
      signal,
    });
    const { received, accepted } = jsonOf('server', body);
    if (!Number.isSafeInteger(received) || typeof accepted !== 'boolean') {
      throw new AnswerError('the server', 'an upload without { received, accepted }');
    }
    return { received: received as number, accepted };
  }

  /** The newest model, and the open epochs of the authorities. */
  async newestModel(task: TaskId, certificate: Certificate, signal: AbortSignal): Promise<ShownModel> {
    const target = SERVER_PATH.newestModel(task);
    const call = { method: 'GET' as const, target, ...asMember(certificate), maxBytes: MAX_JSON_BYTES, signal };
    const { body } = await this.link.call(call);
    return decoded('server', ShownModel, body);
  }

  async uploadFate(task: TaskId, upload: Ctx, signal: AbortSignal): Promise<UploadFate> {
    const { fate } = jsonOf('server', (await this.#get(SERVER_PATH.shotFate(task, upload), signal)).body);
    const known = FATES.find((word) => word === fate);
    if (known === undefined) throw new AnswerError('the server', 'an update without a fate');
    return known;
  }

  #get(target: string, signal: AbortSignal): Promise<Answered> {
    return this.link.call({ method: 'GET', target, maxBytes: MAX_JSON_BYTES, signal });
  }
}

/** A signed request of a device that shows its certificate: models and results are for devices of the task. */
export function asMember(certificate: Certificate): Required<Pick<Call, 'signed' | 'headers'>> {
  return { signed: true, headers: { [HEADER.certificate]: toHex(Certificate.encode(certificate)) } };
}

/** A place to train in. */
interface GivenPlace {
  /** The time for which it lasts. */
  readonly endsInMs: number;
  /** The newest model; missing in paper mode, and if too few authorities have answered the server recently. */
  readonly model?: ShownModel;
}

interface Received {
  readonly received: number;
  readonly accepted: boolean;
}

/**
 * `waiting`: in no sum yet. `quarantined`: the sum with this update failed its checks. `refused` and `version-over`: the server left the
 * update out. `unknown`: its batch was given up.
 */
const FATES = ['waiting', 'included', 'quarantined', 'refused', 'version-over', 'unknown'] as const;
export type UploadFate = (typeof FATES)[number];
