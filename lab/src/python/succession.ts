/** A Python device before and after its server and its only authority get another key, which operators replace by commands. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Authority } from '@basa/authority';
import type { BasaClient } from '@basa/client/node';
import { fromHex, toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { OPERATOR_TOKEN, oneHot, operate, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { runPython } from './python.ts';

const WAIT_MS = 4000;
/** Between the publication of a term and its switch, so that processes can start and see the term before. */
const EFFECTIVE = '15s';

/** A device asks for new terms no more often than this. */
const LOOK_MS = 1100;

/** Returns the claims that do not hold. */
export async function followsItsTerms(): Promise<readonly string[]> {
  const trial = await Trial.open();
  try {
    await trial.contributesInTheFirstTerm();
    await trial.followsTheServer();
    await trial.followsTheAuthority();
    await trial.newDeviceJoins();
    return trial.failed;
  } finally {
    await trial.close();
  }
}

class Trial {
  readonly failed: string[] = [];
  readonly #services: TestServices;
  readonly #devices: readonly BasaClient[];
  readonly #token: string;
  #successor: Authority | undefined;

  private constructor(services: TestServices, devices: readonly BasaClient[], token: string) {
    this.#services = services;
    this.#devices = devices;
    this.#token = token;
  }

  static async open(): Promise<Trial> {
    const usual = { maxSkewMs: 300_000 };
    const services = await TestServices.open({ server: usual, authority: usual });
    for (const name of ['recovery', 'next'])
      await basaHere(['succession', 'key', '--out', join(services.folder, name)]);
    const recoveryHash = nodeSuite.sha256(await keyIn(services, 'recovery.pub'));
    await services.createTask({ bufferSize: 2, minimum: 2, succession: { waitMs: WAIT_MS, recoveryHash } });
    const retry = { attempts: 2, firstWaitMs: 10 };
    const devices = [await services.client('a', { retry }), await services.client('b', { retry })];
    return new Trial(services, devices, await services.token());
  }

  async close(): Promise<void> {
    await this.#services.close();
    await this.#successor?.close();
    await rm(this.#services.folder, { recursive: true, force: true });
  }

  async contributesInTheFirstTerm(): Promise<void> {
    const refused = await this.#python(0, ['--forbid-succession']);
    this.#note('an application can forbid succession', refused.includes('below-floor'));
    const odd = await this.#python(0, ['--term', 'first']);
    this.#note('--term takes the hash of a term', odd.includes('term is not in hexadecimal'));
    await this.#contributesWith('a device contributes before a key is replaced', 0, 1);
  }

  /** The update that is open at the switch is in no sum, and no authority says so: the device holds it. */
  async followsTheServer(): Promise<void> {
    await this.#services.restartServer({ nextSigningKey: await keyIn(this.#services, 'next') });
    const file = join(this.#services.folder, 'next');
    const effective = await this.#published(this.#services.authority, '--seat', 'server', '--server-key', file);
    const open = await this.#python(2);
    this.#note('a device contributes between the publication and the switch', open.startsWith('accepted'));
    await this.#passed(effective);
    const held = await this.#python(2);
    this.#note(
      'an update that is open at the switch has the outcome unknown',
      held.includes('delta-committed: it was given before, and is unknown'),
    );
    for (const [n, device] of this.#devices.entries()) await contributed(device, n);
    await this.#services.reached(2);
    await this.#contributesWith("a device contributes under the server's next key", 3, 3);
  }

  async followsTheAuthority(): Promise<void> {
    this.#successor = await this.#services.furtherAuthority('successor');
    await this.#services.authority.close();
    const effective = await this.#published(this.#successor);
    const early = await this.#python(4);
    this.#note('a device does not follow a single authority before the wait is over', early.includes('unreachable'));
    await this.#passed(effective);
    await this.#contributesWith('a device contributes to the successor of its authority', 4, 4);
  }

  /** The successor is pinned, so the device trusts its term and does not wait. */
  async newDeviceJoins(): Promise<void> {
    const { url = '', publicKey = new Uint8Array() } = this.#successor ?? {};
    const body = { count: 1, endsAt: Date.now() + 60_000 };
    const { tokens } = await operate<{ tokens: readonly string[] }>(
      url,
      'POST',
      AUTHORITY_PATH.tokens(this.#services.task),
      body,
    );
    const ended = await this.#python(6, [], {
      BASA_AUTHORITY: url,
      BASA_AUTHORITY_KEY: toHex(publicKey),
      BASA_IDENTITY: join(this.#services.folder, 'new'),
      BASA_ENROLMENT_TOKEN: tokens[0] ?? '',
    });
    this.#note('a new device that is pinned to the successor does not wait', ended.startsWith('accepted'));
  }

  #note(claim: string, isTrue: boolean): void {
    console.log(`${isTrue ? 'holds' : 'FAILS'}: ${claim}`);
    if (!isTrue) this.failed.push(claim);
  }

  /** Python and one Node device fill a buffer. */
  async #contributesWith(claim: string, place: number, version: number): Promise<void> {
    const ended = await this.#python(place);
    if (!ended.startsWith('accepted')) console.log(ended);
    await contributed(this.#devices[0] as BasaClient, 0);
    if (ended.startsWith('accepted')) await this.#services.reached(version);
    this.#note(claim, ended.startsWith('accepted'));
  }

  /** Runs the same device once, and returns its last words. */
  async #python(
    place: number,
    words: readonly string[] = [],
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { authority, folder, server, task } = this.#services;
    const update = join(folder, `update-${place}`);
    await writeFile(update, new Uint8Array(oneHot(place).buffer));
    const run = runPython(['-m', 'basa', ...words], {
      BASA_SERVER: server.url,
      BASA_AUTHORITY: authority.url,
      BASA_AUTHORITY_KEY: toHex(authority.publicKey),
      BASA_TASK: task,
      BASA_UPDATE: update,
      BASA_IDENTITY: join(folder, 'python'),
      BASA_ENROLMENT_TOKEN: this.#token,
      ...more,
    });
    return run.then(({ stdout }) => stdout).catch(({ stderr }: { stderr: string }) => stderr);
  }

  /** Proposes a term, signs it with the recovery key and publishes it. Returns its effective time. */
  async #published(authority: Authority, ...seat: readonly string[]): Promise<number> {
    const { folder, task } = this.#services;
    const [term, recovery] = [join(folder, `term-${seat.length}`), join(folder, 'recovery')];
    const proposed = await this.#typed(authority, 'propose', task, ...seat, '--effective', EFFECTIVE, '--out', term);
    const hash = String(proposed['hash']);
    await this.#typed(authority, 'recover', '--term', term, '--hash', hash, '--recovery-key', recovery);
    await this.#typed(authority, 'publish', '--term', term);
    await sleep(LOOK_MS);
    for (const device of this.#devices) await device.model().catch(() => undefined); // each of them sees the term
    return Number(proposed['effective']);
  }

  async #typed(authority: Authority, ...words: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
    const environment = {
      BASA_SERVER: this.#services.server.url,
      BASA_AUTHORITY: authority.url,
      BASA_AUTHORITY_TOKEN: OPERATOR_TOKEN,
    };
    const isOffline = words[0] === 'recover';
    const { code, out, errors } = await basaHere(['succession', ...words, '--json'], isOffline ? {} : environment);
    if (code !== 0) throw new Error(errors);
    return lastLine(out);
  }

  /** Waits for the switch, for the wait of every device, and until the newest model is signed in the new term. */
  async #passed(effective: number): Promise<void> {
    await sleep(Math.max(effective - Date.now(), WAIT_MS) + 500);
    const authority = this.#successor ?? this.#services.authority;
    await until(async () => {
      await authority.tick();
      return (await fetch(new URL(AUTHORITY_PATH.modelEntry(this.#services.task, 'newest'), authority.url))).ok;
    });
  }
}

async function keyIn({ folder }: TestServices, name: string): Promise<Uint8Array> {
  return fromHex((await readFile(join(folder, name), 'utf8')).trim()) ?? new Uint8Array();
}

/** Every device gives another update on every version. */
async function contributed(device: BasaClient, n: number): Promise<void> {
  const { version, parameters } = await device.model();
  const delta = parameters.map(() => (n + 1) / (10 * (version + 1)));
  const ended = await device.contribute(delta, { trainedOn: version });
  if (ended.kind !== 'accepted') throw new Error(`a Node device was refused: ${ended.reason}`);
}
