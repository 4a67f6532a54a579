/** The client takes part between two real devices: its sum is exact, its update leaves under a mask only, and once. */
import { HEADER, headCodec } from '@basa/protocol';
import type { Report } from '../report.ts';
import type { Asked, ServiceProxy } from '../service-proxy.ts';
import { isStep } from '../steps.ts';
import type { ClientTrial, Scene } from './client-trial.ts';
import { noteMasks } from './mask-checks.ts';
import { noteSum } from './sum-check.ts';

export function honestScene(trial: ClientTrial, report: Report): Promise<void> {
  return trial.scene({}, async (scene) => {
    await scene.peer(0);
    const { code, output } = await scene.run();
    report.note('contributes', code === 0, { expected: 'exit code 0', seen: `code ${code}: ${output.slice(-200)}` });
    report.note('prints no token', !output.includes(scene.token), {
      expected: 'output without the enrolment token',
      seen: `${output.length} characters`,
    });
    noteHeads(scene.authority, report);
    noteMasks(scene, report);
    if (code !== 0) return;
    await noteSecondRun(scene, report);
    await noteSum(scene, report, 'the sum is exact', 'CP-ABE, ring of 32 bits');
  });
}

/** A head that is not shown back lets a rolled-back authority go on. */
function noteHeads({ passed }: ServiceProxy, report: Report): void {
  let newest: { readonly hex: string; readonly sequence: number } | undefined;
  const missing = passed.flatMap(({ asked, answer }) => {
    const isShown = newest === undefined || asked.headers[HEADER.head] === newest.hex;
    const hex = String(answer.headers[HEADER.head]);
    const { sequence } = headCodec.decode(Buffer.from(hex, 'hex'));
    if (newest === undefined || sequence > newest.sequence) newest = { hex, sequence };
    return isShown ? [] : [`${asked.method} ${asked.path}`];
  });
  report.note('shows the newest head of the log', passed.length > 1 && missing.length === 0, {
    expected: `${HEADER.head} with the newest head it saw, in every request to the authority after the first`,
    seen: missing.length === 0 ? `it in ${passed.length} requests` : `none in ${missing.join(', ')}`,
  });
}

/** The same update again, while the server claims that its buffer was aborted: only the authority could free it. */
async function noteSecondRun(scene: Scene, report: Report): Promise<void> {
  const before = countOf(scene.asked, 'deposit');
  scene.server.onAnswer = (asked, answer) =>
    asked.path.includes('/fates/') ? { ...answer, body: Buffer.from('{"fate":"aborted"}') } : answer;
  const { code } = await scene.run();
  scene.server.behave();
  const deposits = countOf(scene.asked, 'deposit') - before;
  report.note('gives an update to one buffer only', deposits === 0, {
    expected: 'no second deposit for an update that a buffer has, whatever the server says of it',
    seen: `${deposits} more, exit code ${code}`,
  });
}

function countOf(asked: readonly Asked[], step: 'deposit'): number {
  return asked.filter((one) => isStep(step, one)).length;
}
