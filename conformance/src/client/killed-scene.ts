/** The client is killed twice, after its key request and in the middle of its upload: it goes on with what it made durable. */
import { FIELD, toHex } from '@basa/masking';
import { HEADER } from '@basa/protocol';
import type { Report } from '../report.ts';
import type { Asked, ServiceProxy } from '../service-proxy.ts';
import { isStep, type Step } from '../steps.ts';
import type { ClientTrial, Scene } from './client-trial.ts';
import { noteSum } from './sum-check.ts';

/** In the field, whose elements are below a prime. */
export function killedScene(trial: ClientTrial, report: Report): Promise<void> {
  return trial.scene({ modulus: FIELD }, async (scene) => {
    await scene.peer(0);
    const deposits = recorded(scene.server, 'deposit');
    const keys = recorded(scene.authority, 'key');
    const pieces = recorded(scene.server, 'upload');

    await killedAt(scene, scene.authority, 'key', 1);
    const headsBefore = scene.authority.passed.length;
    await killedAt(scene, scene.server, 'upload', 2);
    noteKeptHead(scene.authority, headsBefore, report);
    const before = pieces.length;
    const { code, output } = await scene.run();

    report.note('goes on after it was killed', code === 0, {
      expected: 'exit code 0 when it is started a third time',
      seen: `code ${code}: ${output.slice(-200)}`,
    });
    noteSame('deposits once, however often it is killed', deposits, report);
    noteSame('asks for its key with the same bytes after it was killed', keys, report);
    noteResumed(pieces, before, report);
    if (code !== 0) return;
    await noteSum(scene, report, 'the sum is exact after two kills', 'CP-ABE, field');
  });
}

/** Runs until its n-th request of this step: an answer, or a piece of the upload, gets lost, and so does the client. */
export async function killedAt(scene: Scene, proxy: ServiceProxy, step: Step, n: number): Promise<void> {
  const client = await scene.start();
  const { onAsk } = proxy;
  let count = 0;
  proxy.onAnswer = (asked, answer) => {
    if (!isStep(step, asked) || ++count < n) return answer;
    client.kill();
    return 'cut';
  };
  const { code } = await client.ended;
  proxy.behave();
  proxy.onAsk = onAsk;
  if (code === 0) throw new Error(`the client ended with 0, though the answer to its ${step} was lost`);
}

function recorded(proxy: ServiceProxy, step: Step): readonly Asked[] {
  const { onAsk } = proxy;
  const requests: Asked[] = [];
  proxy.onAsk = (asked) => {
    if (isStep(step, asked)) requests.push(asked);
    return onAsk?.(asked);
  };
  return requests;
}

function noteKeptHead({ passed }: ServiceProxy, before: number, report: Report): void {
  const first = passed[before]?.asked;
  report.note('keeps the newest head through a crash', first?.headers[HEADER.head] !== undefined, {
    expected: `${HEADER.head} in the first request to the authority after a restart`,
    seen: first === undefined ? 'no request' : String(first.headers[HEADER.head] ?? 'none').slice(0, 16),
  });
}

function noteSame(name: string, requests: readonly Asked[], report: Report): void {
  const bodies = new Set(requests.map(({ body }) => toHex(body)));
  report.note(name, bodies.size === 1, {
    expected: 'one body in all runs',
    seen: `${bodies.size} in ${requests.length} requests`,
  });
}

export function noteResumed(pieces: readonly Asked[], before: number, report: Report, mode = ''): void {
  const headers = new Set(pieces.map((piece) => piece.headers[HEADER.upload]));
  const sent = pieces.slice(before).reduce((total, { body }) => total + body.length, 0);
  const whole = Math.max(...pieces.map((piece) => Number(piece.headers[HEADER.uploadOffset]) + piece.body.length));
  report.note(`${mode}uploads what it froze, and nothing else`, headers.size === 1, {
    expected: 'one signed header in all runs',
    seen: `${headers.size} different ones`,
  });
  report.note(`${mode}resumes its upload where the server stands`, sent > 0 && sent < whole, {
    expected: 'only what was missing',
    seen: `${sent} of ${whole} bytes sent after the kill`,
  });
}
