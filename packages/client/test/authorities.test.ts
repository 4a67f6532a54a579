/** A device that asks several authorities waits for as many as decide something, and for no more. */
import type { Ctx, Outcome, OutcomeOf } from '@basa/protocol';
import { expect, it } from 'vitest';
import type { Member } from '../src/authorities.ts';
import { Authorities } from '../src/authorities.ts';
import { UnreachableError } from '../src/errors.ts';

const ctx = new Uint8Array(32) as Ctx;

function authoritiesThatSay(statuses: readonly (Outcome['status'] | 'away')[]): Authorities {
  const members = statuses.map((status, authority) => ({
    authority,
    client: {
      async outcome(): Promise<Outcome> {
        await new Promise((resolve) => setTimeout(resolve, authority)); // one after the other
        if (status === 'away') throw new UnreachableError('the authority', new Error('refused'));
        return { ctx, status, accepted: [], signature: new Uint8Array(64) };
      },
    },
  }));
  const council = { authorities: statuses.map(() => new Uint8Array(32)), threshold: 3 };
  return new Authorities(members as unknown as readonly Member[], council);
}

const isClosed = (some: readonly OutcomeOf[]): boolean =>
  some.filter(({ outcome }) => outcome.status === 'closed').length >= 3;

it.each([
  ['open', 'closed', 'closed', 'closed'],
  ['closed', 'unknown', 'closed', 'closed'],
] as const)('waits for the fourth where the first three say %s, %s and %s', async (...statuses) => {
  const said = await authoritiesThatSay(statuses).outcomes(ctx, isClosed, new AbortController().signal);
  expect(said.map(({ outcome }) => outcome.status)).toEqual(statuses);
});

it('does not wait for the fourth where the first three agree', async () => {
  const statuses = ['closed', 'closed', 'closed', 'open'] as const;
  const said = await authoritiesThatSay(statuses).outcomes(ctx, isClosed, new AbortController().signal);
  expect(said).toHaveLength(3);
});

it('says how many are needed and how many are away where too few answer', async () => {
  const asked = authoritiesThatSay(['closed', 'away', 'closed', 'away']);
  await expect(asked.outcomes(ctx, isClosed, new AbortController().signal)).rejects.toThrow(
    'the authority does not answer (refused); 3 of the 4 authorities that can be asked are needed, and 2 did not answer; what was begun is kept',
  );
});
