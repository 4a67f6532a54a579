/** Keeps finished trainings in one file, one line each. An interrupted run loses none of them, and a later run continues from there. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Trained } from '@basa/simulator/virtual-time';

interface Line<Result> {
  readonly name: string;
  readonly trained: Result;
}

export class TrainedStore<Result = Trained> {
  readonly #file: string;
  readonly #kept = new Map<string, Result>();

  /** A last line without its end was cut off while it was written: it is dropped. */
  constructor(file: string) {
    this.#file = file;
    mkdirSync(dirname(file), { recursive: true });
    if (!existsSync(file)) return;
    const text = readFileSync(file, 'utf8');
    const whole = text.lastIndexOf('\n') + 1;
    if (whole < text.length) truncateSync(file, Buffer.byteLength(text.slice(0, whole)));
    for (const line of text.slice(0, whole).split('\n')) {
      if (line === '') continue;
      const { name, trained } = JSON.parse(line) as Line<Result>;
      this.#kept.set(name, trained);
    }
  }

  get(name: string): Result | undefined {
    return this.#kept.get(name);
  }

  put(name: string, trained: Result): void {
    appendFileSync(this.#file, `${JSON.stringify({ name, trained } satisfies Line<Result>)}\n`);
    this.#kept.set(name, trained);
  }
}
