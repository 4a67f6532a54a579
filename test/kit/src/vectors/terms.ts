/** Succession: a line of terms with every hash, the words of a vote in each term, and terms that do not count. */
import { ascii, type Signer, toHex } from '@basa/masking';
import {
  type Ctx,
  encodePolicy,
  endorse,
  inTerm,
  isRefused,
  lineCodec,
  millis,
  type RefusalReason,
  SERVER_SEAT,
  type TaskPolicy,
  type Term,
  taskIdOf,
  termCodec,
  termHashOf,
  termProblem,
  voteCodec,
} from '@basa/protocol';
import { createNodeSigner, nodeSuite as suite } from '@basa/runtime/node';
import { HEAD, signedTerm, type WantedTerm } from '../core/signed-terms.ts';
import { GOOD_POLICY } from './policies.ts';

const WAIT_MS = 604_800_000;

const signerOf = (n: number): Signer => createNodeSigner(new Uint8Array(32).fill(n));
const [first, second, third, fourth] = [1, 2, 3, 4].map(signerOf) as [Signer, Signer, Signer, Signer];
const recovery = signerOf(20);

function policyOf(authorities: readonly Signer[], threshold: number): TaskPolicy {
  return {
    ...GOOD_POLICY,
    name: ascii('succession'),
    authorities: authorities.map(({ publicKey }) => publicKey),
    threshold,
    serverKey: signerOf(9).publicKey,
    uploadLeaseMs: 600_000,
    openMs: 3_600_000,
    closeMs: 3_600_000,
    succession: { waitMs: WAIT_MS, recoveryHash: suite.sha256(recovery.publicKey) },
  };
}

interface JudgedTerm {
  readonly what: string;
  readonly policy: string;
  readonly term: string;
  /** Missing for a term that counts. */
  readonly refusal?: RefusalReason;
}

export interface TermVectors {
  readonly about: string;
  readonly task: string;
  readonly line: string;
  readonly hashes: readonly string[];
  /** In term 0 and in each later one, by seat 1: the same vote. */
  readonly vote: { readonly statement: string; readonly key: string; readonly signatures: readonly string[] };
  readonly judged: readonly JudgedTerm[];
  /** The server has another key, then a seat, then the server once more. */
  readonly serverLine: {
    readonly line: string;
    readonly hashes: readonly string[];
    /** In the policy, and in each term. */
    readonly serverKeys: readonly string[];
  };
}

export function termVectors(): TermVectors {
  const policy = policyOf([first, second, third, fourth], 3);
  const one = signedTerm(policy, { seat: 0, key: signerOf(11), signers: [first, second, third] });
  const later = inTerm(suite, policy, one);
  const two = signedTerm(later, { seat: 3, key: signerOf(12), isLost: true, signers: [signerOf(11), second, third] });
  const body = {
    task: taskIdOf(suite, policy),
    ctx: new Uint8Array(32).fill(7) as Ctx,
    closing: new Uint8Array(32).fill(8),
  };
  const signatures = [policy, later, inTerm(suite, later, two)].map((of) => {
    const [signed] = endorse(voteCodec, of, second, body).endorsements;
    return toHex(signed?.signature ?? new Uint8Array());
  });
  return {
    about: 'A line of two terms, one vote in each term, and terms after the policy that count or do not.',
    task: toHex(taskIdOf(suite, policy)),
    line: toHex(lineCodec.encode({ policy, terms: [one, two] })),
    hashes: [one, two].map((term) => toHex(termHashOf(suite, term))),
    vote: { statement: toHex(voteCodec.statement(body)), key: toHex(second.publicKey), signatures },
    judged: judgedTerms(policy),
    serverLine: serverLine(policy),
  };
}

function serverLine(policy: TaskPolicy): TermVectors['serverLine'] {
  const wanted: readonly WantedTerm[] = [
    { seat: SERVER_SEAT, key: signerOf(13), signers: [first, second, third] },
    { seat: 0, key: signerOf(11), signers: [first, second, third] },
    { seat: SERVER_SEAT, key: signerOf(14), signers: [signerOf(11), third, fourth] },
  ];
  const [terms, policies]: [Term[], TaskPolicy[]] = [[], [policy]];
  for (const one of wanted) {
    const last = policies.at(-1) as TaskPolicy;
    const term = signedTerm(last, one);
    terms.push(term);
    policies.push(inTerm(suite, last, term));
  }
  return {
    line: toHex(lineCodec.encode({ policy, terms })),
    hashes: terms.map((term) => toHex(termHashOf(suite, term))),
    serverKeys: policies.map(({ serverKey }) => toHex(serverKey)),
  };
}

function judgedTerms(policy: TaskPolicy): readonly JudgedTerm[] {
  const [alone, all] = [policyOf([first], 1), policyOf([first, second, third], 3)];
  const key = signerOf(11);
  const others = [second, third, fourth];
  const good: WantedTerm = { seat: 0, key, signers: [first, second, third] };
  const servers: WantedTerm = { ...good, seat: SERVER_SEAT };
  const { succession: _, ...forbidden } = policy;
  const judged: readonly (readonly [what: string, policy: TaskPolicy, term: Term])[] = [
    ['three of four seats', policy, signedTerm(policy, good)],
    ['a lost seat, by the others', policy, signedTerm(policy, { ...good, isLost: true, signers: others })],
    ['two of four seats', policy, signedTerm(policy, { ...good, signers: [first, second] })],
    ['a seat that signs and is called lost', policy, signedTerm(policy, { ...good, isLost: true })],
    ['a last head that its seat did not sign', policy, signedTerm(policy, { ...good, signers: others })],
    ['a key that holds a seat', policy, signedTerm(policy, { ...good, key: fourth })],
    ['the key of the server', policy, signedTerm(policy, { ...good, key: signerOf(9) })],
    ['a seat that does not exist', policy, signedTerm(policy, { ...good, seat: 4, isLost: true })],
    ['before the wait is over', policy, signedTerm(policy, { ...good, change: { effective: millis(WAIT_MS - 1) } })],
    ['another number', policy, signedTerm(policy, { ...good, change: { number: 2 } })],
    ['after another term', policy, signedTerm(policy, { ...good, change: { previous: new Uint8Array(32) } })],
    ['an address with a path', policy, signedTerm(policy, { ...good, change: { address: 'https://x.example/v1' } })],
    ['an address without a scheme', policy, signedTerm(policy, { ...good, change: { address: 'x.example' } })],
    ['a new key that did not accept', policy, { ...signedTerm(policy, good), accepted: new Uint8Array(64) }],
    ['a policy without succession', forbidden, signedTerm(policy, good)],
    ['one authority by its old key', alone, signedTerm(alone, { ...good, signers: [first] })],
    ['one authority, with the recovery key', alone, signedTerm(alone, { ...good, signers: [first], recovery })],
    ['one authority that is lost', alone, signedTerm(alone, { ...good, isLost: true, signers: [], recovery })],
    ['another recovery key', alone, signedTerm(alone, { ...good, isLost: true, signers: [], recovery: signerOf(21) })],
    ['three of three without one', all, signedTerm(all, { ...good, isLost: true, signers: [second, third], recovery })],
    ['the same without the recovery key', all, signedTerm(all, { ...good, isLost: true, signers: [second, third] })],
    ["the server's key by three of four seats", policy, signedTerm(policy, servers)],
    ["the server's key by two seats", policy, signedTerm(policy, { ...servers, signers: [first, second] })],
    ["the server's key again", policy, signedTerm(policy, { ...servers, key: signerOf(9) })],
    ["the key of an authority for the server's", policy, signedTerm(policy, { ...servers, key: fourth })],
    ["the server's key with an address", policy, signedTerm(policy, { ...servers, change: { address: 'https://x' } })],
    ["the server's key with a last head", policy, signedTerm(policy, { ...servers, change: { last: HEAD } })],
    ["the server's key by one authority", alone, signedTerm(alone, { ...servers, signers: [first] })],
    ['the same with the recovery key', alone, signedTerm(alone, { ...servers, signers: [first], recovery })],
    ["the server's key by the recovery key", alone, signedTerm(alone, { ...servers, signers: [], recovery })],
    ["the server's key by two of three", all, signedTerm(all, { ...servers, signers: [second, third], recovery })],
  ];
  return judged.map(([what, of, term]) => {
    const problem = termProblem(suite, of, term);
    const bytes = { policy: toHex(encodePolicy(of)), term: toHex(termCodec.encode(term)) };
    return { what, ...bytes, ...(isRefused(problem) && { refusal: problem.reason }) };
  });
}
