/** Asks several authorities at once, and waits for as many as are needed: the slowest ones hold nobody up. */
import { AuthorityRefusal, AuthorityUnreachable } from './authority-link.ts';

export interface Answered<Answer> {
  /** The index of the authority. */
  readonly authority: number;
  readonly answer: Answer;
}

export interface Question<Answer> {
  readonly authority: number;
  ask(): Promise<Answer>;
}

export interface GatherOptions {
  /** Fewer answers are a failure. */
  readonly needed: number;
  /** How long the others are waited for once there are enough. */
  readonly graceMs: number;
}

/** The answers that came in time. Throws what was refused, where enough said no, else that too few answer. */
export function gather<Answer>(
  questions: readonly Question<Answer>[],
  { needed, graceMs }: GatherOptions,
): Promise<readonly Answered<Answer>[]> {
  const answers: Answered<Answer>[] = [];
  const errors: unknown[] = [];
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const inOrder = (): readonly Answered<Answer>[] => [...answers].sort((a, b) => a.authority - b.authority);
    const settle = (): void => {
      const isOver = answers.length + errors.length === questions.length;
      if (answers.length >= needed && (isOver || graceMs === 0)) {
        clearTimeout(timer);
        resolve(inOrder());
      } else if (answers.length >= needed) timer ??= setTimeout(() => resolve(inOrder()), graceMs);
      else if (isOver) reject(whyOf(errors, needed, questions.length));
    };
    if (questions.length < needed) reject(new AuthorityUnreachable(`${needed} authorities are needed`));
    for (const { authority, ask } of questions) {
      ask()
        .then((answer) => answers.push({ authority, answer }))
        .catch((error: unknown) => errors.push(error))
        .finally(settle);
    }
  });
}

/** What so many said no to is refused; where too few answered at all, that is the trouble. */
function whyOf(errors: readonly unknown[], needed: number, asked: number): unknown {
  const [first] = errors;
  if (asked === 1) return first;
  const refusals = errors.filter((error) => error instanceof AuthorityRefusal);
  if (refusals.length > asked - needed) return refusals[0];
  const words = errors.map((error) => (error instanceof Error ? error.message : String(error))).join('; ');
  return new AuthorityUnreachable(
    `${needed} of ${asked} authorities are needed, and ${errors.length} failed: ${words}`,
    {
      cause: first,
    },
  );
}
