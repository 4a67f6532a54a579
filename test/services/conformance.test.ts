/** The conformance kit: our own client and services follow the protocol, and a violation is named. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Authority } from '@basa/authority';
import { BasaClient } from '@basa/client/node';
import { AuthorityOperator, ServerOperator, tokenForAll } from '@basa/client/operator';
import { checkClient } from '@basa/conformance/client/check-client.ts';
import { type ClientEnd, commandClient, type StartClient } from '@basa/conformance/client/client-under-test.ts';
import type { Verdict } from '@basa/conformance/report.ts';
import { checkServer } from '@basa/conformance/server/check-server.ts';
import { runLab } from '@basa/lab/commands/lab.ts';
import { fromHex, toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol';
import { createNodeSigner } from '@basa/runtime/node';
import { OPERATOR_TOKEN, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let services: TestServices;
/** The first is the first. */
let authorities: readonly Authority[];
const { signal } = new AbortController();
beforeAll(async () => {
  const usual = { maxSkewMs: 300_000 };
  const limited = { ...usual, deviceLimit: { burst: 40, perSecond: 0.01 } };
  services = await TestServices.open({ server: { ...usual, revocationsMs: 200 }, authority: limited });
  const others = [2, 3, 4].map((n) => services.furtherAuthority(`authority-${n}`));
  authorities = [services.authority, ...(await Promise.all(others))];
  await services.restartServer({ authorities: authorities.map(({ url, publicKey }) => ({ url, publicKey })) });
});
afterAll(async () => {
  await services.close();
  await Promise.all(authorities.slice(1).map((authority) => authority.close()));
});

/** The addresses of this many authorities, as commands name them. */
const urlsOf = (count: number) =>
  authorities
    .slice(0, count)
    .map(({ url }) => url)
    .join(',');
const operators = (serverUrl = services.server.url, count = 1) => ({
  server: new ServerOperator({ url: serverUrl, token: OPERATOR_TOKEN, signal }),
  authority: new AuthorityOperator({ url: urlsOf(count), token: tokenForAll(urlsOf(count), OPERATOR_TOKEN), signal }),
});

type Settings = Readonly<Record<string, string>>;

/** Our client in this process, as `basa client --update` runs it. Killed, it stops in the middle. */
function ourClient(settings: (given: Settings) => Settings = (given) => given): StartClient {
  return (given) => {
    const killing = new AbortController();
    return { ended: contribute(settings(given), killing.signal), kill: () => killing.abort() };
  };
}

async function contribute(settings: Settings, killed: AbortSignal): Promise<ClientEnd> {
  const { BASA_SERVER: server = '', BASA_AUTHORITY: authority = '', BASA_AUTHORITY_KEY: authorityKey = '' } = settings;
  const { BASA_TASK: task = '', BASA_ENROLMENT_TOKEN: token = '', BASA_IDENTITY: identity = '' } = settings;
  const pieceBytes = Number(settings['BASA_PIECE_BYTES']);
  const retry = { firstWaitMs: 1 };
  const options = { server, authority, authorityKey, task, token, identity, pieceBytes, retry, signal: killed };
  try {
    const client = await BasaClient.connect(options);
    try {
      const delta = new Float32Array(new Uint8Array(readFileSync(settings['BASA_UPDATE'] as string)).buffer);
      const { version } = await client.model({ signal: killed });
      const { kind } = await client.contribute(delta, { trainedOn: version, signal: killed });
      return { code: kind === 'accepted' ? 0 : 1, output: kind };
    } finally {
      await client.close();
    }
  } catch (error) {
    return { code: killed.aborted ? null : 1, output: String(error) };
  }
}

let runs = 0;
function check(start: StartClient, isPlayed: (scene: string) => boolean): Promise<Verdict> {
  const key = fromHex(readFileSync(join(services.folder, 'server', 'server.key'), 'utf8').trim()) as Uint8Array;
  return checkClient({
    services: {
      serverUrl: services.server.url,
      authorityUrl: urlsOf(authorities.length),
      authorityKey: authorities.map(({ publicKey }) => toHex(publicKey)).join(','),
      serverSigner: createNodeSigner(key),
      server: operators().server,
      operatorToken: OPERATOR_TOKEN,
      elapse: async (ms) => services.elapse(ms),
    },
    folder: join(services.folder, `kit-${++runs}`),
    start,
    signal,
    isPlayed,
  });
}

const failures = ({ checks }: Verdict) => checks.filter(({ holds }) => !holds);

describe('against a client', () => {
  /** Of the lies about a slot one is enough here: lies.test.ts tells them all. */
  const isPlayed = (scene: string) => !scene.includes('a server that') || scene.endsWith('omits an edge');

  it('our client passes every check', async () => {
    const verdict = await check(ourClient(), isPlayed);
    expect(failures(verdict)).toEqual([]);
    expect(verdict).toMatchObject({ failed: 0, held: verdict.checks.length });
    expect(verdict.checks.length).toBeGreaterThan(40);
    const ofSeveral = verdict.checks.filter(({ name }) => /authorities|owner/.test(name));
    expect(ofSeveral).toHaveLength(11);
  });

  it('fails for a device that believes any authority that answers', async () => {
    const gullible = ourClient((given) => ({ ...given, BASA_AUTHORITY_KEY: toHex(services.authority.publicKey) }));
    const [failure] = failures(await check(gullible, (scene) => scene.includes('another key')));
    expect(failure).toMatchObject({ name: 'refuses an authority with another key than the pinned one' });
    expect(failure?.detail).toMatch(/saw code 0, a request for: enrolment/);
  });

  it('fails for a device that deposits though it should not', async () => {
    const careless: StartClient = (given) => {
      const { ended, kill } = ourClient()(given);
      const deposited = async (end: ClientEnd): Promise<ClientEnd> => {
        if (end.code !== 0)
          await fetch(given['BASA_SERVER'] + SERVER_PATH.deposits('ab'.repeat(32)), { method: 'POST' });
        return end;
      };
      return { ended: ended.then(deposited), kill };
    };
    const named = failures(await check(careless, (scene) => /version|replaced/.test(scene))).map(({ name }) => name);
    expect(named).toEqual([
      'refuses a buffer of another version than its update',
      'gives no second update on a version',
      'waits since it first saw the successor of a single authority',
    ]);
  });

  it('fails for a device that uploads in one-shot mode though it should not', async () => {
    const careless: StartClient = (given) => {
      const { ended, kill } = ourClient()(given);
      const sent = async (end: ClientEnd): Promise<ClientEnd> => {
        await fetch(given['BASA_SERVER'] + SERVER_PATH.shot('ab'.repeat(32), 'cd'.repeat(32)), { method: 'PUT' });
        return end;
      };
      return { ended: ended.then(sent), kill };
    };
    const [failure] = failures(await check(careless, (scene) => scene.includes('statements of too few')));
    expect(failure?.detail).toMatch(/saw code 1, a request for: shot/);
  });

  it('fails for a device that contributes another update than it was given', async () => {
    const mistaken = ourClient((given) => ({ ...given, BASA_UPDATE: join(services.folder, 'authority.key') }));
    expect(failures(await check(mistaken, (scene) => scene === 'honest services')).map(({ name }) => name)).toContain(
      'contributes',
    );
  });
});

describe('a client that is a command', () => {
  const node = (code: string) => commandClient([process.execPath, '-e', code], { maxMs: 600_000, signal });

  it('gets its settings from the environment, and ends with its code', async () => {
    const client = node('console.log(process.env.BASA_TASK); process.exit(3)')({ BASA_TASK: 'a task' });
    expect(await client.ended).toEqual({ code: 3, output: 'a task\n' });
  });

  it('is killed with all processes that it started', async () => {
    const client = node(
      'require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" })',
    )({});
    client.kill();
    expect(await client.ended).toMatchObject({ code: null });
  });

  it('that is not named is asked for', async () => {
    let words = '';
    const stream = {
      write: (text: string) => {
        words += text;
      },
    };
    expect(await runLab(['conformance', 'client'], { stdout: stream, stderr: stream })).toBe(2);
    expect(words).toContain('the command of the client comes after --');
  });
});

describe('against services', () => {
  const test = (serverUrl: string, isPlayed: (scene: string) => boolean = () => true, count = 1) =>
    checkServer({
      serverUrl,
      isPlayed,
      authorityUrl: urlsOf(count),
      operatorToken: OPERATOR_TOKEN,
      authorityToken: tokenForAll(urlsOf(count), OPERATOR_TOKEN),
      ...operators(serverUrl, count),
      signal,
    });

  it('ours pass every check', async () => {
    const verdict = await test(services.server.url);
    expect(failures(verdict)).toEqual([]);
    expect(verdict.checks.length).toBeGreaterThan(60);
  });

  it('ours with four authorities pass every check', async () => {
    const verdict = await test(services.server.url, (scene) => !['limits', 'revocation'].includes(scene), 4);
    expect(failures(verdict)).toEqual([]);
    expect(verdict.checks.length).toBeGreaterThan(70);
  });

  it('the command prints the result as one line of JSON', async () => {
    const tokens = ['--token', OPERATOR_TOKEN, '--authority-token', OPERATOR_TOKEN];
    const flags = ['--server', services.server.url, '--authority', services.authority.url, ...tokens];
    let out = '';
    const stdout = {
      write: (text: string) => {
        out += text;
      },
    };
    const code = await runLab(['conformance', 'server', ...flags, '--only', 'models', '--json'], {
      stdout,
      stderr: { write: () => undefined },
    });
    const { checks, held, failed } = JSON.parse(out) as Verdict;
    expect({ code, held, failed }).toEqual({ code: 0, held: checks.length, failed: 0 });
    expect(checks[0]).toMatchObject({ name: "the newest model is of the authority's log", holds: true });
  });

  it('a server with its own form of refusals fails the kit', async () => {
    const proxy = await services.proxy();
    proxy.onAnswer = (_, answer) =>
      answer.status === 405 ? { ...answer, headers: { 'content-type': 'text/plain' } } : answer;
    const [failure] = failures(await test(proxy.url, (scene) => scene === 'what anybody may ask'));
    expect(failure?.name).toBe('the server takes no other method');
    expect(failure?.detail).toMatch(/expected 405 with a problem document .* saw 405 text\/plain/);
  });

  it('a server that takes other bytes for an upload fails the kit', async () => {
    const proxy = await services.proxy();
    const taken = Buffer.from('{"received":1,"accepted":true}');
    proxy.onAnswer = (asked, answer) =>
      asked.path.includes('/shots/') && answer.status === 409 && Buffer.from(answer.body).includes('upload-differs')
        ? { status: 200, headers: { 'content-type': 'application/json' }, body: taken }
        : answer;
    const named = failures(await test(proxy.url, (scene) => scene === 'one-shot')).map(({ name }) => name);
    expect(named).toEqual(['one-shot: other bytes under the same tag are refused']);
  });

  it('a server that serves another model than the logged one fails the kit', async () => {
    const proxy = await services.proxy();
    proxy.onAnswer = (asked, answer) =>
      /\/models\/0$/.test(asked.path) && answer.status === 200
        ? { ...answer, body: answer.body.map((byte) => byte ^ 1) }
        : answer;
    const [failure] = failures(await test(proxy.url, (scene) => scene === 'models'));
    expect(failure?.name).toBe('a model has the hash of its entry');
  });
});
