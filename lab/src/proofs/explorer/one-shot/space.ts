/**
 * The states that devices, server and authorities of the one-shot mode can be in together. Every step is one request
 * and its answer between the real parties, which start from their disks; each may crash after any record, and the party
 * that waits for its answer then gets none.
 */
import { toHex } from '@basa/masking';
import { millis } from '@basa/protocol';
import { Crash, granted, type OneShotFederation, type ShotDevice } from '@basa/simulator';
import { ShotOracle } from '../../../attacks/one-shot/shot-oracle.ts';
import { Interner } from '../interner.ts';
import { remembered } from '../remembered.ts';
import type { Space } from '../walk.ts';
import { type FinalRules, factsProblem, finalBatches } from './checks.ts';
import { DiskShelf } from './disks.ts';
import { Facts } from './facts.ts';
import { type Action, ShotMoves } from './moves.ts';
import { type NamedDraws, namedDraws } from './named-draws.ts';
import type { ShotState, ShotWorldOptions } from './world-options.ts';

const HOUR_MS = 3_600_000;
/** Three times: the start, the time after the votes with a new epoch open, and the time after the release of the first epoch. */
const HOURS = [0, 1.3, 3.5];
const SHOT_FATES = ['included', 'quarantined', 'expired', 'refused', 'unknown'] as const;

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
  readonly #startMs: number;
  readonly #start: ShotState;
  readonly #draws: NamedDraws;
  readonly #moves: ShotMoves;
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
    // A party that crashes ends the whole step: all parties continue from their disks.
    this.#world.call = (_, request) => request();
    for (const index of options.gone ?? []) this.#world.away.add(index);
    this.#facts = new Facts(this.#oracle);
    this.#devices = Array.from({ length: devices }, () => this.#world.shooter());
    for (const device of this.#devices) this.#facts.listenToDevice(device);
    this.#giveEves(options.eves ?? 0);
    this.#shelf = new DiskShelf(this.#world, this.#devices);
    this.#rules = { threshold, colluding: colluding.length, minimum };
    this.#startMs = this.#world.now;
    this.#start = this.#save();
    const parties = { oracle: this.#oracle, facts: this.#facts, devices: this.#devices, start: this.#start };
    this.#moves = new ShotMoves(options, parties);
  }

  get sizes(): { readonly local: number; readonly messages: number } {
    return { local: this.#shelf.size, messages: this.#factSets.size };
  }

  /** Devices of the adversary have contributed before the first step; the world does not count them among its own. */
  #giveEves(count: number): void {
    for (let n = 0; n < count; n++) {
      const eve = this.#world.shooter();
      this.#world.shooters.pop();
      this.#facts.listenToDevice(eve);
      granted(eve.send(granted(eve.gather(this.#world.shots.standings()))));
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
    for (const action of [...this.#moves.actions(state), ...this.#time(state)]) {
      const records = this.#play(state, action);
      add(action.words);
      for (let n = 1; this.#options.crashes === true && n <= records; n++) {
        this.#play(state, action, n);
        add(`${action.words}; a crash after ${n} of ${records} records`);
      }
    }
    return found;
  }

  #time({ hour }: ShotState): readonly Action[] {
    if (this.#options.hours !== true || hour + 1 >= HOURS.length) return [];
    return [{ words: `it is ${HOURS[hour + 1]} h later`, run: () => void this.#hour++ }];
  }

  /** Returns the number of records it wrote. */
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

  problemOf(state: ShotState): string | undefined {
    const names = this.#factSets.value(state.facts);
    const problem = remembered(this.#problems, state.facts, () => factsProblem(this.#facts, names, this.#rules));
    return problem ?? this.#lostProblem(state);
  }

  /** The server must have every acknowledged upload. */
  #lostProblem(state: ShotState): string | undefined {
    const lost = this.#shelf.lostBy(state);
    return lost < 0 ? undefined : `device ${lost} was acknowledged, and the server does not have its upload`;
  }

  /** Every acknowledged update has an outcome. If no time passes and no authority was restored, all of them are included. */
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
    const holding = shots.living.filter(({ batch }) => batch.uploads.some((one) => toHex(one) === upload));
    const end = holding.flatMap((batch) => batch.end ?? [])[0];
    if (end !== undefined) return end;
    if (names.includes(`freed:${upload}`)) return 'expired';
    const verdict = shots.uploads.get(upload)?.verdict;
    if (verdict !== undefined && verdict !== 'good' && verdict !== 'waiting') return 'refused';
    // An authority voted for it, or forgot whether it did: no authority may then declare it expired.
    const isVoted = holding.length > 0 || names.some((name) => name.startsWith('restored:'));
    const isOpen = (this.#facts.uploads.get(upload)?.votesEnd ?? 0) > this.#world.now;
    const isFinal = [...finalBatches(this.#facts, names, this.#rules).values()].some((list) => list.includes(upload));
    return isVoted || isFinal || isOpen || this.#options.hours !== true ? 'unknown' : 'lost';
  }
}
