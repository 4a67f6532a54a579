/**
 * Where each promise of the model stands in a page, which expression of the code holds it, and which file of tests fails without it. The
 * table of docs/rules.md has one line for each.
 */
interface Held {
  /** The name of the rule in the model. */
  readonly rule: string;
  readonly page: string;
  /** Words of the page. */
  readonly says: string;
  readonly file: string;
  /** An expression that is there once. */
  readonly code: string;
}

/** What the expression becomes where the rule is missing, and a file with a test that fails then. */
interface HeldByTests extends Held {
  readonly without: string;
  readonly tests: string;
  /** Such a test. */
  readonly claim: string;
}

/** Several expressions hold it: those of this mutant, which its attack catches. */
interface HeldByMutant extends Held {
  readonly mutant: string;
}

export type HeldBy = HeldByTests | HeldByMutant;

const AUTHORITY = 'packages/protocol/src/authority';
const SERVER = 'packages/protocol/src/server';
const TESTS = 'packages/protocol/test';
const WIRE = 'docs/wire-format.md';
const THREATS = 'docs/threat-model.md';
const COUNCILS = 'docs/decisions/037-several-authorities.md';

export const HELD_BY: readonly HeldBy[] = [
  {
    rule: 'a slot is registered once',
    page: 'docs/concepts.md',
    says: "gives the slot's key, once",
    file: `${AUTHORITY}/issue-key.ts`,
    code: 'buffer.slots.has(slot)',
    without: 'false',
    tests: `${TESTS}/authority/key-checks.test.ts`,
    claim: '%s is refused (%s), and nothing changes',
  },
  {
    rule: 'a user has one slot',
    page: WIRE,
    says: 'no other deposit of u',
    file: `${AUTHORITY}/issue-key.ts`,
    code: 'equalBytes(issued.user, user)',
    without: 'false',
    tests: `${TESTS}/authority/key-checks.test.ts`,
    claim: 'for a second slot of one user is refused',
  },
  {
    rule: 'records before answers',
    page: WIRE,
    says: 'its one vote for this buffer',
    file: `${AUTHORITY}/close.ts`,
    code: '{ state: voted, records: [record], answer: { buffer: voted }, events: [] }',
    without: '{ state: voted, records: [], answer: { buffer: voted }, events: [] }',
    tests: `${TESTS}/several/close.test.ts`,
    claim: 'is written down, brings no key, and is the same when it is asked for again',
  },
  {
    rule: 'the view is that of the list',
    page: THREATS,
    says: 'header names V_l and is signed',
    file: `${AUTHORITY}/close.ts`,
    code: 'equalBytes(header.view, view)',
    mutant: 'chain not checked',
  },
  {
    rule: 'enough are accepted',
    page: THREATS,
    says: '>= Kmin | a sum over too few',
    file: `${AUTHORITY}/close.ts`,
    code: 'accepted.length < descriptor.minimum',
    without: 'false',
    tests: `${TESTS}/authority/close-checks.test.ts`,
    claim: 'with %s is refused (%s), records nothing and can be asked again rightly',
  },
  {
    rule: 'receipts of enough authorities',
    page: WIRE,
    says: 'It votes where each accepted slot has the receipts of t authorities',
    file: `${AUTHORITY}/close.ts`,
    code: 'own + othersOf(descriptor, signer, receipt) >= descriptor.threshold',
    without: 'true',
    tests: `${TESTS}/several/close.test.ts`,
    claim: 'does not vote where its own signature is one of the three, or where there are two',
  },
  {
    rule: 'its own record counts against receipts',
    page: WIRE,
    says: 'a record of somebody else contradicts',
    file: `${AUTHORITY}/close.ts`,
    code: 'issued !== undefined && !isSameRegistration(issued, entry)',
    without: 'false',
    tests: `${TESTS}/several/close.test.ts`,
    claim: 'does not vote, and once three others did, gives neither key of that slot',
  },
  {
    rule: 'one vote',
    page: WIRE,
    says: 'An authority votes once for a buffer',
    file: `${AUTHORITY}/close.ts`,
    code: 'buffer.voted !== undefined && !equalBytes(buffer.voted, closing.hash)',
    without: 'false',
    tests: `${TESTS}/several/close.test.ts`,
    claim: 'is given once: for another close it is refused, also after a restart',
  },
  {
    rule: 'keys follow enough votes',
    page: COUNCILS,
    says: 'It releases only when it is shown t votes for one set',
    file: `${AUTHORITY}/close.ts`,
    code: 'isDecided || others + 1 >= descriptor.threshold',
    without: 'true',
    tests: `${TESTS}/several/close.test.ts`,
    claim: 'needs the votes of three: with two nothing leaves',
  },
  {
    rule: 'self or edge, never both',
    page: THREATS,
    says: 'self or edge of a slot, never both',
    file: `${AUTHORITY}/close.ts`,
    code: 'entry === undefined ? own.keys.edge(slot) : own.keys.self(entry.registration, entry.selfName)',
    without: 'own.keys.edge(slot)',
    tests: `${TESTS}/authority/close-checks.test.ts`,
    claim: 'releases the self key of every accepted slot and the edge key of every other, never both of one',
  },
  {
    rule: 'who voted does not abort',
    page: WIRE,
    says: 'At closeBy it aborts where it has not voted',
    file: `${AUTHORITY}/buffer.ts`,
    code: "buffer.status !== 'open' || buffer.voted !== undefined || buffer.version !== undefined",
    without: "buffer.status !== 'open' || buffer.version !== undefined",
    tests: `${TESTS}/several/close.test.ts`,
    claim: 'only those abort that have not voted',
  },
  {
    rule: 'an outcome needs enough signatures',
    page: THREATS,
    says: 't signatures on an outcome',
    file: 'packages/protocol/src/user/ledger.ts',
    code: 'agreedOutcome(suite, council, commitment.ctx, answers)',
    without: 'agreedOutcome(suite, { ...council, threshold: 1 }, commitment.ctx, answers)',
    tests: `${TESTS}/several/catch-up.test.ts`,
    claim: 'below three alike stays undecided: the update moves nowhere',
  },
  {
    rule: 't > (n + f) / 2',
    page: THREATS,
    says: 't > (n + f) / 2',
    file: 'packages/protocol/src/wire/policy.ts',
    code: 'count === 1 || toleratedOf(policy) >= 1 || (unsafeThreshold && toleratedOf(policy) >= 0)',
    without: 'true',
    tests: `${TESTS}/several/policy.test.ts`,
    claim: 'could say two things at once, and is refused in any case',
  },
  {
    rule: 'one hash for a version',
    page: WIRE,
    says: 'its signature for this version, one hash',
    file: `${AUTHORITY}/task.ts`,
    code: 'equalBytes(append.modelHash, known.modelHash) && equalBytes(append.ctx, known.ctx)',
    without: 'true',
    tests: `${TESTS}/authority/task-checks.test.ts`,
    claim:
      'takes one hash per version, the next version only, from a closed buffer that made none, signed by the server',
  },
  {
    rule: 'a version comes of a closed buffer',
    page: WIRE,
    says: 'closed buffer (its own record, or t votes), used once, next version',
    file: `${AUTHORITY}/task.ts`,
    code: "buffer.status === 'closed' || isVoted",
    without: 'true',
    tests: `${TESTS}/authority/task-checks.test.ts`,
    claim:
      'takes one hash per version, the next version only, from a closed buffer that made none, signed by the server',
  },
  {
    rule: 'a buffer makes one version',
    page: WIRE,
    says: 'closed buffer (its own record, or t votes), used once, next version',
    file: `${AUTHORITY}/task.ts`,
    code: 'buffer.version !== undefined',
    without: 'false',
    tests: `${TESTS}/authority/task-checks.test.ts`,
    claim:
      'takes one hash per version, the next version only, from a closed buffer that made none, signed by the server',
  },
  {
    rule: 'a version is the next one',
    page: WIRE,
    says: 'closed buffer (its own record, or t votes), used once, next version',
    file: `${AUTHORITY}/task.ts`,
    code: 'append.version !== (newest === undefined ? 0 : newest.version + 1)',
    without: 'false',
    tests: `${TESTS}/authority/task-checks.test.ts`,
    claim:
      'takes one hash per version, the next version only, from a closed buffer that made none, signed by the server',
  },
  {
    rule: 'only what enough signed is adopted',
    page: WIRE,
    says: 't signatures; not behind its newest',
    file: `${AUTHORITY}/task.ts`,
    code: '!equalBytes(entry.task, id) || !isEndorsed(suite, modelEntryCodec, policy, entry)',
    without: 'false',
    tests: `${TESTS}/several/catch-up.test.ts`,
    claim: 'adopts the model that three others signed, and no other',
  },
  {
    rule: 'an upload is durable before it is acknowledged',
    page: WIRE,
    says: 'the body, then the record',
    file: `${SERVER}/accept.ts`,
    code: "[entry],\n    answer: { kind: 'accepted' }",
    without: '[]',
    tests: `${TESTS}/crash.test.ts`,
    claim: 'of the run leaves sum and version as if it had not happened',
  },
  {
    rule: 'the set is fixed before it is asked for',
    page: THREATS,
    says: 'close once, frozen before it is asked',
    file: `${SERVER}/close.ts`,
    code: "{ kind: 'frozen', accepted, why }",
    mutant: 'a close that is not frozen before it is asked',
  },
  {
    rule: 'asked again, an authority says the same',
    page: WIRE,
    says: 'The same request gets the same answer at every step',
    file: `${AUTHORITY}/close.ts`,
    code: "buffer.status === 'closed'",
    without: 'false',
    tests: `${TESTS}/authority/close-checks.test.ts`,
    claim: 'is final: asked again with another set, the recorded set and its keys are answered',
  },
  {
    rule: 'receipts stand in for records',
    page: COUNCILS,
    says: 'It votes for a slot that it has no record of by the receipts of t others',
    file: `${AUTHORITY}/close.ts`,
    code: 'own + othersOf(descriptor, signer, receipt) >= descriptor.threshold',
    without: 'own > 0',
    tests: `${TESTS}/several/close.test.ts`,
    claim: 'votes on the receipts of three others',
  },
  {
    rule: 'enough votes, not all',
    page: COUNCILS,
    says: 'the t that every step needs',
    file: `${SERVER}/close.ts`,
    code: 'closed.length >= threshold',
    without: 'closed.length >= buffer.descriptor.authorities.length',
    tests: `${TESTS}/several/catch-up.test.ts`,
    claim: 'no buffer is closed, nothing is lost, and it is closed and opened when one of them is back',
  },
];
