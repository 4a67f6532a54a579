/** What a benchmark found: a table for people, an object for programs. */
export interface BenchResult {
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}
