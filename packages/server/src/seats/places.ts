/** The places of a task at work: who may train now, for how long, and when nobody else is on the way. */
import { toHex } from '@basa/masking';
import type { AdmissionOptions, AdmissionView, Admitted, Ctx, SecureBuffer, UserId } from '@basa/protocol';
import { Admission, fillOf, turnMs } from '@basa/protocol';
import type { VersionRange } from '../closing/bounded-age.ts';
import type { StoredModel } from '../store/model-store.ts';
import { leaseOf } from './lease.ts';
import { Span } from './span.ts';
import type { UnderWay } from './under-way.ts';
import { VersionsSeen } from './versions-seen.ts';

export interface PlacesOptions extends AdmissionOptions {
  readonly underWay: UnderWay;
  readonly clock: () => number;
  /** In [0, 1): spreads devices that were told to come back. */
  jitter(): number;
  /** No place lasts longer before its deposit. */
  readonly uploadLeaseMs: number;
  /** The device left a place unused that ended then, and asks for another. */
  noteIdle(user: UserId, at: number): Promise<void>;
}

export type PlaceAnswer =
  | { readonly kind: 'place'; readonly leftMs: number }
  | { readonly kind: 'later'; readonly why: string; readonly retryAfterMs: number };

const WHY = {
  holds: 'the last update of this device is in no version yet',
  full: 'every place is taken',
  turn: 'the free places are for devices that have waited longer',
  backlog: 'closed buffers wait to be opened',
} as const;

export class Places {
  readonly #options: PlacesOptions;
  readonly #admission: Admission;
  readonly #toDeposit = new Span();
  readonly #toUpload = new Span();
  readonly #versions = new VersionsSeen();
  /** Buffers whose authorities did not answer, until they end. */
  readonly #aside = new Set<string>();
  #newestVersion = -1;
  #quietSince: number | undefined;
  #isUsed = false;
  /** As of the last look or answer. */
  #crowd = { underWay: 0, waiting: 0 };

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#admission = new Admission(options);
  }

  /** `unused` counts what the device has lately left unused, slots and places. */
  async ask(user: UserId, unused = 0): Promise<PlaceAnswer> {
    this.#isUsed = true;
    return this.#take(user, { unused, isForSeat: false });
  }

  /** A device that comes without a place is served if there is room: a free place, or a slot beside others. */
  async comesToSeat(user: UserId, unused = 0): Promise<Extract<PlaceAnswer, { kind: 'later' }> | undefined> {
    if ((await this.#options.underWay.has(user)) || this.#admission.hasRoomFor(toHex(user))) return undefined;
    const answer = await this.#take(user, { unused, isForSeat: true });
    return answer.kind === 'later' ? answer : undefined;
  }

  async deposited(user: UserId, ctx: Ctx): Promise<void> {
    const now = this.#options.clock();
    this.#versions.deposited(user, ctx, this.#newestVersion);
    this.#toDeposit.end(user, now);
    this.#toUpload.begin(user, now);
    await this.#options.underWay.end(user, 'used');
  }

  /** What the update of a device in this buffer may be trained on. */
  versionsOf(ctx: Ctx, user: UserId): VersionRange {
    return this.#versions.of(user, ctx);
  }

  uploaded(user: UserId): void {
    this.#toUpload.end(user, this.#options.clock());
  }

  /** The device gave its place up, or may not use it now. */
  async discard(user: UserId, how: 'returned' | 'refused'): Promise<void> {
    this.#toDeposit.forget(user);
    if (how === 'returned') this.#versions.forget(user);
    if (await this.#options.underWay.end(user, how)) this.#admission.freed(1, this.#options.clock());
  }

  track(buffer: SecureBuffer): void {
    const now = this.#options.clock();
    const name = toHex(buffer.ctx);
    const fill = fillOf(buffer, now, this.#toUpload.lateMs(this.#options.uploadLeaseMs));
    if (fill.stage === 'over') this.#aside.delete(name);
    this.#admission.track(name, this.#aside.has(name) ? { ...fill, stage: 'over' } : fill, now);
  }

  /**
   * A buffer that cannot be closed because authorities do not answer is waited for by nobody: new ones are drawn without those, and a fleet
   * must not stand still for as long as one of them is away.
   */
  setAside(buffer: SecureBuffer): void {
    this.#aside.add(toHex(buffer.ctx));
    this.track(buffer);
  }

  /** The newest version, made here or at another node. */
  meetVersion({ version, meanAge }: Pick<StoredModel, 'version' | 'meanAge'>): void {
    if (version <= this.#newestVersion) return;
    this.#newestVersion = version;
    if (meanAge !== undefined) this.#admission.versionMade(meanAge);
  }

  /** Looks whether anybody is on the way, and whose upload is late. */
  async look(living: readonly SecureBuffer[]): Promise<void> {
    const { underWay, clock } = this.#options;
    for (const buffer of living) this.track(buffer);
    this.#crowd = await underWay.count();
    if (this.#crowd.underWay > 0) this.#quietSince = undefined;
    else this.#quietSince ??= clock();
  }

  /** How long nobody has been on the way to a seat; 0 if devices do not ask for places. */
  get quietMs(): number {
    if (!this.#isUsed || this.#quietSince === undefined) return 0;
    return this.#options.clock() - this.#quietSince;
  }

  /** As of the last look. */
  get view(): AdmissionView {
    return this.#admission.view(this.#crowd);
  }

  async #take(user: UserId, { unused, isForSeat }: Asked): Promise<PlaceAnswer> {
    const { underWay, clock, jitter, uploadLeaseMs, noteIdle } = this.#options;
    let told: { readonly judged: Admitted; readonly retryAfterMs: number } | undefined;
    const taken = await underWay.take(user, {
      isForSeat,
      leaseMs: (isIdle) => leaseOf(this.#toDeposit, user, unused + (isIdle ? 1 : 0), uploadLeaseMs),
      decide: (crowd) => {
        // A device that comes with another update is not asked whether its last one is in a version.
        const judged = this.#admission.judge(isForSeat ? '' : toHex(user), crowd);
        if (judged === 'place') return judged;
        const retryAfterMs = this.#admission.retryAfterMs(crowd, clock(), jitter());
        told = { judged, retryAfterMs };
        // A device that could not use a free place is not in the line for one.
        if (judged === 'holds') return { turnMs: 0 };
        this.#crowd = { underWay: crowd.underWay, waiting: Math.max(crowd.waiting, crowd.ahead + 1) };
        return { turnMs: turnMs(retryAfterMs) };
      },
    });
    const now = clock();
    if (taken.lapsed > 0) this.#admission.freed(taken.lapsed, now);
    if (taken.idleSince !== undefined) {
      this.#toDeposit.forget(user);
      this.#versions.forget(user);
      await noteIdle(user, taken.idleSince);
    }
    if (taken.kind === 'none') {
      const { judged, retryAfterMs } = told as NonNullable<typeof told>;
      return { kind: 'later', why: WHY[judged as keyof typeof WHY], retryAfterMs };
    }
    this.#quietSince = undefined;
    this.#crowd = { ...this.#crowd, underWay: taken.underWay };
    this.#admission.placed(taken.underWay);
    if (!this.#toDeposit.has(user)) this.#toDeposit.begin(user, now);
    if (!isForSeat) this.#versions.asked(user, this.#newestVersion);
    return { kind: 'place', leftMs: taken.leftMs };
  }
}

interface Asked {
  readonly unused: number;
  /** It comes with an update. */
  readonly isForSeat: boolean;
}
