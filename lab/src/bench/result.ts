export interface BenchOptions {
  /** Fewer sizes and rounds: to see that it works. */
  readonly quick: boolean;
}

/** The result of a benchmark: a table for people, an object for programs. */
export interface BenchResult {
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}
