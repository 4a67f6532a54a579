/** Uploads that arrive in pieces, as a server takes them (docs/http.md). */
import { concatBytes } from '@basa/masking';
import { HEADER, problemDocument, problemOfRefusal, type Refused } from '@basa/protocol';
import type { Asked } from './http-listener.ts';
import { documented, json, type Reply } from './http-replies.ts';

export interface ReceivedUpload {
  readonly name: string;
  readonly bodyBytes: number;
  readonly isKnown: boolean;
  /** Takes the whole body. */
  accept(body: Uint8Array): { readonly kind: string } | Refused;
}

export class Pieces {
  readonly #partial = new Map<string, Uint8Array>();

  receive(asked: Asked, { name, bodyBytes, isKnown, accept }: ReceivedUpload): Reply {
    const before = this.#partial.get(name) ?? new Uint8Array();
    const standing = isKnown ? bodyBytes : before.length;
    if (asked.method === 'HEAD') return { status: 200, headers: { [HEADER.uploadOffset]: String(standing) } };
    if (isKnown) return json({ received: bodyBytes, accepted: true });
    if (Number(asked.headers[HEADER.uploadOffset]) !== standing) {
      const document = problemDocument('offset-mismatch');
      return documented(document, { [HEADER.uploadOffset]: String(standing) });
    }
    const whole = concatBytes(before, asked.body);
    this.#partial.set(name, whole);
    if (whole.length < bodyBytes) return json({ received: whole.length, accepted: false });
    const answer = accept(whole);
    if (answer.kind === 'refused') return documented(problemOfRefusal(answer as Refused));
    return json({ received: whole.length, accepted: true });
  }
}
