/** The messages of `paper` mode. Deviates: the paper does not specify how the AA learns who holds k; a ticket tells it. */
import type { SeedSealing, Suite } from '@basa/masking';
import { type Message, message, nested, type Signature, type SignedCodec, signedMessage } from '../wire/codec.ts';
import {
  type Attribute,
  type Ctx,
  type Field,
  field,
  fixed,
  KIND,
  list,
  type Position,
  positive,
  type UserId,
  u8,
  u16,
  u53,
} from '../wire/fields.ts';

/** The server states who holds position k; the AA issues a key only against it. */
interface PaperTicketBody {
  readonly ctx: Ctx;
  readonly position: Position;
  readonly user: UserId;
}
export type PaperTicket = PaperTicketBody & Signature;

export const PaperTicket: SignedCodec<PaperTicketBody> = signedMessage(KIND.paperTicket, 'paperTicket', {
  ctx: field.ctx,
  position: field.position,
  user: field.user,
});

/** y_k is sent separately, like the vector of any upload. */
export interface PaperUpload {
  readonly position: Position;
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
  readonly connectAnswer: Message<PaperConnectAnswer>;
  readonly upload: Message<PaperUpload>;
}

export function paperMessages(bufferSize: number, { sealedBytes }: Pick<SeedSealing, 'sealedBytes'>): PaperMessages {
  const ciphertexts = list(bufferSize - 1, fixed(sealedBytes));
  return {
    connectAnswer: message<PaperConnectAnswer>(KIND.paperConnectAnswer, 'paperConnectAnswer', {
      ticket: nested(PaperTicket, 256),
      inbox: ciphertexts,
      version: u53,
    }),
    upload: message<PaperUpload>(KIND.paperUpload, 'paperUpload', {
      position: field.position,
      alpha: positive,
      ciphertexts,
    }),
  };
}

/** The byte that other attributes would differ in. */
const PAPER = 4;
const NO_REGISTRATION = new Uint8Array(32);

const ctx = fixed<Ctx>(32);

interface AttributeLines {
  readonly ctx: Ctx;
  readonly role: number;
  readonly position: Position;
  readonly registration: Uint8Array;
}

export const attributeCodec: Message<AttributeLines> = message(KIND.attribute, 'attribute', {
  ctx,
  role: u8,
  position: u16 as Field<Position>,
  registration: fixed(32),
});

/** a_k. */
export function paperAttribute(suite: Suite, ctx: Ctx, position: Position): Attribute {
  return attributeCodec.hash(suite, { ctx, role: PAPER, position, registration: NO_REGISTRATION }) as Attribute;
}

/** The byte that other purposes of a seed would differ in. */
const PAPER_SEED = 3;
/** Public-key ciphertexts of the paper have no sender; the context only names buffer and position. */
const NOBODY = new Uint8Array(32);

interface ContextLines {
  readonly ctx: Ctx;
  readonly role: number;
  readonly name: Uint8Array;
  readonly position: number;
}

export const sealingContextCodec: Message<ContextLines> = message(KIND.sealingContext, 'sealingContext', {
  ctx,
  role: u8,
  name: fixed(32),
  position: u16,
});

/** The context of a seed that is sealed to a position, so that a ciphertext opens only there. */
export function paperContext(ctx: Ctx, position: number): Uint8Array {
  return sealingContextCodec.encode({ ctx, role: PAPER_SEED, name: NOBODY, position });
}
