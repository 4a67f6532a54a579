/** The metrics and traces of an authority for operators, updated after each event. */
import { AUTHORITY_PATH, type BasaEvent } from '@basa/protocol';
import { type Answer, BufferTraces, countAnswers, createMetrics, timed } from '@basa/service';
import type { Witness } from '../store/witness.ts';
import type { DurableAuthority } from './durable-authority.ts';

const STEPS = {
  [`GET ${AUTHORITY_PATH.epochs(':task')}`]: 'epochs',
  [`POST ${AUTHORITY_PATH.inspections(':task')}`]: 'inspect',
  [`POST ${AUTHORITY_PATH.batchVotes(':task')}`]: 'vote',
  [`POST ${AUTHORITY_PATH.releases(':task')}`]: 'release',
  [`POST ${AUTHORITY_PATH.enrolments(':task')}`]: 'enrol',
};

export class AuthorityWatch {
  readonly metrics = createMetrics('authority');
  readonly traces = new BufferTraces('authority');
  readonly answered: (answer: Answer) => void = countAnswers(this.metrics, STEPS);

  read(authority: DurableAuthority): void {
    this.metrics.gauge('basa_log_records', () => [[{}, authority.sequence]]);
  }

  note({ kind }: BasaEvent): void {
    const { metrics } = this;
    if (kind === 'device-enrolled') metrics.count('basa_devices_enrolled_total', {});
    if (kind === 'device-revoked') metrics.count('basa_devices_revoked_total', {});
    if (kind === 'authority-rolled-back') metrics.count('basa_rollbacks_total', {});
  }

  timedWitness(witness: Witness): Witness {
    return {
      read: () => witness.read(),
      write: (head) =>
        timed(
          (seconds) => this.metrics.observe('basa_witness_seconds', {}, seconds),
          async () => witness.write(head),
        ),
    };
  }
}
