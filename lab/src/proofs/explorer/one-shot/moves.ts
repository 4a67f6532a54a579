/** The possible next steps in a one-shot world, by devices, an honest or a lying server, and authorities. */
import { toHex } from '@basa/masking';
import { isRefused, type Refused } from '@basa/protocol';
import type { OneShotFederation, ShotAuthority, ShotDevice } from '@basa/simulator';
import type { ShotOracle } from '../../../attacks/one-shot/shot-oracle.ts';
import type { Facts } from './facts.ts';
import type { ShotState, ShotWorldOptions } from './world-options.ts';

export interface Action {
  readonly words: string;
  run(): void;
}

export class ShotMoves {
  readonly #options: ShotWorldOptions;
  readonly #oracle: ShotOracle;
  readonly #world: OneShotFederation;
  readonly #facts: Facts;
  readonly #devices: readonly ShotDevice[];
  readonly #genesis: readonly number[];
  /** Numbers of the authorities' disks at the start. */
  readonly #start: readonly number[];

  constructor(
    options: ShotWorldOptions,
    {
      oracle,
      facts,
      devices,
      start,
    }: { oracle: ShotOracle; facts: Facts; devices: readonly ShotDevice[]; start: ShotState },
  ) {
    this.#options = options;
    this.#oracle = oracle;
    this.#world = oracle.world;
    this.#facts = facts;
    this.#devices = devices;
    this.#genesis = oracle.world.keepers.map(({ base }) => base.log.length);
    this.#start = start.authorities;
  }

  /** Returns the actions in this state, which the parties are in. */
  actions(state: ShotState): readonly Action[] {
    return [
      ...this.#devices.flatMap((device, n) => this.#deviceActions(device, n)),
      ...(this.#options.isLying === true ? this.#lies(state) : this.#serverActions()),
      ...this.#authorityActions(state),
    ];
  }

  /** Devices are identical except for their names: they contribute in their order. */
  #deviceActions(device: ShotDevice, n: number): readonly Action[] {
    const { session, ledgerRecords } = device.own;
    const isTurn = n === 0 || this.#devices[n - 1]?.own.ledgerRecords.length !== 0;
    const times = ledgerRecords.length > 1 ? ' again' : '';
    const give = { words: `device ${n} gives its update${times}`, run: () => void giveUpdate(device, this.#world) };
    const asks = { words: `device ${n} asks for the outcome`, run: () => this.#askOutcome(device) };
    const isGiven = session?.step === 'acknowledged';
    // A device asks for an upload that was refused, too.
    const mayAsk = session !== undefined && this.#options.hours === true;
    return [...(isTurn && !isGiven ? [give] : []), ...(mayAsk ? [asks] : [])];
  }

  /** Frees its update if enough authorities declare it expired; a lying server may keep the device from some of them. */
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

  /** Requests for votes: any batch of the existing uploads, to any authority. Requests for sums: only batches that got a vote. */
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

  /** Authorities are identical except for their names, so they are first asked in their order. */
  #isInTurn({ authorities }: ShotState, { base }: ShotAuthority): boolean {
    const before = this.#oracle.honest.filter((one) => one.base.index < base.index);
    return before.every((one) => authorities[one.base.index] !== this.#start[one.base.index]);
  }

  #authorityActions(state: ShotState): readonly Action[] {
    const { hours, restores, gone = [] } = this.#options;
    const there = this.#oracle.honest.filter(({ base }) => !gone.includes(base.index));
    const isRestored = this.#facts.names.some((name) => name.startsWith('restored:'));
    return there.flatMap((keeper): readonly Action[] => {
      const { index, log } = keeper.base;
      const lengths = [...new Set([this.#genesis[index] as number, log.length - 1])];
      const isTouched = state.authorities[index] !== this.#start[index];
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
}

/** Continues from its records to the acknowledgement. */
function giveUpdate(device: ShotDevice, { shots }: OneShotFederation): Refused | object {
  if (device.own.session !== undefined) return device.send();
  const start = device.gather(shots.standings());
  return isRefused(start) ? start : device.send(start);
}

function subsetsOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return Array.from({ length: 2 ** items.length }, (_, set) => items.filter((__, n) => (set >> n) & 1));
}
