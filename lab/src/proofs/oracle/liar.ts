/** A server that lies as often as its schedule says, and its lies. */
import type { DepositAnswer, KeyAnswer, KeyRequest } from '@basa/protocol';
import type { Dice } from './dice.ts';
import type { Ledger, Source } from './ledger.ts';
import { DEPOSIT_LIES, KEY_LIES } from './lies.ts';
import type { OracleWorld } from './oracle-world.ts';
import type { WatchedDevice } from './watched-device.ts';

export class Liar {
  readonly world: OracleWorld;
  readonly dice: Dice;
  /** The share of opportunities at which it lies. */
  readonly liesAt: number;
  count = 0;
  readonly #keyAnswers: KeyAnswer[] = [];

  constructor(world: OracleWorld, dice: Dice, liesAt: number) {
    this.world = world;
    this.dice = dice;
    this.liesAt = liesAt;
  }

  /** Decides whether it lies now. */
  lies(): boolean {
    const isLie = this.dice.chance(this.liesAt);
    if (isLie) this.count++;
    return isLie;
  }

  liedDeposit(ledger: Ledger, user: WatchedDevice, honest: DepositAnswer): DepositAnswer {
    const { world, dice } = this;
    const mine = ledger.sources.find((source) => world.isOf(source, user)) ?? (ledger.sources[0] as Source);
    return dice.pick(Object.values(DEPOSIT_LIES))(world, ledger, mine, honest, dice);
  }

  /** The authority's answer as it reaches the user. */
  passedKey(request: KeyRequest, honest: KeyAnswer): KeyAnswer {
    const { world, dice } = this;
    const story = { world, request, honest, earlier: this.#keyAnswers, dice };
    const answer = this.lies() ? dice.pick(Object.values(KEY_LIES))(story) : honest;
    this.#keyAnswers.push(honest);
    return answer;
  }
}
