/**
 * One generated schedule, named by its seed: users come, drop out, crash and come back, uploads get lost, doubled, cut
 * and late, some users collude, the server lies as often as the seed says, and updates go on to a second buffer where
 * the user's own check lets them. Most schedules fill their buffer and close it.
 */
import type { DepositAnswer, KeyAnswer, KeyRequest, Slot } from '@basa/protocol';
import { authorityMessages, closeRequestOf, freezeBuffer } from '@basa/protocol';
import type { Bench } from './bench.ts';
import { Dice } from './dice.ts';
import { closeWith } from './exhaustive.ts';
import { copiedDeposit, DEPOSIT_LIES, KEY_LIES, liedClose, liedOutcome } from './lies.ts';
import type { OracleUser } from './oracle-user.ts';
import type { Ledger, Source } from './oracle-world.ts';
import { keep, OracleWorld } from './oracle-world.ts';
import type { Judgement } from './trace.ts';

export interface ScheduleReport extends Judgement {
  readonly seed: number;
  readonly bufferSize: number;
  readonly minimum: number;
  readonly colluders: number;
  readonly lies: number;
  readonly filled: boolean;
}

/** Where a user gives up of its own accord. */
const QUITS = ['before the deposit', 'with a slot', 'with a key', 'with an upload nobody sees'] as const;
type Quit = (typeof QUITS)[number];

interface Course {
  readonly user: OracleUser;
  readonly quit: Quit | undefined;
  /** Its upload is held back until after the freeze, or arrives cut. */
  readonly upload: 'in time' | 'late' | 'truncated';
  /** What the server answered first, and what it answered to this request. */
  answer?: DepositAnswer;
  isDone: boolean;
}

export function runSchedule(bench: Bench, seed: number): ScheduleReport {
  const dice = new Dice(seed);
  const bufferSize = dice.chance(0.75) ? 3 : dice.chance(0.9) ? 4 : 5;
  const minimum = dice.chance(0.8) ? 2 + dice.below(bufferSize - 2) : bufferSize;
  const world = new OracleWorld(bench, { bufferSize, minimum });
  const colluders = dice.below(minimum - 1);
  const honest = Math.max(2, bufferSize - colluders + (dice.chance(0.25) ? 1 : 0));
  const run = new Run(world, dice, dice.pick([0, 0.03, 0.08, 0.15, 0.5]));
  const users = dice.shuffled([
    ...Array.from({ length: honest }, () => true),
    ...Array.from({ length: colluders }, () => false),
  ]);
  for (const isHonest of users) world.newUser(isHonest);
  run.play();
  const judgement = world.trace.judge();
  const filled = world.ledgers.some(({ buffer }) => buffer.slots.length === bufferSize);
  return { ...judgement, seed, bufferSize, minimum, colluders, lies: run.lies, filled };
}

class Run {
  readonly world: OracleWorld;
  readonly dice: Dice;
  /** How often the server lies where it could. */
  readonly liesAt: number;
  lies = 0;
  readonly #keyAnswers: KeyAnswer[] = [];

  constructor(world: OracleWorld, dice: Dice, liesAt: number) {
    this.world = world;
    this.dice = dice;
    this.liesAt = liesAt;
  }

  play(): void {
    const first = this.world.drawBuffer();
    const late = this.#fill(first, this.world.users);
    const isPostponed = this.dice.chance(0.15);
    if (!isPostponed) this.#end(first, late);
    if (this.dice.chance(0.2)) {
      const second = this.world.drawBuffer();
      this.#moveOn(first);
      this.#end(second, this.#fill(second, this.world.users));
      this.#moveOn(second);
    }
    if (isPostponed) this.#end(first, late);
    if (this.dice.chance(0.015)) this.#rollBack(first);
  }

  /** Runs the users through a buffer, step by step in any order; returns those whose upload is late. */
  #fill(ledger: Ledger, users: readonly OracleUser[]): readonly Course[] {
    const { dice } = this;
    const courses = users.map((user): Course => {
      const quit = dice.chance(0.07) ? dice.pick(QUITS) : undefined;
      const upload = dice.chance(0.9) ? 'in time' : dice.pick(['late', 'truncated'] as const);
      return { user, quit, upload, isDone: false };
    });
    for (let steps = 0; steps < 12 * users.length; steps++) {
      const open = courses.filter(({ isDone }) => !isDone);
      if (open.length === 0) break;
      this.#step(ledger, dice.pick(open));
    }
    return courses.filter(({ upload }) => upload === 'late');
  }

  #step(ledger: Ledger, course: Course): void {
    const { user, quit } = course;
    if (this.dice.chance(0.08)) this.#restart(ledger, course);
    switch (user.session?.step) {
      case undefined:
        if (quit === 'before the deposit') course.isDone = true;
        else this.#deposit(ledger, course);
        return;
      case 'prepared':
        this.#deposit(ledger, course);
        return;
      case 'slotted':
        if (quit === 'with a slot') course.isDone = true;
        else if (user.draft === undefined) this.#key(course);
        else if (quit === 'with a key') course.isDone = true;
        else this.#upload(ledger, course);
        return;
      case 'frozen':
        this.#upload(ledger, course);
        return;
      default:
        course.isDone = true;
    }
  }

  #lies(): boolean {
    const isLie = this.dice.chance(this.liesAt);
    if (isLie) this.lies++;
    return isLie;
  }

  #restart(ledger: Ledger, { user, answer }: Course): void {
    user.restart();
    // Whoever comes back is told another story, if the server likes.
    if (user.session?.step !== 'slotted' || answer === undefined || !this.#lies()) return;
    this.#take(user, this.#lied(ledger, user, answer));
  }

  #deposit(ledger: Ledger, course: Course): void {
    const { world, dice } = this;
    const { user } = course;
    if (!user.isHonest && user.session === undefined && dice.chance(this.liesAt) && ledger.sources.length > 0) {
      this.lies++;
      world.acceptDeposit(ledger, copiedDeposit(world, ledger, user, dice.pick(ledger.sources)));
      course.isDone = true;
      return;
    }
    const deposit = user.deposit(ledger.buffer.descriptor, world.now);
    world.remember(user);
    const answer = 'kind' in deposit ? deposit : world.acceptDeposit(ledger, deposit);
    if ('kind' in answer) {
      course.isDone = true;
      user.leave();
      return;
    }
    course.answer ??= answer;
    if (dice.chance(0.05)) return;
    if (this.#lies()) {
      const lie = this.#lied(ledger, user, answer);
      this.#take(user, lie);
    } else this.#take(user, answer);
    if (user.session?.step === 'abandoned') course.isDone = true;
  }

  /** The user hears of its slot; a colluder may ask for the key of the same slot first, or afterwards. */
  #take(user: OracleUser, answer: DepositAnswer): void {
    const eve = this.#eve(user);
    const isShadowed = eve !== undefined && this.dice.chance(this.liesAt / 2);
    if (isShadowed && this.dice.chance(0.5)) this.#shadow(eve, user, answer);
    user.takeSlot(answer);
    if (isShadowed) this.#shadow(eve, user, answer);
  }

  /** A colluder other than this user. */
  #eve(user: OracleUser): OracleUser | undefined {
    return this.world.users.find((other) => !other.isHonest && other !== user);
  }

  #shadow(eve: OracleUser, victim: OracleUser, { ticket, inbox }: DepositAnswer): void {
    const { world } = this;
    const nonce = victim.session?.member.nonce ?? world.serverBytes(16);
    const body: Omit<KeyRequest, 'signature'> = {
      certificate: eve.certificate,
      nonce,
      ticket: world.signedTicket({ ...ticket, joinTag: world.tagOf(ticket.ctx, eve, nonce) }),
      earlier: inbox.map(({ joinTag, root }) => ({ joinTag, root })),
      ephemeralKey: world.serverBytes(32),
    };
    const { keyRequest } = authorityMessages(world.shape.bufferSize);
    world.issueKey({ ...body, signature: eve.signer.sign(keyRequest.statement(body)) });
  }

  #lied(ledger: Ledger, user: OracleUser, honest: DepositAnswer): DepositAnswer {
    const { world, dice } = this;
    const mine = ledger.sources.find((source) => world.isOf(source, user)) ?? (ledger.sources[0] as Source);
    return dice.pick(Object.values(DEPOSIT_LIES))(world, ledger, mine, honest, dice);
  }

  #key(course: Course): void {
    const { world, dice } = this;
    const { user } = course;
    const request = user.keyRequest();
    const honest = 'kind' in request ? request : world.issueKey(request);
    if ('kind' in honest) {
      course.isDone = true;
      return;
    }
    if (dice.chance(0.05)) return;
    const story = { world, request: request as KeyRequest, honest, earlier: this.#keyAnswers, dice };
    const answer = this.#lies() ? dice.pick(Object.values(KEY_LIES))(story) : honest;
    this.#keyAnswers.push(honest);
    user.takeKey(answer);
    const eve = this.#eve(user);
    if (eve !== undefined && course.answer !== undefined && dice.chance(this.liesAt / 2))
      this.#shadow(eve, user, course.answer);
  }

  #upload(ledger: Ledger, course: Course): void {
    const { world, dice } = this;
    const { user, upload, quit } = course;
    if (quit === 'with an upload nobody sees' || upload === 'late') {
      course.isDone = true;
      return;
    }
    const sent = user.upload();
    if ('kind' in sent) {
      course.isDone = true;
      return;
    }
    if (dice.chance(0.1)) user.upload();
    const answer = world.acceptUpload(ledger, sent, upload !== 'truncated');
    if (answer.kind === 'refused') course.isDone = true;
    else if (dice.chance(0.9)) user.acknowledge();
  }

  /** Freezes and closes as the protocol says, or as a liar would, or too late. */
  #end(ledger: Ledger, late: readonly Course[]): void {
    const { world, dice } = this;
    if (this.#lies()) this.#closeLike(ledger);
    if (dice.chance(0.9)) keep(ledger, freezeBuffer(ledger.buffer, 'stalled', world.now));
    for (const { user } of late) {
      const sent = user.upload();
      if (!('kind' in sent)) world.acceptUpload(ledger, sent);
    }
    if (dice.chance(0.04)) world.now = ledger.buffer.descriptor.closeBy;
    const request = closeRequestOf(world.serverPorts, ledger.buffer);
    if (!('kind' in request)) {
      if (this.#lies()) world.close(liedClose(world, request, dice));
      world.close(request);
    }
    if (this.#lies()) this.#closeLike(ledger);
    if (dice.chance(0.05)) world.close(closeWith(world, ledger, this.#anySlots(ledger)));
  }

  /** A close of the liar's own: any set of slots it holds uploads of, or the story one user was told. */
  #closeLike(ledger: Ledger): void {
    const { world, dice } = this;
    if (world.stories.length > 0 && dice.chance(0.5)) {
      const story = dice.pick(world.stories);
      world.close(world.closeTelling(ledger, [...story, ...ledger.sources.slice(story.length)]));
    }
    const plain = closeWith(world, ledger, this.#anySlots(ledger));
    world.close(dice.chance(0.5) ? plain : liedClose(world, plain, dice));
  }

  #anySlots(ledger: Ledger): readonly Slot[] {
    const slots = [...new Set(ledger.uploads.map(({ header }) => header.slot))].sort((a, b) => a - b);
    return slots.filter(() => this.dice.chance(0.7));
  }

  /** Users ask what became of their update, and take it elsewhere, train again, or try without asking. */
  #moveOn(ledger: Ledger): void {
    const { world, dice } = this;
    for (const user of world.users) {
      const outcome = world.outcome(ledger.buffer.ctx);
      if (this.#lies()) user.hear(liedOutcome(world, outcome, dice.pick(['aborted', 'closed', 'open'])));
      if (dice.chance(0.7)) user.hear(outcome);
      if (dice.chance(0.3) && user.isHonest) user.trainAgain();
      else user.leave();
    }
  }

  /** The authority's folder is put back to some older state; then everything is asked of it again. */
  #rollBack(ledger: Ledger): void {
    const { world, dice } = this;
    const { bench } = world;
    const witness = bench.authority.head();
    const drawn = bench.log.findIndex(
      (entry) => entry.kind === 'buffer-drawn' && world.isDrawn(entry.descriptor, ledger),
    );
    bench.rollBack(drawn + 1 + dice.below(bench.log.length - drawn), witness);
    if (dice.chance(0.5)) world.now = ledger.buffer.descriptor.closeBy;
    world.close(closeWith(world, ledger, this.#anySlots(ledger)));
    this.#moveOn(ledger);
    const next = world.drawBuffer();
    this.#end(next, this.#fill(next, world.users));
  }
}
