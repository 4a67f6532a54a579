/**
 * The rules of the one-shot mode in the log. An epoch is opened once, and epoch numbers rise. No batch gets a vote or becomes final after
 * its last epoch has ended. No upload is in two batches. Time never goes back.
 */
import { equalBytes, toHex } from '@basa/masking';
import {
  type AuthorityRecord,
  batchCtxOf,
  type Epoch,
  epochCodec,
  givenNameOf,
  indexOf,
  isSigned,
  type TaskPolicy,
  usedNameOf,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';

type ShotRecord = Extract<AuthorityRecord, { kind: 'epoch-opened' | 'epoch-ended' | 'batch-voted' | 'batch-final' }>;

type BatchList = Extract<AuthorityRecord, { kind: 'batch-voted' }>['list'];

interface AuditedBatch {
  readonly list: BatchList;
  isFinal: boolean;
  isUsed: boolean;
}

type Problems = readonly string[];
const when = (isWrong: boolean, problem: string): Problems => (isWrong ? [problem] : []);

export class ShotRules {
  readonly #authorityKey: Uint8Array;
  readonly #policyOf: (task: Uint8Array) => TaskPolicy | undefined;
  /** Open epochs by the hash of their statement, and the last number by task. */
  readonly #open = new Map<string, Epoch>();
  readonly #opened = new Set<string>();
  readonly #numbers = new Map<string, number>();
  readonly #batches = new Map<string, AuditedBatch>();
  /** The batch in which an upload, or an update on an entry, was voted for; and the final batch with it. */
  readonly #voted = new Map<string, string>();
  readonly #final = new Map<string, string>();
  /** Batches that may hold a device's update, by task and device. */
  readonly #inclusions = new Map<string, number>();
  #time = 0;

  constructor(authorityKey: Uint8Array, policyOf: (task: Uint8Array) => TaskPolicy | undefined) {
    this.#authorityKey = authorityKey;
    this.#policyOf = policyOf;
  }

  /** Returns the rules that this record breaks, given those before it. */
  check(entry: ShotRecord): Problems {
    return [...this.#timed(entry.kind === 'epoch-opened' ? entry.epoch.opens : entry.at), ...this.#checked(entry)];
  }

  /** True if an epoch is open. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  hasBatch(ctx: Uint8Array): boolean {
    return this.#batches.has(toHex(ctx));
  }

  /** A version is made of the batch, or leaves it out. With several authorities, this one may not know that it is final. */
  use(ctx: Uint8Array, { threshold }: TaskPolicy): Problems {
    const batch = this.#batches.get(toHex(ctx));
    if (batch === undefined) return ['there is no such batch'];
    const isWrong = batch.isUsed || (threshold === 1 && !batch.isFinal);
    batch.isUsed = true;
    return when(isWrong, 'its batch was not final, or made another version');
  }

  #timed(at: number): Problems {
    const isBack = at < this.#time;
    this.#time = Math.max(this.#time, at);
    return when(isBack, 'its time is before that of a record before it');
  }

  #checked(entry: ShotRecord): Problems {
    switch (entry.kind) {
      case 'epoch-opened':
        return this.#openedEpoch(entry.epoch);
      case 'epoch-ended':
        return this.#endedEpoch(entry);
      case 'batch-voted':
        return [...this.#own(entry.list), ...this.#taken(this.#voted, entry.list)];
      case 'batch-final':
        return this.#finalBatch(entry.ctx, entry.list);
    }
  }

  /** An epoch from a lost life of the log, which the record shows, was never opened in this one. */
  #endedEpoch({ statement, how }: Extract<ShotRecord, { kind: 'epoch-ended' }>): Problems {
    const name = toHex(statement);
    const isLost = how === 'dead' && !this.#opened.has(name);
    this.#opened.add(name);
    return when(!this.#open.delete(name) && !isLost, 'the epoch was not open');
  }

  #openedEpoch(epoch: Epoch): Problems {
    const policy = this.#policyOf(epoch.task);
    const [name, task] = [toHex(epochCodec.statementHash(nodeSuite, epoch)), toHex(epoch.task)];
    const isAgain = this.#opened.has(name);
    const isRising = epoch.number > (this.#numbers.get(task) ?? -1);
    this.#opened.add(name);
    this.#open.set(name, epoch);
    this.#numbers.set(task, epoch.number);
    const isOwn = policy?.oneShot !== undefined && indexOf(policy, this.#authorityKey) === epoch.authority;
    return [
      ...when(!isOwn, 'it does not belong to this authority and a one-shot task'),
      ...when(!isSigned(nodeSuite, epochCodec, epoch, this.#authorityKey), 'the signature does not verify'),
      ...when(isAgain, 'the epoch was opened before'),
      ...when(!isRising, `epoch ${epoch.number} does not follow those before it`),
    ];
  }

  /** A vote of this authority itself: nothing of it was voted for or final before. */
  #own(list: BatchList): Problems {
    return [
      ...this.#listed(list),
      ...this.#budgeted(list),
      ...when(
        [...uploadsOf(list), ...updatesOf(list)].some((name) => this.#final.has(name)),
        'an upload of it is in a final batch',
      ),
    ];
  }

  #finalBatch(ctx: Uint8Array, given: BatchList | undefined): Problems {
    const known = this.#batches.get(toHex(ctx));
    const list = given ?? known?.list;
    if (list === undefined) return ['the batch got no vote, and the record does not list its uploads'];
    const isAlone = this.#policyOf(list.batch.task)?.threshold === 1;
    const isAgain = known?.isFinal === true;
    const problems = given === undefined ? [] : isAlone ? this.#own(given) : this.#listed(given);
    const batch = this.#batches.get(toHex(ctx));
    if (batch !== undefined) batch.isFinal = true;
    return [
      ...problems,
      ...when(batch === undefined, 'its name is not that of its list'),
      ...when(isAgain, 'the batch was final before'),
      ...when(!this.#isLive(list), 'an epoch that it names is not open'),
      ...this.#taken(this.#final, list),
    ];
  }

  /** A list that was not in the log before. */
  #listed(list: BatchList): Problems {
    const { batch, members } = list;
    const policy = this.#policyOf(batch.task);
    const name = toHex(batchCtxOf(nodeSuite, batch));
    const isKnown = this.#batches.has(name);
    this.#batches.set(name, { list, isFinal: false, isUsed: false });
    for (const included of includedOf(list)) this.#inclusions.set(included, (this.#inclusions.get(included) ?? 0) + 1);
    const users = new Set(members.map(({ user }) => toHex(user)));
    const isFit =
      members.length === batch.uploads.length &&
      members.length >= (policy?.minimum ?? Number.POSITIVE_INFINITY) &&
      members.length <= (policy?.bufferSize ?? 0);
    return [
      ...when(policy?.oneShot === undefined, 'its one-shot task does not exist'),
      ...when(isKnown, 'the batch is in the log already'),
      ...when(!isFit, 'fewer or more uploads than the policy allows'),
      ...when(users.size < members.length, 'it contains a device twice'),
      ...when(!this.#isLive(list), 'an epoch that it names is not open'),
    ];
  }

  #isLive({ batch, members }: BatchList): boolean {
    return members.every(({ statement }) => {
      const epoch = this.#open.get(toHex(statement));
      return epoch !== undefined && equalBytes(epoch.task, batch.task);
    });
  }

  /** In a private task it votes for no device more often than its budget allows. Batches that others made final count as well. */
  #budgeted(list: BatchList): Problems {
    const most = this.#policyOf(list.batch.task)?.privacy?.participations ?? Number.POSITIVE_INFINITY;
    const over = includedOf(list).filter((name) => (this.#inclusions.get(name) ?? 0) > most);
    return when(over.length > 0, `${over.length} devices are in more sums than their budget allows`);
  }

  /** Each upload, and each update of a device on an entry, in one batch. */
  #taken(by: Map<string, string>, list: BatchList): Problems {
    const batch = toHex(batchCtxOf(nodeSuite, list.batch));
    const names = [...uploadsOf(list), ...updatesOf(list)];
    const isElsewhere = names.some((name) => by.has(name) && by.get(name) !== batch);
    for (const name of names) by.set(name, batch);
    return when(isElsewhere, 'an upload of it is in another batch');
  }
}

function uploadsOf({ batch, members }: BatchList): readonly string[] {
  return members.map((member) => toHex(usedNameOf(nodeSuite, batch.task, member)));
}

function updatesOf({ batch, entry, members }: BatchList): readonly string[] {
  return members.map(({ user }) => toHex(givenNameOf(nodeSuite, batch.task, entry, user)));
}

function includedOf({ batch, members }: BatchList): readonly string[] {
  return members.map(({ user }) => `${toHex(batch.task)} ${toHex(user)}`);
}
