/** Services that fail: each step is refused once for the moment, then done and its answer lost. Bytes that repeat are the same. */
import { ring, toHex } from '@basa/masking';
import { ENGINE, HEADER, PROBLEM_MEDIA_TYPE, type ProblemCode, problemDocument } from '@basa/protocol';
import type { Report } from '../report.ts';
import type { Answer, Asked, ServiceProxy } from '../service-proxy.ts';
import { isStep, type Step } from '../steps.ts';
import type { ClientTrial } from './client-trial.ts';
import { noteRun, noteSum } from './sum-check.ts';

const STEPS: readonly Step[] = ['seat', 'deposit', 'key', 'upload'];

/** With the other engine, in a ring whose elements are packed. */
export function faultScene(trial: ClientTrial, report: Report): Promise<void> {
  return trial.scene({ engine: ENGINE.cpAbe, modulus: ring(20) }, async (scene) => {
    await scene.peer(0);
    const asked = failTwice([scene.server, scene.authority], STEPS);
    const isDone = await noteRun(
      scene,
      report,
      'goes on after 503 and lost answers',
      'exit code 0 though each step failed twice',
    );
    for (const [step, requests] of asked) noteRepeats(step, requests, report);
    if (!isDone) return;
    await noteSum(scene, report, 'the sum is exact after failures', 'CP-ABE, ring of 20 bits');
  });
}

/** The requests of each step, as they come. */
export function failTwice(
  proxies: readonly ServiceProxy[],
  steps: readonly Step[],
): ReadonlyMap<Step, readonly Asked[]> {
  const seen = new Map<Step, Asked[]>(steps.map((step) => [step, []]));
  const requestsLike = (asked: Asked): Asked[] | undefined => [...seen].find(([step]) => isStep(step, asked))?.[1];
  for (const proxy of proxies) {
    proxy.onAsk = (asked) => {
      const requests = requestsLike(asked);
      requests?.push(asked);
      return requests?.length === 1 ? problemAnswer('stopping', 1) : undefined;
    };
    proxy.onAnswer = (asked, answer) => (requestsLike(asked)?.length === 2 ? 'cut' : answer);
  }
  return seen;
}

/** A refusal, in the form of a service. */
export function problemAnswer(code: ProblemCode, retryAfterMs?: number): Answer {
  const document = problemDocument(code, retryAfterMs === undefined ? {} : { retryAfterMs });
  return {
    status: document.status,
    headers: { 'content-type': PROBLEM_MEDIA_TYPE },
    body: Buffer.from(JSON.stringify(document)),
  };
}

/** A request is signed anew each time; what it says was said once and for all. */
export function noteRepeats(step: Step, requests: readonly Asked[], report: Report): void {
  const isUpload = step === 'upload' || step === 'shot';
  const nonces = new Set(requests.map(({ headers }) => headers[HEADER.nonce]));
  report.note(`signs each ${step} anew`, requests.length >= 3 && nonces.size === requests.length, {
    expected: `at least three requests, each with another ${HEADER.nonce}`,
    seen: `${requests.length} requests, ${nonces.size} nonces`,
  });
  const said = new Set(requests.map(({ headers, body }) => (isUpload ? headers[HEADER.upload] : toHex(body))));
  report.note(`repeats the ${step} with the same bytes`, requests.length >= 3 && said.size === 1, {
    expected: isUpload ? 'the same signed header with every piece' : 'the same body each time',
    seen: `${said.size} different ones`,
  });
}
