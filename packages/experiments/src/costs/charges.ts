/** From prices and profiles to what a scheme charges: seconds and bytes of one protocol, size and dimension. */
import { publishedCode, SYNCHRONISATION_READINGS } from '@basa/baselines';
import { elementBits } from '@basa/masking';
import type { LightSecAggCosts, PaperCosts, PlainCosts, RoundCosts, SealedCosts } from '@basa/simulator';
import type {
  Costs,
  LightSecAggPrices,
  ModulusOperation,
  Profile,
  SealingPrices,
  Share,
  VectorPrices,
  WordOperation,
} from './costs.ts';
import { priced } from './costs.ts';
import { codeKey } from './needs.ts';
import type { ProfiledName } from './profiles.ts';
import { profileKey, TINY } from './profiles.ts';
import type { Sampled } from './sampling.ts';
import { PRICED_RING } from './vector-operations.ts';

export type Reading = keyof typeof SYNCHRONISATION_READINGS;
export type SealedName = Extract<ProfiledName, `BASA sealed${string}`>;
/** Everything is summed in a ring but LightSecAgg, which divides. */
type ModulusKind = 'ring' | 'field';

/** How long a device that left holds its place: declared, not measured. */
const LEASE_SECONDS = 1;
/** The server cuts no smaller shards of a sum: its own number, in packages/server/src/closing/shards.ts. */
const MIN_SHARD_ELEMENTS = 1 << 16;
/** A device masks long vectors on two threads, whatever the protocol: the client's own numbers, in packages/client/src/node/masks.ts. */
const MASK_THREADS = 2;
const LONG_ELEMENTS = 1 << 18;

export class Charges {
  readonly #costs: Costs;
  readonly #dimension: number;
  readonly #modulus: ModulusKind;

  /** `modulus` is that of BASA, SecAgg and SecAgg+. */
  constructor(costs: Costs, dimension: number, modulus: ModulusKind = 'ring') {
    this.#costs = costs;
    this.#dimension = dimension;
    this.#modulus = modulus;
  }

  plain(): PlainCosts {
    return { uploadBytes: 4 * this.#dimension, addSeconds: this.#words('floatAdd') };
  }

  /** The parts of encryption that know nothing yet are made beside the training; everything else is in the turn. */
  paper(bufferSize: number): PaperCosts {
    const { connect, upload } = this.#phases('BASA paper', bufferSize, 0);
    const handling = this.#seconds(connect.server, 'online') / bufferSize;
    const key = this.#seconds(upload.authority, 'online') / bufferSize;
    const user = upload.users.map((share) => this.#ofDevice(share, 'online') + this.#words('copy'));
    const add = this.#vectors('unpack', 'add') + this.#seconds(upload.server, 'online') / bufferSize;
    return {
      quantiseSeconds: this.#vectors('quantise'),
      turnSeconds: (position) => handling + key + at(user, position) + this.#vectors('pack') + add,
      maskSeconds: this.#threaded((bufferSize - 1) * this.#vectors('expand')) + this.#vectors('pack') + add,
      afterTurnSeconds: 0,
      downBytes: (position) => at(connect.down, position) + at(upload.down, position),
      upBytes: (position) => this.#withVector(at(upload.up, position)),
      leaseSeconds: LEASE_SECONDS,
      parallelBuffers: 1,
    };
  }

  /** `openers`: threads that open a sum together, as the server's workers do. */
  sealed(name: SealedName, bufferSize: number, openers: number): SealedCosts {
    const { deposit, upload, close } = this.#phases(name, bufferSize, 0);
    const lossy = (): Phase => this.#phases(name, bufferSize, 1).close;
    const seals = mean(deposit.users.map((share, n) => share.counts.seals + at(upload.users, n).counts.seals));
    const durable = this.#costs.durable.ms / 1000;
    const deposits = deposit.users.map((share) => this.#seconds(share, 'online'));
    const masks = upload.users.map((share) => this.#ofDevice(share, 'online'));
    const serverWork = this.#seconds(deposit.server, 'seal') + this.#seconds(upload.server, 'seal');
    const closing = this.#seconds(close.authority, 'seal');
    const closingOne = (): number => this.#seconds(lossy().authority, 'seal');
    const seeds = (share: Share): number => this.#opening(share) / Math.min(openers, bufferSize);
    // Seeds are opened in shares of the slots, then the vector in shards: masks, bodies, range, mean. A ring unpacks by adding.
    const shards = Math.min(openers, Math.ceil(this.#dimension / MIN_SHARD_ELEMENTS));
    const vector = (accepted: number, dropped: number): number =>
      scaled(this.#expansions(close.server), () => this.#expansions(lossy().server), accepted, dropped) +
      accepted * this.#vectors('unpack', ...(this.#modulus === 'field' ? (['add'] as const) : [])) +
      this.#vectors('judge', 'dequantise');
    /** A whole buffer's work, for so many slots, and what one drop-out adds to those that are left. */
    const scaled = (whole: number, withOne: () => number, accepted: number, dropped: number): number => {
      const work = (whole * accepted) / bufferSize;
      if (dropped === 0) return work;
      return work + dropped * Math.max(0, withOne() - (whole * (bufferSize - 1)) / bufferSize);
    };
    return {
      offlineSeconds: (seals * this.#sealing.prepare.ms) / 1000,
      // The input is quantised, and its digest bound to the deposit.
      depositSeconds: this.#vectors('quantise') + this.#words('hashInput') + mean(deposits) + durable,
      depositBytes: mean(deposit.up),
      serverSeconds: serverWork / bufferSize / 2,
      bodySeconds: this.#receiving,
      inboxBytes: (slot) => at(deposit.down, slot),
      keySeconds: this.#seconds(upload.authority, 'seal') / bufferSize + durable,
      keyBytes: mean(upload.down),
      maskSeconds: (slot) => at(masks, slot) + this.#masking + durable,
      uploadBytes: (slot) => this.#withVector(at(upload.up, slot)),
      closeSeconds: (accepted, dropped) => scaled(closing, closingOne, accepted, dropped) + durable,
      openSeconds: (accepted, dropped) =>
        scaled(seeds(close.server), () => seeds(lossy().server), accepted, dropped) +
        vector(accepted, dropped) / shards,
      leaseSeconds: LEASE_SECONDS,
    };
  }

  /** SecAgg and SecAgg+: keys are agreed anew in every round. */
  pairwiseRound(name: 'SecAgg' | 'SecAgg+', users: number, threshold: number): RoundCosts {
    const whole = this.#phases(name, users, 0);
    const user = (phase: Phase): number => mean(phase.users.map((share) => this.#ofDevice(share, 'seal')));
    const server = (phase: Phase): number => this.#seconds(phase.server, 'seal');
    const recovery = user(whole.unmasking) + server(whole.unmasking) + this.#vectors('dequantise');
    const oneMore = (): number => Math.max(0, server(this.#phases(name, users, 1).unmasking) - server(whole.unmasking));
    return {
      setupSeconds: user(whole.keys) + server(whole.keys) + user(whole.shares) + server(whole.shares),
      setupBytes: {
        up: mean(whole.keys.up) + mean(whole.shares.up),
        down: mean(whole.keys.down) + mean(whole.shares.down),
      },
      isOverlapped: false,
      maskSeconds: this.#vectors('quantise', 'pack') + user(whole['masked-input']) + this.#words('copy'),
      uploadBytes: this.#withVector(mean(whole['masked-input'].up)),
      recoverySeconds: (dropped) =>
        (users - dropped) * this.#vectors('unpack', 'add') + recovery + (dropped && dropped * oneMore()),
      recoveryBytes: {
        up: mean(whole.unmasking.up),
        down: mean(whole['masked-input'].down) + mean(whole.unmasking.down),
      },
      threshold,
    };
  }

  /** Pairwise keys are agreed once for a training run and not charged; the offline part runs beside the training. */
  lightSecAggRound(users: number): RoundCosts {
    const prices = this.#code(users, users);
    const shareBytes = this.#shareBytes(users);
    const { survivors } = publishedCode(users);
    return {
      setupSeconds: offlineSeconds(prices, users),
      setupBytes: { up: (users - 1) * shareBytes, down: (users - 1) * shareBytes },
      isOverlapped: true,
      maskSeconds: this.#field('quantise', 'expand', 'pack'),
      uploadBytes: 4 * this.#dimension,
      recoverySeconds: (dropped) =>
        (users - dropped) * this.#field('unpack', 'add') +
        this.#field('add', 'dequantise') +
        (prices.answer.ms + prices.decode.ms) / 1000,
      recoveryBytes: { up: shareBytes, down: 0 },
      threshold: survivors,
    };
  }

  lightSecAggBuffered(users: number, bufferSize: number, reading: Reading): LightSecAggCosts {
    const prices = this.#code(users, bufferSize);
    const shareBytes = this.#shareBytes(users);
    return {
      offlineSeconds: offlineSeconds(prices, users),
      offlineBytes: (users - 1) * shareBytes,
      isOverlapped: true,
      maskSeconds: this.#field('quantise', 'expand', 'pack'),
      uploadBytes: 4 * this.#dimension,
      answerSeconds: prices.answer.ms / 1000,
      answerBytes: shareBytes,
      decodeSeconds:
        prices.decode.ms / 1000 + bufferSize * this.#field('unpack', 'add') + this.#field('add', 'dequantise'),
      answers: publishedCode(users).survivors,
      reading: SYNCHRONISATION_READINGS[reading],
    };
  }

  /** All that one user and the server compute for one sum, sealing in one go: what a whole run can be held against. */
  totals(name: ProfiledName, users: number): { readonly user: number; readonly server: number } {
    const { phases } = priced(this.#costs.profiles, profileKey({ name, users, leaving: 0 }));
    const user = phases.map((phase) => mean(phase.users.map((share) => this.#seconds(share, 'seal'))));
    const server = phases.map((phase) => this.#opening(phase.server) + this.#expansions(phase.server));
    const own = this.#wholeRun(name);
    const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
    return { user: total(user) + own.user, server: total(server) + users * own.upload + own.sum };
  }

  /** The vectors of a whole run in one process: of a user, of the server for an upload, and for the sum. */
  #wholeRun(name: ProfiledName): { readonly user: number; readonly upload: number; readonly sum: number } {
    const copy = this.#words('copy');
    if (name === 'BASA paper') return { user: this.#vectors('quantise') + copy, upload: this.#vectors('add'), sum: 0 };
    if (name === 'SecAgg' || name === 'SecAgg+')
      return { user: this.#vectors('pack') + copy, upload: this.#vectors('unpack', 'add'), sum: 0 };
    return {
      user: this.#vectors('quantise') + this.#words('hashInput') + this.#masking,
      upload: this.#receiving + this.#vectors('unpack', 'add'),
      sum: this.#vectors('judge', 'dequantise'),
    };
  }

  /** What a user of sealed mode does to its vector beside expanding masks: digest checked, copied, packed, hashed, framed. */
  get #masking(): number {
    return this.#words('hashInput', 'copy', 'copy') + this.#vectors('pack', 'hashBody');
  }

  /** What the server does with a body before it is accepted. In a ring every vector is one; in the field each entry is looked at. */
  get #receiving(): number {
    return this.#words('copy') + this.#vectors('hashBody', ...(this.#modulus === 'field' ? (['unpack'] as const) : []));
  }

  get #sealing(): SealingPrices {
    return priced(this.#costs.sealing, 'cp-abe');
  }

  get #prices(): VectorPrices {
    return priced(this.#costs.vectors, String(this.#dimension));
  }

  #vectors(...operations: readonly ModulusOperation[]): number {
    return seconds(operations.map((operation) => this.#prices[this.#modulus][operation]));
  }

  #field(...operations: readonly ModulusOperation[]): number {
    return seconds(operations.map((operation) => this.#prices.field[operation]));
  }

  #words(...operations: readonly WordOperation[]): number {
    return seconds(operations.map((operation) => this.#prices.words[operation]));
  }

  #code(users: number, summed: number): LightSecAggPrices {
    const key = codeKey({ code: 'published', users, dimension: this.#dimension, summed });
    return priced(this.#costs.lightSecAgg, key);
  }

  /** One share as it is sealed: a tag of 16 bytes and the name of its maker beside L elements. */
  #shareBytes(users: number): number {
    const { survivors, privacy } = publishedCode(users);
    return 18 + 4 * Math.ceil(this.#dimension / (survivors - privacy));
  }

  /** A profile is run in the field; what is charged is packed as its modulus packs. */
  #withVector(bytesAtTiny: number): number {
    const bits = this.#modulus === 'field' ? 32 : elementBits(PRICED_RING);
    return bytesAtTiny - 4 * TINY + Math.ceil((bits * this.#dimension) / 8);
  }

  /** Slot keys are sealed and opened for real in their profile: only CP-ABE is counted. */
  #seconds({ ms, counts }: Share, sealsAs: 'seal' | 'online'): number {
    const engine = this.#sealing;
    const sealing = counts.seals * engine[sealsAs].ms + counts.opens * engine.open.ms + counts.issues * engine.issue.ms;
    return (ms + sealing) / 1000 + this.#expansions({ counts });
  }

  /** The same of a device, which masks on its threads. */
  #ofDevice(share: Share, sealsAs: 'seal' | 'online'): number {
    const expansions = this.#expansions(share);
    return this.#seconds(share, sealsAs) - expansions + this.#threaded(expansions);
  }

  /** Pieces are copied to the threads and back. */
  #threaded(seconds: number): number {
    if (this.#dimension < LONG_ELEMENTS || seconds === 0) return seconds;
    return seconds / MASK_THREADS + this.#words('copy', 'copy');
  }

  #expansions({ counts }: Pick<Share, 'counts'>): number {
    return counts.expansions * this.#vectors('expand');
  }

  /** Without masks. The server has another key for nearly every seed it opens. */
  #opening(share: Share): number {
    const { open, openByNewKey } = this.#sealing;
    const more = (share.counts.opens * (openByNewKey.ms - open.ms)) / 1000;
    return this.#seconds(share, 'seal') - this.#expansions(share) + more;
  }

  #phases(name: ProfiledName, users: number, leaving: number): Record<string, Phase> & NamedPhases {
    const { phases } = priced(this.#costs.profiles, profileKey({ name, users, leaving }));
    return Object.fromEntries(phases.map((phase) => [phase.name, phase])) as Record<string, Phase> & NamedPhases;
  }
}

type Phase = Profile['phases'][number];

/** The names that the protocols give their phases. */
type NamedPhases = Record<
  'connect' | 'upload' | 'deposit' | 'close' | 'keys' | 'shares' | 'masked-input' | 'unmasking',
  Phase
>;

/** Its own mask for everybody, and a share of everybody's. */
function offlineSeconds({ encode, receive }: LightSecAggPrices, users: number): number {
  return (encode.ms + (users - 1) * receive.ms) / 1000;
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[Math.min(index, items.length - 1)];
  if (item === undefined) throw new RangeError('a profile without users');
  return item;
}

function seconds(prices: readonly Sampled[]): number {
  return prices.reduce((sum, { ms }) => sum + ms, 0) / 1000;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
