/** The messages of `paper` mode. Deviates: the paper does not specify how the AA learns who holds k; a ticket tells it. */
import type { SeedSealing } from '@basa/masking';
import type { Attribute, Ctx, Slot, UserId } from '../wire/brands.ts';
import { type Codec, message, nested } from '../wire/codec.ts';
import { fixed, list, positive, u53 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { field } from '../wire/named-fields.ts';
import { type Signature, type SignedCodec, signedMessage } from '../wire/signed.ts';

/** The server states who holds position k; the AA issues a key only against it. */
export interface PaperTicketBody {
  readonly ctx: Ctx;
  readonly slot: Slot;
  readonly user: UserId;
}
export type PaperTicket = PaperTicketBody & Signature;

export const paperTicketCodec: SignedCodec<PaperTicketBody> = signedMessage(KIND.paperTicket, 'paperTicket', {
  ctx: field.ctx,
  slot: field.slot,
  user: field.user,
});

/** y_k is sent separately, like the vector of any upload. */
export interface PaperUpload {
  readonly slot: Slot;
  /** alpha_k in clear, as in the paper. */
  readonly alpha: number;
  /** c_kj for j = k+1 .. K-1. */
  readonly ciphertexts: readonly Uint8Array[];
}

/** The message to a connecting user: A, k with the ticket for it, C_k and t. The attributes are not sent: they follow from the ticket. */
export interface PaperConnection {
  readonly attributes: readonly Attribute[];
  readonly ticket: PaperTicket;
  readonly inbox: readonly Uint8Array[];
  readonly version: number;
}

type PaperConnectAnswer = Omit<PaperConnection, 'attributes'>;

export interface PaperMessages {
  readonly connectAnswer: Codec<PaperConnectAnswer>;
  readonly upload: Codec<PaperUpload>;
}

export function paperMessages(bufferSize: number, { sealedBytes }: Pick<SeedSealing, 'sealedBytes'>): PaperMessages {
  const ciphertexts = list(bufferSize - 1, fixed(sealedBytes));
  return {
    connectAnswer: message<PaperConnectAnswer>(KIND.paperConnectAnswer, 'paperConnectAnswer', {
      ticket: nested(paperTicketCodec, 256),
      inbox: ciphertexts,
      version: u53,
    }),
    upload: message<PaperUpload>(KIND.paperUpload, 'paperUpload', { slot: field.slot, alpha: positive, ciphertexts }),
  };
}
