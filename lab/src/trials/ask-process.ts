/** Questions to processes that this one has forked. */
import type { ChildProcess, Serializable } from 'node:child_process';
import { once } from 'node:events';

/** Sends a message, and waits for the next one that comes back. */
export async function askProcess(child: ChildProcess, question: Serializable): Promise<unknown> {
  const waiting = new AbortController();
  const { signal } = waiting;
  child.send(question);
  try {
    const ended = once(child, 'exit', { signal }).then(() => {
      throw new Error('a process that was asked has ended');
    });
    ended.catch(() => undefined); // it is given up once there is an answer
    const [answer] = await Promise.race([once(child, 'message', { signal }), ended]);
    return answer;
  } finally {
    waiting.abort();
  }
}
