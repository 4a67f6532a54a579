/** The world of a federation, as each of its parties sees it: the outside as arguments, and the authorities. */
import type {
  AttributeKeyIssuer,
  Keystream,
  MaskPlan,
  MaskTools,
  RandomBytes,
  RandomWords,
  SeedSealing,
  Signer,
} from '@basa/masking';
import type { Millis, Refused, TaskId } from '@basa/protocol';
import type { TaskPolicy } from '@basa/protocol/policy';
import type { Certificate, Devices } from '@basa/protocol/wire';
import type { PartyName } from './crash.ts';

/** A federation does not access randomness, a clock or cryptography directly. */
export interface Environment {
  readonly tools: MaskTools<Keystream>;
  createSigner(secretKey: Uint8Array): Signer;
  /** A stream of words that repeats with its seed. */
  randomWords(seed: number): RandomWords;
}

/** The sealing of seeds to the attributes of positions, as in the paper, with the side of the authority. */
export interface PaperSealings {
  readonly issuer: AttributeKeyIssuer;
  readonly sealing: SeedSealing;
}

/** An authority as devices reach it for enrolments. */
interface AuthorityPeer {
  enrol(body: Devices.CertificateBody): Certificate | Refused;
}

export interface World {
  readonly environment: Environment;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly now: Millis;
  readonly randomBytes: RandomBytes;
  readonly authorities: readonly AuthorityPeer[];
  /** True if the authority with this index does not answer for now. */
  readonly isAway: (authority: number) => boolean;
  /** Called when something became durable; this may be the last thing the party did. */
  persisted(party: PartyName): void;
  /** Makes one request and returns its answer: retried if a party crashed during it or the reply was lost. */
  call<Answer>(step: string, request: () => Answer): Answer;
  mask(vector: Uint32Array, plan: MaskPlan): void;
}

/** The parts of the world that an authority needs. */
export type AuthorityWorld = Pick<World, 'environment' | 'policy' | 'task' | 'now' | 'randomBytes' | 'persisted'>;
