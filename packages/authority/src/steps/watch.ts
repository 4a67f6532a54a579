/** The metrics and traces of an authority for operators, updated after each event. */
import type { BasaEvent } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { type Answer, BatchTraces, countAnswers, createMetrics } from '@basa/service';

const STEPS = {
  [`GET ${AUTHORITY_PATH.epochs(':task')}`]: 'epochs',
  [`POST ${AUTHORITY_PATH.inspections(':task')}`]: 'inspect',
  [`POST ${AUTHORITY_PATH.batchVotes(':task')}`]: 'vote',
  [`POST ${AUTHORITY_PATH.releases(':task')}`]: 'release',
  [`POST ${AUTHORITY_PATH.enrolments(':task')}`]: 'enrol',
};

export class AuthorityWatch {
  readonly metrics = createMetrics('authority');
  readonly traces = new BatchTraces('authority');
  readonly answered: (answer: Answer) => void = countAnswers(this.metrics, STEPS);

  note({ kind }: BasaEvent): void {
    const { metrics } = this;
    if (kind === 'device-enrolled') metrics.count('basa_devices_enrolled_total', {});
    if (kind === 'device-revoked') metrics.count('basa_devices_revoked_total', {});
  }
}
