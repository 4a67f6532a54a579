/** Sends requests over persistent connections, a fixed number at the same time, and measures each. */
import { Agent, request } from 'node:http';
import type { HeldRequest } from './held-devices.ts';

export interface Load {
  readonly perSecond: number;
  /** Of each request, sorted. */
  readonly ms: readonly number[];
}

export async function loadHttp(requests: readonly HeldRequest[], atOnce: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  try {
    return await timed(requests, atOnce, (one) => send(agent, one));
  } finally {
    agent.destroy();
  }
}

function send(agent: Agent, { method, url, headers, body }: HeldRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { agent, method, headers: { ...headers, 'content-length': String(body.length) } };
    const asking = request(url, options, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) answer.once('end', resolve);
      else answer.once('end', () => reject(new Error(`${method} ${url}: ${answer.statusCode}`)));
    });
    asking.once('error', reject);
    asking.end(body);
  });
}

async function timed<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<Load> {
  const left = [...items];
  const ms: number[] = [];
  const began = performance.now();
  const worker = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) {
      const start = performance.now();
      await work(item);
      ms.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const seconds = (performance.now() - began) / 1000;
  return { perSecond: items.length / seconds, ms: ms.sort((a, b) => a - b) };
}
