/** The real services of one task, behind sockets, for client tests; what passes is seen here, and a test may change it. */
import { enrolmentHashes, newEnrolmentTokens } from '@basa/client/operator';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, type ProblemCode, SERVER_PATH } from '@basa/protocol/http';
import { PROBLEM_MEDIA_TYPE, type ProblemMore, problemDocument } from '@basa/protocol/internal/http/problems.ts';
import { ENGINE, type TaskPolicy } from '@basa/protocol/policy';
import { ShownModel } from '@basa/protocol/wire';
import { Front, type TlsFiles } from '@basa/testkit/world/front.ts';
import { asOperator, operate } from '@basa/testkit/world/operator.ts';
import { type Answered, type Asked, type Fault, Wire } from '@basa/testkit/world/wire.ts';
import { World, type WorldOptions } from '@basa/testkit/world/world.ts';

export type { Answered, Asked };

export const DIMENSION = 40;
const TOKENS = 8;
const TICK_MS = 10;
const MAX_TURNS = 2000;

export interface ServicesOptions extends WorldOptions {
  readonly tls?: TlsFiles;
}

/** A task in the mode of the paper. */
export const PAPER = {
  policy: { engine: ENGINE.cpAbe, oneShot: undefined, versions: 'unsafeMixed' },
  server: { unsafePaperMode: true },
  authority: { unsafePaperMode: true },
  specification: { mode: 'paper' },
} as const satisfies ServicesOptions;

/** A test's interference with a request or its answer. */
export interface Mischief {
  /** Before anything is done: another answer, a lost connection, or a wait. */
  before?(asked: Asked): Answered | Fault | undefined | Promise<undefined>;
  /** Another answer, after everything was done. */
  after?(asked: Asked, answered: Answered): Answered | undefined;
}

export class Services {
  readonly world: World;
  readonly tokens: string[] = [];
  readonly asked: Asked[] = [];
  mischief: Mischief = {};
  /** Names of the uploads that the server has told to be accepted, in order. */
  readonly accepted = new Set<string>();
  readonly #fronts: readonly Front[];
  #isOpen = true;
  #ticking: Promise<unknown> = Promise.resolve();

  private constructor(world: World, wire: Wire, fronts: readonly Front[]) {
    this.world = world;
    this.#fronts = fronts;
    wire.faults.push((asked) => {
      this.asked.push(asked);
      return this.mischief.before?.(asked);
    });
    wire.readers.push((asked, answered) => {
      if (isPiece(asked) && answered.status === 200 && JSON.parse(textOf(answered)).accepted === true)
        this.accepted.add(asked.path.split('/').at(-1) as string);
      return this.mischief.after?.(asked, answered);
    });
  }

  static async open({ tls, policy, ...options }: ServicesOptions): Promise<Services> {
    const usual = { dimension: DIMENSION, level: 1024, clip: 4, maxStaleness: 10, ...policy };
    const world = await World.open({ isRunning: true, ...options, policy: usual });
    // Devices have a wire of their own: what services ask each other is not seen here.
    const wire = new Wire();
    wire.put('server', world.server.app);
    wire.put('authority', world.authority.service.app);
    const fronts = [await Front.before(wire, 'server', tls), await Front.before(wire, 'authority', tls)];
    const services = new Services(world, wire, fronts);
    services.tokens.push(...newEnrolmentTokens(TOKENS));
    const hashes = enrolmentHashes(services.tokens, toHex(services.authorityKey));
    const tokens = new URL(AUTHORITY_PATH.tokens(world.task), world.authority.url);
    await operate(world.wire.fetch, 'POST', tokens, { hashes, endsAt: world.now + 3_600_000 });
    await services.until(async () => (await services.#get(SERVER_PATH.newestModel(world.task))).ok);
    return services;
  }

  get serverUrl(): string {
    return this.#urlOf(0);
  }

  get authorityUrl(): string {
    return this.#urlOf(1);
  }

  get authorityKey(): Uint8Array {
    return this.world.authority.publicKey;
  }

  get policy(): TaskPolicy {
    return this.world.policy;
  }

  /** The number of requests with this part in their path. */
  count(part: string, method?: string): number {
    return this.asked.filter((asked) => asked.path.includes(part) && (method ?? asked.method) === asked.method).length;
  }

  /** Uploads are summed until there is this version; its parameters. */
  async reached(version: number): Promise<Float32Array> {
    return (await this.world.reached(version)).parameters;
  }

  /** The periodic work of the services is done without being asked for, until their end. */
  keepTicking(): void {
    const tick = async (): Promise<void> => {
      for (; this.#isOpen; await new Promise((resolve) => setTimeout(resolve, TICK_MS))) await this.world.tick();
    };
    this.#ticking = tick();
  }

  /** The newest model with the open epochs. */
  async shown(): Promise<ShownModel> {
    const answer = await this.#get(SERVER_PATH.newestModel(this.world.task));
    return ShownModel.decode(new Uint8Array(await answer.arrayBuffer()));
  }

  /** What the server tells an operator at this path. */
  async told<Answer>(path: string): Promise<Answer> {
    return (await (await this.#get(path)).json()) as Answer;
  }

  async until(isSo: () => Promise<boolean>): Promise<void> {
    for (let turn = 0; !(await isSo()); turn++) {
      if (turn === MAX_TURNS) throw new Error('the services do not come to that');
      await this.world.tick();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#ticking;
    for (const front of this.#fronts) await front.close();
    await this.world.close();
  }

  #urlOf(front: number): string {
    return (this.#fronts[front] as Front).url;
  }

  #get(path: string): Promise<Response> {
    return asOperator(this.world.wire.fetch, 'GET', new URL(path, this.world.serverUrl));
  }
}

/** A piece of an upload. */
export const isPiece = ({ path, method }: Asked): boolean => path.includes('/shots/') && method === 'PUT';

const textOf = ({ body }: Answered): string => new TextDecoder().decode(body);

export function problem(code: ProblemCode, more: ProblemMore = {}): Answered {
  const document = problemDocument(code, more);
  return { ...json(document), status: document.status, headers: { 'content-type': PROBLEM_MEDIA_TYPE } };
}

export const bytes = (body: Uint8Array): Answered => ({ status: 200, headers: {}, body });
export const json = (value: object): Answered => bytes(new TextEncoder().encode(JSON.stringify(value)));
