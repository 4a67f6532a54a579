/** Sends requests from several processes at the same time. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { HeldRequest } from './held-devices.ts';
import type { Load } from './load.ts';
import type { LoadWork } from './load-process.ts';

export class LoadProcesses {
  readonly #children: readonly ChildProcess[];
  readonly #atOnce: number;

  /** `atOnce`: requests under way, of all processes together. */
  constructor(script: string, { count, atOnce }: { readonly count: number; readonly atOnce: number }) {
    const options = { stdio: 'inherit', serialization: 'advanced' } as const;
    this.#children = Array.from({ length: count }, () => fork(script, [], options));
    this.#atOnce = Math.max(1, Math.floor(atOnce / count));
  }

  /** Timed from the moment when all processes have their requests. */
  async load(requests: readonly HeldRequest[]): Promise<Load> {
    const { length } = this.#children;
    const shares = this.#children.map((_, n) => requests.filter((__, index) => index % length === n));
    await this.#askAll((n) => ({ requests: shares[n] ?? [], atOnce: this.#atOnce }));
    const began = performance.now();
    const answers = (await this.#askAll(() => 'go')) as readonly (readonly number[])[];
    const seconds = (performance.now() - began) / 1000;
    return { perSecond: requests.length / seconds, ms: answers.flat().sort((a, b) => a - b) };
  }

  close(): void {
    for (const child of this.#children) child.disconnect();
  }

  #askAll(question: (n: number) => LoadWork | 'go'): Promise<readonly unknown[]> {
    return Promise.all(this.#children.map((child, n) => answerOf(child, question(n))));
  }
}

async function answerOf(child: ChildProcess, question: LoadWork | 'go'): Promise<unknown> {
  const waiting = new AbortController();
  const { signal } = waiting;
  child.send(question);
  try {
    const ended = once(child, 'exit', { signal }).then(() => {
      throw new Error('a process that sends requests has ended');
    });
    ended.catch(() => undefined); // it is given up once there is an answer
    const [answer] = await Promise.race([once(child, 'message', { signal }), ended]);
    return answer;
  } finally {
    waiting.abort();
  }
}
