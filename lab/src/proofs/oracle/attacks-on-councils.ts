/**
 * Attacks on buffers of several authorities: four, of which three are needed and by default one colludes with the server. While t > (n + f)
 * / 2, an invented part or an overridden record is not enough to learn anything. The tests show that each breaks a promise on which this
 * bound depends.
 */
import { equalBytes } from '@basa/masking';
import {
  AttributeAuthority,
  agreedOn,
  allSteps,
  type BufferPlan,
  bufferRequestCodec,
  checkDrawnBuffer,
  type DrawnBuffer,
  descriptorCodec,
  type Endorsement,
  isRefused,
  joined,
  listsOf,
  millis,
  type Offer,
  offerRequestCodec,
  type Refused,
  slotKeyIssuer,
} from '@basa/protocol';
import { type Federation, type FederationAuthority, granted, OPEN_MS } from '@basa/simulator';
import { type AttackReport, NOTHING } from '../../attacks/judgement.ts';
import { type Combination, describeCombination, isSpannedBy } from '../../attacks/solve.ts';
import { TERM_ATTACKS } from './attacks-on-terms.ts';
import { type CouncilWorld, councilFederation, filledBuffer, type Pool } from './council-world.ts';

const ALL_UPLOAD = ['upload', 'upload', 'upload', 'upload'] as const;
const THREE_OF_FOUR = { authorities: 4, threshold: 3, colluding: 1 };

export const COUNCIL_ATTACKS: Readonly<Record<string, () => AttackReport>> = {
  'every authority is told another set': splitClose,
  'the part of an authority that is away is the work of the server': inventedPart,
  'a close names another user than one authority registered': contradictedRecord,
  'the offers of one buffer are drawn with again': repeatedOffers,
  ...TERM_ATTACKS,
};

/**
 * The self key of slot 0 from each of the three, and the edge keys of all others from two of them; the server's own
 * authority gives all.
 */
function splitClose(): AttackReport {
  const world = filledBuffer(councilFederation(THREE_OF_FOUR), THREE_OF_FOUR.colluding, ALL_UPLOAD);
  const pool = world.ownPool();
  for (const [index, core] of world.honestCores()) {
    const answer = world.asked(core, [0, index], []);
    if (!isRefused(answer)) pool.add(index, answer.keys);
  }
  return reportOf(world, pool, []);
}

/** The server fills the place of an authority that did not offer anything with keys it made itself. */
function inventedPart(): AttackReport {
  const world = councilFederation(THREE_OF_FOUR);
  const drawn = drawnWith(world, (authority) => (authority.index === 1 ? inventedOffer(world) : undefined));
  const seated = isRefused(drawn)
    ? drawn
    : checkDrawnBuffer(world.server.ports.suite, world.pins, drawn, world.now, drawn.descriptor);
  const broken = isRefused(seated) ? [] : ['a user seals a share of every seed to the server'];
  return { ...NOTHING, broken };
}

/** One authority registered another user for slot 0, as when a server gives two users one slot. */
function contradictedRecord(): AttackReport {
  const world = filledBuffer(councilFederation(THREE_OF_FOUR), THREE_OF_FOUR.colluding, ALL_UPLOAD);
  const set = [0, 1, 2, 3];
  const [own, ...others] = [...contradictedCores(world)].reverse();
  if (own === undefined) throw new Error('no authority');
  const broken: string[] = [];
  const votes: Endorsement[] = world.boughtVotes(set);
  for (const [, core] of others) {
    const answer = world.asked(core, set, []);
    if (!isRefused(answer)) votes.push(...answer.vote.endorsements);
  }
  const [index, core] = own;
  if (!isRefused(world.asked(core, set, [])))
    broken.push(`authority ${index} voted for a user whom it did not register`);
  const pool = world.ownPool();
  for (const [n, one] of [...others, own]) {
    const answer = world.asked(one, set, joined(votes));
    if (isRefused(answer)) continue;
    pool.add(n, answer.keys);
    if (n === index && answer.keys.some(({ slot }) => slot === 0))
      broken.push(`authority ${n} gave a key of slot 0 for a user whom it did not register`);
  }
  return { ...reportOf(world, pool, [wholeSum(set)]), broken };
}

function contradictedCores(world: CouncilWorld): ReadonlyMap<number, AttributeAuthority> {
  const cores = new Map(world.honestCores());
  const { index, ports, records } = world.federation.authorities[3] as FederationAuthority;
  const other = records.map((record) =>
    record.kind === 'key-issued' && equalBytes(record.ctx, world.ctx) && record.slot === 0
      ? { ...record, user: new Uint8Array(32).fill(9) as typeof record.user }
      : record,
  );
  return cores.set(index, AttributeAuthority.restore(ports, other));
}

/** Two buffers with the same offers have the same keys: edges that one releases open those of the other. */
function repeatedOffers(): AttackReport {
  const federation = councilFederation({ ...THREE_OF_FOUR, colluding: 0 });
  const offers = new Map<number, Offer>();
  for (const authority of federation.authorities) {
    const { offer } = authority;
    authority.offer = (request) => {
      const made = offers.get(authority.index) ?? offer.call(authority, request);
      if (!isRefused(made)) offers.set(authority.index, made);
      return made;
    };
  }
  const first = filledBuffer(federation, 0, ALL_UPLOAD);
  const pool = first.ownPool();
  const set = [0, 1, 2, 3];
  closeByAll(first, set, pool);
  try {
    federation.now = millis(federation.now + 1); // makes another descriptor
    const second = filledBuffer(federation, 0, ['upload', 'upload', 'key', 'key']);
    const released = second.ownPool();
    closeByAll(second, [0, 1], released);
    for (const [slot, keys] of released.edges.entries()) pool.edges[slot]?.push(...keys);
  } catch (error) {
    if (!String(error).includes('offer-unknown')) throw error;
  }
  return reportOf(first, pool, [wholeSum(set)]);
}

/** As in the protocol: votes of all, then keys of all. */
function closeByAll(world: CouncilWorld, set: readonly number[], pool: Pool): void {
  const cores = world.honestCores();
  const votes = [...cores.values()].flatMap((core) => granted(world.asked(core, set, [])).vote.endorsements);
  for (const [index, core] of cores) pool.add(index, granted(world.asked(core, set, joined(votes))).keys);
}

/** A buffer of offers that the server has or makes itself, signed by all authorities that made an offer. */
function drawnWith(
  world: Federation,
  invented: (authority: FederationAuthority) => Offer | undefined,
): DrawnBuffer | Refused {
  const { signer } = world.server.ports;
  const asked = { task: world.task };
  const request = offerRequestCodec.encode({ ...asked, signature: signer.sign(offerRequestCodec.statement(asked)) });
  const offers = world.authorities.map((authority) => invented(authority) ?? granted(authority.offer(request)));
  const plan: BufferPlan = { parts: offers.map(({ part }) => part), expiry: millis(world.now + OPEN_MS) };
  const body = {
    task: world.task,
    nonce: world.randomBytes(16),
    model: world.server.entry(),
    newest: world.server.entry(),
    plan: [plan],
  };
  const bytes = bufferRequestCodec.encode({ ...body, signature: signer.sign(bufferRequestCodec.statement(body)) });
  const drawn = world.authorities
    .filter((authority) => invented(authority) === undefined)
    .map((authority) => granted(authority.drawBuffer(bytes)).descriptor);
  const descriptor = agreedOn(descriptorCodec, world.policy, drawn);
  if (descriptor === undefined) throw new Error('they signed different buffers');
  return { descriptor, slotKeys: listsOf(offers) };
}

function inventedOffer(world: Federation): Offer {
  const { task, policy } = world;
  const issuer = slotKeyIssuer(world.server.ports.suite, new Uint8Array(32).fill(99));
  const offer = new Uint8Array(16).fill(99);
  const slotKeys = allSteps(issuer.slotKeys({ task, offer, bufferSize: policy.bufferSize }));
  return { task, part: { authority: 1, offer, sealingKey: issuer.sealingKey(slotKeys) }, slotKeys };
}

function wholeSum(set: readonly number[]): Combination {
  return new Map(set.map((slot) => [slot, 1]));
}

function reportOf(world: CouncilWorld, pool: Pool, allowed: readonly Combination[]): AttackReport {
  const combinations = world.learnedWith(pool);
  const learned = combinations.map((one) => describeCombination(one, (symbol) => `x${symbol}`));
  const sumsFound = allowed.length > 0 && isSpannedBy(allowed, combinations) ? 1 : 0;
  return {
    ...NOTHING,
    learned,
    leaked: isSpannedBy(combinations, allowed) ? [] : learned,
    closed: allowed.length,
    sums: allowed.length,
    sumsFound,
  };
}
