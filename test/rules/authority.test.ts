/**
 * The rules of an authority of the one-shot mode as one table: a request with one thing wrong in it, and what the authority says. Each row
 * is played against the pure functions of the protocol, and over HTTP against the real service.
 */
import { toHex } from '@basa/masking';
import { type Ctx, isRefused, type Refused, type TaskId } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import type {
  Batch,
  BatchVoteRequest,
  Endorsement,
  InspectAnswer,
  InspectRequest,
  ReleaseRequest,
  ShownUpload,
  Vote,
} from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import type { Changed } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { AuthorityScene } from '@basa/testkit/world/authority-scene.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const EPOCHS_MS = 3 * 3_600_000;
const VECTOR = [{ part: 0, vector: true }];
const STRANGER = createNodeSigner(nodeRandomBytes(32));

type Maybe<Value> = Value | Promise<Value>;

/** An authority or four with a task, and four uploads that they have not seen, in the order of a batch. */
interface Stage<Shot extends { readonly name: Ctx }> {
  readonly shots: readonly Shot[];
  shown(shot: Shot): ShownUpload;
  batch(shots?: readonly Shot[]): Batch;
  inspectBy(index: number, shots: readonly Shot[], change?: Changed<InspectRequest>): Maybe<InspectAnswer | Refused>;
  voteBy(index: number, batch: Batch, change?: Changed<BatchVoteRequest>): Maybe<Vote | Refused>;
  releaseBy(index: number, batch: Batch, change?: Changed<ReleaseRequest>): Maybe<object | Refused>;
  /** They inspect the uploads first. */
  votes(batch: Batch, indices?: readonly number[]): Maybe<readonly Endorsement[]>;
  revoke(shot: Shot): Maybe<unknown>;
  restart(): Maybe<void>;
  /** Time passes until no epoch of now is left. */
  endEpochs(): Maybe<void>;
  close(): Maybe<void>;
}

type Opened = Promise<Stage<{ readonly name: Ctx }>>;

async function inTheCore(count: 1 | 4): Opened {
  const world = new ShotWorld({ count, minimum: 2 });
  world.contributed(4);
  const { server } = world;
  const shots = [...server.shots].sort((one, other) => Buffer.compare(one.name, other.name));
  const stage: Stage<(typeof shots)[number]> = {
    shots,
    shown: (shot) => server.shown(shot),
    batch: (some = shots) => server.batch(some),
    inspectBy: (...asked) => server.inspectBy(...asked),
    voteBy: (...asked) => server.voteBy(...asked),
    releaseBy: (...asked) => server.releaseBy(...asked),
    votes(batch, indices = server.indices) {
      server.inspect();
      return server.votes(batch, indices);
    },
    revoke: ({ upload }) => world.authority(0).base.revoke(upload.header.user),
    restart: () => world.authority(0).restart(),
    endEpochs() {
      world.pass(EPOCHS_MS);
      world.authority(0).tick();
    },
    close() {},
  };
  return stage as Stage<{ readonly name: Ctx }>;
}

async function overHttp(count: 1 | 4): Opened {
  const scene = await AuthorityScene.open(4, { count });
  const stage: Stage<(typeof scene.shots)[number]> = {
    shots: [...scene.shots],
    shown: (shot) => scene.shown(shot),
    batch: (some) => scene.batch(some),
    inspectBy: (...asked) => scene.inspectBy(...asked),
    voteBy: (...asked) => scene.voteBy(...asked),
    releaseBy: (...asked) => scene.releaseBy(...asked),
    votes: (...asked) => scene.votes(...asked),
    revoke: ({ upload }) => scene.operate('POST', AUTHORITY_PATH.revocations, { user: toHex(upload.header.user) }),
    restart: () => scene.world.authorities[0]?.restart(),
    async endEpochs() {
      scene.world.elapse(EPOCHS_MS);
      await scene.world.authorities[0]?.service.tick();
    },
    close: () => scene.close(),
  };
  return stage as Stage<{ readonly name: Ctx }>;
}

type Played = Maybe<InspectAnswer | object | Refused>;

interface Row {
  readonly request: string;
  /** With the places of the uploads in question, if the core knows them. */
  readonly says: string;
  /** What it says over HTTP, where that is more. */
  readonly overHttp?: string;
  readonly count?: 1 | 4;
  play(stage: Stage<{ readonly name: Ctx }>): Played;
}

const released = async (
  { batch, votes, releaseBy, shots }: Stage<{ readonly name: Ctx }>,
  change: (votes: readonly Endorsement[]) => Changed<ReleaseRequest>,
) => {
  const all = batch(shots);
  return releaseBy(0, all, { wanted: VECTOR, ...change(await votes(all)) });
};
/** The uploads as shown, with one of them changed. */
const shownWith = (
  { shots, shown }: Stage<{ readonly name: Ctx }>,
  change: (upload: ShownUpload) => Partial<ShownUpload>,
): readonly ShownUpload[] => shots.map((shot, n) => ({ ...shown(shot), ...(n === 1 && change(shown(shot))) }));
const othersParts = (stage: Stage<{ readonly name: Ctx }>): readonly ShownUpload[] =>
  shownWith(stage, () => ({ sealed: stage.shown(stage.shots[2] as { readonly name: Ctx }).sealed }));

const TABLE: readonly Row[] = [
  {
    request: 'an inspection that the server of the task did not sign',
    says: 'server-unknown',
    play: ({ inspectBy, shots }) => inspectBy(0, shots, { signer: STRANGER }),
  },
  {
    request: 'a vote that the server of the task did not sign',
    says: 'server-unknown',
    play: ({ voteBy, batch }) => voteBy(0, batch(), { signer: STRANGER }),
  },
  {
    request: 'a release that the server of the task did not sign',
    says: 'server-unknown',
    play: (stage) => released(stage, (votes) => ({ votes, signer: STRANGER })),
  },
  {
    request: 'an inspection of another task',
    says: 'task-unknown',
    overHttp: 'malformed', // it is not what its address says
    play: ({ inspectBy, shots }) => inspectBy(0, shots, { task: new Uint8Array(32) as TaskId }),
  },
  {
    request: 'an upload of a revoked device',
    says: 'good | bad: revoked | good | good',
    async play({ inspectBy, shots, revoke }) {
      await revoke(shots[1] as (typeof shots)[number]);
      return inspectBy(0, shots);
    },
  },
  {
    request: "parts of the server's own making under a device's header",
    says: 'good | bad: body-mismatch | good | good',
    play: (stage) => stage.inspectBy(0, stage.shots, { uploads: othersParts(stage) }),
  },
  {
    request: 'the same parts when they are summed',
    says: 'body-mismatch',
    overHttp: 'body-mismatch at 1',
    play: (stage) => released(stage, (votes) => ({ votes, uploads: othersParts(stage) })),
  },
  {
    request: 'a header that its device did not sign',
    says: 'good | bad: signature-invalid | good | good',
    play: (stage) =>
      stage.inspectBy(0, stage.shots, {
        uploads: shownWith(stage, ({ header }) => ({ header: { ...header, signature: new Uint8Array(64) } })),
      }),
  },
  {
    request: 'a certificate that no authority signed',
    says: 'good | bad: certificate-invalid | good | good',
    play: (stage) =>
      stage.inspectBy(0, stage.shots, {
        uploads: shownWith(stage, ({ certificate }) => ({ certificate: { ...certificate, endorsements: [] } })),
      }),
  },
  {
    request: 'a vote for uploads that it has not inspected',
    says: 'not-inspected at 1, 3',
    async play({ inspectBy, voteBy, batch, shots }) {
      await inspectBy(
        0,
        shots.filter((_, n) => n % 2 === 0),
      );
      return voteBy(0, batch());
    },
  },
  {
    request: 'a vote for an upload that it called bad',
    says: 'not-inspected at 1',
    async play({ inspectBy, voteBy, batch, shots, revoke }) {
      await revoke(shots[1] as (typeof shots)[number]);
      await inspectBy(0, shots);
      return voteBy(0, batch());
    },
  },
  {
    request: 'a vote for uploads that it inspected before it started again',
    says: 'not-inspected at 0, 1, 2, 3',
    async play({ inspectBy, voteBy, batch, shots, restart }) {
      await inspectBy(0, shots);
      await restart();
      return voteBy(0, batch());
    },
  },
  {
    request: 'a second batch with an upload that it voted for',
    says: 'upload-used at 0',
    async play({ votes, inspectBy, voteBy, batch, shots }) {
      await votes(batch(shots.slice(0, 3)));
      await inspectBy(0, shots);
      return voteBy(0, batch(shots.slice(2)));
    },
  },
  {
    request: 'a batch of fewer uploads than Kmin',
    says: 'too-few',
    async play({ inspectBy, voteBy, batch, shots }) {
      await inspectBy(0, shots);
      return voteBy(0, batch(shots.slice(0, 1)));
    },
  },
  {
    request: 'a release without votes',
    says: 'too-few-votes',
    play: (stage) => released(stage, () => ({})),
  },
  {
    request: 'a release with the votes of two authorities of three that are needed',
    says: 'too-few-votes',
    count: 4,
    async play({ batch, votes, releaseBy }) {
      return releaseBy(0, batch(), { votes: await votes(batch(), [0, 1]), wanted: [{ part: 2, vector: true }] });
    },
  },
  {
    request: 'a release with a vote that its authority did not sign',
    says: 'too-few-votes',
    count: 4,
    async play({ batch, votes, releaseBy }) {
      const two = await votes(batch(), [0, 1]);
      const forged = { authority: 2, signature: new Uint8Array(64) };
      return releaseBy(0, batch(), { votes: [...two, forged], wanted: [{ part: 2, vector: true }] });
    },
  },
  {
    request: 'a release with the votes of three authorities of four',
    says: 'granted',
    count: 4,
    async play({ batch, votes, releaseBy }) {
      return releaseBy(0, batch(), { votes: await votes(batch(), [1, 2, 3]), wanted: [{ part: 2, vector: true }] });
    },
  },
  {
    request: 'a release of a part that it does not hold',
    says: 'part-invalid',
    play: (stage) => released(stage, (votes) => ({ votes, wanted: [{ part: 1, vector: false }] })),
  },
  {
    request: 'a release of a part twice',
    says: 'granted', // it costs nothing but the work, which the service refuses
    overHttp: 'part-invalid',
    play: (stage) => released(stage, (votes) => ({ votes, wanted: [...VECTOR, ...VECTOR] })),
  },
  {
    request: 'a release that shows fewer uploads than the batch has',
    says: 'batch-invalid',
    play: (stage) => released(stage, (votes) => ({ votes, uploads: shownWith(stage, () => ({})).slice(0, -1) })),
  },
  {
    request: 'a release that shows them in another order',
    says: 'batch-invalid',
    play: (stage) => released(stage, (votes) => ({ votes, uploads: [...shownWith(stage, () => ({}))].reverse() })),
  },
  {
    request: 'an inspection of uploads whose epoch is over',
    says: 'abstain: epoch-over | abstain: epoch-over | abstain: epoch-over | abstain: epoch-over',
    async play({ inspectBy, shots, endEpochs }) {
      await endEpochs();
      return inspectBy(0, shots);
    },
  },
  {
    request: 'a release of uploads whose epoch is over',
    says: 'epoch-over at 0, 1, 2, 3',
    async play({ batch, votes, releaseBy, endEpochs }) {
      const all = await votes(batch());
      await endEpochs();
      return releaseBy(0, batch(), { votes: all, wanted: VECTOR });
    },
  },
];

/** The answer in a few words. */
function said(answer: Awaited<Played>): string {
  if (isRefused(answer as Refused)) {
    const { reason, uploads } = answer as Refused;
    return uploads === undefined ? reason : `${reason} at ${uploads.join(', ')}`;
  }
  const { verdicts } = answer as Partial<InspectAnswer>;
  const words = verdicts?.map(({ verdict, reason }) => (reason === undefined ? verdict : `${verdict}: ${reason}`));
  return words?.join(' | ') ?? 'granted';
}

const row = (one: Row) => [one.request, one] as const;

async function told({ count = 1, play }: Row, open: typeof inTheCore): Promise<string> {
  const stage = await open(count);
  try {
    return said(await play(stage));
  } finally {
    await stage.close();
  }
}

describe('an authority in the core', () => {
  it.each(TABLE.map(row))('answers %s', async (_, one) => {
    expect(await told(one, inTheCore)).toBe(one.says);
  });
});

describe('an authority over HTTP', () => {
  it.each(TABLE.map(row))('answers %s', async (_, one) => {
    expect(await told(one, overHttp)).toBe(one.overHttp ?? one.says);
  });
});

describe('over HTTP only: requests that are not what their address says', () => {
  let scene: AuthorityScene;
  beforeAll(async () => {
    scene = await AuthorityScene.open(2);
  });
  afterAll(() => scene.close());
  const create = (body: Uint8Array) => scene.operate('POST', AUTHORITY_PATH.tasks, body);
  const policyWith = (change: object): Uint8Array => TaskPolicy.encode({ ...scene.world.policy, ...change });

  it.each<[string, string, () => Promise<{ readonly code: string | undefined }>]>([
    ['a policy that does not decode', 'malformed', () => create(new Uint8Array(10))],
    ['a policy without its last byte', 'malformed', () => create(policyWith({}).subarray(0, -1))],
    ['a policy with Kmin 1', 'policy-invalid', () => create(policyWith({ minimum: 1 }))],
    ['a policy of others', 'policy-invalid', () => create(policyWith({ authorities: [nodeRandomBytes(32)] }))],
    ['the policy of no task', 'task-unknown', () => scene.ask(AUTHORITY_PATH.policy('09'.repeat(32)))],
    ['the epochs of no task', 'task-unknown', () => scene.ask(AUTHORITY_PATH.epochs('09'.repeat(32)))],
    ['a task that is no name', 'malformed', () => scene.ask(AUTHORITY_PATH.policy('abc'))],
  ])('%s is refused as %s', async (_, code, ask) => {
    expect((await ask()).code).toBe(code);
  });

  it('a message at the address of another task is malformed', async () => {
    const batch = scene.batch();
    const [votes, inspect] = [await scene.votes(batch), scene.inspectRequest(scene.shots)];
    const [vote, release] = [scene.voteRequest(batch), scene.releaseRequest(batch, { votes, wanted: VECTOR })];
    const other = await scene.world.createTask();
    for (const [path, request] of [
      [AUTHORITY_PATH.inspections(other), inspect],
      [AUTHORITY_PATH.batchVotes(other), vote],
      [AUTHORITY_PATH.releases(other), release],
    ] as const) {
      const { code, json } = await scene.asServer(path, request);
      expect([code, json()]).toMatchObject(['malformed', { detail: expect.stringMatching(/of the path$/) }]);
    }
  });
});
