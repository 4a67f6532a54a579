/** The only authority of a task is lost, and another key takes its seat: the client follows the signed term, at its time, and no other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthorityOperator } from '@basa/client/operator';
import { fromHex, type Signer } from '@basa/masking';
import {
  AUTHORITY_PATH,
  acceptTerm,
  currentHash,
  lineCodec,
  millis,
  recoverTerm,
  type TaskId,
  type Term,
  type TermBody,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Report } from '../report.ts';
import { ServiceProxy } from '../service-proxy.ts';
import { isStep } from '../steps.ts';
import { until } from '../until.ts';
import type { ClientTrial, Scene } from './client-trial.ts';
import { changing, STRANGER } from './lie.ts';
import { noteRun, noteSum } from './sum-check.ts';

const WAIT_MS = 3000;
const SPARE_MS = 1000;
/** The participant whose update is the client's second one. */
const SECOND = 4;

/** The second authority that the kit knows is the successor. It has no part in the policy. */
export function replacedAuthorityScene(trial: ClientTrial, report: Report): Promise<void> {
  const recovery = createNodeSigner(nodeRandomBytes(32));
  const succession = { waitMs: WAIT_MS, recoveryHash: nodeSuite.sha256(recovery.publicKey) };
  return trial.scene({ succession }, async (scene) => {
    const { authorityUrl } = trial.services;
    const successor = await ServiceProxy.before(() => authorityUrl.split(',')[1] ?? '');
    try {
      await scene.peer(0);
      const isDone = await noteRun(
        scene,
        report,
        'contributes to a task whose authority may be replaced',
        'exit code 0',
      );
      if (!isDone) return;
      await noteSum(scene, report, 'the sum is exact before an authority is replaced', 'one authority');
      await noteForgedTerm(scene, report, successor);
      await noteSuccessor(scene, report, successor, recovery);
    } finally {
      await successor.close();
    }
  });
}

/** The recovery key of another owner signed it. The client is started again when a true term would count. */
async function noteForgedTerm(scene: Scene, report: Report, successor: ServiceProxy): Promise<void> {
  const body = termOf(scene, { key: STRANGER.publicKey, address: successor.url, effective: Date.now() });
  const signatures = {
    accepted: acceptTerm(nodeSuite, STRANGER, body),
    recovery: recoverTerm(nodeSuite, STRANGER, body),
  };
  const terms: readonly Term[] = [{ ...body, ...signatures, endorsements: [] }];
  changing(scene.server, /\/line$/, () => lineCodec.encode({ policy: scene.policy, terms }));
  const update = { BASA_UPDATE: await scene.updateFile(SECOND) };
  const first = await scene.run(update);
  await sleep(WAIT_MS + SPARE_MS);
  const second = await scene.run(update);
  const isRefused = first.code !== 0 && second.code !== 0 && successor.passed.length === 0;
  report.note('refuses a term that the recovery key of the policy did not sign', isRefused, {
    expected: 'exit codes that are not 0, and no request to the address in the term',
    seen: `codes ${first.code} and ${second.code}, ${successor.passed.length} requests`,
  });
  scene.server.behave();
}

async function noteSuccessor(scene: Scene, report: Report, proxy: ServiceProxy, recovery: Signer): Promise<void> {
  const { authorityKey, authorityUrl, operatorToken: token, server } = scene.trial.services;
  const [, url = ''] = authorityUrl.split(',');
  const successor = new AuthorityOperator({ url, token, signal: scene.trial.signal });
  const key = fromHex(authorityKey.split(',')[1] ?? '') ?? new Uint8Array();
  const body = termOf(scene, { key, address: proxy.url, effective: Date.now() + WAIT_MS + SPARE_MS });
  const unsigned = { accepted: new Uint8Array(64), recovery: recoverTerm(nodeSuite, recovery, body), endorsements: [] };
  const line = { policy: scene.policy, terms: [await successor.signTerm(scene.task, { ...body, ...unsigned })] };
  await server.showLine(scene.task, line);
  await successor.showLine(scene.task, line);
  const newest = new URL(AUTHORITY_PATH.modelEntry(scene.task, 'newest'), url);
  await until(async () => (await fetch(newest)).ok, scene.trial.signal);

  const update = { BASA_UPDATE: await scene.updateFile(SECOND) };
  const before = deposits(scene);
  const early = await scene.run(update);
  const isWaiting = early.code !== 0 && deposits(scene) === before && proxy.passed.length === 0;
  report.note('waits since it first saw the successor of a single authority', isWaiting, {
    expected: 'an exit code that is not 0, no deposit, and no request to the successor',
    seen: `code ${early.code}, ${deposits(scene) - before} deposits, ${proxy.passed.length} requests`,
  });
  await sleep(WAIT_MS + SPARE_MS);
  const { code, output } = await scene.run(update);
  const isAsked = proxy.passed.some(({ asked }) => isStep('key', asked));
  report.note('contributes to the successor of a lost authority, without a token', code === 0 && isAsked, {
    expected: 'exit code 0, with a key from the address in the term',
    seen: `code ${code}: ${output.slice(-200)}`,
  });
}

/** The first term after the policy, for the only seat, which is lost. */
function termOf(
  { policy, task }: Scene,
  { effective, ...more }: Pick<TermBody, 'key' | 'address'> & { readonly effective: number },
): TermBody {
  const named = { task: fromHex(task) as TaskId, number: 1, previous: currentHash(nodeSuite, policy) };
  return { ...named, seat: 0, last: undefined, effective: millis(effective), ...more };
}

function deposits({ asked }: Scene): number {
  return asked.filter((one) => isStep('deposit', one)).length;
}
