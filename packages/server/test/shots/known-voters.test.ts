/** Verdicts of authorities are kept for a minute, or until they may be wrong. */
import type { Ctx, UserId } from '@basa/protocol';
import { expect, it } from 'vitest';
import { KnownVoters } from '../../src/shots/inspector.ts';
import { bytes } from '../support/store-samples.ts';

function scene() {
  const now = { ms: 0 };
  const known = new KnownVoters(() => now.ms);
  const inspect = (n: number, user: number) => {
    const hear = known.inspect([{ name: bytes(n) as Ctx, upload: { header: { user: bytes(user) } } as never }]);
    return (authority: number, of = n) =>
      hear([{ upload: bytes(of) as Ctx, authority, verdict: 'good', reason: undefined, used: undefined, guards: [] }]);
  };
  const goodOf = (...some: readonly number[]) => some.map((n) => known.of(bytes(n) as Ctx)?.good);
  return { now, known, inspect, goodOf };
}

it('voters are known as soon as they answer, until the upload is inspected again', () => {
  const { inspect, goodOf } = scene();
  expect(goodOf(1)).toEqual([undefined]);
  const hear = inspect(1, 1);
  hear(0);
  hear(1, 2); // of another upload
  hear(2);
  expect(goodOf(1, 2)).toEqual([0b101, undefined]);
  const again = inspect(1, 1);
  again(1);
  hear(3);
  expect(goodOf(1)).toEqual([0b010]);
});

it('voters are forgotten after a minute, and if the clock is set back by a minute', () => {
  const { now, known, inspect, goodOf } = scene();
  inspect(1, 1);
  now.ms = 59_999;
  inspect(2, 2);
  known.forgetOld();
  expect(goodOf(1, 2)).toEqual([0, 0]);
  now.ms = 60_000;
  known.forgetOld();
  expect(goodOf(1, 2)).toEqual([undefined, 0]);
  now.ms = -1;
  known.forgetOld();
  expect(goodOf(2)).toEqual([undefined]);
});

it('voters are forgotten with all uploads of a device', () => {
  const { known, inspect, goodOf } = scene();
  inspect(1, 7);
  inspect(2, 7);
  inspect(3, 8);
  known.forgetUsers([bytes(7) as UserId]);
  expect(goodOf(1, 2, 3)).toEqual([undefined, undefined, 0]);
});
