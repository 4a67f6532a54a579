/**
 * Attacks on succession, against four authorities of which three are needed unless an attack says otherwise. Each one tries to bring a
 * device or an authority into a term that the rules forbid. An adversary that succeeds can fill the seats with its own keys.
 */
import type { Signer } from '@basa/masking';
import {
  AttributeAuthority,
  type Ctx,
  type DeviceTerms,
  endorse,
  inTerm,
  isEndorsed,
  isRefused,
  type Line,
  ledgerAt,
  lineCodec,
  type ModelEntry,
  millis,
  modelEntryCodec,
  NO_TERMS,
  receiveLine,
  restoreLedger,
  SERVER_SEAT,
  type TaskPolicy,
  type Term,
  termNumber,
  voteCodec,
} from '@basa/protocol';
import { createNodeSigner, nodeSuite as suite } from '@basa/runtime/node';
import { type Federation, granted } from '@basa/simulator';
import {
  appendedBy,
  atSeveralCloses,
  authorityOf,
  closedBy,
  severalAuthorities,
  together,
  votesOf,
} from '@basa/testkit/core/several.ts';
import { signedTerm, type WantedTerm } from '@basa/testkit/core/signed-terms.ts';
import { type AttackReport, NOTHING } from '../../attacks/judgement.ts';

const WAIT_MS = 60_000;
const LOST = { seat: 0, isLost: true } as const;
const recoveryKey = createNodeSigner(new Uint8Array(32).fill(99));

/** By the promise that it breaks. */
const PROMISES: Readonly<Record<string, readonly [promise: string, isBroken: () => boolean]>> = {
  'one seat signs a term by itself': ['a device followed a term of one seat', () => isFollowed(ofSeats([3]))],
  'one seat signs a term three times': ['a device followed a term of one seat', sameSeatThreeTimes],
  'the owner of a key did not accept the seat': ['a key got a seat without its owner', unaccepted],
  'a seat is given to the key of another seat': ['one key holds two seats', twoSeats],
  'two seats are replaced at the same time': ['the seats changed faster than the policy allows', replacedAtOnce],
  'all but one of three seats give the role of the server away, with the recovery key': [
    'a device obeys a server that too few seats named',
    serverOfTooFew,
  ],
  'the key of a single authority is stolen': ['a device followed a term of the stolen key', stolenKey],
  'the recovery key of a single authority is stolen': ['a device followed before the wait was over', stolenRecovery],
  'three keys are stolen after they were replaced': ['a device followed the line of replaced keys', stolenLater],
  'a device is shown a shorter line': ['a device went back to the term before', shorterLine],
  'a device is shown a longer line that contradicts its own': ['a device is in a term that no line has', forkedLine],
  'an authority is asked to sign a second successor': ['an authority signed two successors', () => signsTwo(false)],
  'an authority restarts before it is asked for a second successor': [
    'an authority signed two successors',
    () => signsTwo(true),
  ],
  'an authority is asked to sign a term that begins at once': ['nobody had time to object to a term', signsAtOnce],
  'an authority is shown another term in place of the one it adopted': ['an authority changed a term', exchanged],
  'a stranger names the key of an authority in a task of its own': ['an authority joined a task unasked', named],
  'a buffer of the term before is closed again': ['keys were released after the switch', closedAgain],
  'votes of the term before are shown again': ['votes of one term count in the next', votesAgain],
  'a server makes a second version without sums in a term': ['updates became old without any sum', repeatedTwice],
  'a stolen key signs a number that its successor never reaches': ['a device refuses the successor', unreachable],
};

export const TERM_ATTACKS: Readonly<Record<string, () => AttackReport>> = Object.fromEntries(
  Object.entries(PROMISES).map(([name, [promise, isBroken]]) => [
    name,
    () => ({ ...NOTHING, broken: isBroken() ? [promise] : [] }),
  ]),
);

function federation(): Federation {
  const recoveryHash = suite.sha256(recoveryKey.publicKey);
  return severalAuthorities({ policy: { succession: { waitMs: WAIT_MS, recoveryHash } } });
}

/** A policy of the first authorities, the keys that hold its seats, and keys of the adversary. */
function scene(authorities = 4, threshold = 3) {
  const world = federation();
  const seats = world.authorities.slice(0, authorities).map(({ ports }) => ports.signer);
  const policy: TaskPolicy = { ...world.policy, authorities: seats.map(({ publicKey }) => publicKey), threshold };
  return { policy, seats, key: world.signer(), other: world.signer(), third: world.signer() };
}

interface Shown {
  readonly line: Line;
  readonly device?: DeviceTerms;
  readonly now?: number;
}

/** The term that the device is in afterwards; undefined if it refuses the line. */
function received({ line, device = NO_TERMS, now = line.terms.at(-1)?.effective ?? 0 }: Shown) {
  const followed = receiveLine({ suite, now: millis(now) }, device, line);
  return isRefused(followed) ? undefined : followed;
}

function isFollowed(shown: Shown): boolean {
  return (received(shown)?.terms.followed ?? 0) > 0;
}

function lineOf(policy: TaskPolicy, ...terms: readonly WantedTerm[]): Line {
  const made: Term[] = [];
  for (const [n, wanted] of terms.entries()) {
    const before = made.slice(0, n).reduce((one, term) => inTerm(suite, one, term), policy);
    made.push(signedTerm(before, wanted));
  }
  return { policy, terms: made };
}

/** Seat 0 is called lost, and these seats sign. */
function ofSeats(indices: readonly number[]): Shown {
  const { policy, seats, key } = scene();
  return { line: lineOf(policy, { ...LOST, key, signers: indices.map((n) => seats[n] as Signer) }) };
}

function sameSeatThreeTimes(): boolean {
  const { line } = ofSeats([3]);
  const [term] = line.terms as [Term];
  const repeated = { ...term, endorsements: Array(3).fill(term.endorsements[0]) };
  try {
    return isFollowed({ line: lineCodec.decode(lineCodec.encode({ ...line, terms: [repeated] })) });
  } catch {
    return false; // these bytes cannot be read
  }
}

function unaccepted(): boolean {
  const { line } = ofSeats([1, 2, 3]);
  const [term] = line.terms as [Term];
  return isFollowed({ line: { ...line, terms: [{ ...term, accepted: new Uint8Array(64) }] } });
}

function twoSeats(): boolean {
  const { policy, seats } = scene();
  const [, b, c, d] = seats as [Signer, Signer, Signer, Signer];
  return isFollowed({ line: lineOf(policy, { ...LOST, key: d, signers: [b, c, d] }) });
}

function replacedAtOnce(): boolean {
  const { policy, seats, key, other } = scene();
  const [a, b, c] = seats as [Signer, Signer, Signer];
  const change = { effective: millis(WAIT_MS) };
  const line = lineOf(policy, { key, signers: [a, b, c] }, { key: other, seat: 1, signers: [key, b, c], change });
  return received({ line })?.terms.followed === 2;
}

function serverOfTooFew(): boolean {
  const { policy, seats, key } = scene(3, 3);
  const signers = seats.slice(0, 2);
  return isFollowed({ line: lineOf(policy, { seat: SERVER_SEAT, key, signers, recovery: recoveryKey }) });
}

function stolenKey(): boolean {
  const { policy, seats, key } = scene(1, 1);
  const line = lineOf(policy, { key, signers: seats });
  const device = received({ line })?.terms;
  return device !== undefined && isFollowed({ line, device, now: 2 * WAIT_MS });
}

function stolenRecovery(): boolean {
  const { policy, key } = scene(1, 1);
  const line = lineOf(policy, { ...LOST, key, signers: [], recovery: recoveryKey });
  return isFollowed({ line, now: 10 * WAIT_MS });
}

function stolenLater(): boolean {
  const device = { ...NO_TERMS, heardAt: millis(0) };
  return isFollowed({ ...ofSeats([1, 2, 3]), device, now: 3 * WAIT_MS });
}

function shorterLine(): boolean {
  const { line } = ofSeats([1, 2, 3]);
  const device = received({ line })?.terms;
  if (device?.followed !== 1) throw new Error('the device did not follow a good term');
  const shown = received({ line: { ...line, terms: [] }, device, now: WAIT_MS });
  return shown !== undefined && termNumber(shown.policy) < 1;
}

function forkedLine(): boolean {
  const { policy, seats, key, other, third } = scene();
  const [, b, c, d] = seats as [Signer, Signer, Signer, Signer];
  const device = received({ line: lineOf(policy, { ...LOST, key, signers: [b, c, d] }) })?.terms;
  if (device?.followed !== 1) throw new Error('the device did not follow a good term');
  const wanted = { ...LOST, seat: 1, signers: [other, c, d] };
  const line = lineOf(policy, { ...LOST, key: other, signers: [b, c, d] }, { ...wanted, key: third });
  return received({ line, device })?.terms.followed === 2;
}

/** The thief of one key shows a device the highest epoch number, then the seat gets another key. */
function unreachable(): boolean {
  const next = received(ofSeats([1, 2, 3]))?.terms ?? NO_TERMS;
  const stolen = restoreLedger([{ kind: 'epoch', authority: 0, number: Number.MAX_SAFE_INTEGER }]);
  return ledgerAt(stolen, NO_TERMS, next).epochs.has(0);
}

/** A term that seat 0 is lost, shown to the authority with seat 1. */
function proposal(world: Federation, change: Partial<Term> = {}): Term {
  const effective = millis(world.now + WAIT_MS);
  return signedTerm(world.policy, { ...LOST, key: world.signer(), signers: [], change: { effective, ...change } });
}

function signsTwo(isRestarted: boolean): boolean {
  const world = federation();
  const authority = authorityOf(world, 1);
  granted(authority.persist(authority.core.signTerm(proposal(world), world.now)));
  const core = isRestarted ? AttributeAuthority.restore(authority.ports, authority.records) : authority.core;
  return !isRefused(core.signTerm(proposal(world), world.now).answer);
}

function signsAtOnce(): boolean {
  const world = federation();
  return !isRefused(authorityOf(world, 1).core.signTerm(proposal(world, { effective: world.now }), world.now).answer);
}

/** The adversary has the keys of three seats, after they signed another term. */
function exchanged(): boolean {
  const world = federation();
  const { policy } = world;
  const signers = [1, 2, 3].map((index) => authorityOf(world, index).ports.signer);
  const { core } = authorityOf(world, 1);
  const shown = () => core.followLine(lineOf(policy, { ...LOST, key: world.signer(), signers }), world.now);
  const first = shown();
  granted(first.answer);
  core.apply(first.records);
  return shown().records.length > 0;
}

function named(): boolean {
  const world = federation();
  const signer = world.signer();
  const [, ...others] = world.policy.authorities;
  const policy = { ...world.policy, authorities: [signer.publicKey, ...others] };
  const authority = new AttributeAuthority({ suite, signer, issuerFor: () => undefined });
  return !isRefused(authority.followLine({ policy, terms: [] }, world.now).answer);
}

/** Three authorities begin the term that their seats signed. */
function switched(world: Federation): TaskPolicy {
  const authorities = [1, 2, 3].map((index) => authorityOf(world, index));
  const term = authorities.reduce(
    (signed, one) => granted(one.persist(one.core.signTerm(signed, world.now))),
    proposal(world),
  );
  for (const one of authorities) {
    granted(one.persist(one.core.followLine({ policy: world.policy, terms: [term] }, world.now)));
    granted(one.persist(one.core.tick(term.effective)));
  }
  return inTerm(suite, world.policy, term);
}

function closedAgain(): boolean {
  const { world, request } = atSeveralCloses(federation());
  const votes = votesOf(world, [1, 2, 3], request);
  switched(world);
  return [1, 2, 3].some((index) => !isRefused(closedBy(world, index, request, { votes })));
}

function votesAgain(): boolean {
  const world = federation();
  const vote = { task: world.task, ctx: new Uint8Array(32) as Ctx, closing: new Uint8Array(32) };
  const signers = [1, 2, 3].map((index) => authorityOf(world, index).ports.signer);
  const votes = together(signers.map((one) => endorse(voteCodec, world.policy, one, vote)));
  if (!isEndorsed(suite, voteCodec, world.policy, votes)) throw new Error('these votes are too few');
  return isEndorsed(suite, voteCodec, switched(world), votes);
}

/** The newest model is signed again in the new term, and then repeated without sums, again and again. */
function repeatedTwice(): boolean {
  const world = federation();
  switched(world);
  const indices = [1, 2, 3];
  const newest = () => authorityOf(world, 1).core.newestModel(world.task) as ModelEntry;
  const adopt = (parts: readonly ModelEntry[]): void => {
    const entry = together(parts);
    for (const index of indices) granted(authorityOf(world, index).adoptModel(modelEntryCodec.encode(entry)));
  };
  adopt(indices.map((index) => granted(authorityOf(world, index).core.renewModel(newest()).answer)));
  const repeat = () => {
    const { modelHash, version } = newest();
    const body = { modelHash, version: version + 1, sums: [], spoilt: [], closed: [] };
    return indices.map((index) => appendedBy(world, index, body));
  };
  adopt(repeat().map(granted));
  return repeat().some((answer) => !isRefused(answer));
}
