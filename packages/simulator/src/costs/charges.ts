/** Turns prices and profiles into the charges of a scheme: seconds and bytes of one protocol, size and dimension. */
import { publishedCode, SYNCHRONISATION_READINGS } from '@basa/baselines';
import type { LightSecAggCosts } from '../timed/lightsecagg-scheme.ts';
import type { OneShotCosts } from '../timed/one-shot-scheme.ts';
import type { PaperCosts } from '../timed/paper-scheme.ts';
import type { PlainCosts } from '../timed/plain-scheme.ts';
import type { RoundCosts } from '../timed/rounds.ts';
import type { Costs, LightSecAggPrices, Share } from './costs.ts';
import { COUNCILS, type OneShotName } from './councils.ts';
import type { ProfiledName } from './profiles.ts';
import { type ModulusKind, type Phase, Tariff } from './tariff.ts';

export type Reading = keyof typeof SYNCHRONISATION_READINGS;

/** The time for which a device that left holds its place: declared, not measured. */
const LEASE_SECONDS = 1;
/** The smallest shard of a sum: the server's own number, in packages/server/src/closing/model-keeper.ts. */
const MIN_SHARD_ELEMENTS = 1 << 16;

export class Charges {
  readonly #modulus: ModulusKind;
  /** The server splits every vector over this many threads at most, in every protocol. */
  readonly #shards: number;
  readonly #tariff: Tariff;

  /** `modulus` is that of BASA, SecAgg and SecAgg+. */
  constructor(costs: Costs, dimension: number, threads = 1, modulus: ModulusKind = 'ring') {
    this.#shards = Math.min(threads, Math.ceil(dimension / MIN_SHARD_ELEMENTS));
    this.#modulus = modulus;
    this.#tariff = new Tariff(costs, dimension, modulus);
  }

  plain(): PlainCosts {
    return { addSeconds: this.#tariff.words('floatAdd') / this.#shards };
  }

  /** Everything but the quantising is in the turn. */
  paper(bufferSize: number): PaperCosts {
    const { connect, upload } = this.#tariff.phases('BASA paper', bufferSize, 0);
    const handling = this.#tariff.seconds(connect.server) / bufferSize;
    const key = this.#tariff.seconds(upload.authority) / bufferSize;
    const user = upload.users.map((share) => this.#tariff.ofDevice(share) + this.#tariff.words('copy'));
    const add = this.#tariff.vectors('unpack', 'add') / this.#shards + this.#tariff.seconds(upload.server) / bufferSize;
    return {
      quantiseSeconds: this.#tariff.vectors('quantise'),
      turnSeconds: (position) => handling + key + at(user, position) + this.#tariff.vectors('pack') + add,
      leaseSeconds: LEASE_SECONDS,
    };
  }

  /**
   * Nothing of a device's work depends on K; authorities expand every mask of a batch, each of them its share and all at the same time. */
  oneShot(name: OneShotName, bufferSize: number): OneShotCosts {
    const { upload, close } = this.#tariff.phases(name, bufferSize, 0);
    const { authorities, parts, sums } = COUNCILS[name];
    const { durable } = this.#tariff;
    const each = (share: Share): number => this.#tariff.seconds(share) / bufferSize;
    const device = mean(upload.users.map((share) => this.#tariff.ofDevice(share)));
    return {
      deviceSeconds: this.#tariff.vectors('quantise') + this.#framing + device + durable,
      intakeSeconds: each(upload.server) + this.#tariff.receiving + durable,
      inspectSeconds: each(upload.authority) / authorities,
      releaseSeconds: (size) =>
        (size * each(close.authority) + sums * this.#tariff.vectors('pack', 'hashBody')) / authorities + durable,
      openSeconds: (size) =>
        size * each(close.server) +
        (this.#summing(size + parts) + this.#tariff.vectors('judge', 'dequantise')) / this.#shards,
    };
  }

  /** The work of a device of this mode on its vector besides expanding a mask: copied, packed, hashed, framed. */
  get #framing(): number {
    return this.#tariff.words('copy', 'copy') + this.#tariff.vectors('pack', 'hashBody');
  }

  /** Reads and adds vectors. A ring unpacks by adding. */
  #summing(vectors: number): number {
    return vectors * this.#tariff.vectors('unpack', ...(this.#modulus === 'field' ? (['add'] as const) : []));
  }

  /** SecAgg and SecAgg+: keys are agreed again in every round. */
  pairwiseRound(name: 'SecAgg' | 'SecAgg+', users: number, threshold: number): RoundCosts {
    const whole = this.#tariff.phases(name, users, 0);
    const user = (phase: Phase): number => mean(phase.users.map((share) => this.#tariff.ofDevice(share)));
    const server = (phase: Phase): number => this.#tariff.seconds(phase.server);
    const opening = (phase: Phase): number => server(phase) / this.#shards;
    const recovery =
      user(whole.unmasking) + opening(whole.unmasking) + this.#tariff.vectors('dequantise') / this.#shards;
    const oneMore = (): number =>
      Math.max(0, opening(this.#tariff.phases(name, users, 1).unmasking) - opening(whole.unmasking));
    return {
      setupSeconds: user(whole.keys) + server(whole.keys) + user(whole.shares) + server(whole.shares),
      isOverlapped: false,
      maskSeconds: this.#tariff.vectors('quantise', 'pack') + user(whole['masked-input']) + this.#tariff.words('copy'),
      recoverySeconds: (dropped) =>
        ((users - dropped) * this.#tariff.vectors('unpack', 'add')) / this.#shards +
        recovery +
        (dropped && dropped * oneMore()),
      threshold,
    };
  }

  /** Pairwise keys are agreed once for a training run and not charged. The offline part runs during the training. */
  lightSecAggRound(users: number): RoundCosts {
    const prices = this.#tariff.code(users, users);
    const { survivors } = publishedCode(users);
    return {
      setupSeconds: offlineSeconds(prices, users),
      isOverlapped: true,
      maskSeconds: this.#tariff.field('quantise', 'expand', 'pack'),
      recoverySeconds: (dropped) =>
        ((users - dropped) * this.#tariff.field('unpack', 'add') +
          this.#tariff.field('add', 'dequantise') +
          prices.decode.ms / 1000) /
          this.#shards +
        prices.answer.ms / 1000,
      threshold: survivors,
    };
  }

  lightSecAggBuffered(users: number, bufferSize: number, reading: Reading): LightSecAggCosts {
    const prices = this.#tariff.code(users, bufferSize);
    return {
      offlineSeconds: offlineSeconds(prices, users),
      isOverlapped: true,
      maskSeconds: this.#tariff.field('quantise', 'expand', 'pack'),
      answerSeconds: prices.answer.ms / 1000,
      decodeSeconds:
        (prices.decode.ms / 1000 +
          bufferSize * this.#tariff.field('unpack', 'add') +
          this.#tariff.field('add', 'dequantise')) /
        this.#shards,
      answers: publishedCode(users).survivors,
      reading: SYNCHRONISATION_READINGS[reading],
    };
  }

  /** Everything that one user and the server compute for one sum, sealing in one go: for comparison with a whole run. */
  totals(name: ProfiledName, users: number): { readonly user: number; readonly server: number } {
    const phases = Object.values(this.#tariff.phases(name, users, 0));
    const user = phases.map((phase) => mean(phase.users.map((share) => this.#tariff.seconds(share))));
    const server = phases.map((phase) => this.#tariff.seconds(phase.server));
    const own = this.#wholeRun(name);
    const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
    return { user: total(user) + own.user, server: total(server) + users * own.upload + own.sum };
  }

  /** The vectors of a whole run in one process: of a user, of the server for an upload, and for the sum. */
  #wholeRun(name: ProfiledName): { readonly user: number; readonly upload: number; readonly sum: number } {
    const copy = this.#tariff.words('copy');
    if (name === 'BASA paper')
      return { user: this.#tariff.vectors('quantise') + copy, upload: this.#tariff.vectors('add'), sum: 0 };
    if (name === 'SecAgg' || name === 'SecAgg+')
      return { user: this.#tariff.vectors('pack') + copy, upload: this.#tariff.vectors('unpack', 'add'), sum: 0 };
    return {
      user: this.#framing,
      upload: this.#tariff.vectors('hashBody', 'unpack', 'add'),
      sum: COUNCILS[name].parts * this.#tariff.vectors('unpack', 'add') + this.#tariff.vectors('judge', 'dequantise'),
    };
  }
}

/** The user's own mask for all users, and a share of each user's mask. */
function offlineSeconds({ encode, receive }: LightSecAggPrices, users: number): number {
  return (encode.ms + (users - 1) * receive.ms) / 1000;
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[Math.min(index, items.length - 1)];
  if (item === undefined) throw new RangeError('a profile without users');
  return item;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
