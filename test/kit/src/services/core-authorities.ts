/** Authorities behind the link of a server: the real cores in this process, asked over HTTP without a network between. */
import {
  AUTHORITY_PATH,
  encodePolicy,
  frameHeader,
  inspectAnswerCodec,
  isRefused,
  liveEpochsCodec,
  maskSumCodec,
  problemOfRefusal,
  type Refused,
  releaseAnswerCodec,
  voteCodec,
} from '@basa/protocol';
import type { AuthorityWorld, ReleasedSums, ShotAuthority } from '@basa/simulator';

/** The requests of a server to an authority. */
export type Asking = 'epochs' | 'inspections' | 'batch-votes' | 'releases';

export class CoreAuthorities {
  readonly #world: AuthorityWorld;
  readonly all: readonly ShotAuthority[];
  /** Indices of authorities that do not answer. */
  readonly away = new Set<number>();
  /** Requests that no authority answers. */
  readonly blocked = new Set<Asking>();
  /** Indices of authorities that sign a wrong sum of masks. */
  readonly lying = new Set<number>();
  /** The requests to each of them, in order. */
  readonly asked: string[] = [];

  constructor(world: AuthorityWorld, all: readonly ShotAuthority[]) {
    this.#world = world;
    this.all = all;
  }

  urlOf(index: number): string {
    return `http://authority-${index}.test`;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const { hostname, pathname } = new URL(String(input));
    const index = Number(/\d+/.exec(hostname)?.[0]);
    const asking = pathname.split('/')[4] as Asking | undefined;
    this.asked.push(`${index} ${asking}`);
    const isSilent = this.away.has(index) || (asking !== undefined && this.blocked.has(asking));
    if (isSilent) throw new TypeError('there is no answer');
    const body = new Uint8Array((init?.body as Uint8Array | undefined) ?? []);
    const authority = this.all[index] as ShotAuthority;
    return this.#answer(authority, pathname, body);
  };

  #answer(authority: ShotAuthority, path: string, body: Uint8Array): Response {
    const { task, policy } = this.#world;
    switch (path) {
      case AUTHORITY_PATH.policy(task):
        return bytesOf(encodePolicy(policy));
      case AUTHORITY_PATH.epochs(task):
        authority.openEpoch();
        return answered(authority.epochs(), liveEpochsCodec.encode);
      case AUTHORITY_PATH.inspections(task):
        return answered(authority.inspect(body), inspectAnswerCodec.encode);
      case AUTHORITY_PATH.batchVotes(task):
        return answered(authority.vote(body), voteCodec.encode);
      case AUTHORITY_PATH.releases(task):
        return answered(authority.release(body), (released) => framed(this.#told(authority, released)));
      default:
        return new Response('{}');
    }
  }

  /** A liar adds one to the first word of every sum, and signs that. */
  #told({ base }: ShotAuthority, { answer, vectors }: ReleasedSums): ReleasedSums {
    const { index, ports } = base;
    if (!this.lying.has(index)) return { answer, vectors };
    const wrong = vectors.map((vector) => Uint8Array.from(vector, (byte, n) => (n === 0 ? (byte + 1) % 256 : byte)));
    const hashes = wrong.map((vector) => ports.suite.sha256(vector));
    let next = 0;
    const sums = answer.sums.map(({ signature: _, ...body }) => {
      const told = { ...body, hash: hashes[next++] ?? ports.suite.sha256(body.hash) };
      return { ...told, signature: ports.signer.sign(maskSumCodec.statement(told)) };
    });
    return { answer: { ...answer, sums }, vectors: wrong };
  }
}

function framed({ answer, vectors }: ReleasedSums): Uint8Array {
  return Uint8Array.from([frameHeader(releaseAnswerCodec.encode(answer)), ...vectors].flatMap((part) => [...part]));
}

function answered<Answer>(answer: Answer | Refused, encode: (answer: Answer) => Uint8Array): Response {
  if (!isRefused(answer)) return bytesOf(encode(answer));
  const problem = problemOfRefusal(answer);
  return new Response(JSON.stringify(problem), { status: problem.status });
}

function bytesOf(bytes: Uint8Array): Response {
  return new Response(bytes.slice());
}
