/**
 * The states that devices, server and authorities of the one-shot mode can be in together. Every step is one request and its answer between
 * the real parties, which start from their disks; each may die after any record, and whoever waits for its answer then has none.
 */
import { ascii, concatBytes, type RandomWords, toHex } from '@basa/masking';
import { isRefused, millis, type Refused } from '@basa/protocol';
import {
  Crash,
  type Environment,
  granted,
  type OneShotFederation,
  type ShotAuthority,
  type ShotDevice,
} from '@basa/simulator';
import { ShotOracle } from '../../../attacks/one-shot/shot-oracle.ts';
import { symbolicEnvironment } from '../../world/symbolic-federation.ts';
import { Interner } from '../interner.ts';
import { remembered } from '../remembered.ts';
import type { Space } from '../walk.ts';
import { type FinalRules, factsProblem, finalBatches } from './checks.ts';
import { DiskShelf, type Disks } from './disks.ts';
import { Facts } from './facts.ts';

export interface ShotWorldOptions {
  readonly bufferSize: number;
  readonly minimum: number;
  /** Honest ones, with one update each. */
  readonly devices: number;
  /** Devices on the server's side, each with an upload. */
  readonly eves?: number;
  readonly council?: { readonly authorities: number; readonly threshold: number; readonly tolerated: number };
  /** Authorities on the server's side, and those that answer nobody. */
  readonly colluding?: readonly number[];
  readonly gone?: readonly number[];
  /** The server asks each authority for any batch, and shows or keeps back what it likes; otherwise it is honest. */
  readonly isLying?: boolean;
  /** Time passes: epochs end and others open. */
  readonly hours?: boolean;
  readonly crashes?: boolean;
  /** One authority may come back with an older log, once. */
  readonly restores?: boolean;
}

export interface ShotState extends Disks {
  readonly hour: number;
  readonly facts: number;
}

interface Action {
  readonly words: string;
  run(): void;
}

const HOUR_MS = 3_600_000;
/** The start; past the votes, with a new epoch open; past the release of the first one. */
const HOURS = [0, 1.3, 3.5];
export const SHOT_FATES = ['included', 'quarantined', 'expired', 'refused', 'unknown'] as const;

export class ShotSpace implements Space<ShotState> {
  readonly fates: Record<string, number> = Object.fromEntries(SHOT_FATES.map((fate) => [fate, 0]));
  readonly #options: ShotWorldOptions;
  readonly #oracle: ShotOracle;
  readonly #world: OneShotFederation;
  readonly #devices: readonly ShotDevice[];
  readonly #shelf: DiskShelf;
  readonly #facts: Facts;
  readonly #factSets = new Interner<readonly string[]>();
  readonly #problems = new Map<number, string | undefined>();
  readonly #rules: FinalRules;
  readonly #genesis: readonly number[];
  readonly #startMs: number;
  readonly #start: ShotState;
  readonly #draws: NamedDraws;
  #hour = 0;

  constructor(options: ShotWorldOptions) {
    const { council: { authorities = 1, threshold = 1, tolerated = 0 } = {}, colluding = [], devices } = options;
    this.#options = options;
    this.#draws = namedDraws();
    const { environment } = this.#draws;
    const { bufferSize, minimum } = options;
    const several = authorities > 1 ? { council: { authorities, threshold }, tolerated } : {};
    this.#oracle = new ShotOracle(environment, { bufferSize, minimum, dimension: devices + 1, colluding, ...several });
    this.#world = this.#oracle.world;
    // A party that dies takes the whole step with it: everybody goes on from what is on disk.
    this.#world.call = (_, request) => request();
    for (const index of options.gone ?? []) this.#world.away.add(index);
    this.#facts = new Facts(this.#oracle);
    this.#devices = Array.from({ length: devices }, () => this.#world.shooter());
    for (const device of this.#devices) this.#facts.listenToDevice(device);
    this.#giveEves(options.eves ?? 0);
    this.#shelf = new DiskShelf(this.#world, this.#devices);
    this.#rules = { threshold, colluding: colluding.length, minimum };
    this.#genesis = this.#world.keepers.map(({ base }) => base.log.length);
    this.#startMs = this.#world.now;
    this.#start = this.#save();
  }

  get sizes(): { readonly local: number; readonly messages: number } {
    return { local: this.#shelf.size, messages: this.#factSets.size };
  }

  /** Devices of the adversary have given before the first step. */
  #giveEves(count: number): void {
    for (let n = 0; n < count; n++) {
      const eve = this.#world.shooter();
      this.#facts.listenToDevice(eve);
      const start = granted(eve.gather(this.#world.shots.standings()));
      eve.drive(start, ({ upload, body }) => {
        this.#facts.sawUpload(upload, undefined);
        return this.#world.shots.take(upload, body);
      });
      this.#world.shooters.pop();
    }
  }

  start(): ShotState {
    return this.#start;
  }

  nameOf({ devices, server, authorities, hour, facts }: ShotState): string {
    return `${devices.join()}|${server}|${authorities.join()}|${hour}|${facts}`;
  }

  successors(state: ShotState): readonly (readonly [ShotState, string])[] {
    const name = this.nameOf(state);
    this.#load(state);
    const found: (readonly [ShotState, string])[] = [];
    const add = (words: string): void => {
      const next = this.#save();
      if (this.nameOf(next) !== name) found.push([next, words]);
    };
    for (const action of this.#actions(state)) {
      const records = this.#play(state, action);
      add(action.words);
      for (let n = 1; this.#options.crashes === true && n <= records; n++) {
        this.#play(state, action, n);
        add(`${action.words}; a crash after ${n} of ${records} records`);
      }
    }
    return found;
  }

  /** How many records it wrote. */
  #play(state: ShotState, { words, run }: Action, crashIn?: number): number {
    this.#load(state);
    this.#draws.begin(`${words} ${state.hour}`);
    this.#world.records = 0;
    this.#world.crashIn = crashIn;
    try {
      run();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.#shelf.crashed();
    } finally {
      this.#world.crashIn = undefined;
    }
    return this.#world.records;
  }

  #load(state: ShotState): void {
    this.#hour = state.hour;
    this.#world.now = millis(this.#startMs + (HOURS[state.hour] as number) * HOUR_MS);
    this.#facts.load(this.#factSets.value(state.facts));
    this.#shelf.load(state);
  }

  #save(): ShotState {
    const { names } = this.#facts;
    return { ...this.#shelf.save(), hour: this.#hour, facts: this.#factSets.number(names.join(), names) };
  }

  #actions(state: ShotState): readonly Action[] {
    return [
      ...this.#devices.flatMap((device, n) => this.#deviceActions(device, n)),
      ...(this.#options.isLying === true ? this.#lies(state) : this.#serverActions()),
      ...this.#authorityActions(state),
      ...(this.#options.hours === true && state.hour + 1 < HOURS.length
        ? [{ words: `it is ${HOURS[state.hour + 1]} h later`, run: () => void this.#hour++ }]
        : []),
    ];
  }

  /** Devices are alike but for their names: they give in their order. */
  #deviceActions(device: ShotDevice, n: number): readonly Action[] {
    const { session, ledgerRecords } = device.own;
    const isTurn = n === 0 || this.#devices[n - 1]?.own.ledgerRecords.length !== 0;
    const times = ledgerRecords.length > 1 ? ' again' : '';
    const give = { words: `device ${n} gives its update${times}`, run: () => void give_(device, this.#world) };
    const asks = { words: `device ${n} asks for the outcome`, run: () => this.#askOutcome(device) };
    const isGiven = session?.step === 'acknowledged';
    return [...(isTurn && !isGiven ? [give] : []), ...(isGiven && this.#options.hours === true ? [asks] : [])];
  }

  /** Frees its update if enough authorities call it expired; a lying server may keep the device from some of them. */
  #askOutcome(device: ShotDevice): void {
    const { member } = device.own.session as NonNullable<typeof device.own.session>;
    const upload = toHex(member.ctx);
    const heard =
      this.#options.isLying === true
        ? [...this.#facts.outcomesOf(upload), ...this.#oracle.boughtOutcomes(device, 'expired')]
        : this.#world.outcomesOf(device.own);
    if (device.release(heard).kind !== 'free') return;
    this.#facts.add(`freed:${upload}`);
    device.own.leave();
  }

  #serverActions(): readonly Action[] {
    const { shots } = this.#world;
    const open = [...shots.batches.values()].filter(({ end }) => end === undefined);
    return [
      { words: 'the server has uploads inspected', run: () => shots.inspect() },
      { words: 'the server forms a batch', run: () => void shots.form() },
      ...open.map(({ ctx, batch }) => ({
        words: `the server closes batch ${batch.number}`,
        run: () => this.#close(ctx, batch.uploads),
      })),
    ];
  }

  #close(ctx: Parameters<OneShotFederation['shots']['close']>[0], uploads: readonly Uint8Array[]): void {
    const verdict = this.#world.shots.close(ctx);
    if (isRefused(verdict) || verdict.kind !== 'good') return;
    const expected = new Array<number>(this.#world.policy.dimension).fill(0);
    for (const name of uploads) {
      const user = toHex(this.#world.shots.shot(name).upload.header.user);
      const number = this.#world.devices.findIndex((device) => toHex(device.user) === user);
      expected[number % expected.length] = (expected[number % expected.length] ?? 0) + 1;
    }
    if (verdict.sum.join() !== expected.join()) this.#facts.add('wrong:a sum is not that of its updates');
  }

  /** Any batch of the uploads that there are, to any authority; sums of those that somebody voted for. */
  #lies(state: ShotState): readonly Action[] {
    const names = [...this.#world.shots.uploads.values()].map(({ name }) => name);
    const lists = subsetsOf(names).filter((list) => list.length > 0 && list.length <= this.#options.bufferSize);
    const listWords = (list: readonly Uint8Array[]): string => list.map((name) => names.indexOf(name as never)).join();
    return this.#oracle.honest
      .filter((keeper) => this.#isInTurn(state, keeper))
      .flatMap((keeper) => {
        const who = `authority ${keeper.base.index}`;
        const asked = lists.flatMap((list, number): readonly Action[] => {
          const of = `for uploads ${listWords(list)}`;
          const hasVotes = this.#oracle.votes.has(toHex(this.#oracle.ctxOf(list, number)));
          return [
            { words: `${who} is asked to vote ${of}`, run: () => void this.#oracle.vote(keeper, list, number) },
            ...(hasVotes
              ? [
                  {
                    words: `${who} is asked to release ${of}`,
                    run: () => void this.#oracle.release(keeper, list, number),
                  },
                ]
              : []),
          ];
        });
        return this.#options.hours === true ? [...asked, ...this.#questions(keeper)] : asked;
      });
  }

  #questions(keeper: ShotAuthority): readonly Action[] {
    return this.#devices.flatMap(({ own }, n) => {
      const given = own.ledger.deltas.get(toHex(own.deltaId));
      const named = given?.epochs.find(({ authority }) => authority === keeper.base.index);
      if (given === undefined || named === undefined) return [];
      const question = { user: own.user, joinTag: given.joinTag, statement: named.statement };
      const words = `authority ${keeper.base.index} is asked about the update of device ${n}`;
      return [{ words, run: () => void keeper.outcome(question) }];
    });
  }

  /** Authorities are alike but for their names, so they are asked in their order for the first time. */
  #isInTurn({ authorities }: ShotState, { base }: ShotAuthority): boolean {
    const before = this.#oracle.honest.filter((one) => one.base.index < base.index);
    return before.every((one) => authorities[one.base.index] !== this.#start.authorities[one.base.index]);
  }

  #authorityActions(state: ShotState): readonly Action[] {
    const { hours, restores, gone = [] } = this.#options;
    const there = this.#oracle.honest.filter(({ base }) => !gone.includes(base.index));
    const isRestored = this.#facts.names.some((name) => name.startsWith('restored:'));
    return there.flatMap((keeper): readonly Action[] => {
      const { index, log } = keeper.base;
      const lengths = [...new Set([this.#genesis[index] as number, log.length - 1])];
      const isTouched = state.authorities[index] !== this.#start.authorities[index];
      const older =
        restores === true && !isRestored && isTouched ? lengths.filter((length) => length < log.length) : [];
      return [
        ...(hours === true ? [{ words: `authority ${index} looks at its clock`, run: () => keeper.tick() }] : []),
        ...older.map((length) => ({
          words: `authority ${index} comes back with ${log.length - length} records less`,
          run: () => this.#restore(keeper, length),
        })),
      ];
    });
  }

  #restore(keeper: ShotAuthority, length: number): void {
    this.#facts.add(`restored:${keeper.base.index}`);
    keeper.restore(length);
    keeper.openEpoch();
  }

  problemOf(state: ShotState): string | undefined {
    const names = this.#factSets.value(state.facts);
    const problem = remembered(this.#problems, state.facts, () => factsProblem(this.#facts, names, this.#rules));
    return problem ?? this.#lostProblem(state);
  }

  /** What was acknowledged, the server has. */
  #lostProblem(state: ShotState): string | undefined {
    const lost = this.#shelf.lostBy(state);
    return lost < 0 ? undefined : `device ${lost} was acknowledged, and the server does not have its upload`;
  }

  /** Every acknowledged update has an end; where no time passes and nobody was restored, all of them are included. */
  terminalProblem(state: ShotState): string | undefined {
    if (this.#options.isLying === true) return undefined;
    this.#load(state);
    const given = this.#factSets.value(state.facts).flatMap((name) => (name.startsWith('up:') ? [name.slice(3)] : []));
    const fates = given.map((upload) => this.#fateOf(upload, state));
    for (const fate of fates) this.fates[fate] = (this.fates[fate] ?? 0) + 1;
    const isQuiet = this.#options.hours !== true && this.#options.restores !== true;
    const left = fates.filter((fate) => fate === 'unknown').length;
    if (isQuiet && left >= this.#rules.minimum) return `${left} updates wait, and nothing more can happen`;
    return fates.includes('lost') ? 'an acknowledged update has no end, and nothing more can happen' : undefined;
  }

  #fateOf(upload: string, state: ShotState): string {
    const { shots } = this.#world;
    const names = this.#factSets.value(state.facts);
    const holding = [...shots.batches.values()].filter(({ batch }) =>
      batch.uploads.some((one) => toHex(one) === upload),
    );
    const end = holding.flatMap((batch) => batch.end ?? [])[0];
    if (end !== undefined) return end;
    if (names.includes(`freed:${upload}`)) return 'expired';
    const verdict = shots.uploads.get(upload)?.verdict;
    if (verdict !== undefined && verdict !== 'good' && verdict !== 'waiting') return 'refused';
    // Somebody voted for it, or forgot whether it did: nobody may call it expired then.
    const isVoted = holding.length > 0 || names.some((name) => name.startsWith('restored:'));
    const isFinal = [...finalBatches(this.#facts, names, this.#rules).values()].some((list) => list.includes(upload));
    return isVoted || isFinal || this.#options.hours !== true ? 'unknown' : 'lost';
  }
}

/** From wherever its records stand to the acknowledgement. */
function give_(device: ShotDevice, { shots }: OneShotFederation): Refused | object {
  if (device.own.session !== undefined) return device.send();
  const start = device.gather(shots.standings());
  return isRefused(start) ? start : device.send(start);
}

interface NamedDraws {
  readonly environment: Environment;
  begin(step: string): void;
}

/** Draws by name: the same step draws the same bytes wherever it is explored. */
function namedDraws(): NamedDraws {
  const { tools } = symbolicEnvironment;
  let [step, count] = ['the start', 0];
  const fill: RandomWords = (words) => {
    const blocks = Array.from({ length: Math.ceil(words.length / 4) }, (_, n) =>
      tools.suite.sha256(ascii(`${step} ${count} ${n}`)).subarray(0, 16),
    );
    count++;
    // Without the highest bit: every draw is a good key of an epoch.
    words.set(new Uint32Array(concatBytes(...blocks).buffer, 0, words.length).map((word) => word >>> 1));
    return words;
  };
  const begin = (name: string): void => {
    [step, count] = [name, 0];
  };
  return { environment: { ...symbolicEnvironment, randomWords: () => fill }, begin };
}

function subsetsOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return Array.from({ length: 2 ** items.length }, (_, set) => items.filter((__, n) => (set >> n) & 1));
}
