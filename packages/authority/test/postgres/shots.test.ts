/** The one-shot mode at several nodes of one authority on one PostgreSQL: one epoch, one vote, and secrets that all have and all lose. */
import { toHex } from '@basa/masking';
import { batchVoteAnswerCodec, type Epoch } from '@basa/protocol';
import type { TestUpload } from '@basa/testkit/core/one-shot/shot-upload.ts';
import { afterEach, expect, it } from 'vitest';
import type { Authority } from '../../src/index.ts';
import { start, stop, time } from '../homes.ts';
import { shotStage } from '../one-shot/shot-world.ts';
import { opened } from '../one-shot/sums.ts';
import { authorityNodes, logOf, startNodes } from './nodes.ts';

const HOUR_MS = 3_600_000;
const { postgres, backdoor } = authorityNodes();
const begun = time.now;
afterEach(() => {
  time.now = begun;
});

it('an epoch that one node opens is used by all, an upload that one voted for is held by all, and all lose the secret', async () => {
  const home = await postgres().freshHome();
  const [first, second] = await startNodes(home, 2);
  const world = await shotStage([first], 4);
  // Both open the next one at once: there is one.
  time.now += HOUR_MS / 2;
  const both = await Promise.all([first, second].map((node) => world.standing(node)));
  expect(both.map(({ epoch }) => [epoch.number, toHex(epoch.key)])).toEqual(
    both.map(() => [time.now / 1000, toHex((both[0] as (typeof both)[0]).epoch.key)]),
  );
  const epochs = await world.epochs([first]);
  const uploads = await world.uploads([first]);
  const some = uploads.slice(0, 3);
  const { verdicts } = await world.inspected(second, some, epochs);
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['good', 'good', 'good']);
  // Each node votes for what it has inspected itself; the record of a vote is everybody's.
  const request = world.voteRequest(world.batchOf(some));
  expect((await world.vote(first, request)).code).toBe('not-inspected');
  const votes = (await world.voted(second, world.batchOf(some))).endorsements;
  expect((await world.vote(first, request)).bytes).toEqual((await world.vote(second, request)).bytes);
  const rest = [some[2], uploads[3]] as TestUpload[];
  await world.inspected(first, rest, epochs);
  const held = await world.vote(first, world.voteRequest(world.batchOf(rest, 1)));
  expect(batchVoteAnswerCodec.decode(held.bytes)).toEqual({ vote: undefined, held: world.batchOf(some) });
  expect([...(await opened(world, [first], some, { epochs, votes }))].slice(0, 5)).toEqual([3, 0, 0, 0, 6]);

  time.now += 4 * HOUR_MS;
  await first.tick();
  const wanted = [{ part: 0, vector: true }];
  for (const node of [first, second]) {
    const late = await world.release(node, world.releaseRequest({ uploads: some, epochs, votes, wanted }));
    expect(late.code).toBe('epoch-over');
  }
  const database = await backdoor(home);
  const rows = await database.query('SELECT public_key FROM shot_secrets');
  const [live] = await world.epochs([second]);
  expect(rows.map((row) => toHex(row['public_key'] as Uint8Array))).toEqual([toHex((live as Epoch).key)]);
  expect((await logOf(second)).problems).toEqual([]);
});

it('a database that was restored without its secrets has dead epochs, with any node that starts first', async () => {
  const home = await postgres().freshHome();
  const [node] = await startNodes(home, 1);
  const world = await shotStage([node as Authority], 2);
  const epochs = await world.epochs([node as Authority]);
  const uploads = await world.uploads([node as Authority]);
  await stop(node as Authority);
  await (await backdoor(home)).query('DELETE FROM shot_secrets');
  const again = await start(home, { witness: `${home.dataFolder}-node.witness`, newNode: true });
  const { verdicts } = await world.inspected(again, uploads, epochs);
  expect(verdicts.map(({ verdict, reason }) => [verdict, reason])).toEqual(
    uploads.map(() => ['abstain', 'epoch-over']),
  );
  expect((await world.standing(again)).epoch.number).toBeGreaterThan(time.now / 1000);
  const report = await logOf(again);
  expect([report.counts['branch-begun'], report.problems]).toEqual([1, []]);
});
