/** The metrics and traces of an authority for operators, updated after each event. */
import { AUTHORITY_PATH, type BasaEvent } from '@basa/protocol';
import { type Answer, BufferTraces, countAnswers, createMetrics, timed } from '@basa/service';
import type { Witness } from '../store/witness.ts';
import type { DurableAuthority } from './durable-authority.ts';

const STEPS = {
  [`POST ${AUTHORITY_PATH.buffers}`]: 'draw',
  [`POST ${AUTHORITY_PATH.keys(':ctx')}`]: 'key',
  [`POST ${AUTHORITY_PATH.close(':ctx')}`]: 'close',
  [`GET ${AUTHORITY_PATH.outcome(':ctx')}`]: 'outcome',
  [`GET ${AUTHORITY_PATH.standing(':task')}`]: 'standing',
  [`POST ${AUTHORITY_PATH.inspections(':task')}`]: 'inspect',
  [`POST ${AUTHORITY_PATH.batchVotes(':task')}`]: 'vote',
  [`POST ${AUTHORITY_PATH.releases(':task')}`]: 'release',
  [`GET ${AUTHORITY_PATH.shotOutcome(':task', ':user', ':joinTag', ':statement')}`]: 'outcome',
  [`POST ${AUTHORITY_PATH.modelLog(':task')}`]: 'log',
  [`GET ${AUTHORITY_PATH.modelEntry(':task', ':version')}`]: 'model-entry',
  [`GET ${AUTHORITY_PATH.newestModel(':task', ':nonce')}`]: 'newest-model',
  [`POST ${AUTHORITY_PATH.enrolments(':task')}`]: 'enrol',
};

export class AuthorityWatch {
  readonly metrics = createMetrics('authority');
  readonly traces = new BufferTraces('authority');
  readonly answered: (answer: Answer) => void = countAnswers(this.metrics, STEPS);
  readonly keyMade = (seconds: number): void => this.metrics.observe('basa_abe_seconds', {}, seconds);

  read(authority: DurableAuthority): void {
    this.metrics.gauge('basa_open_buffers', () => [[{}, authority.core.openBuffers]]);
    this.metrics.gauge('basa_log_records', () => [[{}, authority.sequence]]);
  }

  note(event: BasaEvent): void {
    this.#count(event);
    if (event.kind === 'buffer-drawn') this.traces.open(event);
    if (event.kind === 'key-issued') this.traces.closeSlot(event.ctx, event.slot);
    if (event.kind === 'buffer-closed' || event.kind === 'buffer-aborted' || event.kind === 'buffer-unknown')
      this.traces.close(event.ctx);
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

  #count({ kind }: BasaEvent): void {
    const { metrics } = this;
    if (kind === 'key-issued') metrics.count('basa_keys_issued_total', {});
    if (kind === 'buffer-drawn') metrics.count('basa_buffers_drawn_total', {});
    if (kind === 'model-logged') metrics.count('basa_models_logged_total', {});
    if (kind === 'device-enrolled') metrics.count('basa_devices_enrolled_total', {});
    if (kind === 'device-revoked') metrics.count('basa_devices_revoked_total', {});
    if (kind === 'authority-rolled-back') metrics.count('basa_rollbacks_total', {});
    if (kind === 'buffer-closed') metrics.count('basa_outcomes_total', { outcome: 'closed' });
    if (kind === 'buffer-aborted') metrics.count('basa_outcomes_total', { outcome: 'aborted' });
    if (kind === 'buffer-unknown') metrics.count('basa_outcomes_total', { outcome: 'unknown' });
  }
}
