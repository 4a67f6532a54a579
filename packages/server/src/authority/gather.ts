/**
 * Asks several authorities at once, and waits for as many as are needed: the slowest ones hold nobody up. Each question judges its own
 * answer and throws where it is wrong, so that one who lies is as good as silent.
 */
import { Poll } from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from './authority-http.ts';

export interface Answered<Answer> {
  /** The index of the authority. */
  readonly authority: number;
  readonly answer: Answer;
}

export interface Question<Answer> {
  readonly authority: number;
  ask(): Promise<Answer>;
}

export interface GatherOptions<Answer> {
  /** Fewer answers are a failure. */
  readonly needed: number;
  /** How long the others are waited for once there are enough. */
  readonly graceMs: number;
  /** Whether these are enough; until then everybody is waited for. As many as are needed, where it is missing. */
  isEnough?(answers: readonly Answered<Answer>[]): boolean;
}

/** The answers that came in time. Throws what was refused, where enough said no, else that too few answer. */
export function gather<Answer>(
  questions: readonly Question<Answer>[],
  { needed, graceMs, isEnough = () => true }: GatherOptions<Answer>,
): Promise<readonly Answered<Answer>[]> {
  const poll = new Poll<Answered<Answer>>(questions.length, (good) => good.length >= needed && isEnough(good));
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(timer);
      if (poll.good.length >= needed) resolve([...poll.good].sort((a, b) => a.authority - b.authority));
      else reject(whyOf(poll.failures, needed, questions.length));
    };
    const settle = (): void => {
      if (poll.isOver) end();
      else if (poll.isEnough && graceMs === 0) end();
      else if (poll.isEnough) timer ??= setTimeout(end, graceMs);
    };
    if (questions.length < needed) reject(new AuthorityUnreachable(`${needed} authorities are needed`));
    for (const { authority, ask } of questions) {
      ask()
        .then((answer) => poll.answered({ authority, answer }, undefined))
        .catch((error: unknown) => poll.failed(error))
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
