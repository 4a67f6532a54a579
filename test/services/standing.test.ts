/** The credentials that a device must show at each step before anything is done for it: its own certificate, a seat, a good standing. */
import { inMemoryStoreForTests } from '@basa/client/node';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, certificateCodec, ctxOf, drawnBufferCodec, ENGINE, SERVER_PATH } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { askSigned, bytesOf, enrolledDevices, seatRequestOf } from '@basa/testkit/services/fleet.ts';
import { AT_ONCE } from '@basa/testkit/services/held-upload.ts';
import { oneHot, TestServices, type TestServicesOptions, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, describe, expect, it } from 'vitest';

let services: TestServices;
afterEach(() => services.close());
const WEEK_MS = 7 * 86_400_000;
/** However long it takes until what happens has happened. */
const AGAIN_AND_AGAIN = { attempts: 1e6, firstWaitMs: 1, longestWaitMs: 20, timeoutMs: 60_000 };

type Enrolled = Awaited<ReturnType<typeof enrolledDevices>>[number];

async function enrolled(): Promise<Enrolled> {
  const [device] = await enrolledDevices(services, 1);
  if (device === undefined) throw new Error('no device');
  return device;
}

/** The code of a problem, or 'ok'. */
async function codeOf(asked: Promise<Response>): Promise<string> {
  const answer = await asked;
  return answer.ok ? 'ok' : ((await answer.json()) as { type: string }).type.replace('urn:basa:problem:', '');
}

async function asking({ device, certificate }: Enrolled, target: string): Promise<Response> {
  const body = target.endsWith('/seats') ? await seatRequestOf(services, certificate) : certificate;
  return askSigned(services, device, 'server', target, body);
}

/** The words of a certificate, signed by somebody who is no authority of the task. */
function forged(certificate: Uint8Array): Uint8Array {
  const real = certificateCodec.decode(certificate);
  const stranger = createNodeSigner(nodeRandomBytes(32));
  const signature = stranger.sign(certificateCodec.statement(real));
  return certificateCodec.encode({ ...real, endorsements: real.endorsements.map((one) => ({ ...one, signature })) });
}

const PAPER: TestServicesOptions = {
  policy: { engine: ENGINE.cpAbe },
  server: { unsafePaperMode: true },
  authority: { unsafePaperMode: true },
  specification: { mode: 'paper' },
};

describe.each([
  ['admissions', {}],
  ['seats', {}],
  ['unsafePaperConnect', PAPER],
] as const)('at %s', (step, options: TestServicesOptions) => {
  const ask = (who: Enrolled, at = services.task) => codeOf(asking(who, SERVER_PATH[step](at)));

  it('a certificate counts that the authority signed for this task and device, until it ends or is revoked', async () => {
    services = await TestServices.open({ ...options, server: { ...options.server, revocationsMs: 30 } });
    const first = services.task;
    const [mine, other] = [await enrolled(), await enrolled()];
    expect(await ask(mine)).toBe('ok');
    expect(await ask({ ...other, certificate: forged(other.certificate) })).toBe('certificate-invalid');
    expect(await ask({ ...other, certificate: mine.certificate })).toBe('not-yours');
    const revoked = await enrolled();
    const user = toHex(nodeSuite.sha256(revoked.device.deviceKey));
    await services.operate(services.authority.url, 'POST', AUTHORITY_PATH.revocations, { user });
    await until(async () => (await ask(revoked)) === 'revoked');
    await services.createTask();
    const elsewhere = await enrolled();
    expect([await ask(elsewhere, first), await ask(elsewhere)]).toEqual(['certificate-invalid', 'ok']);
    services.elapse(WEEK_MS + 1);
    expect(await ask(other, first)).toBe('certificate-expired');
  });
});

describe('a deposit', () => {
  /** The server's answer to the deposit of a device for which this happened after it took its seat. */
  async function answerAfter(happens: (user: string) => Promise<unknown>): Promise<string> {
    services = await TestServices.open();
    const proxy = await services.proxy();
    const client = await services.client('device', { server: proxy.url, retry: AGAIN_AND_AGAIN });
    const answers: string[] = [];
    let happening: Promise<unknown> | undefined;
    let hasHappened = false;
    proxy.onAsk = ({ path }) => {
      if (!path.endsWith('/deposits') || hasHappened) return undefined;
      happening ??= happens(toHex(nodeSuite.sha256(client.deviceKey))).then(() => {
        hasHappened = true;
      });
      return 'cut'; // the client sends it again
    };
    proxy.onAnswer = ({ path }, answer) => {
      if (path.endsWith('/deposits')) {
        const text = Buffer.from(answer.body).toString();
        answers.push(answer.status === 200 ? 'ok' : JSON.parse(text).type.replace('urn:basa:problem:', ''));
      }
      return answer;
    };
    await client.contribute(oneHot(0), { trainedOn: 0 }).catch(() => undefined);
    await happening;
    return answers[0] ?? 'none';
  }

  /** All seats of the buffer are others' by now. */
  const othersSitDown = async () => {
    for (const other of await enrolledDevices(services, services.policy.bufferSize))
      expect(await codeOf(asking(other, SERVER_PATH.seats(services.task)))).toBe('ok');
  };

  it('is taken after the time of its seat if another seat is free, and refused if all seats are taken', async () => {
    expect(await answerAfter(async () => services.elapse(31_000))).toBe('ok');
    await services.close();
    const lapses = async () => {
      services.elapse(31_000);
      await othersSitDown();
    };
    expect(await answerAfter(lapses)).toBe('seat-missing');
  });

  it('counts only for the buffer of its address', async () => {
    services = await TestServices.open();
    const proxy = await services.proxy();
    const signer = createNodeSigner(nodeRandomBytes(32));
    const identity = inMemoryStoreForTests(signer);
    const client = await services.client('device', { identity, server: proxy.url, retry: AT_ONCE });
    let deposit = new Uint8Array();
    proxy.onAsk = ({ path, body }) => {
      if (!path.endsWith('/deposits')) return undefined;
      deposit = body.slice();
      return 'cut';
    };
    await client.contribute(oneHot(0), { trainedOn: 0 }).catch(() => undefined);
    await services.createTask();
    const drawn = await bytesOf(asking(await enrolled(), SERVER_PATH.seats(services.task)));
    const target = SERVER_PATH.deposits(ctxOf(nodeSuite, drawnBufferCodec.decode(drawn).descriptor));
    const answer = await askSigned(services, signingDevice(signer), 'server', target, deposit);
    expect(await answer.json()).toMatchObject({ status: 400, detail: expect.stringContaining('deposit.ctx') });
  });

  it('of a device that was banned since it sat down is refused', async () => {
    const ban = (user: string) =>
      services.operate(services.server.url, 'PUT', SERVER_PATH.suspicion(services.task, user), { state: 'banned' });
    expect(await answerAfter(ban)).toBe('banned');
  });
});
