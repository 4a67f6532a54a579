/** Reports to a statistics task: at most once in each window of the device's own clock, given once and durable like an update. */
import { isRefused } from '@basa/protocol';
import { buildReport, Ledger } from '@basa/protocol/one-shot';
import { type FieldDefinitions, Statistics } from '@basa/protocol/policy';
import { InputWords } from '@basa/protocol/wire';
import { SettingsError } from '../errors.ts';
import { type DeviceContext, withCertificate } from './context.ts';
import { fillWords, give, offer, trainingRejection } from './contribute.ts';
import { type Contribution, type Rejection, rejected } from './results.ts';
import type { NewShot } from './send.ts';

/** A value that is out of range is told to the application and to nobody else: no request depends on a value. */
export async function sendReport(
  context: DeviceContext,
  report: Statistics.Report,
  definitions: FieldDefinitions | undefined,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const { events, outside, policy } = context;
  const { statistics } = policy;
  if (statistics === undefined)
    throw new SettingsError('this task trains a model and has no fields to report; call run() or contribute()');
  checkFields(statistics, definitions);
  const coded = Statistics.reportWords(statistics.fields, report);
  if (coded.outside.length > 0) events.emit('outside', { fields: coded.outside });
  try {
    return await offer(context, Statistics.windowAt(statistics, outside.now()), signal, {
      rejection: () => trainingRejection(context) ?? windowRejection(context, statistics),
      give: (meter) => give(context, meter, signal, () => prepare(context, statistics, coded.words, signal)),
    });
  } finally {
    coded.words.fill(0);
  }
}

function checkFields({ fields }: Statistics.StatisticsPolicy, definitions: FieldDefinitions | undefined): void {
  if (definitions === undefined) return;
  const wanted = Object.fromEntries(fields.map(({ kind: _, name, ...lines }) => [name, lines]));
  if (inOrder(definitions) !== inOrder(wanted))
    throw new SettingsError(`these fields are not those of the task: ${JSON.stringify(wanted)}`);
}

/** A text that is the same for every order of names. */
function inOrder(lines: object): string {
  return JSON.stringify(lines, (_, value) =>
    typeof value !== 'object' || Array.isArray(value) ? value : Object.entries(value).sort(),
  );
}

function windowRejection(
  { outside, state, task }: DeviceContext,
  statistics: Statistics.StatisticsPolicy,
): Rejection | undefined {
  const now = outside.now();
  const problem = Ledger.versionProblem(
    state.ledger,
    Statistics.windowStatement(task, statistics, Statistics.windowAt(statistics, now)),
  );
  if (problem === undefined) return undefined;
  const retryAfterMs = (state.ledger.given?.serial ?? 0) + statistics.windowMs - now;
  return rejected('given-lately', 'free', { detail: 'this device has already reported in this window', retryAfterMs });
}

/** Nothing is given away yet: any problem leaves the report free. */
function prepare(
  context: DeviceContext,
  statistics: Statistics.StatisticsPolicy,
  words: Int32Array,
  signal: AbortSignal,
): Promise<NewShot | Rejection> {
  const { models, outside, policy, task } = context;
  return withCertificate(context, signal, async (certificate): Promise<NewShot | Rejection> => {
    const gathered = await models.fresh(signal);
    if (isRefused(gathered)) return rejected(gathered.reason, 'free', gathered);
    const now = outside.now();
    const statement = Statistics.windowStatement(task, statistics, Statistics.windowAt(statistics, now));
    const input = buildReport(InputWords.sumRules(policy, statement.version), words, (target) =>
      fillWords(context, target),
    );
    return { given: { policy, certificate, statement, epochs: gathered.epochs, now }, input };
  });
}
