/** The interfaces through which the parties of a federation see each other and the outside. */
import type {
  AttributeKeyIssuer,
  Keystream,
  MaskPlan,
  MaskTools,
  RandomWords,
  SeedSealing,
  Signer,
} from '@basa/masking';
import type {
  BufferIssuer,
  BufferSealing,
  Certificate,
  CertificateBody,
  CloseAnswer,
  Ctx,
  DrawnBuffer,
  Millis,
  ModelEntry,
  Offer,
  Outcome,
  OutcomeOf,
  Pins,
  Refused,
  SeatRequest,
  TaskId,
  TaskPolicy,
  UserMessages,
} from '@basa/protocol';
import type { PartyName } from './crash.ts';

/** The outside world as arguments. A federation does not access randomness, a clock or cryptography directly. */
export interface Environment {
  readonly tools: MaskTools<Keystream>;
  createSigner(secretKey: Uint8Array): Signer;
  /** A stream of words that repeats with its seed. */
  randomWords(seed: number): RandomWords;
}

/** The sealing of a federation, with the side of its authorities. */
export interface Sealings {
  readonly engine: number;
  /** Of the first authority. */
  readonly issuer: BufferIssuer;
  /** Of the others, if there are any. */
  readonly otherIssuers?: readonly BufferIssuer[];
  readonly sealing: BufferSealing;
}

/** The same with attributes only, as in the paper. */
export interface PaperSealings {
  readonly issuer: AttributeKeyIssuer;
  readonly sealing: SeedSealing;
}

/** The server as users reach it, and the authority as users and server reach it: bytes in, bytes or a refusal out. */
export interface ServerPeer {
  readonly messages: UserMessages;
  /** Returns the entry of a version in the model log; the newest one by default. */
  entry(version?: number): ModelEntry;
  seat(request: SeatRequest): DrawnBuffer | Refused;
  deposit(bytes: Uint8Array): Uint8Array | Refused;
  upload(bytes: Uint8Array): { readonly kind: 'accepted' } | Refused;
}

export interface AuthorityPeer {
  readonly publicKey: Uint8Array;
  enrol(body: CertificateBody): Certificate | Refused;
  offer(request: Uint8Array): Offer | Refused;
  drawBuffer(request: Uint8Array): DrawnBuffer | Refused;
  issueKey(request: Uint8Array): Uint8Array | Refused;
  close(request: Uint8Array): CloseAnswer | Refused;
  outcome(ctx: Ctx): Outcome;
  appendModel(append: Uint8Array): ModelEntry | Refused;
  adoptModel(entry: Uint8Array): ModelEntry | Refused;
}

export interface World {
  readonly environment: Environment;
  readonly sealings: Sealings;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly pins: Pins;
  readonly server: ServerPeer;
  /** The first of the authorities, which is the only one by default. */
  readonly authority: AuthorityPeer;
  readonly authorities: readonly AuthorityPeer[];
  /** True if the authority with this index does not answer for now. */
  readonly isAway?: (authority: number) => boolean;
  now: Millis;
  randomBytes(length: number): Uint8Array;
  /** Called when something became durable; this may be the last thing the party did. */
  persisted(party: PartyName): void;
  /** Makes one request and returns its answer: retried if a party crashed during it or the reply was lost. */
  call<Answer>(step: string, request: () => Answer): Answer;
  mask(vector: Uint32Array, plan: MaskPlan): void;
}

/** The parts of the world that an authority needs. */
export type AuthorityWorld = Readonly<
  Pick<World, 'environment' | 'sealings' | 'policy' | 'task' | 'now' | 'randomBytes' | 'persisted'>
>;

/** Returns the status of a buffer, as reported by the authorities that are present. */
export function outcomesOf({ authorities, isAway }: World, ctx: Ctx): readonly OutcomeOf[] {
  return authorities.flatMap((peer, authority) =>
    isAway?.(authority) ? [] : [{ authority, outcome: peer.outcome(ctx) }],
  );
}
