/** The result of a run of the kit: each check by name, with the expected and the actual value. */
export interface Check {
  readonly name: string;
  readonly holds: boolean;
  readonly detail: string;
}

export interface Verdict {
  readonly checks: readonly Check[];
  readonly held: number;
  readonly failed: number;
}

export class Report {
  readonly #checks: Check[] = [];
  readonly #onCheck: (check: Check) => void;

  constructor(onCheck: (check: Check) => void = () => undefined) {
    this.#onCheck = onCheck;
  }

  note(name: string, holds: boolean, { expected, seen }: { readonly expected: string; readonly seen: string }): void {
    const check = { name, holds, detail: `expected ${expected}; saw ${seen}` };
    this.#checks.push(check);
    this.#onCheck(check);
  }

  /** Plays a scene; one that breaks off is a check that does not hold, and the next scene is played all the same. */
  async play(name: string, scene: () => Promise<void>): Promise<void> {
    try {
      await scene();
    } catch (error) {
      const seen = error instanceof Error ? error.message : String(error);
      this.note(`${name} can be played to its end`, false, { expected: 'no error on the way', seen });
    }
  }

  get verdict(): Verdict {
    const failed = this.#checks.filter(({ holds }) => !holds).length;
    return { checks: this.#checks, held: this.#checks.length - failed, failed };
  }
}
