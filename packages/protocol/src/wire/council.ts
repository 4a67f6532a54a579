/**
 * The authorities of a task, and their joint statements. A statement counts if `threshold` of them signed the same
 * words; t is large enough that no two contradicting statements can both have that many: t > (n + f) / 2.
 */
import { equalBytes, type Signer, type Suite } from '@basa/masking';
import { type Codec, isSigned, type Layout, message, type Signature, type SignedCodec } from './codec.ts';
import {
  type Ctx,
  checked,
  type Field,
  type Fields,
  field,
  fixed,
  KIND,
  list,
  MAX_AUTHORITIES,
  record,
  type TaskId,
  u8,
} from './fields.ts';

export interface Council {
  /** Their public keys, in an order that never changes: the index of an authority is its name. */
  readonly authorities: readonly Uint8Array[];
  /** t. */
  readonly threshold: number;
}

/** The sets of authorities that a task may have: n of them, of which t are needed while at most f lie or collude with the server. */
const COUNCIL_SIZES: readonly (readonly [authorities: number, threshold: number, tolerated: number])[] = [
  [1, 1, 0],
  [3, 3, 1],
  [4, 3, 1],
  [5, 4, 1],
  [6, 4, 1],
  [7, 5, 1],
  [7, 5, 2],
  [8, 6, 2],
];

export const authoritiesField = list(MAX_AUTHORITIES, fixed(32));

/** The number of authorities that a task with this many needs; all of them for a number that no task can have. */
export function defaultThreshold(authorities: number): number {
  return COUNCIL_SIZES.find(([count]) => count === authorities)?.[1] ?? authorities;
}

/** The largest f for these numbers; 0 if no task can have them. */
export function mostTolerated({ authorities, threshold }: Council): number {
  const sizes = COUNCIL_SIZES.filter(([count, needed]) => count === authorities.length && needed === threshold);
  return Math.max(0, ...sizes.map(([, , tolerated]) => tolerated));
}

/** Returns a sentence that lists the possible sets if this is none of them. */
export function councilSizeProblem({ authorities, threshold }: Council, tolerated: number): string | undefined {
  const { length } = authorities;
  if (COUNCIL_SIZES.some(([n, t, f]) => n === length && t === threshold && f === tolerated)) return undefined;
  const possible = COUNCIL_SIZES.map(([n, t, f]) => `${t} of ${n} (${f})`).join(', ');
  return `${threshold} of ${length} authorities, of which ${tolerated} may collude, are not possible; possible are ${possible}`;
}

/** One authority's signature. */
export interface Endorsement {
  /** Its index. */
  readonly authority: number;
  readonly signature: Uint8Array;
}

export interface Endorsed {
  /** Of different authorities, by rising index. */
  readonly endorsements: readonly Endorsement[];
}

/** At most one item of each authority. */
export function byRisingIndex<T extends { readonly authority: number }>(item: Field<T>): Field<readonly T[]> {
  return checked(list(MAX_AUTHORITIES, item), (all) =>
    all.some(({ authority }, n) => authority <= (all[n - 1]?.authority ?? -1)) ? 'not by rising index' : undefined,
  );
}

export const endorsementsField: Field<readonly Endorsement[]> = byRisingIndex(
  record<Endorsement>({ authority: u8, signature: fixed(64) }),
);

/** A statement that several authorities sign, with the signatures so far. */
export interface EndorsedCodec<T> extends Codec<T & Endorsed>, Layout {
  /** The bytes that each of them signs. */
  statement(body: T): Uint8Array;
  /** SHA-256 of these bytes. */
  statementHash(suite: Suite, body: T): Uint8Array;
}

export function endorsedMessage<T extends object>(kind: number, name: string, fields: Fields<T>): EndorsedCodec<T> {
  const body = message<T>(kind, name, fields);
  return {
    ...message<T & Endorsed>(kind, name, { ...fields, endorsements: endorsementsField } as Fields<T & Endorsed>),
    fields: body.fields,
    statement: (value) => body.encode(value),
    statementHash: (suite, value) => body.hash(suite, value),
  };
}

/** The statement with the signature of the authority whose key this is. */
export function endorse<T extends object>(
  codec: EndorsedCodec<T>,
  council: Keys,
  signer: Signer,
  body: T,
): T & Endorsed {
  const authority = indexOf(council, signer.publicKey);
  if (authority === undefined) throw new Error('the signer is not an authority of this task');
  return { ...body, endorsements: [{ authority, signature: signer.sign(codec.statement(body)) }] };
}

/** True if the authority with this index signed it. */
export function isSignedBySeat<T extends object>(
  suite: Suite,
  codec: SignedCodec<T>,
  council: Keys,
  authority: number,
  signed: T & Signature,
): boolean {
  const publicKey = council.authorities[authority];
  return publicKey !== undefined && isSigned(suite, codec, signed, publicKey);
}

/** The index of the authority with this key. */
export function indexOf({ authorities }: Pick<Council, 'authorities'>, publicKey: Uint8Array): number | undefined {
  const index = authorities.findIndex((key) => equalBytes(key, publicKey));
  return index < 0 ? undefined : index;
}

/** True if enough authorities of the council signed it, and no one else. */
export function isEndorsed<T extends object>(
  suite: Suite,
  codec: EndorsedCodec<T>,
  council: Council,
  statement: T & Endorsed,
): boolean {
  return statement.endorsements.length >= council.threshold && hasGoodEndorsements(suite, codec, council, statement);
}

/** The keys of a council. */
type Keys = Pick<Council, 'authorities'>;

/** True if every signature on it is one of the council. There may be too few. */
export function hasGoodEndorsements<T extends object>(
  suite: Suite,
  codec: EndorsedCodec<T>,
  council: Keys,
  statement: T & Endorsed,
): boolean {
  const { endorsements } = statement;
  const isRising = endorsements.every(({ authority }, n) => authority > (endorsements[n - 1]?.authority ?? -1));
  if (!isRising) return false;
  const words = codec.statement(statement);
  return endorsements.every(({ authority, signature }) => {
    const publicKey = council.authorities[authority];
    return publicKey !== undefined && suite.verify({ signature, message: words, publicKey });
  });
}

/** True if only this authority signed it. */
export function isEndorsedByOne<T extends object>(
  suite: Suite,
  codec: EndorsedCodec<T>,
  council: Keys,
  statement: T & Endorsed,
  authority: number,
): boolean {
  const [only, ...others] = statement.endorsements;
  return only?.authority === authority && others.length === 0 && hasGoodEndorsements(suite, codec, council, statement);
}

/**
 * Returns the statement that most authorities agree on, with all their signatures. Undefined if no statement has enough signatures. The
 * caller must have checked the signatures.
 */
export function agreedOn<T extends object>(
  codec: EndorsedCodec<T>,
  { threshold }: Pick<Council, 'threshold'>,
  statements: readonly (T & Endorsed)[],
): (T & Endorsed) | undefined {
  for (const [n, statement] of statements.entries()) {
    const words = codec.statement(statement);
    const alike = statements.slice(n).filter((other) => equalBytes(codec.statement(other), words));
    const endorsements = joined(alike.flatMap((one) => one.endorsements));
    if (endorsements.length >= threshold) return { ...statement, endorsements };
  }
  return undefined;
}

/** One of each authority, by rising index. */
export function joined(endorsements: readonly Endorsement[]): readonly Endorsement[] {
  const byAuthority = new Map(endorsements.map((one) => [one.authority, one]));
  return [...byAuthority.values()].sort((a, b) => a.authority - b.authority);
}

/** The authority votes for this batch, and for no other with an upload of it. */
interface VoteBody {
  readonly task: TaskId;
  readonly ctx: Ctx;
}
export type Vote = VoteBody & Endorsed;

export const Vote: EndorsedCodec<VoteBody> = endorsedMessage(KIND.vote, 'vote', {
  task: field.task,
  ctx: field.ctx,
});

/** Collects the answers of several authorities. A wrong answer does not count, and the poll ends when there are enough. */
export class Poll<Answer> {
  /** In the order in which they came. */
  readonly good: Answer[] = [];
  readonly wrong: Answer[] = [];
  readonly failures: unknown[] = [];
  readonly #asked: number;
  readonly #isEnough: (good: readonly Answer[]) => boolean;

  /** `isEnough` judges only the good answers: it may require more than their number, for example that they agree. */
  constructor(asked: number, isEnough: (good: readonly Answer[]) => boolean) {
    this.#asked = asked;
    this.#isEnough = isEnough;
  }

  /** `problem` is the reason why the answer does not count. */
  answered(answer: Answer, problem: object | undefined): void {
    (problem === undefined ? this.good : this.wrong).push(answer);
  }

  failed(error: unknown): void {
    this.failures.push(error);
  }

  get isEnough(): boolean {
    return this.#isEnough(this.good);
  }

  /** All have answered or failed. */
  get isOver(): boolean {
    return this.good.length + this.wrong.length + this.failures.length >= this.#asked;
  }
}
