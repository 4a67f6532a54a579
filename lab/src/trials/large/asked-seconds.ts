/** The times that a server measured for its requests to the authority. */
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';

export async function askedSeconds({ urls, token }: Pick<TestProcesses, 'urls' | 'token'>) {
  const headers = { authorization: `Bearer ${token}` };
  const text = await (await fetch(new URL('/metrics', urls.server), { headers })).text();
  return (question: string, what: 'sum' | 'count'): number =>
    Number(new RegExp(`^basa_authority_seconds_${what}\\{question="${question}"\\} (\\S+)`, 'm').exec(text)?.[1]);
}
