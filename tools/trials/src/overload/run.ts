/** More devices than a server carries: it puts off what it cannot do, goes on with what was begun, and is well soon afterwards. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BasaClient } from '@basa/client/node';
import { inMemoryStoreForTests, nodeOutside, ProblemError, UnreachableError } from '@basa/client/node';
import { fromHex } from '@basa/masking';
import { AUTHORITY_PATH, certificateCodec, SERVER_PATH } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import { Stage } from '@basa/testkit/processes/stage.ts';
import type { SigningDevice } from '../../../../packages/cli/src/conformance/signing-device.ts';
import { signingDevice } from '../../../../packages/cli/src/conformance/signing-device.ts';
import { connect } from '../../../../packages/client/src/connect.ts';
import { residentBytes } from '../soak/samples.ts';

export interface OverloadOptions {
  readonly seconds: number;
  /** How many times as many arrivals as the server carries. */
  readonly times: number;
  onWord?(line: string): void;
}

export interface OverloadReport {
  /** Contributions a second without the flood, with it, and after it. */
  readonly carried: number;
  readonly duringFlood: number;
  readonly afterwards: number;
  /** Arrivals a second, as asked for and as they were sent. */
  readonly arrivals: number;
  readonly sent: number;
  /** How the arrivals of the flood were answered, by status; 0: not at all. */
  readonly answers: Readonly<Record<string, number>>;
  readonly withoutTime: number;
  /** Updates of the fleet that were acknowledged, and those of them that are in no version. */
  readonly acknowledged: number;
  readonly lost: number;
  readonly megabytesBefore: number;
  readonly megabytesMost: number;
  /** From the end of the flood to the first contribution that took no longer than twice as long as before it. */
  readonly recoveryMs: number;
  readonly problems: readonly string[];
}

const FLEET = 8;
const FLOODERS = 40;
const MEASURED_MS = 15_000;
const DIMENSION = 20_000;
const MOST_UNDER_WAY = 2_000;
const ANSWER_MS = 30_000;
const MOST_RECOVERY_MS = 30_000;
const MOST_GROWTH_MEGABYTES = 400;
const PAUSE_MS = 100;

export async function runOverload({ seconds, times, onWord = () => {} }: OverloadOptions): Promise<OverloadReport> {
  const bundle = await bundleProcesses();
  const policy = { dimension: DIMENSION, bufferSize: 4, minimum: 2 };
  const stage = await Stage.open({ bundle, policy, specification: { stallMs: 500, admission: { places: 8 } } });
  const ending = new AbortController();
  try {
    const fleet = new Fleet(stage, ending.signal);
    const living = await fleet.start();
    const before = await fleet.pace(MEASURED_MS);
    onWord(`carried: ${before.perSecond.toFixed(1)} contributions a second, ${Math.round(before.medianMs)} ms each`);
    const arrivals = Math.max(10, times * before.perSecond);
    const flooders = await Promise.all(Array.from({ length: FLOODERS }, () => enrolled(stage)));
    const memory = (): number => residentBytes(stage.children.server?.pid ?? 0) / 2 ** 20;
    const megabytesBefore = memory();
    let megabytesMost = megabytesBefore;
    const watching = setInterval(() => {
      megabytesMost = Math.max(megabytesMost, memory());
    }, 200);
    const flood = new Flood(stage, flooders, arrivals);
    const [, during] = await Promise.all([flood.run(seconds * 1000), fleet.pace(seconds * 1000)]);
    onWord(`flooded: ${JSON.stringify(flood.answers)}, ${during.perSecond.toFixed(1)} contributions a second`);
    const recoveryMs = await fleet.recovered(2 * before.medianMs);
    const after = await fleet.pace(MEASURED_MS);
    clearInterval(watching);
    ending.abort();
    await Promise.all(living);
    const lost = await fleet.lost();
    const report = {
      carried: before.perSecond,
      duringFlood: during.perSecond,
      afterwards: after.perSecond,
      arrivals,
      sent: flood.sent / seconds,
      answers: flood.answers,
      withoutTime: flood.withoutTime,
      acknowledged: fleet.acknowledged.length,
      lost,
      megabytesBefore,
      megabytesMost,
      recoveryMs,
    };
    return { ...report, problems: problemsOf(report) };
  } finally {
    ending.abort();
    await stage.close();
  }
}

function problemsOf(report: Omit<OverloadReport, 'problems'>): readonly string[] {
  const { answers, withoutTime, duringFlood, lost, megabytesBefore, megabytesMost, recoveryMs } = report;
  const wrong = Object.entries(answers).filter(([status]) => !['200', '429', '503'].includes(status));
  const checks: readonly (readonly [boolean, string])[] = [
    [wrong.length > 0, `answers that are neither an admission nor a no with a time: ${JSON.stringify(wrong)}`],
    [(answers['429'] ?? 0) + (answers['503'] ?? 0) === 0, 'nobody was put off: the flood was none'],
    [withoutTime > 0, `${withoutTime} were put off without Retry-After`],
    [duringFlood === 0, 'nothing was accepted during the flood'],
    [lost > 0, `${lost} acknowledged updates are in no version`],
    [megabytesMost - megabytesBefore > MOST_GROWTH_MEGABYTES, `the server grew to ${Math.round(megabytesMost)} MB`],
    [recoveryMs > MOST_RECOVERY_MS, `it was not well again after ${recoveryMs} ms`],
  ];
  return checks.filter(([isWrong]) => isWrong).map(([, words]) => words);
}

/** Devices of the SDK that contribute all the time. */
class Fleet {
  readonly acknowledged: { readonly ctx: string; readonly joinTag: string }[] = [];
  /** When each contribution was acknowledged, and how long it took. */
  readonly #done: { readonly at: number; readonly tookMs: number }[] = [];
  readonly #stage: Stage;
  readonly #signal: AbortSignal;

  constructor(stage: Stage, signal: AbortSignal) {
    this.#stage = stage;
    this.#signal = signal;
  }

  async start(): Promise<readonly Promise<void>[]> {
    const stage = this.#stage;
    const tokens = await stage.authority.tokens(stage.task, FLEET, Date.now() + 86_400_000);
    const clients = await Promise.all(
      tokens.map((token) =>
        connect(nodeOutside(), inMemoryStoreForTests(createNodeSigner(nodeRandomBytes(32))), {
          server: stage.urls.server,
          authority: stage.urls.authority,
          authorityKey: stage.authorityKey,
          task: stage.task,
          token,
        }),
      ),
    );
    return clients.map((client) => this.#live(client));
  }

  async #live(client: BasaClient): Promise<void> {
    while (!this.#signal.aborted) {
      const began = Date.now();
      const result = await this.#offer(client).catch((error: unknown) => {
        if (error instanceof ProblemError || error instanceof UnreachableError) return undefined;
        throw error;
      });
      if (result?.kind === 'accepted') {
        this.acknowledged.push(result);
        this.#done.push({ at: Date.now(), tookMs: Date.now() - began });
      } else
        await sleep(Math.min(2000, result?.retryAfterMs ?? PAUSE_MS), undefined, { signal: this.#signal }).catch(
          () => {},
        );
    }
    await client.close();
  }

  async #offer(client: BasaClient) {
    const delta = new Float32Array(DIMENSION).map(() => Math.random() - 0.5);
    const { version } = await client.model();
    return client.contribute(delta, { trainedOn: version });
  }

  async pace(ms: number): Promise<{ readonly perSecond: number; readonly medianMs: number }> {
    const from = Date.now();
    await sleep(ms);
    const done = this.#done
      .filter(({ at }) => at >= from)
      .map(({ tookMs }) => tookMs)
      .sort((a, b) => a - b);
    return { perSecond: (1000 * done.length) / ms, medianMs: done[done.length >> 1] ?? Number.POSITIVE_INFINITY };
  }

  /** Returns how long it took until a contribution was as quick as this. */
  async recovered(tookMs: number): Promise<number> {
    const from = Date.now();
    const isWell = (): boolean => this.#done.some((one) => one.at >= from && one.tookMs <= tookMs);
    while (!isWell() && Date.now() - from <= MOST_RECOVERY_MS) await sleep(PAUSE_MS);
    return Date.now() - from;
  }

  /** Acknowledged updates that the server says are neither in a version nor left out with a word. */
  async lost(): Promise<number> {
    const pending = async (): Promise<readonly string[]> => {
      const fates = await Promise.all(
        this.acknowledged.map(async ({ ctx, joinTag }) => {
          const response = await fetch(new URL(SERVER_PATH.fate(ctx, joinTag), this.#stage.urls.server));
          return ((await response.json()) as { readonly fate?: string }).fate ?? 'unknown';
        }),
      );
      return fates.filter((fate) => !['included', 'excluded'].includes(fate));
    };
    // The last buffer has too few devices left to be opened, perhaps: a buffer's worth may wait.
    for (let look = 0; look < 100; look++) {
      const left = await pending();
      if (left.every((fate) => fate === 'pending') && left.length <= 2 * this.#stage.policy.bufferSize) return 0;
      await sleep(PAUSE_MS);
    }
    return (await pending()).length;
  }
}

interface Flooder {
  readonly device: SigningDevice;
  readonly certificate: Uint8Array;
}

async function enrolled(stage: Stage): Promise<Flooder> {
  const device = signingDevice();
  const [token] = await stage.authority.tokens(stage.task, 1, Date.now() + 86_400_000);
  const target = AUTHORITY_PATH.enrolments(stage.task);
  const body = JSON.stringify({ token });
  const audience = fromHex(stage.authorityKey) as Uint8Array;
  const headers = device.headers({ audience, method: 'POST', target, body, at: Date.now() });
  const answer = await fetch(new URL(target, stage.urls.authority), {
    method: 'POST',
    body,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  if (!answer.ok) throw new Error(`a device could not be enrolled: ${answer.status} ${await answer.text()}`);
  const certificate = new Uint8Array(await answer.arrayBuffer());
  certificateCodec.decode(certificate);
  return { device, certificate };
}

/** Arrivals that do not wait for each other: each asks for a place to train in, gives back what it gets, and goes away. */
class Flood {
  sent = 0;
  withoutTime = 0;
  readonly answers: Record<string, number> = {};
  readonly #stage: Stage;
  readonly #flooders: readonly Flooder[];
  readonly #perSecond: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MOST_UNDER_WAY });
  #underWay = 0;

  constructor(stage: Stage, flooders: readonly Flooder[], perSecond: number) {
    this.#stage = stage;
    this.#flooders = flooders;
    this.#perSecond = perSecond;
  }

  async run(ms: number): Promise<void> {
    const began = Date.now();
    while (Date.now() - began < ms) {
      const due = Math.floor(((Date.now() - began) / 1000) * this.#perSecond) - this.sent;
      for (let n = 0; n < due && this.#underWay < MOST_UNDER_WAY; n++) this.#arrive();
      await sleep(5);
    }
    while (this.#underWay > 0) await sleep(20);
    this.#agent.destroy();
  }

  #arrive(): void {
    const flooder = this.#flooders[this.sent++ % this.#flooders.length] as Flooder;
    this.#ask(flooder, 'POST', (status, time) => {
      this.answers[status] = (this.answers[status] ?? 0) + 1;
      if ((status === 429 || status === 503) && time === undefined) this.withoutTime++;
      if (status === 200) this.#ask(flooder, 'DELETE', () => {});
    });
  }

  #ask(
    { device, certificate }: Flooder,
    method: 'POST' | 'DELETE',
    tell: (status: number, retryAfter?: string) => void,
  ): void {
    const target = SERVER_PATH.admissions(this.#stage.task);
    const audience = this.#stage.policy.serverKey;
    const body = method === 'POST' ? certificate : new Uint8Array();
    const headers = device.headers({ audience, method, target, body, at: Date.now() });
    const kind = method === 'POST' ? { 'content-type': 'application/octet-stream' } : {};
    this.#underWay++;
    const asked = request(new URL(target, this.#stage.urls.server), {
      method,
      agent: this.#agent,
      timeout: ANSWER_MS,
      headers: { ...headers, ...kind, 'content-length': body.length },
    });
    let isTold = false;
    const end = (status: number, retryAfter?: string): void => {
      if (isTold) return;
      isTold = true;
      this.#underWay--;
      tell(status, retryAfter);
    };
    asked.on('response', (answer) => {
      answer.resume();
      end(answer.statusCode ?? 0, answer.headers['retry-after']);
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', () => end(0));
    asked.end(body);
  }
}
