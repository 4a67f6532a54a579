/**
 * Every combination of the possible fates of the slots of one buffer, honest or colluding, before and after close: run
 * through the real core and judged. Free slots are the last ones, because slots are assigned in order.
 */
import type { CloseRequest, SecureBuffer, UploadHeader } from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { Judgement } from '../../attacks/judgement.ts';
import type { OracleEngine } from '../world/symbolic-federation.ts';
import { Federations, RUNS_PER_FEDERATION } from './federations.ts';
import type { Ledger } from './ledger.ts';
import { OracleWorld } from './oracle-world.ts';
import type { WatchedDevice } from './watched-device.ts';

const FATES = ['deposited', 'keyed', 'late', 'truncated', 'accepted'] as const;
type Fate = (typeof FATES)[number];

interface SlotFate {
  readonly fate: Fate;
  readonly isHonest: boolean;
}

export interface Tally {
  situations: number;
  closed: number;
  sums: number;
  sumsFound: number;
  /** Situations with at most one honest accepted user are counted too, although their sum reveals it. */
  readonly leaks: { readonly situation: string; readonly leaked: readonly string[] }[];
}

export const NO_SITUATIONS: Tally = { situations: 0, closed: 0, sums: 0, sumsFound: 0, leaks: [] };

/** Every `of`-th filling, beginning with number `index`: the share of one of several workers. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

const WHOLE: Share = { index: 0, of: 1 };

export function runEverySituation(
  bufferSize: number,
  engine: OracleEngine,
  { minimum = 2, share = WHOLE }: { readonly minimum?: number; readonly share?: Share } = {},
): Tally {
  const tally: Tally = { ...NO_SITUATIONS, leaks: [] };
  let federations = new Federations(engine);
  let [filling, runs] = [0, 0];
  for (const slots of everyFilling(bufferSize)) {
    if (filling++ % share.of !== share.index) continue;
    if (++runs % RUNS_PER_FEDERATION === 0) federations = new Federations(engine);
    for (const judgement of runSituation(new OracleWorld(federations, { bufferSize, minimum }), slots)) {
      tally.situations++;
      tally.closed += judgement.closed;
      tally.sums += judgement.sums;
      tally.sumsFound += judgement.sumsFound;
      if (judgement.leaked.length > 0)
        tally.leaks.push({ situation: describe(slots, judgement), leaked: judgement.leaked });
    }
  }
  return tally;
}

/** The tally of both. */
export function addSituations(a: Tally, b: Tally): Tally {
  return {
    situations: a.situations + b.situations,
    closed: a.closed + b.closed,
    sums: a.sums + b.sums,
    sumsFound: a.sumsFound + b.sumsFound,
    leaks: [...a.leaks, ...b.leaks],
  };
}

function* everyFilling(bufferSize: number): Generator<readonly SlotFate[]> {
  const options = [true, false].flatMap((isHonest) => FATES.map((fate): SlotFate => ({ fate, isHonest })));
  for (let taken = 0; taken <= bufferSize; taken++) {
    for (let code = 0; code < options.length ** taken; code++) {
      yield Array.from(
        { length: taken },
        (_, slot) => options[Math.floor(code / options.length ** slot) % options.length] as SlotFate,
      );
    }
  }
}

/** The judgement before close, and the one after it if enough were accepted. */
function runSituation(world: OracleWorld, slots: readonly SlotFate[]): readonly Judgement[] {
  const ledger = world.drawBuffer();
  const users = slots.map(({ isHonest }) => world.newUser(isHonest));
  for (const user of users) takeSlot(world, ledger, user);
  const withFate = (...fates: readonly Fate[]) =>
    users.filter((_, slot) => fates.includes((slots[slot] as SlotFate).fate));
  for (const user of withFate('keyed', 'late', 'truncated', 'accepted')) takeKey(world, user);
  for (const user of withFate('accepted')) granted(world.acceptUpload(ledger, granted(user.send())));
  for (const user of withFate('truncated')) world.acceptUpload(ledger, granted(user.send()), false);
  ledger.freeze();
  for (const user of withFate('late')) sendLate(world, ledger, user);
  const before = world.trace.judge();
  if (ledger.buffer.status !== 'frozen') return [before];
  granted(world.close(granted(ledger.closeRequest())));
  return [before, world.trace.judge()];
}

export function takeSlot(world: OracleWorld, ledger: Ledger, user: WatchedDevice): void {
  const deposit = granted(user.join(ledger.buffer));
  world.remember(user);
  granted(user.takeSlot(granted(world.acceptDeposit(ledger, deposit))));
}

export function takeKey(world: OracleWorld, user: WatchedDevice): void {
  granted(user.takeKey(granted(world.issueKey(granted(user.askKey())))));
}

/** After the freeze, or before a freeze that never came: the server has the bytes and accepts nothing. */
function sendLate(world: OracleWorld, ledger: Ledger, user: WatchedDevice): void {
  const upload = granted(user.send());
  if (ledger.buffer.status === 'frozen') world.acceptUpload(ledger, upload);
  else ledger.uploads.push(upload);
}

/** A close that names these slots, with the headers the server holds. */
export function closeWith(world: OracleWorld, ledger: Ledger, accepted: readonly number[]): CloseRequest {
  const { buffer } = ledger;
  const headerOf = (slot: number) => ledger.uploads.find(({ header }) => header.slot === slot)?.header as UploadHeader;
  return world.signedClose({
    ctx: buffer.ctx,
    deposits: buffer.slots.map(({ deviceKey, nonce, ticket, depositSignature }: SecureBuffer['slots'][number]) => ({
      deviceKey,
      nonce,
      root: ticket.root,
      signature: depositSignature,
    })),
    accepted: accepted as CloseRequest['accepted'],
    headers: accepted.map(headerOf),
    votes: [],
  });
}

function describe(slots: readonly SlotFate[], { closed }: Judgement): string {
  const words = slots.map(({ fate, isHonest }) => (isHonest ? fate : `${fate} (colluding)`));
  return `${words.join(', ')}; ${closed > 0 ? 'closed' : 'open'}`;
}
