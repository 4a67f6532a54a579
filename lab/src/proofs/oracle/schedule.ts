/**
 * One generated schedule, named by its seed. Users come, drop out, crash and come back. Uploads are lost, repeated, cut or late. Some users
 * collude, and the server lies as often as the seed says. An update moves to a second buffer if the user's own check allows it. Most
 * schedules fill their buffer and close it.
 */
import type { Slot } from '@basa/protocol';
import type { Judgement } from '../../attacks/judgement.ts';
import { type Course, Courses } from './courses.ts';
import { Dice } from './dice.ts';
import { closeWith } from './exhaustive.ts';
import type { Federations } from './federations.ts';
import type { Ledger } from './ledger.ts';
import { Liar } from './liar.ts';
import { liedClose, liedOutcome } from './lies.ts';
import { OracleWorld } from './oracle-world.ts';

export interface ScheduleReport extends Judgement {
  readonly seed: number;
  readonly bufferSize: number;
  readonly minimum: number;
  readonly colluders: number;
  readonly lies: number;
  readonly filled: boolean;
}

export function runSchedule(federations: Federations, seed: number): ScheduleReport {
  const dice = new Dice(seed);
  const bufferSize = dice.chance(0.75) ? 3 : dice.chance(0.9) ? 4 : 5;
  const minimum = dice.chance(0.8) ? 2 + dice.below(bufferSize - 2) : bufferSize;
  const world = new OracleWorld(federations, { bufferSize, minimum });
  const colluders = dice.below(minimum - 1);
  const honest = Math.max(2, bufferSize - colluders + (dice.chance(0.25) ? 1 : 0));
  const liar = new Liar(world, dice, dice.pick([0, 0.03, 0.08, 0.15, 0.5]));
  const users = dice.shuffled([
    ...Array.from({ length: honest }, () => true),
    ...Array.from({ length: colluders }, () => false),
  ]);
  for (const isHonest of users) world.newUser(isHonest);
  new Run(liar).play();
  const judgement = world.trace.judge();
  const filled = world.ledgers.some(({ buffer }) => buffer.slots.length === bufferSize);
  return { ...judgement, seed, bufferSize, minimum, colluders, lies: liar.count, filled };
}

class Run {
  readonly liar: Liar;
  readonly courses: Courses;

  constructor(liar: Liar) {
    this.liar = liar;
    this.courses = new Courses(liar);
  }

  play(): void {
    const first = this.liar.world.drawBuffer();
    const late = this.courses.fill(first, this.liar.world.users);
    const isPostponed = this.liar.dice.chance(0.15);
    if (!isPostponed) this.#end(first, late);
    if (this.liar.dice.chance(0.2)) {
      const second = this.liar.world.drawBuffer();
      this.#moveOn(first);
      this.#end(second, this.courses.fill(second, this.liar.world.users));
      this.#moveOn(second);
    }
    if (isPostponed) this.#end(first, late);
    if (this.liar.dice.chance(0.015)) this.#rollBack(first);
  }

  /** Freezes and closes as the protocol says, or as a liar would, or too late. */
  #end(ledger: Ledger, late: readonly Course[]): void {
    const { world, dice } = this.liar;
    if (this.liar.lies()) this.#closeLike(ledger);
    if (dice.chance(0.9)) ledger.freeze();
    for (const { user } of late) {
      const sent = user.send();
      if (!('kind' in sent)) world.acceptUpload(ledger, sent);
    }
    if (dice.chance(0.04)) world.federation.now = ledger.buffer.descriptor.closeBy;
    const request = ledger.closeRequest();
    if (!('kind' in request)) {
      if (this.liar.lies()) world.close(liedClose(world, request, dice));
      world.close(request);
    }
    if (this.liar.lies()) this.#closeLike(ledger);
    if (dice.chance(0.05)) world.close(closeWith(world, ledger, this.#anySlots(ledger)));
  }

  /** The liar's own close: any set of slots whose uploads it has, or the set that it showed to one user. */
  #closeLike(ledger: Ledger): void {
    const { world, dice } = this.liar;
    if (world.stories.length > 0 && dice.chance(0.5)) {
      const story = dice.pick(world.stories);
      world.close(world.closeTelling(ledger, [...story, ...ledger.sources.slice(story.length)]));
    }
    const plain = closeWith(world, ledger, this.#anySlots(ledger));
    world.close(dice.chance(0.5) ? plain : liedClose(world, plain, dice));
  }

  #anySlots(ledger: Ledger): readonly Slot[] {
    const slots = [...new Set(ledger.uploads.map(({ header }) => header.slot))].sort((a, b) => a - b);
    return slots.filter(() => this.liar.dice.chance(0.7));
  }

  /** Users ask for the status of their update, and take it elsewhere, train again, or try without asking. */
  #moveOn(ledger: Ledger): void {
    const { world, dice } = this.liar;
    for (const user of world.users) {
      const outcome = world.outcome(ledger.buffer.ctx);
      if (this.liar.lies()) user.hear(liedOutcome(world, outcome, dice.pick(['aborted', 'closed', 'open'])));
      if (dice.chance(0.7)) user.hear(outcome);
      if (dice.chance(0.3) && user.isHonest) user.trainAgain();
      else user.leave();
    }
  }

  /** Resets the authority's folder to an older state, then repeats every request. */
  #rollBack(ledger: Ledger): void {
    const { world, dice } = this.liar;
    const { authority } = world;
    const witness = authority.core.head();
    const drawn = authority.log.findIndex(
      (entry) => entry.kind === 'buffer-drawn' && world.isDrawn(entry.descriptor, ledger),
    );
    world.rollBack(drawn + 1 + dice.below(authority.log.length - drawn), witness);
    if (dice.chance(0.5)) world.federation.now = ledger.buffer.descriptor.closeBy;
    world.close(closeWith(world, ledger, this.#anySlots(ledger)));
    this.#moveOn(ledger);
    const next = world.drawBuffer();
    this.#end(next, this.courses.fill(next, world.users));
  }
}
