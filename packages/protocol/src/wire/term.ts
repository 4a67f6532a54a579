/**
 * Succession: one seat of a council, or the role of the server, is given to another key, and the task keeps its name.
 * Term 0 has the keys of the policy. Every later term is one record that names the term before it by its hash, so that
 * the terms of a task form one line from the policy on. A record counts if the new key accepted it and enough seats of
 * the term before signed it. The server's key signs no term.
 */
import { equalBytes, type Signer, type Suite } from '@basa/masking';
import { type Millis, millis, type TaskId } from './brands.ts';
import { type Certificate, certificateCodec } from './certificate.ts';
import { type Codec, message, nested, nestedLong } from './codec.ts';
import {
  type Council,
  ENDORSEMENT_BYTES,
  type Endorsed,
  type EndorsedCodec,
  endorse,
  endorsedMessage,
  endorsementsField,
  hasGoodEndorsements,
  isEndorsed,
  joined,
} from './council.ts';
import { type Field, fixed, list, optional, record, text, u8, u32 } from './fields.ts';
import { KIND } from './kinds.ts';
import { type HeadBody, headField } from './model-log.ts';
import { field } from './named-fields.ts';
import { policyField, type TaskPolicy, taskIdOf } from './policy.ts';
import { type Refused, refused } from './refusals.ts';

/** The words of a term. */
export interface TermBody {
  readonly task: TaskId;
  /** k + 1. */
  readonly number: number;
  /** The hash of term k; the name of the task for k = 0. */
  readonly previous: Uint8Array;
  /** The index of the authority that is replaced, or `SERVER_SEAT`. */
  readonly seat: number;
  /** The public key that holds the seat from then on. */
  readonly key: Uint8Array;
  /** The address at which devices and the server find it; empty for the server, whose address the application has. */
  readonly address: string;
  /** The last head of the log of the key that held the seat; undefined if the seat is lost, and for the server. */
  readonly last: HeadBody | undefined;
  readonly effective: Millis;
}

/** The signature of the recovery key, whose hash is in the policy. */
export interface Recovery {
  readonly key: Uint8Array;
  readonly signature: Uint8Array;
}

export interface Term extends TermBody, Endorsed {
  /** The signature of the new key: its owner takes the seat. */
  readonly accepted: Uint8Array;
  readonly recovery: Recovery | undefined;
}

/** The seat of a term that replaces the server's key. No authority has this index. */
export const SERVER_SEAT = 255;
/** The largest number of terms in a line. After that, a new task must be created. */
export const MAX_TERMS = 64;
const ADDRESS_BYTES = 256;
/** Signed requests name their path as sent, so an authority is at the root of its address. */
const ADDRESS = /^https?:\/\/(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)*)(:[0-9]{1,5})?$/;
/** Bytes that fit a term. */
export const TERM_BYTES: number = 1024 + ENDORSEMENT_BYTES;
export const LINE_BYTES: number = 8192 + MAX_TERMS * (TERM_BYTES + 4);

const bodyFields = {
  task: field.task,
  number: u32,
  previous: field.hash,
  seat: u8,
  key: fixed(32),
  address: text(ADDRESS_BYTES),
  last: optional<HeadBody>(headField),
  effective: field.millis,
};

/** The words that the seats of the term before sign, in that term. */
const termStatement: EndorsedCodec<TermBody> = endorsedMessage<TermBody>(KIND.term, 'term', bodyFields);

/** As it travels. */
export const termCodec: Codec<Term> = message<Term>(KIND.term, 'term', {
  ...bodyFields,
  accepted: fixed(64),
  recovery: optional(record<Recovery>({ key: fixed(32), signature: fixed(64) })),
  endorsements: endorsementsField,
});

export const termField: Field<Term> = nested(termCodec, TERM_BYTES);

/** The policy of a task, and its terms from the first on. */
export interface Line {
  readonly policy: TaskPolicy;
  readonly terms: readonly Term[];
}

export const lineCodec: Codec<Line> = message<Line>(KIND.line, 'line', {
  policy: policyField,
  terms: list(MAX_TERMS, nestedLong(termCodec, TERM_BYTES)),
});

const hashLayout = { term: field.hash };
const acceptedLayout = message<{ readonly term: Uint8Array }>(KIND.termAccepted, 'termAccepted', hashLayout);
const recoveredLayout = message<{ readonly term: Uint8Array }>(KIND.termRecovered, 'termRecovered', hashLayout);

export function termHashOf(suite: Suite, term: TermBody): Uint8Array {
  return termStatement.statementHash(suite, term);
}

/** The hash that the next term names: of the current term, or of the policy. */
export function currentHash(suite: Suite, policy: TaskPolicy): Uint8Array {
  return policy.term?.hash ?? taskIdOf(suite, policy);
}

export function termNumber({ term }: Pick<Council, 'term'>): number {
  return term?.number ?? 0;
}

/** The new key takes the seat. */
export function acceptTerm(suite: Suite, signer: Signer, term: TermBody): Uint8Array {
  return signer.sign(acceptedLayout.encode({ term: termHashOf(suite, term) }));
}

/** True if the owner of the new key takes the seat. */
export function isAccepted(suite: Suite, term: Term): boolean {
  const message = acceptedLayout.encode({ term: termHashOf(suite, term) });
  return suite.verify({ signature: term.accepted, message, publicKey: term.key });
}

/** The recovery key agrees. */
export function recoverTerm(suite: Suite, signer: Signer, term: TermBody): Recovery {
  const signature = signer.sign(recoveredLayout.encode({ term: termHashOf(suite, term) }));
  return { key: signer.publicKey, signature };
}

/** A seat of the current term agrees. */
export function endorseTerm(policy: TaskPolicy, signer: Signer, term: Term): Term {
  const { endorsements } = endorse<TermBody>(termStatement, policy, signer, term);
  return { ...term, endorsements: joined([...term.endorsements, ...endorsements]) };
}

/** Returns why this body cannot be the next term after the policy's current one, or undefined if it can. Signatures are not checked. */
export function nextTermProblem(suite: Suite, policy: TaskPolicy, term: TermBody): Refused | undefined {
  const { succession, authorities, serverKey } = policy;
  if (succession === undefined) return refused('succession-forbidden');
  const bad = (detail: string): Refused => refused('term-invalid', { detail });
  if (!equalBytes(term.task, taskIdOf(suite, policy))) return bad('it is of another task');
  if (term.number !== termNumber(policy) + 1 || !equalBytes(term.previous, currentHash(suite, policy)))
    return bad(`it does not follow term ${termNumber(policy)}`);
  if (term.number > MAX_TERMS) return bad(`a task has at most ${MAX_TERMS} terms`);
  const isServers = term.seat === SERVER_SEAT;
  if (!isServers && term.seat >= authorities.length) return bad(`there is no seat ${term.seat}`);
  const unreachable = addressProblem(term);
  if (unreachable !== undefined) return unreachable;
  const taken = [...authorities, ...(policy.term?.retired ?? []), serverKey];
  if (taken.some((key) => equalBytes(key, term.key))) return bad('its key has or had a role in this task');
  const earliest = (policy.term?.effective ?? 0) + succession.waitMs;
  return term.effective >= earliest ? undefined : bad('it takes effect too soon after the term before it');
}

/** Devices and the server would not find the authority at any other address. */
export function addressProblem({ seat, address }: Pick<TermBody, 'seat' | 'address'>): Refused | undefined {
  const bad = (detail: string): Refused => refused('term-invalid', { detail });
  if (seat === SERVER_SEAT) return address === '' ? undefined : bad('a new key of the server has no address');
  return ADDRESS.test(address)
    ? undefined
    : bad(`its address is not http(s)://host[:port]: ${JSON.stringify(address)}`);
}

/**
 * Returns the reason why the term is not valid after the policy's current term, or undefined if it is valid. The previous key of the seat
 * is never enough: with one authority, the recovery key must sign as well. A new key of the server always needs t seats, so a lost seat
 * must be replaced first.
 */
export function termProblem(suite: Suite, policy: TaskPolicy, term: Term): Refused | undefined {
  const problem = nextTermProblem(suite, policy, term);
  if (problem !== undefined) return problem;
  const bad = (detail: string): Refused => refused('term-invalid', { detail });
  if (!isAccepted(suite, term)) return bad('the new key did not accept it');
  if (!hasGoodEndorsements<TermBody>(suite, termStatement, policy, term))
    return bad('a signature is not of a seat of the term before');
  const isRecovered = term.recovery !== undefined;
  if (term.recovery !== undefined && !isRecoveryOf(suite, policy, termHashOf(suite, term), term.recovery))
    return bad('the recovery key is another one, or did not sign it');
  const { authorities, threshold } = policy;
  const { length: signed } = term.endorsements;
  const isByItself = term.endorsements.some(({ authority }) => authority === term.seat);
  if (isByItself !== (term.last !== undefined))
    return bad('a seat that signs is not lost, and one that does not has no last head');
  const isByEnough = signed >= threshold && (authorities.length > 1 || isRecovered);
  const isOfAuthority = term.seat !== SERVER_SEAT;
  const isByAllOthers = isOfAuthority && isRecovered && !isByItself && signed === authorities.length - 1;
  return isByEnough || isByAllOthers ? undefined : refused('term-unsigned', { detail: missingOf(policy, term) });
}

function missingOf({ authorities, threshold }: Council, { endorsements, recovery }: Term): string {
  const key = recovery === undefined ? 'without' : 'with';
  return `${endorsements.length} of ${authorities.length} seats signed it, ${key} the recovery key; ${threshold} are needed`;
}

function isRecoveryOf(
  suite: Suite,
  { succession }: TaskPolicy,
  term: Uint8Array,
  { key, signature }: Recovery,
): boolean {
  const hash = succession?.recoveryHash;
  if (hash === undefined || !equalBytes(suite.sha256(key), hash)) return false;
  return suite.verify({ signature, message: recoveredLayout.encode({ term }), publicKey: key });
}

/** The policy with the keys of the next term, which must have been checked. */
export function inTerm(suite: Suite, policy: TaskPolicy, term: TermBody): TaskPolicy {
  const { authorities, serverKey } = policy;
  const isServers = term.seat === SERVER_SEAT;
  const old = isServers ? serverKey : (authorities[term.seat] as Uint8Array);
  return {
    ...policy,
    authorities: authorities.map((key, seat) => (seat === term.seat ? term.key : key)),
    serverKey: isServers ? term.key : serverKey,
    term: {
      task: term.task,
      number: term.number,
      hash: termHashOf(suite, term),
      effective: term.effective,
      retired: [...(policy.term?.retired ?? []), old],
      previous: { authorities, hash: policy.term?.hash },
    },
  };
}

/**
 * Follows a line from the policy: the policy in each of its terms, the first one included. Refused if one link does not
 * hold. It says nothing about the time.
 */
export function followLine(suite: Suite, { policy, terms }: Line): readonly TaskPolicy[] | Refused {
  const policies: TaskPolicy[] = [policy];
  for (const term of terms) {
    const last = policies.at(-1) as TaskPolicy;
    const problem = termProblem(suite, last, term);
    if (problem !== undefined) return problem;
    policies.push(inTerm(suite, last, term));
  }
  return policies;
}

/**
 * True if enough authorities of the current term signed the certificate, or of the one before it: certificates hold
 * over one succession, and never over two.
 */
export function isCertified(suite: Suite, council: Council, certificate: Certificate): boolean {
  return certifyingCouncil(suite, council, certificate) !== undefined;
}

/** The council that signed it: of the current term, or of the one before. */
export function certifyingCouncil(suite: Suite, council: Council, certificate: Certificate): Council | undefined {
  const councils = [council, councilBefore(council)];
  return councils.find((one) => one !== undefined && isEndorsed(suite, certificateCodec, one, certificate));
}

/** The council of the term before; undefined in the first one. */
export function councilBefore({ threshold, term }: Council): Council | undefined {
  if (term === undefined) return undefined;
  const { authorities, hash } = term.previous;
  return { authorities, threshold, ...(hash !== undefined && { term: { ...term, hash } }) };
}

/** The councils of all earlier terms, the last one first. `terms` are those of the task from the first one on. */
export function councilsBefore({ authorities, threshold, term }: Council, terms: readonly Term[]): readonly Council[] {
  const councils: Council[] = [];
  let keys = authorities;
  for (let n = (term?.number ?? 0) - 1; n >= 0; n--) {
    const { seat, previous } = terms[n] as Term;
    keys = keys.map((key, index) => (index === seat ? (term?.retired[n] as Uint8Array) : key));
    councils.push({
      authorities: keys,
      threshold,
      ...(term !== undefined && n > 0 && { term: { ...term, hash: previous } }),
    });
  }
  return councils;
}

/** The earliest time at which a term that is signed now may take effect. */
export function earliestTerm({ succession }: TaskPolicy, now: Millis): Millis {
  return millis(now + (succession?.waitMs ?? 0));
}
