/** Collects the answers of several authorities. A wrong answer does not count, and the poll ends when there are enough. */

export class Poll<Answer> {
  /** In the order in which they came. */
  readonly good: Answer[] = [];
  readonly wrong: Answer[] = [];
  readonly failures: unknown[] = [];
  readonly #asked: number;
  readonly #isEnough: (good: readonly Answer[]) => boolean;

  /** `isEnough` judges only the good answers: it may require more than their number, for example that they agree. */
  constructor(asked: number, isEnough: (good: readonly Answer[]) => boolean) {
    this.#asked = asked;
    this.#isEnough = isEnough;
  }

  /** `problem` is the reason why the answer does not count. */
  answered(answer: Answer, problem: object | undefined): void {
    (problem === undefined ? this.good : this.wrong).push(answer);
  }

  failed(error: unknown): void {
    this.failures.push(error);
  }

  get isEnough(): boolean {
    return this.#isEnough(this.good);
  }

  /** All have answered or failed. */
  get isOver(): boolean {
    return this.good.length + this.wrong.length + this.failures.length >= this.#asked;
  }
}
