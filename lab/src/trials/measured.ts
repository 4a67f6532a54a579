/** Processes that this one has started: questions to them, their processor time and memory as Linux counts it, and the metrics of a server. */
import type { ChildProcess, Serializable } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';

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

const TICKS_PER_SECOND = 100;

/** User and system time of all threads; 0 if it has ended. */
export function cpuSeconds(pid: number): number {
  const text = procFile(pid, 'stat') ?? '';
  // The fields after the name, which may contain any character.
  const [user = 0, system = 0] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) / TICKS_PER_SECOND;
}

/** Memory of a process with all its threads, now or at its peak; NaN if the system does not report it. */
export function memoryMiB(pid: number, which: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${which}:\\s+(\\d+) kB`).exec(procFile(pid, 'status') ?? '')?.[1]) / 1024;
}

export function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return Number.NaN;
  }
}

function procFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** The times that a server measured for its requests to the authority. */
export async function askedSeconds({ urls, token }: Pick<TestProcesses, 'urls' | 'token'>) {
  const headers = { authorization: `Bearer ${token}` };
  const text = await (await fetch(new URL('/metrics', urls.server), { headers })).text();
  return (question: string, what: 'sum' | 'count'): number =>
    Number(new RegExp(`^basa_authority_seconds_${what}\\{question="${question}"\\} (\\S+)`, 'm').exec(text)?.[1]);
}
