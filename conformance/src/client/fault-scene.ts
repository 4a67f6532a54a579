/** Services that fail: each step is refused once for the moment, then done and its answer lost. Bytes that repeat are the same. */
import { ring, toHex } from '@basa/masking';
import { ENGINE, HEADER, PROBLEM_MEDIA_TYPE, problemDocument } from '@basa/protocol';
import type { Report } from '../report.ts';
import type { Answer, Asked, ServiceProxy } from '../service-proxy.ts';
import { isStep, type Step } from '../steps.ts';
import type { ClientTrial } from './client-trial.ts';
import { noteSum } from './sum-check.ts';

const STEPS: readonly Step[] = ['seat', 'deposit', 'key', 'upload'];

/** With the other engine, in a ring whose elements are packed. */
export function faultScene(trial: ClientTrial, report: Report): Promise<void> {
  return trial.scene({ engine: ENGINE.cpAbe, modulus: ring(20) }, async (scene) => {
    await scene.peer(0);
    const asked = new Map<Step, Asked[]>(STEPS.map((step) => [step, []]));
    for (const proxy of [scene.server, scene.authority]) failTwice(proxy, asked);
    const { code, output } = await scene.run();
    report.note('goes on after 503 and lost answers', code === 0, {
      expected: 'exit code 0 though each step failed twice',
      seen: `code ${code}: ${output.slice(-200)}`,
    });
    for (const [step, requests] of asked) noteRepeats(step, requests, report);
    if (code !== 0) return;
    await noteSum(scene, report, 'the sum is exact after failures', 'CP-ABE, ring of 20 bits');
  });
}

function failTwice(proxy: ServiceProxy, seen: ReadonlyMap<Step, Asked[]>): void {
  const requestsLike = (asked: Asked): Asked[] | undefined => [...seen].find(([step]) => isStep(step, asked))?.[1];
  proxy.onAsk = (asked) => {
    const requests = requestsLike(asked);
    requests?.push(asked);
    return requests?.length === 1 ? stopping() : undefined;
  };
  proxy.onAnswer = (asked, answer) => (requestsLike(asked)?.length === 2 ? 'cut' : answer);
}

function stopping(): Answer {
  const document = problemDocument('stopping', { retryAfterMs: 1 });
  return {
    status: document.status,
    headers: { 'content-type': PROBLEM_MEDIA_TYPE },
    body: Buffer.from(JSON.stringify(document)),
  };
}

/** A request is signed anew each time; what it says was said once and for all. */
function noteRepeats(step: Step, requests: readonly Asked[], report: Report): void {
  const nonces = new Set(requests.map(({ headers }) => headers[HEADER.nonce]));
  report.note(`signs each ${step} anew`, requests.length >= 3 && nonces.size === requests.length, {
    expected: `at least three requests, each with another ${HEADER.nonce}`,
    seen: `${requests.length} requests, ${nonces.size} nonces`,
  });
  const said = new Set(requests.map(({ headers, body }) => (step === 'upload' ? headers[HEADER.upload] : toHex(body))));
  report.note(`repeats the ${step} with the same bytes`, requests.length >= 3 && said.size === 1, {
    expected: step === 'upload' ? 'the same signed header with every piece' : 'the same body each time',
    seen: `${said.size} different ones`,
  });
}
