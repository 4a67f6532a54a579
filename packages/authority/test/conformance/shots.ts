/** The one-shot mode over HTTP: uploads are inspected, voted for and their masks summed; what must be refused is refused. */
import { addInPlace, subtractInPlace, toSigned } from '@basa/masking';
import { AUTHORITY_PATH, type Epoch, guardVerdict, guardWordsOf, ONE_SHOT_DEFAULTS, taskNoise } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { kernel, type TestUpload } from '@basa/testkit/core/one-shot/shot-upload.ts';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Authority, AuthorityOptions } from '../../src/index.ts';
import { ask, askWithoutLength } from '../asking.ts';
import { cleanUp, type NewHome, start, time } from '../homes.ts';
import { openRelease, type ReleaseAsked, shotStage } from '../one-shot/shot-world.ts';
import { opened, vectorsOf, votesOf } from '../one-shot/sums.ts';
import { PAPER } from './paper.ts';

const HOUR_MS = 3_600_000;
const VECTOR = [{ part: 0, vector: true }];

export function testShots(freshHome: NewHome): void {
  const begun = time.now;
  afterEach(() => {
    time.now = begun;
  });
  afterAll(cleanUp);
  /** Its own authority if the clock moves; otherwise the one that tests share. */
  let shared: Promise<Authority> | undefined;
  const sharedAuthority = (): Promise<Authority> => {
    shared ??= Promise.resolve(freshHome()).then((home) => start(home));
    return shared;
  };
  const stand = async (count: number, more = {}, options?: Partial<AuthorityOptions>) => {
    const authority = await (options === undefined ? sharedAuthority() : start(await freshHome(), options));
    const world = await shotStage([authority], count, more);
    const epochs = await world.epochs([authority]);
    return { authority, world, epochs, uploads: await world.uploads([authority]) };
  };

  describe('a batch', () => {
    it('with one authority: without the masks the sum of the inputs remains, and a repeated request gets the same masks', async () => {
      const { authority, world, epochs, uploads } = await stand(5);
      const { verdicts } = await world.inspected(authority, uploads, epochs);
      for (const [n, { masked }] of uploads.entries())
        expect(guardVerdict(world.policy, guardWordsOf(masked), [verdicts[n] as never])).toEqual({ kind: 'good' });
      expect(verdicts.map(({ guards }) => guards.map(({ words }) => words.length))).toEqual(uploads.map(() => [8]));
      const votes = await votesOf(world, [authority], uploads, epochs);
      const total = await opened(world, [authority], uploads, { epochs, votes });
      expect([...total]).toEqual([5, 0, 0, 0, ...Array(total.length - 8).fill(1 + 2 + 3 + 4 + 5), 0, 0, 0, 0]);

      const request = world.releaseRequest({ uploads, epochs, votes, wanted: VECTOR });
      const answers = [await world.release(authority, request), await world.release(authority, request)];
      expect(answers[0]?.bytes).toEqual(answers[1]?.bytes);
    });

    it('of a private task whose authority adds the noise has one Gaussian on each coordinate, the same for a repeated request', async () => {
      const privacy = { noiseMultiplier: 4, colluders: 0, budget: { delta: 1e-6, participations: 3 } };
      const oneShot = { ...ONE_SHOT_DEFAULTS, authorityNoise: true };
      const more = { oneShot, privacy, dimension: 400, clip: 1, level: 64 };
      const { authority, world, epochs, uploads } = await stand(5, more, {});
      const votes = await votesOf(world, [authority], uploads, epochs);
      const asked = { epochs, votes };
      const total = await opened(world, [authority], uploads, asked);
      const { deviation = 0 } = taskNoise(world.policy) ?? {};
      const noise = [...total.subarray(5, -4)].map((residue) => toSigned(residue, world.policy.modulus) - 15);
      expect([...guardWordsOf(total)]).toEqual([5, 0, 0, 0, 0, 0, 0, 0]);
      const spread = Math.sqrt(noise.reduce((sum, value) => sum + value * value, 0) / noise.length);
      expect(spread / deviation).toBeGreaterThan(0.8);
      expect(spread / deviation).toBeLessThan(1.2);
      time.now += (3 * HOUR_MS) / 4;
      expect((await world.epoch(authority)).closes).toBeGreaterThan((epochs[0] as Epoch).closes);
      expect([...(await opened(world, [authority], uploads, asked))]).toEqual([...total]);
    });

    it('with three of four authorities, not before three voted for it, by the plan of the server', async () => {
      const authorities = await Promise.all(Array.from({ length: 4 }, async () => start(await freshHome())));
      const oneShot = { ...ONE_SHOT_DEFAULTS, tolerated: 1 };
      const world = await shotStage(authorities, 3, { threshold: 3, oneShot });
      const epochs = await world.epochs(authorities);
      const uploads = await world.uploads(authorities);
      const two = await votesOf(world, authorities.slice(0, 2), uploads, epochs);
      const [first, , third] = authorities as [Authority, Authority, Authority];
      const asked = { uploads, epochs, votes: two, wanted: [{ part: 2, vector: true }] };
      const early = await world.release(first, world.releaseRequest(asked));
      expect([early.status, early.code]).toEqual([503, 'too-few-votes']);
      const votes = [...two, ...(await votesOf(world, [third], uploads, epochs))];
      const total = await opened(world, authorities, uploads, { epochs, votes });
      expect([...total].slice(0, 6)).toEqual([3, 0, 0, 0, 6, 6]);
    });

    it('of a request longer than small bodies are, which threads share, and of vectors beyond four mebibytes', async () => {
      const many = await stand(180, { bufferSize: 180 }, { workers: 3 });
      const { authority } = many;
      const long = { world: many.world, epochs: many.epochs, uploads: many.uploads };
      const world = await shotStage([authority], 2, { dimension: 1_100_000 });
      const wide = { world, epochs: await world.epochs([authority]), uploads: await world.uploads([authority]) };
      const lengths = [];
      for (const { world: at, epochs, uploads } of [long, wide]) {
        const votes = await votesOf(at, [authority], uploads, epochs);
        const request = at.releaseRequest({ uploads, epochs, votes, wanted: VECTOR });
        const answer = await at.release(authority, request);
        const { answer: head, vectors } = openRelease(answer);
        lengths.push([request.length > 65_536, answer.bytes.length > 4 * 1024 * 1024]);
        expect(head.sums[0]?.hash).toEqual(nodeSuite.sha256(vectors));
        const total = vectorsOf(at, VECTOR, vectors).get(0) as Uint32Array;
        for (const { masked, input } of uploads) {
          subtractInPlace(total, masked, at.policy.modulus, kernel);
          addInPlace(total, input, at.policy.modulus, kernel);
        }
        expect(total.every((word) => word === 0)).toBe(true);
      }
      expect(lengths).toEqual([
        [true, false],
        [false, true],
      ]);
    });

    it('gets one vote: another batch with one of its uploads is refused', async () => {
      const { authority, world, epochs, uploads } = await stand(4);
      await votesOf(world, [authority], uploads.slice(0, 3), epochs);
      const other = world.batchOf(uploads.slice(2));
      await world.inspected(authority, uploads.slice(2), epochs);
      const answer = await world.vote(authority, world.voteRequest(other));
      expect([answer.code, answer.json()]).toEqual(['upload-used', expect.objectContaining({ slots: [0] })]);
    });
  });

  describe('refusals', () => {
    it('whatever the server did not sign, or is at the address of another task', async () => {
      const { authority, world, epochs, uploads } = await stand(3);
      const votes = await votesOf(world, [authority], uploads, epochs);
      const stranger = createNodeSigner(nodeRandomBytes(32));
      const shown = uploads.map((one) => one.shown);
      const asked = { uploads, epochs, votes, wanted: VECTOR };
      const answers = [
        await world.inspect(authority, world.inspectRequest(shown, epochs, stranger)),
        await world.vote(authority, world.voteRequest(world.batchOf(uploads), stranger)),
        await world.release(authority, world.releaseRequest(asked, stranger)),
      ];
      expect(answers.map(({ code }) => code)).toEqual(['server-unknown', 'server-unknown', 'server-unknown']);
      const other = await shotStage([authority], 0, { dimension: 9 });
      const moved = [
        await other.inspect(authority, world.inspectRequest(shown, epochs)),
        await other.vote(authority, world.voteRequest(world.batchOf(uploads))),
        await other.release(authority, world.releaseRequest(asked)),
      ];
      expect(moved.map(({ code }) => code)).toEqual(['malformed', 'malformed', 'malformed']);
    });

    it('a release without votes, of parts that it does not hold, or of other uploads than those of the batch', async () => {
      const { authority, world, epochs, uploads } = await stand(3);
      const asked: ReleaseAsked = { uploads, epochs, votes: [], wanted: VECTOR };
      const code = async (more: Partial<ReleaseAsked>) =>
        (await world.release(authority, world.releaseRequest({ ...asked, ...more }))).code;
      expect(await code({})).toBe('too-few-votes');
      const votes = await votesOf(world, [authority], uploads, epochs);
      expect(await code({ votes, wanted: [{ part: 1, vector: false }] })).toBe('part-invalid');
      expect(await code({ votes, wanted: [...VECTOR, ...VECTOR] })).toBe('part-invalid');
      const batch = world.batchOf(uploads);
      expect(await code({ votes, uploads: uploads.slice(1), batch })).toBe('batch-invalid');
      expect(await code({ votes })).toBeUndefined();
    });

    it("parts of the server's own making under a device's header, when they are inspected and when they are summed", async () => {
      const { authority, world, epochs, uploads } = await stand(3);
      const own = (await world.uploads([authority]))[0] as TestUpload;
      const swapped = uploads.map((one, n) =>
        n === 1 ? { ...one, shown: { ...one.shown, sealed: own.shown.sealed } } : one,
      );
      const { verdicts } = await world.inspected(authority, swapped, epochs);
      expect(verdicts.map(({ verdict, reason }) => [verdict, reason])).toEqual([
        ['good', undefined],
        ['bad', 'body-mismatch'],
        ['good', undefined],
      ]);
      const votes = await votesOf(world, [authority], uploads, epochs);
      const answer = await world.release(
        authority,
        world.releaseRequest({ uploads: swapped, epochs, votes, wanted: VECTOR }),
      );
      expect([answer.code, answer.json()]).toEqual(['body-mismatch', expect.objectContaining({ slots: [1] })]);
    });

    it('a vote for uploads that the authority has not inspected, with their positions', async () => {
      const { authority, world, epochs, uploads } = await stand(4);
      await world.inspected(authority, [uploads[0], uploads[2]] as TestUpload[], epochs);
      const answer = await world.vote(authority, world.voteRequest(world.batchOf(uploads)));
      expect([answer.code, answer.json()]).toEqual(['not-inspected', expect.objectContaining({ slots: [1, 3] })]);
    });

    it('the epochs of a task that does not exist', async () => {
      const authority = await sharedAuthority();
      expect((await ask(authority, AUTHORITY_PATH.epochs('0'.repeat(64)))).code).toBe('task-unknown');
    });

    it('a one-shot request for a task of paper mode', async () => {
      const authority = await start(await freshHome(), { unsafePaperMode: true });
      const { task } = await shotStage([authority], 0, PAPER);
      expect((await ask(authority, AUTHORITY_PATH.epochs(task))).code).toBe('policy-invalid');
    });

    it('bodies that are longer than the task allows, or have no declared length', async () => {
      const { authority, world } = await stand(0);
      const paths = [AUTHORITY_PATH.batchVotes, AUTHORITY_PATH.inspections, AUTHORITY_PATH.releases];
      for (const path of paths) {
        const address = path(world.task);
        expect((await ask(authority, address, { body: new Uint8Array(2_000_000) })).code).toBe('body-too-large');
        expect((await world.asked(authority, address, new Uint8Array(64))).code).toBe('malformed');
        expect(await askWithoutLength(authority, address)).toContain('content-length is missing');
      }
    });
  });

  describe('epochs', () => {
    it('open a quarter before the end of the one before, and end an epoch after they closed', async () => {
      const { authority, world, epochs, uploads } = await stand(3, {}, {});
      const votes = await votesOf(world, [authority], uploads, epochs);
      const opens = [];
      for (let quarter = 0; quarter < 8; quarter++) {
        await authority.tick();
        opens.push(((await world.epoch(authority)).opens - begun) / HOUR_MS);
        time.now += HOUR_MS / 4;
      }
      expect(opens).toEqual([0, 0, 0, 0.75, 0.75, 0.75, 1.5, 1.5]);
      const request = world.releaseRequest({ uploads, epochs, votes, wanted: VECTOR });
      expect((await world.release(authority, request)).status).toBe(200);
      await authority.tick(); // two hours after the first epoch opened
      const over = await world.release(authority, request);
      expect([over.code, over.json()]).toEqual(['epoch-over', expect.objectContaining({ slots: [0, 1, 2] })]);
    });
  });
}
