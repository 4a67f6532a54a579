/** What the parties of a federation see of each other and of the outside. */
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
  Outcome,
  Pins,
  Refused,
  TaskId,
  TaskPolicy,
  UserMessages,
} from '@basa/protocol';
import type { PartyName } from './crash.ts';

/** The outside, as arguments: a federation has no randomness, clock or cryptography of its own. */
export interface Environment {
  readonly tools: MaskTools<Keystream>;
  createSigner(secretKey: Uint8Array): Signer;
  /** A stream of words that repeats with its seed. */
  randomWords(seed: number): RandomWords;
}

/** The sealing of a federation, with the authority's side of it. */
export interface Sealings {
  readonly engine: number;
  readonly issuer: BufferIssuer;
  readonly sealing: BufferSealing;
}

/** The same with attributes alone, as the paper has it. */
export interface PaperSealings {
  readonly issuer: AttributeKeyIssuer;
  readonly sealing: SeedSealing;
}

/** The server as users reach it, and the authority as users and server reach it: bytes in, bytes or a no out. */
export interface ServerPeer {
  readonly messages: UserMessages;
  seat(certificate: Certificate): DrawnBuffer | Refused;
  deposit(bytes: Uint8Array): Uint8Array | Refused;
  upload(bytes: Uint8Array): { readonly kind: 'accepted' } | Refused;
}

export interface AuthorityPeer {
  readonly publicKey: Uint8Array;
  enrol(body: CertificateBody): Certificate | Refused;
  drawBuffer(request: Uint8Array): DrawnBuffer | Refused;
  issueKey(request: Uint8Array): Uint8Array | Refused;
  close(request: Uint8Array): CloseAnswer | Refused;
  outcome(ctx: Ctx): Outcome;
  appendModel(append: Uint8Array): ModelEntry | Refused;
}

export interface World {
  readonly environment: Environment;
  readonly sealings: Sealings;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly pins: Pins;
  readonly server: ServerPeer;
  readonly authority: AuthorityPeer;
  now: Millis;
  randomBytes(length: number): Uint8Array;
  /** Something became durable; this may be the last thing the party did. */
  persisted(party: PartyName): void;
  /** One request and its answer, tried again where a party crashed under it or the reply got lost. */
  call<Answer>(step: string, request: () => Answer): Answer;
  mask(vector: Uint32Array, plan: MaskPlan): void;
}
