/** A task of four authorities, of which three are needed: the client goes on with one that is down or lies, and frees nothing on the word of two. */
import { fromHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  authorityMessages,
  type Certificate,
  certificateCodec,
  HEADER,
  outcomeCodec,
  receiptCodec,
} from '@basa/protocol';
import type { Report } from '../report.ts';
import type { ServiceProxy } from '../service-proxy.ts';
import { isStep } from '../steps.ts';
import { until } from '../until.ts';
import type { ClientTrial, Scene } from './client-trial.ts';
import { COUNCIL_SIZE } from './council-lies.ts';
import { STRANGER, signedBy } from './lie.ts';
import { noteRun, noteSum } from './sum-check.ts';

/** The first one is down for the whole run, which is the one that clients ask first. */
export function oneDownScene(trial: ClientTrial, report: Report): Promise<void> {
  const play = async (scene: Scene): Promise<void> => {
    await scene.peer(0);
    scene.authority.onAsk = () => 'cut';
    const isDone = await noteRun(
      scene,
      report,
      'goes on with one of four authorities down',
      'exit code 0 though the first authority answers nothing',
    );
    noteReceipts(scene, report);
    if (!isDone) return;
    await noteSum(scene, report, 'the sum is exact with one authority down', '3 of 4 authorities');
  };
  return trial.scene({}, play, COUNCIL_SIZE);
}

/** The first one forges what it says to the client: the other three are enough, and nothing of it reaches the sum. */
export function oneLiesScene(trial: ClientTrial, report: Report): Promise<void> {
  const play = async (scene: Scene): Promise<void> => {
    await scene.peer(0);
    const { keyAnswer } = authorityMessages(scene.policy.bufferSize);
    scene.authority.onAnswer = (asked, answer) => {
      if (answer.status !== 200) return answer;
      if (isStep('enrolment', asked)) return { ...answer, body: certificateCodec.encode(forged(answer.body)) };
      if (!isStep('key', asked)) return answer;
      const told = keyAnswer.decode(answer.body);
      const endorsements = signedBy(STRANGER, receiptCodec, told.receipt);
      return { ...answer, body: keyAnswer.encode({ ...told, receipt: { ...told.receipt, endorsements } }) };
    };
    const isDone = await noteRun(
      scene,
      report,
      'goes on with one of four authorities that lies',
      'exit code 0 though the first authority forges certificates and receipts',
    );
    if (!isDone) return;
    await noteSum(scene, report, 'the sum is exact with one authority that lies', '3 of 4 authorities');
  };
  return trial.scene({}, play, COUNCIL_SIZE);
}

function forged(body: Uint8Array): Certificate {
  const certificate = certificateCodec.decode(body);
  return { ...certificate, endorsements: signedBy(STRANGER, certificateCodec, certificate) };
}

/** Checks the receipts in the header of its upload. */
function noteReceipts(scene: Scene, report: Report): void {
  const upload = scene.server.passed.find(({ asked }) => isStep('upload', asked))?.asked;
  const header = fromHex(String(upload?.headers[HEADER.upload] ?? '')) ?? new Uint8Array();
  const { uploadHeader } = authorityMessages(scene.policy.bufferSize);
  const signed = upload === undefined ? 0 : uploadHeader.decode(header).receipt.endorsements.length;
  report.note('uploads with the receipts of as many authorities as are needed', signed >= scene.policy.threshold, {
    expected: `an upload with ${scene.policy.threshold} receipts`,
    seen: `${signed}`,
  });
}

const OPEN_MS = 20_000;
const MAX_RUNS = 20;

/** A buffer with one update ends without a sum. Its authorities say so one by one, and the update is free with the third. */
export function fewOutcomesScene(trial: ClientTrial, report: Report): Promise<void> {
  const play = async (scene: Scene): Promise<void> => {
    const ctx = await contributed(scene);
    await trial.services.elapse(OPEN_MS);
    await until(async () => (await abortedAt(scene, ctx)) === COUNCIL_SIZE, trial.signal);
    for (const silent of [2, 1]) {
      for (const [n, proxy] of scene.authorities.entries()) hideOutcomes(proxy, n < silent);
      const before = deposits(scene);
      const { code } = await scene.run();
      const isFreed = deposits(scene) > before;
      const heard = COUNCIL_SIZE - silent;
      if (silent === 2)
        report.note('frees no update on the word of too few authorities', !isFreed && code !== 0, {
          expected: `no deposit for an update of which ${heard} authorities say that it is free`,
          seen: `${isFreed ? 'a deposit' : 'none'}, exit code ${code}`,
        });
      else
        report.note('frees an update on the word of enough authorities', isFreed, {
          expected: `a deposit of an update of which ${heard} authorities say that it is free`,
          seen: `none, exit code ${code}`,
        });
    }
  };
  return trial.scene({ openMs: OPEN_MS, closeMs: 1 }, play, COUNCIL_SIZE);
}

/** The buffer that has its update. One that ended on the way is tried again with the next. */
async function contributed(scene: Scene): Promise<string> {
  for (let runs = 0; runs < MAX_RUNS; runs++) {
    const { code } = await scene.run();
    const upload = scene.asked.filter((asked) => isStep('upload', asked)).at(-1);
    if (code === 0 && upload !== undefined) return upload.path.split('/')[3] ?? '';
  }
  throw new Error(`the client contributed to no buffer of ${OPEN_MS / 1000} s in ${MAX_RUNS} runs`);
}

async function abortedAt({ authorityUrls }: Scene, ctx: string): Promise<number> {
  const outcomes = await Promise.all(
    authorityUrls.map(async (url) => {
      const response = await fetch(new URL(AUTHORITY_PATH.outcome(ctx), url));
      return outcomeCodec.decode(new Uint8Array(await response.arrayBuffer()));
    }),
  );
  return outcomes.filter(({ status }) => status === 'aborted').length;
}

function hideOutcomes(proxy: ServiceProxy, isSilent: boolean): void {
  proxy.onAsk = ({ path }) => (isSilent && path.endsWith('/outcome') ? 'cut' : undefined);
}

function deposits({ asked }: Scene): number {
  return asked.filter((one) => isStep('deposit', one)).length;
}
