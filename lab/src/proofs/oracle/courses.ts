/** The users' paths through one buffer, step by step in any order: they drop out, crash, come back and are lied to. */
import type { DepositAnswer, KeyRequest, Membership } from '@basa/protocol';
import { askAsEve } from './eve.ts';
import type { Ledger } from './ledger.ts';
import type { Liar } from './liar.ts';
import { copiedDeposit } from './lies.ts';
import type { WatchedDevice } from './watched-device.ts';

/** The point at which a user gives up. */
const QUITS = ['before the deposit', 'with a slot', 'with a key', 'with an upload nobody sees'] as const;
type Quit = (typeof QUITS)[number];

export interface Course {
  readonly user: WatchedDevice;
  readonly quit: Quit | undefined;
  /** Its upload is held back until after the freeze, or arrives cut. */
  readonly upload: 'in time' | 'late' | 'truncated';
  /** The server's first answer, and its answer to this request. */
  answer?: DepositAnswer;
  isDone: boolean;
}

export class Courses {
  readonly liar: Liar;

  constructor(liar: Liar) {
    this.liar = liar;
  }

  /** Runs the users through a buffer, step by step in any order; returns those whose upload is late. */
  fill(ledger: Ledger, users: readonly WatchedDevice[]): readonly Course[] {
    const { dice } = this.liar;
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
    if (this.liar.dice.chance(0.08)) this.#restart(ledger, course);
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
        else if (user.keyAnswers === undefined) this.#key(course);
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

  #restart(ledger: Ledger, { user, answer }: Course): void {
    user.restart();
    // A user that comes back may be told another story.
    if (user.session?.step !== 'slotted' || answer === undefined || !this.liar.lies()) return;
    this.#take(user, this.liar.liedDeposit(ledger, user, answer));
  }

  #deposit(ledger: Ledger, course: Course): void {
    const { world, dice } = this.liar;
    const { user } = course;
    if (!user.isHonest && user.session === undefined && dice.chance(this.liar.liesAt) && ledger.sources.length > 0) {
      this.liar.count++;
      world.acceptDeposit(ledger, copiedDeposit(world, ledger, user, dice.pick(ledger.sources)));
      course.isDone = true;
      return;
    }
    const deposit = user.join(ledger.buffer);
    world.remember(user);
    const answer = 'kind' in deposit ? deposit : world.acceptDeposit(ledger, deposit);
    if ('kind' in answer) {
      course.isDone = true;
      user.leave();
      return;
    }
    course.answer ??= answer;
    if (dice.chance(0.05)) return;
    if (this.liar.lies()) {
      const lie = this.liar.liedDeposit(ledger, user, answer);
      this.#take(user, lie);
    } else this.#take(user, answer);
    if (user.session?.step === 'abandoned') course.isDone = true;
  }

  /** The user learns its slot; a colluder may ask for the key of the same slot before or afterwards. */
  #take(user: WatchedDevice, answer: DepositAnswer): void {
    const eve = this.#eve(user);
    const isShadowed = eve !== undefined && this.liar.dice.chance(this.liar.liesAt / 2);
    if (isShadowed && this.liar.dice.chance(0.5)) this.#shadow(eve, user, answer);
    user.takeSlot(answer);
    if (isShadowed) this.#shadow(eve, user, answer);
  }

  /** A colluder other than this user. */
  #eve(user: WatchedDevice): WatchedDevice | undefined {
    return this.liar.world.users.find((other) => !other.isHonest && other !== user);
  }

  #shadow(eve: WatchedDevice, victim: WatchedDevice, answer: DepositAnswer): void {
    const member = victim.session?.member as Membership | undefined;
    askAsEve(this.liar.world, eve, answer, member?.nonce);
  }

  #key(course: Course): void {
    const { world, dice } = this.liar;
    const { user } = course;
    const request = user.askKey();
    const honest = 'kind' in request ? request : world.issueKey(request);
    if ('kind' in honest) {
      course.isDone = true;
      return;
    }
    if (dice.chance(0.05)) return;
    user.takeKey(this.liar.passedKey(request as KeyRequest, honest));
    const eve = this.#eve(user);
    if (eve !== undefined && course.answer !== undefined && dice.chance(this.liar.liesAt / 2))
      this.#shadow(eve, user, course.answer);
  }

  #upload(ledger: Ledger, course: Course): void {
    const { world, dice } = this.liar;
    const { user, upload, quit } = course;
    if (quit === 'with an upload nobody sees' || upload === 'late') {
      course.isDone = true;
      return;
    }
    const sent = user.send();
    if ('kind' in sent) {
      course.isDone = true;
      return;
    }
    if (dice.chance(0.1)) user.send();
    const answer = world.acceptUpload(ledger, sent, upload !== 'truncated');
    if (answer.kind === 'refused') course.isDone = true;
    else if (dice.chance(0.9)) user.acknowledge();
  }
}
