/** Gives equal values one number: states become short tuples, and computed results are looked up. */

export class Interner<T> {
  readonly #numbers = new Map<string, number>();
  readonly #values: T[] = [];

  get size(): number {
    return this.#values.length;
  }

  /** Returns the number of the value with this name; `made` reports a new one. */
  number(name: string, value: T): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#values.length);
    return this.#values.push(value) - 1;
  }

  value(number: number): T {
    return this.#values[number] as T;
  }
}
